package acpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// Bounds of a connection.
const (
	maxLine     = 32 << 20 // bytes of a message
	maxRequests = 256      // of the client that are open
)

// errGone is the end of the connection.
var errGone = errors.New("the client is gone")

// out writes messages, one at a time.
type out struct {
	mu sync.Mutex
	w  io.Writer
}

// line writes one message, without its line end.
func (o *out) line(p []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := o.w.Write(append(p[:len(p):len(p)], '\n'))
	return err
}

type wire struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
}

// send sends a request, or a notification when id is nil.
func (o *out) send(id json.RawMessage, method string, params any) error {
	line, err := json.Marshal(wire{"2.0", id, method, params})
	if err != nil {
		return fmt.Errorf("writing %s: %w", method, err)
	}
	return o.line(line)
}

// answer answers a request. An id that is nil is one that can't be told.
func (o *out) answer(id json.RawMessage, result any, bad *acp.Error) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	reply := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result,omitempty"`
		Error   *acp.Error      `json:"error,omitempty"`
	}{"2.0", id, result, bad}
	line, err := json.Marshal(reply)
	if err != nil {
		reply.Result, reply.Error = nil, acp.Errorf(acp.CodeInternal, "the answer can't be written: %s", err)
		line, _ = json.Marshal(reply)
	}
	return o.line(line)
}

// conn is the connection to a client.
type conn struct {
	out
	in   *acp.Reader
	rw   io.Closer
	log  *slog.Logger
	name string // begins the ids of calls, so that an answer to an earlier connection is nobody's

	mu       sync.Mutex
	last     int64
	calls    map[string]chan acp.Envelope
	requests map[string]context.CancelFunc
	work     sync.WaitGroup
}

func newConn(rw io.ReadWriteCloser, log *slog.Logger) *conn {
	return &conn{
		out: out{w: rw}, in: acp.NewReader(rw, maxLine), rw: rw, log: log, name: rand.Text()[:8],
		calls: map[string]chan acp.Envelope{}, requests: map[string]context.CancelFunc{},
	}
}

// reply is what a request is answered with, and what is done once it was.
type reply struct {
	result any
	then   func()
}

// handler serves a client. begin is called for one message after the other; what takes
// its time is in the function that it returns.
type handler interface {
	begin(ctx context.Context, method string, params json.RawMessage) (func() (reply, error), error)
	heard(method string, params json.RawMessage) // a notification
}

// serve handles messages until the client has gone, or ctx ends. The connection is closed
// then, so that nobody goes on writing to a client that reads no more.
func (c *conn) serve(ctx context.Context, h handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.work.Wait()
	defer func() { _ = c.rw.Close() }()
	defer cancel()
	for {
		m, err := c.in.Next()
		var bad *acp.Error
		switch {
		case errors.As(err, &bad):
			c.log.Warn("a message of the client can't be used", "method", m.Method, "error", bad)
			if !m.Reply {
				err = c.answer(m.ID, nil, bad)
			} else {
				m.Err, err = bad, nil
				c.deliver(m)
			}
		case err != nil:
		case m.Reply:
			c.deliver(m)
		case m.ID != nil:
			err = c.request(ctx, h, m)
		case m.Method == "$/cancel_request":
			var p struct{ RequestID json.RawMessage }
			if json.Unmarshal(m.Params, &p) == nil {
				c.mu.Lock()
				if cancel := c.requests[string(p.RequestID)]; cancel != nil {
					cancel()
				}
				c.mu.Unlock()
			}
		default:
			_ = c.guard(m.Method, func() error { // a notification has no answer
				h.heard(m.Method, m.Params)
				return nil
			})
		}
		if errors.Is(err, io.EOF) || ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errGone, err)
		}
	}
}

// guard calls f. A panic costs only this message.
func (c *conn) guard(method string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
			err = acp.Errorf(acp.CodeInternal, "%s failed; the log says more", method)
		}
	}()
	return f()
}

// request begins to work on one.
func (c *conn) request(ctx context.Context, h handler, m acp.Envelope) error {
	ctx, cancel := context.WithCancel(ctx)
	id := string(m.ID)
	c.mu.Lock()
	var bad *acp.Error
	switch {
	case c.requests[id] != nil:
		m.ID, bad = nil, acp.Errorf(acp.CodeInvalidRequest, "a request with the id %.100s is open: give each request an id of its own", id)
	case len(c.requests) >= maxRequests:
		bad = acp.Errorf(acp.CodeInternal, "%d requests are open: wait for their answers before you send more", len(c.requests))
	default:
		c.requests[id] = cancel
	}
	c.mu.Unlock()
	if bad != nil {
		cancel()
		return c.answer(m.ID, nil, bad)
	}
	over := func(r reply, err error) error {
		cancel()
		c.mu.Lock()
		delete(c.requests, id)
		c.mu.Unlock()
		switch {
		case err != nil:
			err = c.answer(m.ID, nil, errorOf(err))
		case r.result == nil:
			err = c.answer(m.ID, struct{}{}, nil)
		default:
			err = c.answer(m.ID, r.result, nil)
		}
		if r.then != nil {
			r.then()
		}
		return err
	}
	var finish func() (reply, error)
	if err := c.guard(m.Method, func() (err error) {
		finish, err = h.begin(ctx, m.Method, m.Params)
		return err
	}); err != nil {
		return over(reply{}, err)
	}
	c.work.Go(func() {
		var r reply
		err := c.guard(m.Method, func() (err error) {
			r, err = finish()
			return err
		})
		_ = over(r, err) // a client that has gone needs no answer
	})
	return nil
}

// errorOf is an error as the client is told it.
func errorOf(err error) *acp.Error {
	var e *acp.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return acp.Errorf(acp.CodeCancelled, "the request was cancelled")
	}
	return acp.Errorf(acp.CodeInternal, "%s", err)
}

// deliver hands an answer to whoever waits.
func (c *conn) deliver(m acp.Envelope) {
	c.mu.Lock()
	reply := c.calls[string(m.ID)]
	delete(c.calls, string(m.ID))
	c.mu.Unlock()
	if reply != nil {
		reply <- m
	}
}

// call asks the client. When ctx ends the client is told that nobody waits.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	reply := make(chan acp.Envelope, 1)
	c.mu.Lock()
	c.last++
	id := json.RawMessage(strconv.Quote(c.name + "-" + strconv.FormatInt(c.last, 10)))
	c.calls[string(id)] = reply
	c.mu.Unlock()
	if err := c.send(id, method, params); err != nil {
		c.deliver(acp.Envelope{ID: id, Err: acp.Errorf(acp.CodeInternal, "%s", err)})
	}
	select {
	case m := <-reply:
		if m.Err != nil {
			return m.Err
		}
		return json.Unmarshal(m.Result, result)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.calls, string(id))
		c.mu.Unlock()
		_ = c.send(nil, "$/cancel_request", map[string]any{"requestId": id})
		return ctx.Err()
	}
}
