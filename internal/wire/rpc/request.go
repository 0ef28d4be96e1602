package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Errors that Handler.Explain gets beside those of its own.
var (
	ErrInUse     = errors.New("the id is in use")
	ErrPanic     = errors.New("the handler has failed")
	ErrEnded     = errors.New("the connection ended")
	ErrCancelled = errors.New("cancelled by the client") // also the cause with which a request's context ends
)

// BusyError says that so many requests are open that one more is not let in.
type BusyError struct{ Open int }

func (e *BusyError) Error() string { return fmt.Sprintf("%d requests are open", e.Open) }

// EncodeError says that a result has no JSON.
type EncodeError struct{ Err error }

func (e *EncodeError) Error() string { return "the result can't be written: " + e.Err.Error() }
func (e *EncodeError) Unwrap() error { return e.Err }

// Request is one of the peer's that has not been answered. Conn.mu guards what
// changes.
type Request struct {
	ID     ID
	Method string
	Params json.RawMessage

	size   int // bytes that it counts in Conn.pending
	ctx    context.Context
	cancel context.CancelCauseFunc
	work   Work // nil unless it is queued
	slot   bool // counts in Conn.working
}

// Work answers a request.
type Work func(ctx context.Context, r *Request) (any, error)

// Cancel ends the request's context.
func (r *Request) Cancel(cause error) { r.cancel(cause) }

// request answers or starts one; it waits for inline requests alone.
func (c *Conn) request(m Message) {
	const overhead = 512 // of the bookkeeping for one request
	r := &Request{ID: m.ID, Method: m.Method, Params: m.Params, size: len(m.Raw) + overhead}
	r.ctx, r.cancel = context.WithCancelCause(c.base)
	inline := c.opts.Inline[r.Method]
	if err := c.admit(r, inline); err != nil {
		if c.opts.Nameless && errors.Is(err, ErrInUse) { // this id's answer would be taken for the first one's
			m.ID = ID{}
		}
		c.reply(errorFrame(m.ID, c.handle.Explain(r.ctx, r, err)), true)
		r.cancel(nil)
		return
	}
	work, err := c.prepare(r)
	switch {
	case err != nil:
		c.finish(r, nil, err, true)
	case inline:
		result, err := c.do(r, work)
		c.finish(r, result, err, true)
	default:
		r.work = work
		c.enqueue(r)
	}
}

// admit registers r, unless its id is in use or too much is pending.
func (c *Conn) admit(r *Request, always bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch open := len(c.requests); {
	case c.requests[r.ID] != nil:
		return ErrInUse
	case c.closed:
		return ErrEnded
	case always:
	case c.opts.MaxRequests > 0 && open >= c.opts.MaxRequests, c.opts.MaxPending > 0 && c.pending > 0 && c.pending+r.size > c.opts.MaxPending:
		return &BusyError{open}
	}
	c.requests[r.ID] = r
	c.pending += r.size
	c.handlers.Add(1)
	return nil
}

// enqueue lets r work as soon as it may.
func (c *Conn) enqueue(r *Request) {
	c.mu.Lock()
	closed := c.closed
	if !closed {
		c.queue = append(c.queue, r)
		c.startNext()
	}
	c.mu.Unlock()
	if closed {
		c.finish(r, nil, ErrEnded, true)
	}
}

// startNext starts queued requests, as many as may work. It needs mu.
func (c *Conn) startNext() {
	for c.working < c.opts.Concurrency && len(c.queue) > 0 {
		r := c.queue[0]
		c.queue[0] = nil
		if c.queue = c.queue[1:]; len(c.queue) == 0 {
			c.queue = nil
		}
		if r.work == nil {
			continue // it was cancelled and is answered already
		}
		r.slot = true
		c.working++
		go c.serve(r, r.work)
		r.work = nil
	}
}

// longRequest is how long a handler may hold a slot. One that waits for a person
// or for another request takes longer, and the request that ends its waiting must
// get in.
const longRequest = time.Second

// serve serves r in a slot. A handler that returns within longRequest holds the
// slot until its reply is on its way, however long that takes: replies that the
// peer does not read would fill the memory.
func (c *Conn) serve(r *Request, work Work) {
	long := time.AfterFunc(longRequest, func() { c.giveSlot(r) })
	result, err := c.do(r, work)
	long.Stop()
	c.finish(r, result, err, false)
	c.giveSlot(r)
}

// giveSlot lets the next request work, once.
func (c *Conn) giveSlot(r *Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.slot {
		r.slot = false
		c.working--
		c.startNext()
	}
}

// cancel ends a request on the peer's word. One that is queued is answered at once.
func (c *Conn) cancel(params json.RawMessage) {
	var p map[string]json.RawMessage
	_ = c.in.Decode(params, &p) // what is no object takes nothing back
	c.mu.Lock()
	r := c.requests[readID(p[c.opts.CancelID])]
	queued := r != nil && r.work != nil
	if queued {
		r.work, r.Params = nil, nil // it stays in the queue until its turn
	}
	c.mu.Unlock()
	switch {
	case queued:
		c.finish(r, nil, ErrCancelled, true)
	case r != nil:
		r.cancel(ErrCancelled)
	}
}

// prepare and do are the one guard of a request.
func (c *Conn) prepare(r *Request) (work Work, err error) {
	err = ErrPanic //nolint:wastedassign // it is what a panic leaves
	defer c.caught(r.Method)
	return c.handle.Prepare(r.ctx, r)
}

func (c *Conn) do(r *Request, work Work) (result any, err error) {
	err = ErrPanic //nolint:wastedassign // it is what a panic leaves
	defer c.caught(r.Method)
	return work(r.ctx, r)
}

// finish answers r, once.
func (c *Conn) finish(r *Request, result any, err error, reader bool) {
	defer c.handlers.Done()
	defer r.cancel(nil)
	reply, ok := result.(Reply)
	if ok {
		result = reply.Result
	}
	var f *frame
	if err == nil {
		if f, err = resultFrame(c.in, r.ID, result); err != nil {
			c.log.Error("result can't be encoded", "method", r.Method, "error", err)
			err = &EncodeError{err}
		}
	}
	if err != nil {
		f = errorFrame(r.ID, c.handle.Explain(r.ctx, r, err))
	}
	c.mu.Lock()
	delete(c.requests, r.ID) // the id is free before the peer can have seen the reply
	c.mu.Unlock()
	c.reply(f, reader)
	c.mu.Lock()
	c.pending -= r.size
	c.mu.Unlock()
	if reply.Then != nil {
		reply.Then()
	}
}
