// Package source makes the tools of MCP servers tools of the registry. A server
// is a stranger: it runs confined, and only once its user trusts it; what it
// says of its tools is checked, pinned and never makes a tool ask less; what it
// answers is text from outside; and it is ended when it misbehaves.
package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// Server is a server that is configured.
type Server struct {
	Name    string
	Origin  string            // where it is named, for people
	Root    string            // the workspace folder that it is for
	Project bool              // by the project, so that it has to be trusted first
	Command []string          // program and arguments; nil: URL
	Env     map[string]string // for Command
	EnvFile string            // of more variables for Command
	Dir     string            // for Command
	URL     string
	SSE     bool              // URL speaks the old transport
	Headers map[string]string // for URL
	Off     bool
	Without []string // names of tools that are left out
	Limits  config.MCPLimits
	Access  config.MCPAccess // of Command

	// Readable and Writable are directories outside of Root that it may read, and write:
	// those of the plugin that brings it.
	Readable, Writable []string

	Literal bool // nothing in it stands for something else

	EnvNames []string // of the variables in EnvFile, sorted
	Broken   string   // why it can't be used; "" if it can
	Shadowed string   // the origin of the server that has its name; "": it has it itself
	Notes    []string // what of its entry is not as it says
}

// Identity is a hash of all that decides on what is run or reached.
func (s *Server) Identity() string {
	all := []any{s.Name, s.Command, s.Env, s.Dir, s.URL, s.Headers} // strings alone, maps in order
	if s.EnvFile != "" || s.SSE {
		all = append(all, s.EnvFile, s.EnvNames, s.SSE)
	}
	if s.Access == config.MCPDisk {
		all = append(all, s.Access)
	}
	data, _ := json.Marshal(all)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Line is what a person is shown who is asked to trust the server: all of what
// Identity covers, in words.
func (s *Server) Line() string {
	var b strings.Builder
	pairs := func(what string, m map[string]string) {
		for _, k := range sortedKeys(m) {
			fmt.Fprintf(&b, " %s %s=%q", what, k, m[k])
		}
	}
	if s.Command == nil {
		b.WriteString(s.URL)
		if s.SSE {
			b.WriteString(" by the old transport sse")
		}
		pairs("header", s.Headers)
		return b.String()
	}
	for i, arg := range s.Command {
		if i > 0 {
			b.WriteByte(' ')
		}
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' || r == '\\' || r > 0x7e }) {
			fmt.Fprintf(&b, "%q", arg)
		} else {
			b.WriteString(arg)
		}
	}
	pairs("with", s.Env)
	if s.EnvFile != "" {
		fmt.Fprintf(&b, " with the variables of %q", s.EnvFile)
		if len(s.EnvNames) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(s.EnvNames, ", "))
		}
	}
	if s.Dir != "" {
		fmt.Fprintf(&b, " in %q", s.Dir)
	}
	if s.Access == config.MCPDisk {
		b.WriteString(", which writes the workspace past the review")
	}
	return b.String()
}

// Process is a server that runs. Kill ends it and all that it has started.
type Process struct {
	In   io.WriteCloser
	Out  io.ReadCloser
	Kill func()        // ends it; what it wrote before is in Said then
	Said func() string // the end of what it wrote to standard error

	// Hidden are the files and directories that its entry names, and that are
	// there, but not for it; nil means that nothing is known of that.
	Hidden func(ctx context.Context) []string

	// World is what it sees in the place of the workspace; nil: the disk.
	World World

	// Advice is what the user can do about what it wrote to standard error before
	// it failed, "" if nothing is known; nil is as "".
	Advice func() string
}

// Review makes a call of the default session whose changes wait for review, whatever its
// mode is; line is how the review names it. names are those of the files.
type Review interface {
	Hold(ctx context.Context, t *tools.Tool, line string) (names []string, err error)
}

// Memory keeps, for the user, what was trusted and seen of the servers of
// workspace folders.
type Memory interface {
	// Load returns what is known of a server; the zero value is nothing.
	Load(root, server string) (Known, error)
	Save(root, server string, k Known) error
}

// Known is what is kept of a server.
type Known struct {
	Trusted string            `json:"trusted,omitempty"` // Identity of what the user trusted
	Seen    string            `json:"seen,omitempty"`    // Identity of the server that Tools are of
	Tools   map[string]string `json:"tools,omitempty"`   // hash of what each said of itself
}

// Options are what a Manager needs. All but Tokens, People, Log and After are.
type Options struct {
	Config   Config
	Start    func(ctx context.Context, s Server) (*Process, error) // confined
	HTTP     http.RoundTripper                                     // for servers that are reached
	Memory   Memory
	Registry *tools.Registry
	Clean    func(text string) (clean string, signs []string) // text from outside, and what in it seems to instruct a model
	Warn     func(text string)                                // puts a text before the user
	Tokens   Tokens                                           // nil: the user's
	Programs *lookup.Finder                                   // finds what asks the keyring for them
	People   editor.People                                    // who is asked for servers; nil: nobody
	Models   Models                                           // that servers may have asked, with the word of People; nil: none

	Review Review // takes what servers write outside of calls

	Version string
	Log     *slog.Logger
	After   func(time.Duration) <-chan time.Time // nil: time.After
}

// Status describes a server for people and editors.
type Status struct {
	Name      string   `json:"name"`
	State     State    `json:"state"`
	Transport string   `json:"transport"` // stdio or http
	Tools     int      `json:"tools"`
	Error     string   `json:"error,omitempty"`
	Hidden    []string `json:"hidden,omitempty"`   // directories that it seems to need and that the sandbox hides
	Origin    string   `json:"origin"`             // the setting or the file that names it
	Command   string   `json:"command"`            // what is run or reached, as it is trusted
	Hash      string   `json:"hash"`               // of that; sidecar.mcp.trust may name it
	Trusted   bool     `json:"trusted"`            // no question is open about it
	Changed   []string `json:"changed,omitempty"`  // tools that are held back until it is trusted again
	Warnings  []string `json:"warnings,omitempty"` // what is odd about its tools, or its entry
	Shadowed  bool     `json:"shadowed,omitempty"` // another server has its name and is used
}

// State is where a server is in its life.
type State string

// The states.
const (
	Connected  State = "connected"
	Connecting State = "connecting"
	Failed     State = "failed"    // Error says why, and whether it is tried again
	Untrusted  State = "untrusted" // it waits for the user's trust
	SignIn     State = "signIn"    // it waits for the user to sign in
	Disabled   State = "disabled"  // by its entry, or because the workspace is not trusted
)

// Manager has the servers of a workspace.
type Manager struct {
	o    Options
	base context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	loading     sync.Mutex // one Reload at a time
	registering sync.Mutex // one change of the registry at a time
	offering    string     // what tools for other things than tools are registered; guarded by registering

	mu       sync.Mutex
	closed   bool
	begun    bool // the configuration was read once
	servers  map[string]*server
	shadowed []Server // whose names others have
	problems []string // of the configuration
}

// New returns a manager; Reload starts its servers.
func New(o Options) *Manager {
	if o.After == nil {
		o.After = time.After
	}
	if o.Tokens == nil {
		o.Tokens = NewUserTokens(o.Programs)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	m := &Manager{o: o, servers: map[string]*server{}}
	m.base, m.stop = context.WithCancel(context.Background())
	return m
}

// Reload reads the configuration again: servers that are new are started, those
// that are gone are ended; one that is another now serves until its successor does,
// and its calls to their end; one that was given up stays so. It waits for no server
// to start. A nil Manager has no servers.
func (m *Manager) Reload() {
	if m == nil {
		return
	}
	m.loading.Lock()
	defer m.loading.Unlock()
	list, problems := m.o.Config.Servers()
	refused := m.o.Config.Refused()
	m.mu.Lock()
	old, next := m.servers, map[string]*server{}
	m.begun = true
	closed := m.closed
	m.mu.Unlock()
	if closed {
		return
	}
	var begin []*server
	var shadowed []Server
	list = slices.DeleteFunc(list, func(cfg Server) bool {
		if cfg.Shadowed != "" {
			shadowed = append(shadowed, cfg)
		}
		return cfg.Shadowed != ""
	})
	for _, cfg := range list {
		s := old[cfg.Name]
		if s == nil || !reflect.DeepEqual(s.cfg, cfg) {
			s = newServer(m, cfg)
		}
		next[cfg.Name] = s
	}
	for name, s := range old {
		n := next[name]
		switch {
		case n == s:
		case n != nil && n.hold(refused) == "":
			n.follow(s)
		default:
			s.end()
		}
	}
	var waiting []string
	for _, cfg := range list {
		s := next[cfg.Name]
		switch hold := s.hold(refused); {
		case hold == "" && s.idle():
			begin = append(begin, s)
		case hold == Untrusted && old[cfg.Name] != s:
			waiting = append(waiting, cfg.Name)
		}
	}
	m.mu.Lock()
	m.servers, m.shadowed, m.problems = next, shadowed, problems
	m.mu.Unlock()
	for _, s := range begin {
		s.begin()
	}
	if len(waiting) > 0 {
		m.o.Warn("This project names MCP servers that you have not trusted (" + strings.Join(waiting, ", ") + "). They are not started. sidecar.mcp.list shows what would be run, sidecar.mcp.trust trusts one.")
	}
	for _, p := range problems {
		m.o.Log.Warn("mcp", "problem", p)
	}
}

// Again is Reload once that was done: what brings servers may change before anybody has
// begun to start any.
func (m *Manager) Again() {
	if m == nil {
		return
	}
	m.mu.Lock()
	begun := m.begun
	m.mu.Unlock()
	if begun {
		m.Reload()
	}
}

// List describes the servers, sorted by name. One whose name another has comes
// after that.
func (m *Manager) List() []Status {
	m.mu.Lock()
	servers, shadowed := m.servers, m.shadowed
	m.mu.Unlock()
	out := make([]Status, 0, len(servers)+len(shadowed))
	for _, name := range sortedKeys(servers) {
		out = append(out, servers[name].status())
	}
	for _, cfg := range shadowed {
		st := newServer(m, cfg).status()
		st.State, st.Trusted, st.Shadowed = Disabled, true, true
		st.Error = "the entry of " + cfg.Shadowed + " has this name and is used; rename one of them"
		out = append(out, st)
	}
	slices.SortStableFunc(out, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// find returns a server by its name.
func (m *Manager) find(name string) (*server, error) {
	m.mu.Lock()
	s := m.servers[name]
	var names []string
	if s == nil {
		names = sortedKeys(m.servers)
	}
	m.mu.Unlock()
	if s == nil {
		if len(names) == 0 {
			return nil, tools.Errorf(tools.NotFound, "there is no MCP server %q, and no other; name servers in the setting sidecar.mcp.servers or in .mcp.json", clip(name))
		}
		return nil, tools.Errorf(tools.NotFound, "there is no MCP server %q; there are %s", clip(name), strings.Join(names, ", "))
	}
	return s, nil
}

// Reconnect restarts a server, as it is configured now. It
// waits until that has worked or not.
func (m *Manager) Reconnect(ctx context.Context, name string) (Status, error) {
	m.Reload()
	s, err := m.find(name)
	if err != nil {
		return Status{}, err
	}
	s.end()
	if s.hold(m.o.Config.Refused()) == "" {
		s.begin()
		s.settled(ctx)
	}
	return s.status(), nil
}

// Trust notes that the user trusts a server as it is configured now, and the
// tools that have changed, and starts it. hash, if it is not empty, is the one
// that the user was shown; when it has changed, nothing is trusted.
func (m *Manager) Trust(ctx context.Context, name, hash string) (Status, error) {
	m.Reload()
	s, err := m.find(name)
	if err != nil {
		return Status{}, err
	}
	if hash != "" && hash != s.question() {
		return Status{}, tools.Errorf(tools.Conflict, "the MCP server %s changed since it was shown; look at sidecar.mcp.list and trust it again", name)
	}
	if s.cfg.Broken != "" {
		return Status{}, tools.Errorf(tools.InvalidArguments, "the MCP server %s can't be used: %s", name, s.cfg.Broken)
	}
	if err := s.trust(); err != nil {
		return Status{}, fmt.Errorf("what is trusted can't be kept: %w", err)
	}
	if why := m.o.Config.Refused(); why != "" {
		return Status{}, tools.Errorf(tools.Unavailable, "the MCP server %s is trusted, but not started: %s", name, why)
	}
	s.begin()
	s.settled(ctx)
	return s.status(), nil
}

// Close ends all servers.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	servers := m.servers
	m.mu.Unlock()
	m.stop()
	for _, s := range servers {
		s.end()
	}
	m.work.Wait()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}

// CheckHidden fails unless directories are what a server was found to lack: only
// these are shown to it, nobody else's wish comes in by this way.
func (m *Manager) CheckHidden(name string, dirs []string) error {
	list := m.List()
	i := slices.IndexFunc(list, func(st Status) bool { return st.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no MCP server %s; sidecar.mcp.list names them", name)
	}
	for _, dir := range dirs {
		if !slices.Contains(list[i].Hidden, dir) {
			return fmt.Errorf("%s is not among the directories that are hidden from %s; look at sidecar.mcp.list again", dir, name)
		}
	}
	return nil
}
