package lsp

import (
	"context"

	"go.lsp.dev/jsonrpc2"
)

// Pending is a request to the peer that is under way.
type Pending struct {
	conn   *Conn
	id     int64
	method string
	reply  chan message // gets at most one
}

// lossy notifications only tell what happens. They are dropped when the peer is
// far behind, so that they can't use up the memory or the time of the replies.
var lossy = map[string]bool{
	"$/progress":        true,
	"$/logTrace":        true,
	"window/logMessage": true,
	"telemetry/event":   true,
	"sidecar/event":     true,
}

// Notify sends a notification. params nil sends none. It waits while the peer is
// behind, except for progress, logs and events: those are ErrDropped then.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	if lossy[method] && c.out.crowded() {
		return ErrDropped
	}
	frame, err := requestFrame(jsonrpc2.ID{}, method, params)
	if err != nil {
		return err
	}
	return c.send(ctx, frame, c.opts.MaxUnsent)
}

// Call sends a request and waits for the reply, which is decoded into result
// unless that is nil. An error reply is an *Error, the end of the connection is
// ErrPeerGone, and when ctx ends the peer is told and ctx.Err() returned.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	p, err := c.Start(ctx, method, params)
	if err != nil {
		return err
	}
	return p.Wait(ctx, result)
}

// Start sends a request. Wait must follow.
func (c *Conn) Start(ctx context.Context, method string, params any) (*Pending, error) {
	p := &Pending{conn: c, method: method, reply: make(chan message, 1)}
	c.mu.Lock()
	c.lastCall++
	p.id = c.lastCall
	c.calls[p.id] = p
	c.mu.Unlock()
	frame, err := requestFrame(jsonrpc2.NewNumberID(p.id), method, params)
	if err == nil {
		err = c.send(ctx, frame, c.opts.MaxUnsent)
	}
	if err != nil {
		p.forget()
		return nil, err
	}
	return p, nil
}

// Cancel asks the peer to stop. The reply still comes.
func (p *Pending) Cancel() error {
	params := struct {
		ID int64 `json:"id"`
	}{p.id}
	frame, err := requestFrame(jsonrpc2.ID{}, "$/cancelRequest", params)
	if err != nil {
		return err
	}
	return p.conn.send(context.Background(), frame, 2*p.conn.opts.MaxUnsent)
}

// Wait waits for the reply as Call does.
func (p *Pending) Wait(ctx context.Context, result any) error {
	defer p.forget()
	select {
	case m := <-p.reply:
		return p.decode(m, result)
	case <-ctx.Done():
		_ = p.Cancel()
		return ctx.Err()
	case <-p.conn.gone:
	}
	select { // it may have come just before the end
	case m := <-p.reply:
		return p.decode(m, result)
	default:
		return ErrPeerGone
	}
}

func (p *Pending) decode(m message, result any) error {
	if m.err != nil {
		return &Error{Code: m.err.Code, Message: m.err.Message, Data: m.err.Data, remote: p.method}
	}
	if result == nil {
		return nil
	}
	if err := Unmarshal(m.result, result); err != nil {
		return &Error{Code: InvalidRequest, Message: "bad result: " + err.Error(), remote: p.method}
	}
	return nil
}

func (p *Pending) forget() {
	p.conn.mu.Lock()
	defer p.conn.mu.Unlock()
	delete(p.conn.calls, p.id)
}

// deliver hands a reply to whoever waits. One that nobody waits for, any more or
// at all, is ignored.
func (c *Conn) deliver(m message) {
	id, ok := m.id.Number()
	c.mu.Lock()
	p := c.calls[id]
	delete(c.calls, id)
	c.mu.Unlock()
	if !ok || p == nil {
		c.log.Debug("reply that nobody waits for", "id", m.id)
		return
	}
	p.reply <- m
}
