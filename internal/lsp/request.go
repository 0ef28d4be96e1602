package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"go.lsp.dev/jsonrpc2"
)

// request is one of the peer's that has not been answered. All that changes and
// is not atomic is guarded by Conn.mu.
type request struct {
	conn   *Conn
	id     jsonrpc2.ID
	method string
	params json.RawMessage
	size   int // that it counts in Conn.queued

	cancel    context.CancelCauseFunc // nil while it is queued
	cancelled bool                    // while it was queued: it is answered already
	slot      bool                    // holds, or would hold, one of the Concurrency slots
	idle      int                     // how often Waiting is in effect

	answered atomic.Bool
}

// Inline requests see the documents exactly as they are at their place in the
// stream, and nothing behind them starts before they end.
func inline(method string) bool { return method == "initialize" || method == "shutdown" }

// request answers, starts or queues one; it never waits for others. It returns
// false when the caller is no longer the reader.
func (c *Conn) request(m message, size int) bool {
	if strings.HasPrefix(m.method, "$/") {
		c.refuse(m.id, Errorf(MethodNotFound, "unknown method %q", m.method))
		return true
	}
	r := &request{conn: c, id: m.id, method: m.method, params: m.params, slot: !inline(m.method)}
	switch c.admit(r, size) {
	case refusedID:
		c.refuse(m.id, Errorf(InvalidRequest, "the id is in use"))
	case refusedLoad:
		c.refuse(m.id, Errorf(ServerCancelled, "too many requests are waiting; try again later"))
	case inlined:
		c.serve(r)
	case serveHere:
		return c.serveHere(r)
	}
	return true
}

type admission int

const (
	elsewhere admission = iota // it has been started or queued
	inlined                    // the reader serves it, whatever comes
	serveHere                  // the reader serves it, and others may read on
	refusedID
	refusedLoad
)

// admit registers r, and starts it or puts it into the queue unless the reader
// has time for it.
func (c *Conn) admit(r *request, size int) admission {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests[r.id] != nil {
		return refusedID
	}
	if !r.slot {
		c.requests[r.id] = r
		return inlined
	}
	if c.working < c.opts.Concurrency && len(c.queue) == 0 {
		c.requests[r.id] = r
		if c.frames.r.Buffered() == 0 && c.slot() {
			return serveHere
		}
		c.start(r)
		return elsewhere
	}
	const overhead = 512 // of the bookkeeping for one request
	if r.size = size + overhead; c.queued+r.size > c.opts.MaxQueued {
		return refusedLoad
	}
	c.requests[r.id] = r
	c.queue = append(c.queue, r)
	c.queued += r.size
	return elsewhere
}

// slot takes one, unless the connection has ended. Needs mu.
func (c *Conn) slot() bool {
	if c.closed {
		return false
	}
	c.working++
	c.handlers.Add(1)
	return true
}

// start gives r a slot and a goroutine, one that waits for work if there is one.
// Needs mu.
func (c *Conn) start(r *request) {
	if !c.slot() {
		return
	}
	select {
	case c.work <- r:
	default:
		go c.worker(r)
	}
}

// maxIdle is how many goroutines wait for work. One that has served a request
// has the stack for it; a new one would first have to grow it.
const maxIdle = 4

// worker serves r, if there is one, and then stays if few others do.
func (c *Conn) worker(r *request) {
	for {
		if r != nil {
			c.serve(r)
		}
		select {
		case c.parked <- struct{}{}:
		default:
			return
		}
		select {
		case r = <-c.work:
			<-c.parked
		case <-c.gone:
			return
		}
	}
}

// next takes a request from the queue. Needs mu.
func (c *Conn) next() *request {
	for len(c.queue) > 0 {
		r := c.queue[0]
		c.queue[0] = nil
		if c.queue = c.queue[1:]; len(c.queue) == 0 {
			c.queue = nil
		}
		if !r.cancelled {
			c.queued -= r.size
			r.size = 0
			return r
		}
	}
	return nil
}

// cancel ends a request on the peer's word. One that is still queued is answered
// at once.
func (c *Conn) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if Unmarshal(params, &p) != nil {
		return
	}
	var id jsonrpc2.ID
	var number int64
	var text string
	switch {
	case len(p.ID) == 0:
		return
	case p.ID[0] == '"' && Unmarshal(p.ID, &text) == nil:
		id = jsonrpc2.NewStringID(text)
	case p.ID[0] != '"' && Unmarshal(p.ID, &number) == nil:
		id = jsonrpc2.NewNumberID(number)
	default:
		return
	}
	c.mu.Lock()
	r := c.requests[id]
	var stop context.CancelCauseFunc
	if r != nil {
		if stop = r.cancel; stop == nil && r.slot {
			r.cancelled = true
			c.queued -= r.size
			r.params = nil
			delete(c.requests, id)
		}
	}
	c.mu.Unlock()
	switch {
	case stop != nil:
		stop(ErrCancelled)
	case r != nil && r.slot:
		c.refuse(id, Errorf(RequestCancelled, "%s", ErrCancelled))
	}
}

type requestKey struct{}

// serve runs the handler for r and answers it.
func (c *Conn) serve(r *request) {
	ctx, cancel := context.WithCancelCause(c.base)
	defer cancel(nil)
	c.mu.Lock()
	if r.cancelled { // between the queue and here
		c.mu.Unlock()
		c.finish(r)
		return
	}
	r.cancel = cancel
	c.mu.Unlock()

	ctx = context.WithValue(ctx, requestKey{}, r)
	result, err := c.call(ctx, r)
	c.answer(ctx, r, result, err)
}

// Answer answers the request of ctx before its handler returns, which counts as
// its end; the handler's own answer is then dropped. With any other context it
// does nothing.
func Answer(ctx context.Context, result any, err error) {
	if r, _ := ctx.Value(requestKey{}).(*request); r != nil {
		r.conn.answer(ctx, r, result, err)
	}
}

// answer sends the reply, unless there was one.
func (c *Conn) answer(ctx context.Context, r *request, result any, err error) {
	if !r.answered.CompareAndSwap(false, true) {
		return
	}
	var f *frame
	if err == nil {
		if f, err = resultFrame(r.id, result); err != nil {
			c.log.Error("result can't be encoded", "method", r.method, "error", err)
			err = Errorf(InternalError, "the result of %s can't be encoded", r.method)
		}
	}
	if err != nil {
		f = errorFrame(r.id, wireError(ctx, err))
	}
	limit := c.opts.MaxUnsent
	if !r.slot {
		limit *= 2 // inline, see refuse
	}
	c.forget(r) // the id is free before the peer can have seen the reply
	c.reply(f, limit, r.slot)
	c.finish(r)
}

func (c *Conn) forget(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.requests, r.id)
}

// finish gives the slot of r to the next in the queue, or back.
func (c *Conn) finish(r *request) {
	if !r.slot {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.working--
	if c.working < c.opts.Concurrency {
		if next := c.next(); next != nil {
			c.start(next)
		}
	}
	c.handlers.Done()
}

// call is the one recover of a request.
func (c *Conn) call(ctx context.Context, r *request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic", "method", r.method, "panic", p, "stack", string(debug.Stack()))
			err = Errorf(InternalError, "internal error in %s; the log has the details", r.method)
		}
	}()
	return c.handle.Request(ctx, r.method, r.params)
}

// wireError makes the error of a reply from a handler's.
func wireError(ctx context.Context, err error) *Error {
	var own *Error
	if errors.As(err, &own) && own.remote == "" {
		return own
	}
	if errors.Is(context.Cause(ctx), ErrCancelled) || errors.Is(err, context.Canceled) {
		return Errorf(RequestCancelled, "%s", ErrCancelled)
	}
	return Errorf(RequestFailed, "%s", err)
}

// Waiting tells the connection that the request of ctx only waits, for a person
// or for another request: it gives up its slot until done is called, so that a
// full house of such requests can't keep out the one that ends their waiting.
// Call does it by itself. With any other context it does nothing.
func Waiting(ctx context.Context) (done func()) {
	r, _ := ctx.Value(requestKey{}).(*request)
	if r == nil || !r.slot {
		return func() {}
	}
	if r.conn.leave(r) {
		go r.conn.read()
	}
	r.conn.idle(r, +1)
	return func() { r.conn.idle(r, -1) }
}

func (c *Conn) idle(r *request, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := r.idle
	r.idle += n
	switch {
	case was == 0 && r.idle == 1:
		c.working--
		if c.working < c.opts.Concurrency {
			if next := c.next(); next != nil {
				c.start(next)
			}
		}
	case was == 1 && r.idle == 0:
		c.working++ // perhaps over the limit for a while: waking up never waits
	}
}
