package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
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
	Log          *slog.Logger  // nil is silence
	MaxFrame     int           // bytes of a message, default 64 MiB
	Concurrency  int           // requests working at once, default 64; who takes longer than a second is not counted
	MaxPending   int           // bytes of requests that are not answered, default 256 MiB
	MaxUnsent    int           // bytes not yet written before senders wait, default 4 MiB
	WriteTimeout time.Duration // a write without progress, then the peer counts as gone; default 30 s
	DrainTimeout time.Duration // how long Run waits for requests at its end, default 5 s
	Ended        func()        // is called when Run ends, before requests are waited for

	// Dropped gets messages that could not be read, in their order: what is
	// wrong, the method, and the beginning of the parameters, as far as they are
	// known. It must not wait.
	Dropped func(what, method, params string)
}

// Conn is one end of a connection. Run reads it; everything else may be called
// from any goroutine, also before Run.
type Conn struct{ *rpc.Conn }

// Pending is a request to the peer that is under way.
type Pending = rpc.Pending

// NewConn makes a connection over a pair of byte streams.
func NewConn(r io.Reader, w io.Writer, h Handler, opts Options) *Conn {
	unsent := cmp.Or(opts.MaxUnsent, 4<<20)
	return &Conn{rpc.New(rpc.Headers(r, cmp.Or(opts.MaxFrame, 64<<20)), w, &handler{h, opts, work(h)}, rpc.Options{
		Log: opts.Log, Gone: ErrPeerGone,
		Cancel: "$/cancelRequest", CancelID: "id", Last: "exit",
		// Inline requests see the documents exactly as they are at their place in the
		// stream, and nothing behind them starts before they end.
		Inline: map[string]bool{"initialize": true, "shutdown": true},
		// Lossy notifications only tell what happens. Dropping them keeps them from
		// using up the memory or the time of the replies.
		Lossy:       map[string]bool{"$/progress": true, "$/logTrace": true, "window/logMessage": true, "telemetry/event": true, "sidecar/event": true},
		Concurrency: cmp.Or(opts.Concurrency, 64), MaxPending: cmp.Or(opts.MaxPending, 256<<20), MaxUnsent: unsent, MaxSend: unsent,
		WriteTimeout: cmp.Or(opts.WriteTimeout, 30*time.Second), DrainTimeout: cmp.Or(opts.DrainTimeout, 5*time.Second), Abandon: true,
	})}
}

// Run handles messages until the peer closes its end or sends exit, which are no
// errors, until the stream is broken, the peer stops reading, or ctx ends. All
// requests are then cancelled and waited for, at most DrainTimeout. A read that
// is still blocked is ended by closing the reader, if it can be closed.
func (c *Conn) Run(ctx context.Context) error {
	err := c.Conn.Run(ctx)
	var write *rpc.WriteError
	switch {
	case errors.As(err, &write) && write.Unread > 0:
		return fmt.Errorf("writing to the client: the client has not read for %v", write.Unread)
	case write != nil:
		return fmt.Errorf("writing to the client: %w", write)
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("reading from the client: %w", err)
	}
	return err
}

// Start sends a request. Wait must follow.
func (c *Conn) Start(ctx context.Context, method string, params any) (*Pending, error) {
	return c.Conn.Start(ctx, method, params, nil)
}

// handler makes an rpc.Handler of a Handler.
type handler struct {
	Handler
	opts Options
	work rpc.Work
}

// work has a handler answer requests.
func work(h Handler) rpc.Work {
	return func(ctx context.Context, r *rpc.Request) (any, error) { return h.Request(ctx, r.Method, r.Params) }
}

func (h *handler) Prepare(_ context.Context, r *rpc.Request) (rpc.Work, error) {
	if strings.HasPrefix(r.Method, "$/") {
		return nil, Errorf(MethodNotFound, "there is no such request below $/")
	}
	return h.work, nil
}

// Explain makes the error of a reply.
func (h *handler) Explain(ctx context.Context, r *rpc.Request, err error) *Error {
	var own *Error
	var encode *rpc.EncodeError
	var busy *rpc.BusyError
	switch {
	case errors.As(err, &own) && !own.Remote():
		return own
	case errors.Is(err, rpc.ErrPanic):
		return Errorf(InternalError, "internal error in %s; the log has the details", r.Method)
	case errors.As(err, &encode):
		return Errorf(InternalError, "the result of %s can't be encoded", r.Method)
	case errors.Is(err, rpc.ErrInUse):
		return Errorf(InvalidRequest, "%s", err)
	case errors.As(err, &busy):
		return Errorf(ServerCancelled, "too many requests are pending; try again later")
	case errors.Is(err, rpc.ErrEnded):
		return Errorf(RequestCancelled, "%s", err)
	case errors.Is(context.Cause(ctx), ErrCancelled), errors.Is(err, context.Canceled), errors.Is(err, ErrCancelled):
		return Errorf(RequestCancelled, "%s", ErrCancelled)
	}
	return Errorf(RequestFailed, "%s", err)
}

func (h *handler) Dropped(m rpc.Message, why *Error) {
	if h.opts.Dropped != nil && why != nil {
		h.opts.Dropped(why.Message, m.Method, string(m.Params))
	}
}

func (h *handler) Ended(error) {
	if h.opts.Ended != nil {
		h.opts.Ended()
	}
}
