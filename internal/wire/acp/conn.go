package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
)

// Options of a connection. The zero value is good.
type Options struct {
	Log         *slog.Logger   // nil is silence
	Client      Implementation // who the agent is told to talk to
	MaxLine     int            // bytes of a message, default 32 MiB
	MaxQueued   int            // bytes of messages that wait, and of requests that are open, default 64 MiB
	MaxRequests int            // open requests of the agent, default 256
	MaxUnsent   int            // bytes not yet written before answers wait, default 8 MiB

	CallTimeout   time.Duration // an answer that is not a prompt's or a session's history, default 1 min
	LoadTimeout   time.Duration // a session's history, default 5 min
	CancelTimeout time.Duration // how long a new prompt waits for the end of a cancelled one, default 10 s
	WriteTimeout  time.Duration // a message that the agent doesn't read, default 30 s
}

// Stats count what came and was not used.
type Stats struct {
	Noise   int // lines that are no messages
	Bad     int // messages that are wrong
	Replies int // answers that nobody waits for
	Updates int // of sessions that are not open
}

// Conn is a connection to an agent. Its methods may be called from any goroutine.
type Conn struct {
	rpc      *rpc.Conn
	world    World
	opts     Options
	sessions *sessions
	base     context.Context // ends with the connection
	end      context.CancelFunc
	done     chan struct{}

	mu    sync.Mutex
	err   error // why it ended
	agent Initialized
}

// maxRefused bounds how many messages without an id are answered.
const maxRefused = 100

// Open starts a connection over an agent's output and input. Both are closed at
// its end, if they can be: else the end waits for the agent to close its output.
func Open(r io.Reader, w io.Writer, world World, opts Options) *Conn {
	opts.CallTimeout = cmp.Or(opts.CallTimeout, time.Minute)
	opts.LoadTimeout = cmp.Or(opts.LoadTimeout, 5*time.Minute)
	opts.CancelTimeout = cmp.Or(opts.CancelTimeout, 10*time.Second)
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	c := &Conn{world: world, opts: opts, done: make(chan struct{}), sessions: &sessions{open: map[string]*Session{}}}
	c.base, c.end = context.WithCancel(context.Background())
	h := &host{World: world, log: opts.Log, sessions: c.sessions, ended: c.fail, paths: map[string]chan struct{}{}}
	queued := cmp.Or(opts.MaxQueued, 64<<20)
	in := rpc.ReadAhead(rpc.Lines(r, cmp.Or(opts.MaxLine, 32<<20), h.noise), queued)
	c.rpc = rpc.New(in, w, h, rpc.Options{
		Log: opts.Log, Gone: ErrGone, Cancel: "$/cancel_request", CancelID: "requestId", Nameless: true,
		MaxRequests: cmp.Or(opts.MaxRequests, 256), MaxPending: queued, MaxNameless: maxRefused,
		MaxUnsent:    cmp.Or(opts.MaxUnsent, 8<<20),
		MaxSend:      math.MaxInt, // callers that must not send too much wait for the answer; cancellations must not wait
		WriteTimeout: cmp.Or(opts.WriteTimeout, 30*time.Second),
	})
	go func() {
		_ = c.rpc.Run(c.base) // fail has heard of it
		for _, stream := range []any{r, w} {
			if s, ok := stream.(io.Closer); ok {
				_ = s.Close()
			}
		}
		h.work.Wait()
		c.sessions.release()
		close(c.done)
	}()
	return c
}

// Close ends the connection: calls return ErrGone, the contexts of the agent's
// requests end, terminals are released. It doesn't wait; Done does.
func (c *Conn) Close() { c.fail(fmt.Errorf("%w: the connection was closed", ErrGone)) }

// Done is closed when the connection has ended and nothing of it works any more.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended, or nil.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Stats returns what was not used so far.
func (c *Conn) Stats() Stats {
	c.sessions.mu.Lock()
	defer c.sessions.mu.Unlock()
	return c.sessions.stats
}

// fail ends the connection, with the first error that there is.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	c.end()
}

// Call sends a request that has no method here and waits for the answer, which
// is decoded into result unless that is nil.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	return c.call(ctx, c.opts.CallTimeout, method, params, result, nil)
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) error { return c.rpc.Notify(c.base, method, params) }

func (c *Conn) call(ctx context.Context, timeout time.Duration, method string, params, result any, then func(json.RawMessage, error)) error {
	late, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var raw json.RawMessage
	p, err := c.rpc.Start(late, method, params, then)
	if err == nil {
		err = p.Wait(late, &raw)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return wrap(method, fmt.Errorf("%w: %s after %v", ErrTimeout, method, timeout))
	case err != nil:
		return wrap(method, c.own(err))
	case result == nil || isNull(raw):
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("the agent's answer to %s can't be read: %w", method, err)
	}
	return nil
}

// own is an error of the connection in this package's types.
func (c *Conn) own(err error) error {
	var e *rpc.Error
	switch {
	case errors.As(err, &e):
		return (*Error)(e)
	case errors.Is(err, ErrGone):
		return cmp.Or(c.Err(), err)
	}
	return err
}

// wrap says which call failed, and what helps when it is known.
func wrap(method string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Code == CodeAuthRequired {
		return fmt.Errorf("%s: the agent wants you to sign in first: %w", method, err)
	}
	return fmt.Errorf("%s: %w", method, err)
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
