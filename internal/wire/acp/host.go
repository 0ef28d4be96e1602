package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
)

// host answers what the agent asks and hears what it tells: an rpc.Handler.
type host struct {
	World
	log      *slog.Logger
	ended    func(error)
	sessions *sessions
	work     sync.WaitGroup // what goes on beside the requests

	mu    sync.Mutex
	paths map[string]chan struct{} // closed at the end of the latest request about a file
}

// request is one of the agent's that is open.
type request struct {
	*rpc.Request
	ctx     context.Context
	session *Session // nil when it has none
}

// Prepare implements rpc.Handler.
func (h *host) Prepare(ctx context.Context, r *rpc.Request) (rpc.Work, error) {
	answer := handlerOf(h.World, r.Method)
	if answer == nil {
		return nil, Errorf(CodeMethodNotFound, "this client has no such method; it offers what it said at initialize")
	}
	session, err := sessionOf(h.sessions, r)
	if err != nil {
		h.sessions.count(func(s *Stats) { s.Bad++ })
		return nil, err
	}
	before, after := h.line(r)
	return func(ctx context.Context, r *rpc.Request) (any, error) {
		defer after()
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return answer(h, &request{r, ctx, session})
	}, nil
}

// sessionOf is the session that a request names.
func sessionOf(all *sessions, r *rpc.Request) (*Session, error) {
	var p struct{ SessionID json.RawMessage }
	if err := json.Unmarshal(r.Params, &p); err != nil {
		return nil, Errorf(CodeInvalidParams, "the parameters of %s are no object: %s", r.Method, err)
	}
	if p.SessionID == nil && r.Method == "elicitation/create" {
		return nil, nil
	}
	var id string
	if json.Unmarshal(p.SessionID, &id) == nil {
		if s := all.get(id); s != nil {
			return s, nil
		}
	}
	return nil, Errorf(CodeInvalidParams, "no session with this id is open: use one that session/new, load or resume has opened")
}

// line puts requests about the same file into a line, so that a read sees the
// write before it. after must be called at the request's end.
func (h *host) line(r *rpc.Request) (before <-chan struct{}, after func()) {
	none := make(chan struct{})
	close(none)
	var p struct{ Path string }
	if !strings.HasPrefix(r.Method, "fs/") || json.Unmarshal(r.Params, &p) != nil {
		return none, func() {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	before = none
	if last := h.paths[p.Path]; last != nil {
		before = last
	}
	mine := make(chan struct{})
	h.paths[p.Path] = mine
	return before, func() {
		h.work.Go(func() {
			<-before // one that was cancelled must not let the next one pass who is before it
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.paths[p.Path] == mine {
				delete(h.paths, p.Path)
			}
			close(mine)
		})
	}
}

// Explain implements rpc.Handler.
func (h *host) Explain(ctx context.Context, r *rpc.Request, err error) *rpc.Error {
	var busy *rpc.BusyError
	if errors.Is(err, rpc.ErrInUse) || errors.As(err, &busy) {
		h.sessions.count(func(s *Stats) { s.Bad++ })
	}
	own := Explain(r, err)
	switch {
	case own != nil:
	case errors.Is(err, rpc.ErrPanic):
		own = Errorf(CodeInternal, "%s failed in the client; its log says more", r.Method)
	case errors.Is(context.Cause(ctx), rpc.ErrCancelled):
		own = Errorf(CodeCancelled, "the agent cancelled its request")
	case ctx.Err() != nil:
		own = Errorf(CodeCancelled, "%s", context.Cause(ctx))
	case errors.Is(err, fs.ErrNotExist):
		own = Errorf(CodeNotFound, "%s", err)
	default:
		own = Errorf(CodeInternal, "%s", err)
	}
	return (*rpc.Error)(own)
}

// Notification implements rpc.Handler.
func (h *host) Notification(_ context.Context, method string, params json.RawMessage) {
	if method != "session/update" {
		return // others are not for us
	}
	var p struct {
		SessionID string
		Update    json.RawMessage
	}
	if err := json.Unmarshal(params, &p); err != nil || isNull(p.Update) {
		h.sessions.count(func(s *Stats) { s.Bad++ })
		h.log.Warn("an update of the agent can't be read", "error", err)
		return
	}
	if s := h.sessions.of(p.SessionID, p.Update); s != nil {
		s.hear(p.Update)
	}
}

// Dropped implements rpc.Handler.
func (h *host) Dropped(m rpc.Message, why *rpc.Error) {
	h.sessions.count(func(s *Stats) {
		if why == nil {
			s.Replies++
		} else if !m.Reply {
			s.Bad++
		}
	})
}

// noise hears lines that are no messages: agents print what belongs into their log.
func (h *host) noise(line []byte) {
	h.sessions.count(func(s *Stats) { s.Noise++ })
	h.log.Debug("the agent printed a line that is no message", "line", string(line[:min(len(line), 200)]))
}

// Ended implements rpc.Handler.
func (h *host) Ended(err error) {
	var write *rpc.WriteError
	switch {
	case errors.As(err, &write) && write.Unread > 0:
		err = fmt.Errorf("%w: it has not read its input for %v", ErrGone, write.Unread)
	case write != nil:
		err = fmt.Errorf("%w: writing to it failed: %w", ErrGone, write.Err)
	default:
		err = fmt.Errorf("%w: it closed its output", ErrGone)
	}
	h.ended(err)
}

// asked runs a question that the end of the turn answers. The person's answer
// is not waited for then.
func asked[T any](h *host, r *request, cancelled T, ask func() (T, error)) (T, error) {
	if r.session != nil && !r.session.ask(r) {
		return cancelled, nil
	}
	defer r.session.asked(r)
	type answer struct {
		value T
		err   error
	}
	got := make(chan answer, 1)
	h.work.Go(func() {
		a := answer{err: errors.New("the client failed to ask; its log says more")}
		defer func() {
			if p := recover(); p != nil {
				h.log.Error("panic", "method", r.Method, "panic", p, "stack", string(debug.Stack()))
			}
			got <- a
		}()
		a.value, a.err = ask()
	})
	select {
	case a := <-got:
		if context.Cause(r.ctx) == nil {
			return a.value, a.err
		}
	case <-r.ctx.Done():
	}
	if errors.Is(context.Cause(r.ctx), rpc.ErrCancelled) {
		return cancelled, context.Canceled
	}
	return cancelled, nil
}
