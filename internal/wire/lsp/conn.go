package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// Handler is what a connection calls for the messages of the peer.
type Handler interface {
	// Notification is called inline, in wire order, and should be quick. ctx ends
	// with the connection. params is nil when absent and may be kept.
	Notification(ctx context.Context, method string, params json.RawMessage)
	// Request may take its time: each has a goroutine of its own, except initialize
	// and shutdown, which the reader waits for. ctx ends when the peer cancels the request or is
	// gone; context.Cause says which. An *Error is the reply as it is; any other
	// error is RequestFailed, or RequestCancelled when the request was cancelled.
	Request(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// Options of a connection. The zero value is good.
type Options struct {
	Log          *slog.Logger                    // nil is silence
	MaxFrame     int                             // bytes of a message, default 64 MiB
	Concurrency  int                             // requests working at once, default 64; who takes longer than a second is not counted
	MaxPending   int                             // bytes of requests that are not answered, default 256 MiB
	MaxUnsent    int                             // bytes not yet written before senders wait, default 4 MiB
	WriteTimeout time.Duration                   // a write without progress, then the peer counts as gone; default 30 s
	DrainTimeout time.Duration                   // how long Run waits for requests at its end, default 5 s
	Trace        func(sent bool, message []byte) // sees every message body and must not keep it
	Ended        func()                          // is told, before requests are waited for, that Run ends

	// Dropped is told of messages that could not be read, in their order: what is
	// wrong, the method, and the beginning of the parameters, as far as they are
	// known. It must not wait.
	Dropped func(what, method, params string)
}

// Conn is one end of a connection. Run reads it; everything else may be called
// from any goroutine, also before Run.
type Conn struct {
	r      io.Reader
	handle Handler
	opts   Options
	log    *slog.Logger
	frames *frameReader
	out    *writer
	gone   chan struct{}   // closed when no more replies will come
	base   context.Context // of all requests: that of Run, ended with the cause ErrPeerGone

	handlers sync.WaitGroup
	mu       sync.Mutex
	closed   bool // guards handlers against additions during Wait
	requests map[jsonrpc2.ID]*request
	queue    []*request // that wait for their work
	working  int        // requests that work, and not for longer than longRequest
	pending  int        // bytes of requests that are not answered
	calls    map[int64]*Pending
	lastCall int64
}

// NewConn makes a connection over a pair of byte streams. h may be nil when
// Handle is called before Run.
func NewConn(r io.Reader, w io.Writer, h Handler, opts Options) *Conn {
	opts.MaxFrame = cmp.Or(opts.MaxFrame, 64<<20)
	opts.Concurrency = cmp.Or(opts.Concurrency, 64)
	opts.MaxPending = cmp.Or(opts.MaxPending, 256<<20)
	opts.MaxUnsent = cmp.Or(opts.MaxUnsent, 4<<20)
	opts.WriteTimeout = cmp.Or(opts.WriteTimeout, 30*time.Second)
	opts.DrainTimeout = cmp.Or(opts.DrainTimeout, 5*time.Second)
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Conn{
		r: r, handle: h, opts: opts, log: log,
		frames:   newFrameReader(r, opts.MaxFrame),
		out:      newWriter(w, opts.MaxUnsent, opts.WriteTimeout),
		gone:     make(chan struct{}),
		requests: map[jsonrpc2.ID]*request{},
		calls:    map[int64]*Pending{},
	}
}

// Handle sets the handler. It must be called before Run.
func (c *Conn) Handle(h Handler) { c.handle = h }

// Run handles messages until the peer closes its end or sends exit, which are no
// errors, until the stream is broken, the peer stops reading, or ctx ends. All
// requests are then cancelled and waited for, at most DrainTimeout. A read that
// is still blocked is ended by closing the reader, if it can be closed.
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
		err = fmt.Errorf("writing to the client: %w", c.out.err)
		// A client that hangs up closes both streams, and it is chance which
		// end is seen first: its orderly leaving is no error.
		select {
		case err = <-ended:
			reading = false
		case <-time.After(hangUpGrace):
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	if c.opts.Ended != nil {
		c.opts.Ended()
	}
	cancel(ErrPeerGone)
	c.hangUp()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		c.handlers.Wait()
		c.out.close()
		<-written
		if reading {
			closeStream(c.r)
			<-ended
		}
	}()
	timeout := time.NewTimer(c.opts.DrainTimeout)
	defer timeout.Stop()
	select {
	case <-drained:
	case <-timeout.C:
		c.log.Warn("gave up waiting at the end of the connection", "after", c.opts.DrainTimeout)
		c.out.fail(ErrPeerGone)
		closeStream(c.out.w)
		closeStream(c.r)
	}
	return err
}

// hangUpGrace is how long the end of the input may follow a write that failed.
const hangUpGrace = 200 * time.Millisecond

// hangUp ends what waits for the peer and lets no more requests in.
func (c *Conn) hangUp() {
	c.mu.Lock()
	c.closed = true
	close(c.gone)
	var queued []jsonrpc2.ID
	for _, r := range c.queue {
		if c.requests[r.id] == r { // else it was cancelled
			queued = append(queued, r.id)
		}
	}
	c.queue = nil
	c.mu.Unlock()
	for _, id := range queued {
		c.refuse(id, Errorf(RequestCancelled, "the connection ended"))
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
		frame, err := c.frames.next()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var header *headerError
		var size *sizeError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &header):
			c.log.Warn("bad frame, looking for the next", "error", header)
			c.refuse(jsonrpc2.ID{}, Errorf(ParseError, "bad frame: %s", header))
			continue
		case errors.As(err, &size):
			c.drop(outlined(&size.outline), Errorf(InvalidRequest, "%s", size))
			continue
		case err != nil:
			return fmt.Errorf("reading from the client: %w", err)
		}
		if c.opts.Trace != nil {
			c.opts.Trace(false, frame)
		}
		m, bad := parse(frame)
		switch {
		case m.kind == jsonrpc2.MessageViewResponseResult || m.kind == jsonrpc2.MessageViewResponseError:
			if bad != nil {
				m.err = bad
			}
			c.deliver(m)
		case bad != nil:
			c.drop(m, bad)
		case m.kind == jsonrpc2.MessageViewCall:
			c.request(m, len(frame))
		case m.method == "$/cancelRequest":
			c.cancel(m.params)
		default:
			c.notification(ctx, m)
			if m.method == "exit" {
				return nil
			}
		}
	}
}

// drop answers a message that can't be read: a request with an error, also when
// its id is not known, and who waits for a reply is told that there is none.
func (c *Conn) drop(m message, why *Error) {
	c.log.Warn("bad message", "error", why)
	if m.kind == jsonrpc2.MessageViewResponseError {
		m.err = why
		c.deliver(m)
	} else {
		c.refuse(m.id, why)
	}
	if c.opts.Dropped != nil {
		c.opts.Dropped(why.Message, m.method, string(m.params))
	}
}

// notification hands one to the handler. A panic costs only this message.
func (c *Conn) notification(ctx context.Context, m message) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic", "method", m.method, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	c.handle.Notification(ctx, m.method, m.params)
}

// refuse answers with an error from the read loop, which doesn't wait for a slow
// peer until twice as much is unsent: cancellations have to get through.
func (c *Conn) refuse(id jsonrpc2.ID, err *Error) {
	c.reply(errorFrame(id, err), 2*c.opts.MaxUnsent, false)
}

// reply sends one, itself if direct. It can fail only by the end of the
// connection, for which nobody needs another error.
func (c *Conn) reply(f *frame, limit int, direct bool) {
	c.trace(f)
	_ = c.out.send(context.Background(), f, limit, direct)
}

func (c *Conn) send(ctx context.Context, f *frame, limit int) error {
	c.trace(f)
	return c.out.send(ctx, f, limit, false)
}

func (c *Conn) trace(f *frame) {
	if c.opts.Trace != nil {
		c.opts.Trace(true, f.body())
	}
}
