// Package ide is the editor that command-line agents look for: Claude Code and
// Gemini CLI show their edits there, and are told what the user looks at.
//
//	ide.go      the listener, who is let in, what is told to all
//	standing.go what a program may, by who the system says it is
//	claude.go   Claude Code's protocol: MCP over a WebSocket
//	gemini.go   Gemini CLI's protocol: MCP over HTTP
//	files.go    the files by which the agents find the listener
//	review.go   an agent's edit as a pending one, and what became of it
//	modified.go the time of a file that was accepted
//	shown.go    what the user looks at, in the words of each agent
package ide

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Options are what an IDE is made of. All are needed.
type Options struct {
	Version string
	Name    string   // of the editor, as agents show it
	Folders []string // absolute paths
	Places  Places
	Log     *slog.Logger

	Sessions *session.Store
	Mode     func(name string) (policy.Mode, bool) // "": that of the settings
	Hide     func(text string) string              // keeps secrets out of what agents are told
	Secret   func(name string) bool                // agents are told nothing of the file
	Editor
	Trusted func() bool // the user trusts the workspace
}

// Editor is what the user has before them.
type Editor interface {
	Workspace() Workspace // that is served now
	Shown() Shown
	Problems(ctx context.Context, name string) ([]langserver.Problem, error) // that it shows against a file, or all
	Say(text string)                                                         // puts a text before the user
}

// Workspace is what an agent's edits go to. Without a folder it is empty.
type Workspace struct {
	Files    workspace.View // as the user sees them
	Disk     workspace.View // as the agents see them
	Queue    *pendingedits.Store
	Dispatch interface {
		CallOwn(ctx context.Context, t *tools.Tool, session, line string) (*dispatch.Result, error)
		CallUnsure(ctx context.Context, t *tools.Tool, session string) (*dispatch.Result, error)
	}
}

// maxMessage bounds a message of an agent, in bytes: a file is one, twice.
const maxMessage = 16 << 20

// IDE listens for agents on this machine.
type IDE struct {
	o     Options
	token string // whoever knows it is let in
	files []string
	http  *http.Server
	host  string // the address that is listened on

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup

	sayMode sync.Once

	mu      sync.Mutex
	agents  map[*agent]bool
	decided chan struct{} // closed when the review queue changes
	looks   chan struct{} // holds a token when the user looks at something else
}

// Start listens, and writes the files by which agents find the listener. Close
// ends it.
func Start(o Options) (*IDE, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &IDE{o: o, token: rand.Text(), host: listener.Addr().String(), agents: map[*agent]bool{}, decided: make(chan struct{}), looks: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.guard(bearer, newHTTPSessions(s)))
	mux.Handle("/{$}", s.guard(claudeHeader, http.HandlerFunc(s.serveClaude)))
	s.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 14,
		ErrorLog:    slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return s.ctx },
		ConnContext: withPeer,
	}
	s.work.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			o.Log.Error("agents can't reach the editor any more", "error", err)
		}
	})
	s.work.Go(s.tellShown)
	if err := s.SetFolders(o.Folders); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// SetFolders writes the files anew. One call at a time.
func (s *IDE) SetFolders(folders []string) error {
	_, port, _ := net.SplitHostPort(s.host)
	n, _ := strconv.Atoi(port)
	s.mu.Lock()
	s.o.Folders = folders
	s.mu.Unlock()
	files, err := announce(s.o, n, s.token)
	if err == nil {
		s.files = files
		s.o.Log.Info("agents find this editor", "address", s.host, "files", files)
	}
	return err
}

// folders are those of now.
func (s *IDE) folders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.Folders
}

// Close takes back what agents have not got an answer to, and hangs up. A nil IDE
// is one that nobody has found, here and in what follows.
func (s *IDE) Close() {
	if s == nil {
		return
	}
	remove(s.files)
	s.cancel()
	_ = s.http.Close()
	for _, a := range s.all() {
		a.close()
	}
	s.work.Wait()
}

// guard lets in who knows the token. A page in a browser doesn't, and is kept out
// even if it did: its browser says where it is from.
func (s *IDE) guard(token func(http.Header) string, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(s.host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, page := r.Header["Origin"]
		switch {
		case page || r.Host != s.host && r.Host != "localhost:"+port:
			http.Error(w, "only programs on this machine are served", http.StatusForbidden)
		case subtle.ConstantTimeCompare([]byte(token(r.Header)), []byte(s.token)) != 1:
			http.Error(w, "the token is not that of this server; read the file that names it again", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// bearer is the token of a request over HTTP.
func bearer(h http.Header) string {
	token, _ := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return token
}

// agent is a program that is connected.
type agent struct {
	standing
	ide   *IDE
	name  string           // that of its session
	says  string           // as people call it
	words func(Shown) any  // what it is told of what the user looks at; nil: nothing
	tell  func(params any) // tells it
	told  string           // last; the teller's alone
	again atomic.Bool      // what was told last may be lost
	ctx   context.Context  // ends when the agent leaves
	end   context.CancelFunc

	mu        sync.Mutex
	session   string           // "" until it proposes something
	diffs     map[string]*diff // undecided ones, by what the agent calls them
	backdated []*diff          // see backdate
	gone      bool
}

// join is the beginning of an agent, which ends with close.
func (s *IDE) join(a *agent) {
	a.ide, a.diffs = s, map[string]*diff{}
	a.ctx, a.end = context.WithCancel(s.ctx)
	if a.held {
		a.says += ", for an agent"
	}
	s.mu.Lock()
	s.agents[a] = true
	s.mu.Unlock()
	s.o.Log.Info("an agent is connected", "agent", a.says, "held", a.why)
}

// close is its end: what it has proposed is of no use to it any more.
func (a *agent) close() {
	a.end()
	a.ide.mu.Lock()
	was := a.ide.agents[a]
	delete(a.ide.agents, a)
	a.ide.mu.Unlock()
	if !was {
		return
	}
	a.ide.o.Log.Info("an agent has left", "agent", a.says)
	if n := a.withdrawAll(); n > 0 {
		a.ide.o.Say(a.says + " has left before you decided on " + tools.Count(n, "edit") + " of it, which no longer waits for review. Nothing was changed.")
	}
	a.redateAll()
	a.mu.Lock()
	a.gone = true
	id := a.session
	a.mu.Unlock()
	if id != "" {
		_ = a.ide.o.Sessions.Close(id) // a person may have closed it
	}
}

// all are the agents that are connected.
func (s *IDE) all() (agents []*agent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.agents {
		agents = append(agents, a)
	}
	return agents
}

// QueueChanged is to be called when the review queue changed; it never waits.
func (s *IDE) QueueChanged() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.decided)
	s.decided = make(chan struct{})
}

// nextDecision is closed when the review queue changes the next time.
func (s *IDE) nextDecision() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.decided
}
