package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// request is one of the peer's that has not been answered. Conn.mu guards what
// changes.
type request struct {
	id     jsonrpc2.ID
	method string
	params json.RawMessage
	size   int // bytes that it counts in Conn.pending
	inline bool
	ctx    context.Context
	cancel context.CancelCauseFunc // nil while it is queued
	slot   bool                    // counts in Conn.working
}

// Inline requests see the documents exactly as they are at their place in the
// stream, and nothing behind them starts before they end.
func inline(method string) bool { return method == "initialize" || method == "shutdown" }

// request answers or starts one; it waits for inline requests alone.
func (c *Conn) request(m message, size int) {
	if strings.HasPrefix(m.method, "$/") {
		c.refuse(m.id, Errorf(MethodNotFound, "there is no such request below $/"))
		return
	}
	const overhead = 512 // of the bookkeeping for one request
	r := &request{id: m.id, method: m.method, params: m.params, size: size + overhead, inline: inline(m.method)}
	if err := c.admit(r); err != nil {
		c.refuse(m.id, err)
		return
	}
	if r.inline {
		c.serve(r, func() {})
	}
}

// admit registers r and starts it or puts it into the queue, unless its id is in
// use or too much is pending.
func (c *Conn) admit(r *request) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.requests[r.id] != nil:
		return Errorf(InvalidRequest, "the id is in use")
	case c.closed:
		return Errorf(RequestCancelled, "the connection ended")
	case !r.inline && c.pending+r.size > c.opts.MaxPending:
		return Errorf(ServerCancelled, "too many requests are pending; try again later")
	}
	c.requests[r.id] = r
	c.pending += r.size
	if r.inline {
		c.begin(r)
		return nil
	}
	c.queue = append(c.queue, r)
	c.startNext()
	return nil
}

// begin makes r one that can be cancelled and is waited for. It needs mu.
func (c *Conn) begin(r *request) {
	r.ctx, r.cancel = context.WithCancelCause(c.base)
	c.handlers.Add(1)
}

// startNext starts queued requests, as many as may work. It needs mu.
func (c *Conn) startNext() {
	for c.working < c.opts.Concurrency && len(c.queue) > 0 && !c.closed {
		r := c.queue[0]
		c.queue[0] = nil
		if c.queue = c.queue[1:]; len(c.queue) == 0 {
			c.queue = nil
		}
		if c.requests[r.id] != r {
			continue // it was cancelled and is answered already
		}
		r.slot = true
		c.working++
		c.begin(r)
		go c.work(r)
	}
}

// longRequest is how long a handler may hold a slot. One that waits for a person
// or for another request takes longer, and the request that ends its waiting must
// get in.
const longRequest = time.Second

// work serves r in a slot. A handler that returns within longRequest holds the
// slot until its reply is on its way, however long that takes: replies that the
// peer does not read would fill the memory.
func (c *Conn) work(r *request) {
	long := time.AfterFunc(longRequest, func() { c.giveSlot(r) })
	c.serve(r, func() { long.Stop() })
	c.giveSlot(r)
}

// giveSlot lets the next request work, once.
func (c *Conn) giveSlot(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.slot {
		r.slot = false
		c.working--
		c.startNext()
	}
}

// cancel ends a request on the peer's word.
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
		if stop = r.cancel; stop == nil { // queued
			delete(c.requests, id)
			c.pending -= r.size
			r.params = nil // it stays in the queue until its turn
		}
	}
	c.mu.Unlock()
	switch {
	case stop != nil:
		stop(ErrCancelled)
	case r != nil:
		c.refuse(id, Errorf(RequestCancelled, "%s", ErrCancelled))
	}
}

// serve runs the handler for r and answers it. returned is called in between.
func (c *Conn) serve(r *request, returned func()) {
	defer c.handlers.Done()
	defer r.cancel(nil)
	result, err := c.call(r)
	returned()
	var f *frame
	if err == nil {
		if f, err = resultFrame(r.id, result); err != nil {
			c.log.Error("result can't be encoded", "method", r.method, "error", err)
			err = Errorf(InternalError, "the result of %s can't be encoded", r.method)
		}
	}
	if err != nil {
		f = errorFrame(r.id, wireError(r.ctx, err))
	}
	limit := c.opts.MaxUnsent
	if r.inline {
		limit *= 2 // the reader waits for it, see refuse
	}
	c.mu.Lock()
	delete(c.requests, r.id) // the id is free before the peer can have seen the reply
	c.mu.Unlock()
	c.reply(f, limit, !r.inline)
	c.mu.Lock()
	c.pending -= r.size
	c.mu.Unlock()
}

// call is the one recover of a request.
func (c *Conn) call(r *request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic", "method", r.method, "panic", p, "stack", string(debug.Stack()))
			err = Errorf(InternalError, "internal error in %s; the log has the details", r.method)
		}
	}()
	return c.handle.Request(r.ctx, r.method, r.params)
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
