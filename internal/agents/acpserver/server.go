package acpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
)

// Agents are the runs of our own agent.
type Agents interface {
	Begin(mode, model string) (*conversation.Run, error)
	Get(run string) (*conversation.Run, error)
	Wake(*conversation.Run) error // gives a run of an earlier process its agent again
	Runs() ([]conversation.Info, error)
	SetMode(r *conversation.Run, mode string) error
	SetModel(ctx context.Context, r *conversation.Run, model string) error
}

// Workspace is where they work.
type Workspace interface {
	Folders() []string      // absolute paths
	Abs(name string) string // of a file, which events name as the workspace does
	Modes() []acp.Mode      // what policy a session can have
	Models() []acp.Choice   // the profiles of the settings
	// Model is the profile that a name stands for: "" is the active one. The error says
	// why it can't be asked.
	Model(name string) (string, error)
	// Pending is a file before and after the changes that wait for review; old is nil for
	// one that they create, and ok is false when there are none.
	Pending(name string) (old *string, text string, ok bool)
}

// Options are what serving a client takes. Log is optional, Mode and Model are those of
// new sessions: "" is review, and the active profile.
type Options struct {
	Agents    Agents
	Workspace Workspace
	Version   string // of this program
	Mode      string
	Model     string
	Log       *slog.Logger
}

// server serves one client.
type server struct {
	o    Options
	conn *rpc.Conn
	base context.Context // ends with the connection

	mu       sync.Mutex
	can      clientCan
	greeted  bool
	sessions map[string]*session
}

// clientCan is what a client has said that it can.
type clientCan struct {
	Elicitation struct {
		Form *struct{} `json:"form"`
	} `json:"elicitation"`
	Session struct {
		Notices    *struct{} `json:"notices"`
		Compaction *struct{} `json:"compaction"`
	} `json:"session"`
}

// Serve serves a client over rw until it has gone, or ctx ends. Prompts of its that are
// not over are cancelled then; their runs stay.
func Serve(ctx context.Context, rw io.ReadWriteCloser, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	base, end := context.WithCancel(ctx)
	s := &server{o: o, base: base, sessions: map[string]*session{}}
	s.conn = newConn(rw, s)
	defer context.AfterFunc(ctx, func() { _ = rw.Close() })()
	err := s.conn.Run(ctx)
	_ = rw.Close() // nobody goes on writing to a client that reads no more
	end()
	for _, t := range s.open() {
		t.leave()
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", errGone, err)
	}
	return err
}

func (s *server) open() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.sessions))
}

// methods are what a client can ask, besides initialize, which says who it is, and
// session/prompt, which is begun in the order in which prompts and cancellations come.
var methods = map[string]func(*server, context.Context, json.RawMessage) (any, error){
	"session/new":               (*server).newSession,
	"session/load":              (*server).loadSession,
	"session/resume":            (*server).resumeSession,
	"session/list":              (*server).listSessions,
	"session/close":             (*server).closeSession,
	"session/delete":            (*server).deleteSession,
	"session/set_mode":          (*server).setMode,
	"session/set_config_option": (*server).setConfig,
	steerMethod:                 (*server).steer,
}

// steerMethod is our own.
const steerMethod = "_sidecar/steer"

// begin is called for one request after the other; what takes its time is in the
// function that it returns.
func (s *server) begin(ctx context.Context, method string, params json.RawMessage) (func() (any, error), error) {
	if method == "initialize" {
		return func() (any, error) { return s.initialize(params) }, nil
	}
	s.mu.Lock()
	greeted := s.greeted
	s.mu.Unlock()
	if !greeted {
		return nil, acp.Errorf(acp.CodeInvalidRequest, "%s came before initialize", method)
	}
	switch f := methods[method]; {
	case method == "session/prompt":
		return s.prompt(ctx, params)
	case method == "authenticate":
		return nil, acp.Errorf(acp.CodeInvalidParams, "there is nothing to sign in to: a language model is set in backend.profiles of the settings")
	case f != nil:
		return func() (any, error) { return f(s, ctx, params) }, nil
	}
	return nil, acp.Errorf(acp.CodeMethodNotFound, "this agent has no %s; it offers what it said at initialize", method)
}

// version1 is the version that is spoken here.
const version1 = 1

// initialized is what the agent says of itself.
func initialized(params json.RawMessage, version string) (any, clientCan, error) {
	p, err := read[struct {
		ProtocolVersion *int
		Can             clientCan `json:"clientCapabilities"`
	}](params)
	if err == nil && p.ProtocolVersion == nil {
		err = acp.Errorf(acp.CodeInvalidParams, "there is no protocolVersion")
	}
	none := struct{}{}
	return map[string]any{
		"protocolVersion": version1, // whatever is asked for: a client that speaks no 1 ends the connection
		"agentInfo":       acp.Implementation{Name: "sidecar-ls", Title: "sidecar-ls", Version: version},
		"authMethods":     []any{},
		"agentCapabilities": map[string]any{
			"loadSession":         true,
			"promptCapabilities":  acp.PromptCapabilities{Image: true, EmbeddedContext: true},
			"mcpCapabilities":     map[string]any{"http": false, "sse": false},
			"sessionCapabilities": map[string]any{"list": none, "resume": none, "close": none, "delete": none, "additionalDirectories": none},
			"_meta":               map[string]any{"sidecar": map[string]any{"steer": steerMethod}},
		},
	}, p.Can, err
}

func (s *server) initialize(params json.RawMessage) (any, error) {
	says, can, err := initialized(params, s.o.Version)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.can, s.greeted = can, true
	return says, nil
}

// read reads parameters.
func read[T any](params json.RawMessage) (p T, err error) {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return p, acp.Errorf(acp.CodeInvalidParams, "the parameters can't be read: %s", err)
	}
	return p, nil
}

// session is one that the client has open.
func (s *server) session(params json.RawMessage) (*session, error) {
	p, err := read[struct{ SessionID string }](params)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.sessions[p.SessionID]; t != nil {
		return t, nil
	}
	return nil, errNoSession
}

var errNoSession = acp.Errorf(acp.CodeInvalidParams, "no session with this id is open: use one that session/new, load or resume has opened")

// place checks where a session is to work: in folders that are served here.
func (s *server) place(dir string, more []string) error {
	if err := s.served("cwd", dir); err != nil {
		return err
	}
	for _, one := range more {
		if err := s.served("additionalDirectories", one); err != nil {
			return err
		}
	}
	return nil
}

// served checks that a directory is in a folder that is served here. name is that of the
// parameter.
func (s *server) served(name, dir string) error {
	if !filepath.IsAbs(dir) {
		return acp.Errorf(acp.CodeInvalidParams, "%s: %.200q is no absolute path", name, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return acp.Errorf(acp.CodeInvalidParams, "%s: %s", name, err)
	}
	for _, folder := range s.o.Workspace.Folders() {
		if root, err := filepath.EvalSymlinks(folder); err == nil {
			if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
				return nil
			}
		}
	}
	return acp.Errorf(acp.CodeInvalidParams, "%s: %s is outside of the folders served here (%s); start another agent for it", name, dir, strings.Join(s.o.Workspace.Folders(), ", "))
}

type sessionParams struct {
	SessionID             string
	Cwd                   string
	AdditionalDirectories []string
	MCPServers            []struct{ Name string }
}

func (s *server) newSession(_ context.Context, params json.RawMessage) (any, error) {
	p, err := read[sessionParams](params)
	if err == nil {
		err = s.place(p.Cwd, p.AdditionalDirectories)
	}
	if err != nil {
		return nil, err
	}
	if _, err := s.o.Workspace.Model(s.o.Model); err != nil {
		return nil, acp.Errorf(acp.CodeAuthRequired, "no language model can be asked: %s. Models are named in backend.profiles of the settings, and backend.profile says which one is used", strings.TrimRight(err.Error(), "."))
	}
	run, err := s.o.Agents.Begin(s.o.Mode, s.o.Model)
	if err != nil {
		return nil, err
	}
	t, since, err := s.take(run)
	if err != nil {
		return nil, err
	}
	return rpc.Reply{
		Result: struct {
			SessionID string `json:"sessionId"`
			state
		}{run.ID(), t.state()},
		Then: func() { t.begin(since, p) },
	}, nil
}

// take opens a session for a run, in the place of one that the client has of it.
func (s *server) take(run *conversation.Run) (t *session, since int64, err error) {
	s.mu.Lock()
	before, can := s.sessions[run.ID()], s.can
	s.mu.Unlock()
	if before != nil {
		if before.busy() {
			return nil, 0, acp.Errorf(acp.CodeInvalidRequest, "a prompt of this session is not over: wait for it or cancel it")
		}
		before.leave()
	}
	if _, since, err = run.History(0, 0, 0); err != nil {
		return nil, 0, err
	}
	t = newSession(s, run, can)
	s.mu.Lock()
	s.sessions[run.ID()] = t
	s.mu.Unlock()
	return t, since, nil
}

// again opens a session for a run that there is.
func (s *server) again(params json.RawMessage) (p sessionParams, t *session, since int64, err error) {
	if p, err = read[sessionParams](params); err != nil {
		return p, nil, 0, err
	}
	if err := s.place(p.Cwd, p.AdditionalDirectories); err != nil {
		return p, nil, 0, err
	}
	run, err := s.o.Agents.Get(p.SessionID)
	if errors.Is(err, conversation.ErrUnknown) {
		return p, nil, 0, acp.Errorf(acp.CodeNotFound, "there is no session %.100q: session/list has those that there are", p.SessionID)
	}
	if err == nil {
		err = s.o.Agents.Wake(run)
	}
	if err == nil && run.Info().State == conversation.Ended {
		err = acp.Errorf(acp.CodeNotFound, "the session %s was deleted", p.SessionID)
	}
	if err != nil {
		return p, nil, 0, err
	}
	t, since, err = s.take(run)
	return p, t, since, err
}

// loadSession goes on with a run, and tells first what was said in it.
func (s *server) loadSession(_ context.Context, params json.RawMessage) (any, error) {
	p, t, since, err := s.again(params)
	if err != nil {
		return nil, err
	}
	events, _, err := t.run.History(0, since+1, 0)
	if err != nil {
		return nil, err
	}
	t.replay(events)
	return rpc.Reply{Result: t.state(), Then: func() { t.begin(since, p) }}, nil
}

func (s *server) resumeSession(_ context.Context, params json.RawMessage) (any, error) {
	p, t, since, err := s.again(params)
	if err != nil {
		return nil, err
	}
	return rpc.Reply{Result: t.state(), Then: func() { t.begin(since, p) }}, nil
}

// listed is a session as a list has it.
type listed struct {
	ID        string `json:"sessionId"`
	Dir       string `json:"cwd"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

func (s *server) listSessions(_ context.Context, params json.RawMessage) (any, error) {
	p, err := read[struct{ Cwd *string }](params)
	if err != nil {
		return nil, err
	}
	list := []listed{}
	dir := s.o.Workspace.Folders()[0]
	if p.Cwd == nil || same(*p.Cwd, dir) {
		all, err := s.o.Agents.Runs()
		if err != nil {
			return nil, err
		}
		for _, i := range all {
			list = append(list, listed{i.Run, dir, i.Title, s.changedAt(i)})
		}
	}
	slices.Reverse(list) // the newest first
	return map[string]any{"sessions": list}, nil
}

func same(a, b string) bool {
	a, errA := filepath.EvalSymlinks(a)
	b, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && a == b
}

// closeSession stops what the agent does. The run stays, to be loaded again.
func (s *server) closeSession(_ context.Context, params json.RawMessage) (any, error) {
	t, err := s.session(params)
	if err != nil {
		return nil, err
	}
	s.drop(t)
	return nil, nil
}

func (s *server) drop(t *session) {
	t.leave()
	t.run.Cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[t.run.ID()] == t {
		delete(s.sessions, t.run.ID())
	}
}

// deleteSession ends a run. Its journal stays, and what it wrote.
func (s *server) deleteSession(_ context.Context, params json.RawMessage) (any, error) {
	p, err := read[struct{ SessionID string }](params)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	t := s.sessions[p.SessionID]
	s.mu.Unlock()
	if t != nil {
		s.drop(t)
	}
	run, err := s.o.Agents.Get(p.SessionID)
	if errors.Is(err, conversation.ErrUnknown) {
		return nil, nil // as the protocol has it
	}
	if err != nil {
		return nil, err
	}
	return nil, run.Close()
}
