package acpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
)

// Relay is between a client and whoever serves its folder, which may be one process
// after the other: it finds one when a session is opened, and another one when that ends.
// What was open in the first is opened in the next.
type Relay struct {
	// Dial connects to who serves the folders for sessions that work in dir, and in more of
	// them, as Serve does.
	Dial    func(ctx context.Context, dir string, more []string) (io.ReadWriteCloser, error)
	Version string
	Log     *slog.Logger

	out  out
	work sync.WaitGroup

	mu     sync.Mutex
	params json.RawMessage            // of initialize; nil: it has not come
	place  places                     // in which the first session works
	open   map[string]json.RawMessage // sessions, with what resumes them
	up     *upstream                  // nil: nobody serves now
}

// places are where a session works.
type places struct {
	Cwd                   string
	AdditionalDirectories []string
}

// upstream is a connection to who serves.
type upstream struct {
	io.ReadWriteCloser
	out     out
	in      rpc.Framing
	waiting map[rpc.ID]rpc.Message // requests of the client; Relay.mu
}

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

func (o *out) answer(id rpc.ID, result any, bad *acp.Error) error {
	m := map[string]any{"jsonrpc": "2.0", "id": id, "result": result}
	if bad != nil {
		m = map[string]any{"jsonrpc": "2.0", "id": id, "error": bad}
	}
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return o.line(line)
}

// Serve relays until the client has gone, or ctx ends.
func (r *Relay) Serve(ctx context.Context, in io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	r.out.w, r.open = w, map[string]json.RawMessage{}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	read := make(chan error, 1) // standard input can't be interrupted
	go func() { read <- r.read(ctx, in) }()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	}
	cancel()
	r.mu.Lock()
	up := r.up
	r.mu.Unlock()
	if up != nil {
		err = errors.Join(err, up.Close())
	}
	r.work.Wait()
	return err
}

func (r *Relay) read(ctx context.Context, in io.Reader) error {
	lines := rpc.Lines(in, maxLine, nil)
	for {
		m, err := lines.Next()
		var bad *rpc.Error
		switch {
		case errors.As(err, &bad) && m.Reply:
			m.Raw, err = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": bad})
			r.pass(m)
		case errors.As(err, &bad):
			err = r.out.answer(m.ID, nil, (*acp.Error)(bad))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
		case m.Method == "initialize" && m.ID.Valid():
			err = r.initialize(m)
		case m.Reply || !m.ID.Valid():
			r.pass(m)
		default:
			if bad := r.forward(ctx, m); bad != nil {
				err = r.out.answer(m.ID, nil, bad)
			}
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errGone, err)
		}
	}
}

// initialize is answered here: who serves is not known yet.
func (r *Relay) initialize(m rpc.Message) error {
	says, _, err := initialized(m.Params, r.Version)
	r.mu.Lock()
	if err == nil && r.params != nil {
		err = acp.Errorf(acp.CodeInvalidRequest, "the connection is initialized already")
	}
	if err == nil {
		r.params = m.Params
	}
	r.mu.Unlock()
	if err != nil {
		return r.out.answer(m.ID, nil, errorOf(err))
	}
	return r.out.answer(m.ID, says, nil)
}

// pass hands on what is no request. Nobody waits for it.
func (r *Relay) pass(m rpc.Message) {
	r.mu.Lock()
	up := r.up
	r.mu.Unlock()
	if up != nil {
		_ = up.out.line(m.Raw) // its reader tells that it has ended
	}
}

// forward hands on a request.
func (r *Relay) forward(ctx context.Context, m rpc.Message) *acp.Error {
	p, err := read[places](m.Params)
	if err != nil {
		return errorOf(err)
	}
	r.mu.Lock()
	up, greeted, known := r.up, r.params != nil, len(r.open) > 0
	r.mu.Unlock()
	switch {
	case !greeted:
		return acp.Errorf(acp.CodeInvalidRequest, "%s came before initialize", m.Method)
	case methods[m.Method] == nil && m.Method != "session/prompt":
		_, err := (&server{greeted: true}).begin(ctx, m.Method, nil)
		return errorOf(err)
	case up == nil && p.Cwd == "" && m.Method == "session/list":
		return acp.Errorf(acp.CodeInvalidParams, "cwd: say whose sessions are to be listed")
	case up == nil && p.Cwd == "" && !known:
		return errNoSession
	case up == nil:
		if up, err = r.connect(ctx, p); err != nil {
			return errorOf(err)
		}
	}
	r.mu.Lock()
	if r.up != up {
		r.mu.Unlock()
		return errCutOff
	}
	up.waiting[m.ID] = m
	r.mu.Unlock()
	if err := up.out.line(m.Raw); err != nil {
		_ = up.Close() // its reader answers what waits
	}
	return nil
}

var errCutOff = acp.Errorf(acp.CodeInternal, "the sidecar-ls that served the folder has ended. What was said is kept: prompt again to go on")

// connect finds who serves, and opens there what is open here.
func (r *Relay) connect(ctx context.Context, at places) (*upstream, error) {
	if r.place.Cwd != "" {
		at = r.place
	}
	conn, err := r.Dial(ctx, at.Cwd, at.AdditionalDirectories)
	if err != nil {
		return nil, err
	}
	up := &upstream{ReadWriteCloser: conn, out: out{w: conn}, in: rpc.Lines(conn, maxLine, nil), waiting: map[rpc.ID]rpc.Message{}}
	r.mu.Lock()
	params := r.params
	sessions := map[string]json.RawMessage{}
	for id, p := range r.open {
		sessions[id] = p
	}
	r.mu.Unlock()
	if err := r.own(up, "initialize", params); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	for id, p := range sessions {
		err := r.own(up, "session/resume", p)
		var bad *rpc.Error
		if errors.As(err, &bad) {
			r.Log.Warn("a session is not open any more", "session", id, "error", err)
			r.mu.Lock()
			delete(r.open, id)
			r.mu.Unlock()
		} else if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	r.mu.Lock()
	r.up, r.place = up, at
	r.mu.Unlock()
	r.work.Go(func() { r.pump(up) })
	return up, nil
}

// own makes a request of the relay's own, before the client's.
func (r *Relay) own(up *upstream, method string, params json.RawMessage) error {
	id := rpc.TextID("relay")
	if err := up.out.line(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)); err != nil {
		return err
	}
	for {
		m, err := up.in.Next()
		switch {
		case err != nil:
			return fmt.Errorf("%s: who serves the folder has ended: %w", method, err)
		case !m.Reply:
			err = r.out.line(m.Raw)
		case m.ID == id && m.Err != nil:
			return m.Err
		case m.ID == id:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// pump hands on what who serves says, until it ends.
func (r *Relay) pump(up *upstream) {
	for {
		m, err := up.in.Next()
		if err != nil {
			break
		}
		if m.Reply {
			r.mu.Lock()
			asked := up.waiting[m.ID]
			delete(up.waiting, m.ID)
			r.learn(asked, m)
			r.mu.Unlock()
		}
		if r.out.line(m.Raw) != nil {
			break
		}
	}
	_ = up.Close()
	r.mu.Lock()
	if r.up == up {
		r.up = nil
	}
	waiting := up.waiting
	up.waiting = map[rpc.ID]rpc.Message{}
	r.mu.Unlock()
	for _, m := range waiting {
		_ = r.out.answer(m.ID, nil, errCutOff)
	}
}

// learn keeps which sessions are open. r.mu is held.
func (r *Relay) learn(asked, m rpc.Message) {
	if m.Err != nil {
		return
	}
	var p struct {
		SessionID string `json:"sessionId"`
		Cwd       string `json:"cwd"`

		AdditionalDirectories []string `json:"additionalDirectories,omitempty"`
	}
	_ = json.Unmarshal(asked.Params, &p)
	switch asked.Method {
	case "session/new":
		var got struct{ SessionID string }
		_ = json.Unmarshal(m.Result, &got)
		p.SessionID = got.SessionID
	case "session/load", "session/resume":
	case "session/close", "session/delete":
		delete(r.open, p.SessionID)
		return
	default:
		return
	}
	again, _ := json.Marshal(p)
	r.open[p.SessionID] = again
}
