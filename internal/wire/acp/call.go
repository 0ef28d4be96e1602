package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// call is a request to the agent that is under way.
type call struct {
	id    string
	hook  func(json.RawMessage, error) // runs once, before anything that came later is handled
	reply chan error                   // gets one, after the hook
	value json.RawMessage              // may be read after reply
}

// settle ends a call. Whoever has taken it out of Conn.calls calls this.
func (p *call) settle(m message, err error) {
	if m.err != nil {
		err = m.err
	}
	p.value = m.result
	if p.hook != nil {
		p.hook(m.result, err)
	}
	p.reply <- err
}

// start sends a request. It doesn't wait: callers that must not send too much
// wait for the answer.
func (c *Conn) start(method string, params any, hook func(json.RawMessage, error)) (*call, error) {
	c.mu.Lock()
	c.lastCall++
	p := &call{id: strconv.FormatInt(c.lastCall, 10), hook: hook, reply: make(chan error, 1)}
	err := c.err
	if err == nil {
		c.calls[p.id] = p
	}
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	err = c.send(json.RawMessage(p.id), method, params)
	if err != nil && c.forget(p) {
		return nil, err
	}
	return p, nil
}

// send sends a request, or a notification when id is nil.
func (c *Conn) send(id json.RawMessage, method string, params any) error {
	line, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Method  string          `json:"method"`
		Params  any             `json:"params,omitempty"`
	}{"2.0", id, method, params})
	if err != nil {
		return fmt.Errorf("writing %s: %w", method, err)
	}
	return c.out.send(c.base, append(line, '\n'), true)
}

// forget reports whether the call was still open.
func (c *Conn) forget(p *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.calls[p.id] == p
	delete(c.calls, p.id)
	return open
}

// deliver hands an answer to whoever waits.
func (c *Conn) deliver(m message) {
	c.mu.Lock()
	p := c.calls[string(m.id)]
	delete(c.calls, string(m.id))
	if p == nil {
		c.stats.Replies++
	}
	c.mu.Unlock()
	if p == nil {
		c.log.Debug("an answer that nobody waits for", "id", string(m.id))
		return
	}
	defer c.caught("answer")
	p.settle(m, nil)
}

// Call sends a request that has no method here and waits for the answer, which
// is decoded into result unless that is nil.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	return c.call(ctx, c.opts.CallTimeout, method, params, result, nil)
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) error { return c.send(nil, method, params) }

func (c *Conn) call(ctx context.Context, timeout time.Duration, method string, params, result any, hook func(json.RawMessage, error)) error {
	p, err := c.start(method, params, hook)
	if err != nil {
		return err
	}
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case err = <-p.reply:
	case <-ctx.Done():
		err = c.giveUp(p, ctx.Err())
	case <-late.C:
		err = c.giveUp(p, fmt.Errorf("%w: %s after %v", ErrTimeout, method, timeout))
	}
	switch {
	case err != nil:
		return wrap(method, err)
	case result == nil || isNull(p.value):
		return nil
	}
	if err := json.Unmarshal(p.value, result); err != nil {
		return fmt.Errorf("the agent's answer to %s can't be read: %w", method, err)
	}
	return nil
}

// giveUp takes a call back, unless its answer has just come.
func (c *Conn) giveUp(p *call, why error) error {
	if !c.forget(p) {
		return <-p.reply
	}
	_ = c.send(nil, "$/cancel_request", map[string]any{"requestId": json.RawMessage(p.id)})
	p.settle(message{}, why)
	return <-p.reply
}

// wrap says which call failed, and what helps when it is known.
func wrap(method string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Code == CodeAuthRequired {
		return fmt.Errorf("%s: the agent wants you to sign in first: %w", method, err)
	}
	return fmt.Errorf("%s: %w", method, err)
}
