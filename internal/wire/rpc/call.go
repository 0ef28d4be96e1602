package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
)

// ErrDropped says that a notification of Options.Lossy was not sent.
var ErrDropped = errors.New("the client doesn't read; notification dropped")

// Pending is a request to the peer that is under way.
type Pending struct {
	conn   *Conn
	id     ID
	method string
	then   func(json.RawMessage, error)
	done   chan struct{} // gets one, once the other two may be read
	result json.RawMessage
	err    error
}

// Notify sends a notification. params nil sends none. It waits while the peer is
// behind, except for lossy ones: those are ErrDropped then.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	by := sendQueued
	if c.opts.Lossy[method] {
		by = sendLossy
	}
	return c.send(ctx, ID{}, method, params, c.opts.MaxSend, by)
}

// Call sends a request and waits for the reply, which is decoded into result
// unless that is nil. An error reply is an *Error, the end of the connection is
// Options.Gone, and when ctx ends the request is taken back and ctx.Err() returned.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	p, err := c.Start(ctx, method, params, nil)
	if err != nil {
		return err
	}
	return p.Wait(ctx, result)
}

// Start sends a request. Wait must follow, or then must be given: it is called once
// with the reply, or with why there is none, before any later message is handled.
func (c *Conn) Start(ctx context.Context, method string, params any, then func(json.RawMessage, error)) (*Pending, error) {
	p := &Pending{conn: c, method: method, then: then, done: make(chan struct{}, 1)}
	c.mu.Lock()
	c.lastCall++
	p.id = numberID(c.lastCall)
	if c.opts.Prefix != "" {
		p.id = TextID(c.opts.Prefix + strconv.FormatInt(c.lastCall, 10))
	}
	closed := c.closed
	if !closed {
		c.calls[p.id] = p
	}
	c.mu.Unlock()
	if closed {
		return nil, c.opts.Gone
	}
	if err := c.send(ctx, p.id, method, params, c.opts.MaxSend, sendQueued); err != nil && c.take(p.id) != nil {
		return nil, err
	}
	return p, nil
}

// send sends a request, or a notification when there is no id.
func (c *Conn) send(ctx context.Context, id ID, method string, params any, limit int, by how) error {
	f, err := requestFrame(c.in, id, method, params)
	if err != nil {
		return err
	}
	return c.out.send(ctx, f, limit, by)
}

// take takes a call out of those that wait for a reply, for whoever completes it.
func (c *Conn) take(id ID) *Pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.calls[id]
	delete(c.calls, id)
	return p
}

// Cancel asks the peer to stop. The reply still comes.
func (p *Pending) Cancel() error {
	o := &p.conn.opts
	return p.conn.send(context.Background(), ID{}, o.Cancel, map[string]json.RawMessage{o.CancelID: json.RawMessage(p.id.String())}, max(o.MaxSend, 2*o.MaxUnsent), sendQueued)
}

// Wait waits for the reply as Call does.
func (p *Pending) Wait(ctx context.Context, result any) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		if p.conn.take(p.id) != nil {
			_ = p.Cancel()
			p.complete(nil, ctx.Err())
		}
		<-p.done
	}
	if p.err != nil || result == nil {
		return p.err
	}
	if err := p.conn.in.Decode(p.result, result); err != nil {
		return &Error{Code: InvalidRequest, Message: "bad result: " + err.Error(), remote: p.method}
	}
	return nil
}

// complete ends a call. Who has taken it calls this.
func (p *Pending) complete(result json.RawMessage, err error) {
	p.result, p.err = result, err
	defer func() { p.done <- struct{}{} }()
	if p.then != nil {
		defer p.conn.caught(p.method)
		p.then(result, err)
	}
}

// deliver hands a reply to whoever waits, and reports whether anybody did.
func (c *Conn) deliver(m Message) bool {
	p := c.take(m.ID)
	switch {
	case p == nil:
		c.log.Debug("reply that nobody waits for", "id", m.ID)
		return false
	case m.Err != nil:
		p.complete(nil, &Error{Code: m.Err.Code, Message: m.Err.Message, Data: m.Err.Data, remote: p.method})
	default:
		p.complete(m.Result, nil)
	}
	return true
}
