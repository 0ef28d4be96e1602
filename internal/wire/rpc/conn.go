package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"runtime/debug"
	"sync"
	"time"
)

// Handler gives messages a meaning. All of it but the work of requests is called
// one at a time, in wire order, while nothing more is read.
type Handler interface {
	// Notification should be quick. ctx ends with the connection. params is nil
	// when absent and may be kept.
	Notification(ctx context.Context, method string, params json.RawMessage)
	// Prepare returns what answers a request, which has a goroutine of its own
	// unless Options.Inline names the method, or an error that answers it at once.
	// ctx ends when the request is cancelled or the peer is gone; context.Cause
	// says which. The result may be a Reply.
	Prepare(ctx context.Context, r *Request) (Work, error)
	// Explain puts an error into the protocol's words: one that Prepare or the work
	// has returned, or one of this package's.
	Explain(ctx context.Context, r *Request, err error) *Error
	// Dropped gets a message that can't be used, after it was answered. A reply
	// that nobody waits for has no why. It must not wait.
	Dropped(m Message, why *Error)
	// Ended is called when Run ends, before requests are waited for. err is nil
	// when the peer has ended its stream.
	Ended(err error)
}

// Reply is a result, and what is done once it is on its way.
type Reply struct {
	Result any
	Then   func()
}

// Options are what protocols and sides differ in. Bounds that are 0 are none,
// except MaxUnsent, MaxSend and DrainTimeout.
type Options struct {
	Log  *slog.Logger
	Gone error // of calls and requests when the connection ends

	Cancel   string          // the notification that takes a request back
	CancelID string          // the member of its parameters that names the request
	Inline   map[string]bool // requests whose work the reader waits for, and that are always let in
	Lossy    map[string]bool // notifications that are dropped while the peer is far behind
	Last     string          // the notification after which Run ends
	Prefix   string          // of the ids of calls, which are numbers without it
	Nameless bool            // a request whose id is in use is answered with the id null

	Concurrency int // requests working at once; who takes longer than a second is not counted
	MaxRequests int // requests that are not answered
	MaxPending  int // bytes of these
	MaxNameless int // bad messages without an id that are answered
	MaxUnsent   int // bytes not yet written before answers wait
	MaxSend     int // bytes not yet written before calls and notifications wait

	WriteTimeout time.Duration // a write without progress, then the peer counts as gone
	DrainTimeout time.Duration // how long requests may end, and answers be written, at the end of Run
	Abandon      bool          // requests that take longer are not waited for
}

// Conn is one end of a connection. Run reads it; everything else may be called
// from any goroutine, also before Run.
type Conn struct {
	in     Framing
	out    *writer
	handle Handler
	opts   Options
	log    *slog.Logger
	base   context.Context // of all requests: that of Run, ended with the cause Options.Gone

	handlers sync.WaitGroup // requests that are not answered
	mu       sync.Mutex
	closed   bool // guards handlers against additions during Wait
	requests map[ID]*Request
	queue    []*Request // that wait for their work
	working  int        // requests that work, and not for longer than longRequest
	pending  int        // bytes of requests that are not answered
	calls    map[ID]*Pending
	lastCall int64
	nameless int // bad messages without an id; the reader's own
}

// New makes a connection. h may be used once Run is called.
func New(in Framing, w io.Writer, h Handler, o Options) *Conn {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Concurrency == 0 {
		o.Concurrency = math.MaxInt
	}
	c := &Conn{in: in, handle: h, opts: o, log: o.Log, requests: map[ID]*Request{}, calls: map[ID]*Pending{}}
	c.out = newWriter(w, in, &c.opts)
	return c
}

// Run handles messages until the peer closes its end or sends the last one, which
// are no errors, until the stream is broken, the peer stops reading (a *WriteError),
// or ctx ends. All requests are then cancelled and waited for: for DrainTimeout with
// the streams open, then with both closed, if they can be.
func (c *Conn) Run(ctx context.Context) error {
	base, cancel := context.WithCancelCause(ctx)
	c.base = base
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.out.run()
	}()
	ended := make(chan error, 1)
	go func() { ended <- c.read(base) }()

	var err error
	reading := true
	select {
	case err = <-ended:
		reading = false
	case <-c.out.dead:
		err = c.out.err
		var late *WriteError
		if errors.As(err, &late) && late.Unread > 0 {
			break
		}
		// A peer that hangs up closes both streams, and it is chance which
		// end is seen first: its orderly leaving is no error.
		select {
		case err = <-ended:
			reading = false
		case <-time.After(hangUpGrace):
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.handle.Ended(err)
	cancel(c.opts.Gone)
	c.hangUp()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		c.handlers.Wait()
		c.out.close()
		<-written
		if reading {
			c.in.Close()
			<-ended
		}
	}()
	timeout := time.NewTimer(c.opts.DrainTimeout)
	defer timeout.Stop()
	select {
	case <-drained:
		return err
	case <-timeout.C:
	}
	c.out.fail(c.opts.Gone)
	closeStream(c.out.w)
	c.in.Close()
	if c.opts.Abandon {
		c.log.Warn("gave up waiting at the end of the connection", "after", c.opts.DrainTimeout)
		return err
	}
	<-drained
	return err
}

// hangUpGrace is how long the end of the input may follow a write that failed.
const hangUpGrace = 200 * time.Millisecond

// hangUp ends what waits for the peer and lets no more requests in.
func (c *Conn) hangUp() {
	c.mu.Lock()
	c.closed = true
	var queued []*Request
	for _, r := range c.queue {
		if r.work != nil { // else it was cancelled
			r.work = nil
			queued = append(queued, r)
		}
	}
	calls := c.calls
	c.queue, c.calls = nil, nil
	c.mu.Unlock()
	for _, p := range calls {
		p.complete(nil, c.opts.Gone)
	}
	for _, r := range queued {
		c.finish(r, nil, ErrEnded, true)
	}
}

func closeStream(stream any) {
	if closer, ok := stream.(io.Closer); ok {
		_ = closer.Close()
	}
}

// read is the read loop.
func (c *Conn) read(ctx context.Context) error {
	for {
		m, err := c.in.Next()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			if !c.bad(m, err) {
				return err
			}
		case m.Reply:
			if !c.deliver(m) {
				c.handle.Dropped(m, nil)
			}
		case m.ID.Valid():
			c.request(m)
		case m.Method == c.opts.Cancel:
			c.cancel(m.Params)
		default:
			c.notification(ctx, m)
			if m.Method == c.opts.Last && c.opts.Last != "" {
				return nil
			}
		}
	}
}

// bad answers a message that can't be used: a request with an error, also when
// its id is not known, and who waits for a reply gets why there is none. It reports
// false for an error that ends the stream.
func (c *Conn) bad(m Message, err error) bool {
	var why *Error
	if !errors.As(err, &why) {
		return false
	}
	c.log.Warn("bad message", "method", m.Method, "error", why)
	if m.Reply {
		m.Err = why
		c.deliver(m)
	} else {
		c.refuse(m, why)
	}
	if !why.frame {
		c.handle.Dropped(m, why)
	}
	return true
}

// refuse answers from the read loop. Only so many messages without an id are
// answered: more help nobody, and a peer that doesn't read them is not to be flooded.
func (c *Conn) refuse(m Message, why *Error) {
	if !m.ID.Valid() {
		c.nameless++
		if c.opts.MaxNameless > 0 && c.nameless > c.opts.MaxNameless {
			return
		}
	}
	c.reply(errorFrame(m.ID, why), true)
}

// notification hands one to the handler.
func (c *Conn) notification(ctx context.Context, m Message) {
	defer c.caught(m.Method)
	c.handle.Notification(ctx, m.Method, m.Params)
}

// caught is deferred around what handlers do. A panic costs only this message.
func (c *Conn) caught(method string) {
	if p := recover(); p != nil {
		c.log.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
	}
}

// reply sends an answer. It can fail only by the end of the connection, for which
// nobody needs another error. The reader doesn't wait for a slow peer until twice
// as much is unsent: cancellations have to get through. Who is not the reader may
// write the answer himself.
func (c *Conn) reply(f *frame, reader bool) {
	limit, by := c.opts.MaxUnsent, sendDirect
	if reader {
		limit, by = 2*limit, sendQueued
	}
	_ = c.out.send(context.Background(), f, limit, by)
}
