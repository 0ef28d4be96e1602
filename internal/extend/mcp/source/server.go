package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// How a server is started again after it has ended by itself.
const (
	maxRestarts = 5                // one after the other
	firstPause  = time.Second      // before the first; it doubles
	steady      = 2 * time.Minute  // a server that ran so long begins to count again
	connectTime = 30 * time.Second // for a server to start, and to list its tools
)

// server is one server of a workspace.
type server struct {
	m   *Manager
	cfg Server

	listing sync.Mutex // one look at the tools at a time
	turning sync.Mutex // one run at a time: a new one begins when the last one has ended

	// Guarded by Manager.registering.
	holds  bool // the registry has its tools
	passed bool // another server has its name and serves in its place

	mu       sync.Mutex
	before   *server // of the same name and another entry, which serves until this one does
	leaving  *server // the one before, which works on its last calls
	state    State
	why      string // of Failed and Disabled
	paused   bool   // it is about to be started again
	hidden   []string
	conn     *conn
	names    []string // under which its tools are registered
	changed  map[string]string
	warnings []string
	offers   offers
	cancel   context.CancelFunc // of the run; nil: there is none
	signing  context.CancelFunc // gives up the latest signing in; nil: there was none
	ended    chan struct{}      // closed when the run has ended
	first    chan struct{}      // closed when the first attempt of the run has
}

func newServer(m *Manager, cfg Server) *server { return &server{m: m, cfg: cfg, state: Disabled} }

// hold notes and returns the state of a server that must not run, or "".
func (s *server) hold(refused string) State {
	var state State
	var why string
	switch {
	case s.cfg.Broken != "":
		state, why = Failed, s.cfg.Broken
	case s.cfg.Off:
		state, why = Disabled, "switched off by its entry"
	case refused != "":
		state, why = Disabled, refused
	case !s.m.trusts(s.cfg):
		state, why = Untrusted, "it is named by the project; trust exactly this with sidecar.mcp.trust"
	default:
		return ""
	}
	s.end()
	s.mu.Lock()
	s.state, s.why = state, why
	s.mu.Unlock()
	return state
}

// trusts reports whether the user trusts a server as it is.
func (m *Manager) trusts(s Server) bool {
	if !s.Project {
		return true
	}
	k, err := m.o.Memory.Load(s.Root, s.Name)
	return err == nil && k.Trusted == s.Identity()
}

// question is a hash of all that trusting the server would allow.
func (s *server) question() string {
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	if len(changed) == 0 {
		return s.cfg.Identity()
	}
	data, _ := json.Marshal([]any{s.cfg.Identity(), changed}) // strings alone, maps in order
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// trust keeps that the user trusts the server, and its tools as they are.
func (s *server) trust() error {
	k, err := s.m.o.Memory.Load(s.cfg.Root, s.cfg.Name)
	if err != nil {
		return err
	}
	id := s.cfg.Identity()
	if k.Seen != id {
		k.Seen, k.Tools = id, nil
	}
	k.Trusted = id
	if k.Tools == nil {
		k.Tools = map[string]string{}
	}
	s.mu.Lock()
	for tool, hash := range s.changed {
		k.Tools[tool] = hash
	}
	c := s.conn
	s.mu.Unlock()
	if err := s.m.o.Memory.Save(s.cfg.Root, s.cfg.Name, k); err != nil {
		return err
	}
	if c != nil {
		ctx, cancel := context.WithTimeout(s.m.base, connectTime)
		defer cancel()
		_ = s.list(ctx, c) // a connection that is lost meanwhile is noticed where it is held
	}
	return nil
}

// idle reports whether nobody has started the server yet, or it was ended.
func (s *server) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancel == nil
}

func (s *server) status() Status {
	question, trusted := s.question(), s.m.trusts(s.cfg)
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Name: s.cfg.Name, State: s.state, Transport: "stdio", Tools: len(s.names), Error: s.why, Hidden: s.hidden, Origin: s.cfg.Origin,
		Command: s.cfg.Line(), Hash: question, Trusted: trusted && len(s.changed) == 0, Changed: sortedKeys(s.changed), Warnings: slices.Concat(s.cfg.Notes, s.warnings),
	}
	if s.conn != nil {
		if odd := s.conn.out.odd(); odd != "" {
			st.Warnings = append(st.Warnings, odd)
		}
	}
	switch {
	case s.cfg.Command != nil:
	case s.cfg.SSE || s.conn != nil && s.conn.sse:
		st.Transport = "sse"
	default:
		st.Transport = "http"
	}
	if len(s.changed) > 0 && st.Error == "" {
		st.Error = "what some tools say of themselves has changed since it was trusted; they are held back until it is trusted again with sidecar.mcp.trust"
	}
	return st
}

// begin starts the server, if it does not run.
func (s *server) begin() {
	s.turning.Lock()
	defer s.turning.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		select {
		case <-s.ended: // it has given up
		default:
			return
		}
	}
	ctx, cancel := context.WithCancel(s.m.base)
	s.cancel, s.ended, s.first = cancel, make(chan struct{}), make(chan struct{})
	s.state, s.why = Connecting, ""
	ended, first := s.ended, s.first
	s.m.work.Go(func() {
		defer close(ended)
		s.run(ctx, sync.OnceFunc(func() { close(first) }))
	})
}

// end ends the server, with those before it, and waits until it has.
func (s *server) end() {
	s.turning.Lock()
	defer s.turning.Unlock()
	s.mu.Lock()
	cancel, ended, others := s.cancel, s.ended, []*server{s.before, s.leaving}
	s.cancel, s.before, s.leaving = nil, nil, nil
	s.mu.Unlock()
	for _, other := range others {
		if other != nil {
			other.end()
		}
	}
	if cancel != nil {
		cancel()
		<-ended
	}
}

// settled waits until the server is connected or has failed once.
func (s *server) settled(ctx context.Context) {
	s.mu.Lock()
	first := s.first
	s.mu.Unlock()
	if first == nil {
		return
	}
	select {
	case <-first:
	case <-ctx.Done():
	}
}

// run keeps the server connected until ctx ends or it failed too often.
func (s *server) run(ctx context.Context, tried func()) {
	defer tried()
	pause := firstPause
	for restarts := 0; ; restarts++ {
		begun := time.Now()
		err := s.connected(ctx, tried)
		if ctx.Err() != nil {
			s.note(Disabled, "it was ended")
			return
		}
		if errors.Is(err, errSignIn) {
			s.note(SignIn, err.Error())
			return
		}
		if time.Since(begun) > steady {
			restarts, pause = 0, firstPause
		}
		if restarts == maxRestarts {
			s.note(Failed, fmt.Sprintf("%v; it has ended %d times in a row and is not started again; sidecar.mcp.reconnect tries once more", err, restarts+1))
			tried()
			return
		}
		s.pause(true)
		s.note(Failed, fmt.Sprintf("%v; it is started again in %v", err, pause))
		tried()
		select {
		case <-s.m.o.After(pause):
			s.note(Connecting, "") // first: at no moment is it one that stays away
			s.pause(false)
		case <-ctx.Done():
			s.pause(false)
			s.note(Disabled, "it was ended")
			return
		}
		pause *= 2
	}
}

// pause says whether the server is about to be started again.
func (s *server) pause(on bool) {
	s.mu.Lock()
	s.paused = on
	s.mu.Unlock()
}

func (s *server) note(state State, why string) {
	s.mu.Lock()
	s.state, s.why = state, why
	s.mu.Unlock()
	if state == Failed {
		s.m.o.Log.Warn("mcp server", "server", s.cfg.Name, "problem", why)
	}
}

// connected connects, and returns why the connection has ended.
func (s *server) connected(ctx context.Context, tried func()) error {
	start, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	c, err := s.connect(start)
	var hidden *hiddenError
	s.mu.Lock()
	if s.hidden = nil; errors.As(err, &hidden) {
		s.hidden = hidden.dirs()
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	defer s.rest(c)
	defer c.end()
	defer s.leave(c)
	s.mu.Lock()
	s.conn = c // before its tools are there to be called
	s.mu.Unlock()
	if err := s.list(start, c); err != nil {
		return c.because(err)
	}
	s.note(Connected, "")
	tried()
	s.relieve()
	for {
		select {
		case <-c.changed:
			again, cancel := context.WithTimeout(ctx, connectTime)
			err := s.list(again, c)
			cancel()
			if err != nil {
				return c.because(err)
			}
		case <-c.gone:
			return c.because(nil)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave takes the tools of a connection out of the registry.
func (s *server) leave(c *conn) {
	s.listing.Lock()
	defer s.listing.Unlock()
	c.over = true
	s.mu.Lock()
	s.conn, s.offers = nil, offers{}
	s.mu.Unlock()
	_ = errors.Join(s.unregister(), s.m.offer()) // taking away can't fail
}

// follow has the server take the place of one with the same name once it serves itself. Until
// then that one serves, or the one that it was to follow.
func (s *server) follow(old *server) {
	old.mu.Lock()
	serving := old
	if old.conn == nil && old.before != nil {
		serving, old.before = old.before, nil
	}
	serves := serving != old || old.conn != nil
	old.mu.Unlock()
	if serving != old || !serves {
		old.end()
	}
	if serves {
		s.mu.Lock()
		s.before = serving
		s.mu.Unlock()
	}
}

// relieve ends the server before, once the calls that it works on are over.
func (s *server) relieve() {
	s.mu.Lock()
	old := s.before
	if old != nil {
		s.before, s.leaving = nil, old
	}
	s.mu.Unlock()
	if old == nil {
		return
	}
	s.m.work.Go(func() {
		old.last()
		old.end()
	})
}

// last waits for the calls that the server works on, and those of the one before it.
func (s *server) last() {
	s.mu.Lock()
	c, leaving := s.conn, s.leaving
	s.mu.Unlock()
	if c != nil {
		select {
		case <-c.running.over():
		case <-c.gone:
		case <-s.m.base.Done():
		}
	}
	if leaving != nil {
		leaving.last()
	}
}

// now returns the connection.
func (s *server) now() (*conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil, away(s)
	}
	return s.conn, nil
}

// away is the error for a call while the server is not connected. s.mu is held.
func away(s *server) *tools.Error {
	why := string(s.state)
	if s.why != "" {
		said, signs := s.m.o.Clean(s.why)
		if why += ": " + said; len(signs) > 0 {
			why = string(s.state) + "; the reason is held back, because it seems to instruct the model"
		}
	}
	e := tools.Errorf(tools.Unavailable, "the MCP server %s is not connected (%s); go on without its tools, or tell the user", s.cfg.Name, why)
	e.Transient = s.state == Connecting || s.state == Connected || s.paused // connected: it has just been lost
	return e
}

// Away is the error for a call of a tool, by its name, while its server is not
// connected; nil when there is no such server, or it has no such tool.
func (m *Manager) Away(name string) *tools.Error {
	if m == nil {
		if strings.HasPrefix(name, "mcp_") || strings.HasPrefix(name, "mcp:") {
			return tools.Errorf(tools.Unavailable, "no MCP server is started for a single call; call %s in an editor's session, or over sidecar-ls mcp or acp", clip(name))
		}
		return nil
	}
	m.mu.Lock()
	var s *server
	for _, one := range m.servers {
		if tools.OfMCP(name, one.cfg.Name) && (s == nil || len(one.cfg.Name) > len(s.cfg.Name)) {
			s = one
		}
	}
	m.mu.Unlock()
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && s.state == Connected { // with its tools in the registry
		return nil
	}
	return away(s)
}
