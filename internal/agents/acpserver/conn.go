package acpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
)

// Bounds of a connection.
const (
	maxLine     = 32 << 20 // bytes of a message
	maxRequests = 256      // of the client that are open
	maxUnsent   = 64 << 10 // bytes: who tells more than that waits until the client reads
	drainTime   = 5 * time.Second
)

// errGone is the end of the connection.
var errGone = errors.New("the client is gone")

func newConn(rw io.ReadWriteCloser, s *server) *rpc.Conn {
	return rpc.New(rpc.Lines(rw, maxLine, nil), rw, link{s}, rpc.Options{
		Log: s.o.Log, Gone: errGone, Cancel: "$/cancel_request", CancelID: "requestId", Nameless: true,
		Prefix:      rand.Text()[:8] + "-", // an answer to an earlier connection is nobody's
		MaxRequests: maxRequests, MaxUnsent: maxUnsent, MaxSend: maxUnsent, DrainTimeout: drainTime,
	})
}

// link hands a server what its client says.
type link struct{ server *server }

// Prepare implements rpc.Handler, as do the methods that follow.
func (l link) Prepare(ctx context.Context, r *rpc.Request) (rpc.Work, error) {
	finish, err := l.server.begin(ctx, r.Method, r.Params)
	if err != nil {
		return nil, err
	}
	return func(context.Context, *rpc.Request) (any, error) {
		result, err := finish()
		if result == nil {
			result = struct{}{}
		}
		return result, err
	}, nil
}

func (l link) Explain(_ context.Context, r *rpc.Request, err error) *rpc.Error {
	bad := acp.Explain(r, err)
	switch {
	case bad != nil:
	case errors.Is(err, rpc.ErrPanic):
		bad = acp.Errorf(acp.CodeInternal, "%s failed; the log says more", r.Method)
	default:
		bad = errorOf(err)
	}
	return (*rpc.Error)(bad)
}

func (l link) Notification(_ context.Context, method string, params json.RawMessage) {
	if method != "session/cancel" {
		return // others are not for us, as the protocol has it
	}
	if t, err := l.server.session(params); err == nil {
		t.cancel()
	}
}

func (l link) Dropped(rpc.Message, *rpc.Error) {} // the log has it
func (l link) Ended(error)                     {}

// errorOf is an error as the client is told it.
func errorOf(err error) *acp.Error {
	var e *acp.Error
	var theirs *rpc.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &theirs):
		return (*acp.Error)(theirs)
	case errors.Is(err, context.Canceled):
		return acp.Errorf(acp.CodeCancelled, "the request was cancelled")
	}
	return acp.Errorf(acp.CodeInternal, "%s", err)
}
