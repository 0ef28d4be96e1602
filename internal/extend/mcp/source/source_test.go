package source

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestMain lets the tests' program be a server.
func TestMain(m *testing.M) {
	if how := os.Getenv("BEHAVE"); how != "" {
		behave(how, os.Getenv("BEHAVE_FILE"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// memory keeps nothing beyond a test.
type memory struct {
	mu   sync.Mutex
	all  map[string]Known
	fail error
}

func (m *memory) Load(_, name string) (Known, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, _ := json.Marshal(m.all[name])
	var k Known
	_ = json.Unmarshal(data, &k)
	return k, m.fail
}

func (m *memory) Save(_, name string, k Known) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[string]Known{}
	}
	m.all[name] = k
	return m.fail
}

// tokens keeps them for a test.
type tokens struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (k *tokens) Load(key string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all[key], nil
}

func (k *tokens) Save(key string, data []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string][]byte{}
	}
	k.all[key] = data
	return nil
}

// bench is a manager with real servers, as processes that nothing confines.
type bench struct {
	*Manager
	t      *testing.T
	memory *memory
	file   string // that each start of a server is noted in
	change chan struct{}

	mu      sync.Mutex
	servers []Server
	refused string
	warned  []string
	secrets []string
	ended   map[string][]chan struct{} // by server, of each start
}

func newBench(t *testing.T, servers ...Server) *bench {
	t.Helper()
	b := &bench{t: t, memory: &memory{}, file: filepath.Join(t.TempDir(), "starts"), servers: servers, change: make(chan struct{}, 1000), ended: map[string][]chan struct{}{}}
	now := make(chan time.Time)
	close(now)
	b.Manager = New(Options{
		Config: b,
		Start:  b.start, HTTP: http.DefaultTransport, Memory: b.memory, Tokens: &tokens{},
		Registry: tools.NewRegistry(tools.RegistryOptions{Changed: func([]string) { b.change <- struct{}{} }, Away: func(name string) *tools.Error { return b.Away(name) }}),
		Clean: func(s string) (string, []string) {
			if strings.Contains(s, "previous instructions") {
				return s, []string{"orders"}
			}
			return strings.ReplaceAll(s, "\x1b", ""), nil
		},
		Warn:  func(text string) { b.mu.Lock(); defer b.mu.Unlock(); b.warned = append(b.warned, text) },
		After: func(time.Duration) <-chan time.Time { return now },
	})
	t.Cleanup(b.Close)
	return b
}

func (b *bench) Servers() ([]Server, []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.servers), nil
}

func (b *bench) Refused() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

func (b *bench) Expand(s Server) (Server, error) { return s, nil }

func (b *bench) Know(_ string, secrets []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.secrets = append(b.secrets, secrets...)
}

func (b *bench) start(ctx context.Context, s Server) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), "BEHAVE="+s.Command[0], "BEHAVE_FILE="+b.file)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = w
	said := &words1{}
	cmd.Stderr = said
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	b.mu.Lock()
	b.ended[s.Name] = append(b.ended[s.Name], done)
	b.mu.Unlock()
	return &Process{In: in, Out: r, Said: said.String, Kill: func() { _ = cmd.Process.Kill(); <-done }}, nil
}

// words1 keeps the beginning of what is written to it.
type words1 struct {
	mu  sync.Mutex
	buf []byte
}

func (w *words1) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, p[:min(len(p), 100-min(len(w.buf), 100))]...)
	return len(p), nil
}

func (w *words1) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(string(w.buf))
}

func (b *bench) starts() int {
	data, _ := os.ReadFile(b.file)
	return strings.Count(string(data), "started")
}

// up starts the servers and waits for one.
func (b *bench) up(name string) Status {
	b.t.Helper()
	b.Reload()
	s, err := b.find(name)
	if err != nil {
		b.t.Fatal(err)
	}
	s.settled(b.t.Context())
	return s.status()
}

// names are the tools of the servers, but for the one that always behaves.
func (b *bench) names() []string {
	list, _ := b.o.Registry.List(tools.Filter{Source: tools.SourceMCP})
	return slices.DeleteFunc(tools.Names(list), func(name string) bool { return name == "mcp_fine_echo" })
}

// call calls a tool of the registry, without the gate.
func (b *bench) call(ctx context.Context, name, args string) (string, error) {
	b.t.Helper()
	t, _, ok := b.o.Registry.Lookup(name)
	if !ok {
		b.t.Fatalf("there is no tool %s among %v", name, b.names())
	}
	bound, err := t.Bind(json.RawMessage(args))
	if err != nil {
		return "", err
	}
	res, _, err := bound.Run(ctx, &tools.Call{})
	return res.Text, err
}

func codeOf(err error) tools.Code {
	var e *tools.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func stdio(how string) Server { return Server{Name: how, Origin: "test", Command: []string{how}} }

func TestServer(t *testing.T) {
	b := newBench(t, stdio("grow"))
	if st := b.up("grow"); st.State != Connected || st.Tools != 3 || st.Transport != "stdio" || st.Error != "" || !st.Trusted {
		t.Fatalf("%+v", st)
	}
	for _, name := range []string{"mcp_grow_echo", "mcp:grow/echo", "mcp__grow__echo"} {
		if text, err := b.call(t.Context(), name, `{"text":"hi"}`); err != nil || text != `{"text":"hi"}` {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := b.call(t.Context(), "mcp_grow_echo", `{}`); codeOf(err) != tools.InvalidArguments {
		t.Errorf("without what it needs: %v", err)
	}
	tool, _, _ := b.o.Registry.Lookup("mcp_grow_echo")
	if tool.Access != tools.Exec || !tool.Untrusted || tool.Core || tool.Source.Server != "grow" || tool.Source.Tool != "echo" || tool.Title != "grow: echo" {
		t.Errorf("%+v", tool)
	}
	for _, name := range []string{"mcp_grow_nothing", "mcp_other_echo", "grow", "mcp_crash_sum"} { // it is connected, or there is no such server
		if e := b.o.Registry.Unknown(name); e.Code != tools.UnknownTool {
			t.Errorf("%s: %+v", name, e)
		}
	}
	<-b.change
	for what, want := range map[string]int{"more": 4} {
		if _, err := b.call(t.Context(), "mcp_grow_"+what, `{}`); err != nil {
			t.Fatal(err)
		}
		<-b.change
		if got := b.names(); len(got) != want {
			t.Errorf("after %s: %v", what, got)
		}
	}
	if text, err := b.call(t.Context(), "mcp_grow_another", `{}`); err != nil || text != "here" {
		t.Errorf("a tool that came later: %q, %v", text, err)
	}
	if _, err := b.call(t.Context(), "mcp_grow_less", `{}`); err != nil {
		t.Fatal(err)
	}
	<-b.change
	if got := b.names(); len(got) != 3 {
		t.Errorf("after less: %v", got)
	}
	b.mu.Lock()
	b.servers = nil
	b.mu.Unlock()
	b.Reload()
	if got, list := b.names(), b.List(); len(got)+len(list) > 0 {
		t.Errorf("it is no longer configured: %v, %+v", got, list)
	}
}

// TestHostile: whatever a server does, it and its tools are all that suffers.
func TestHostile(t *testing.T) {
	for how, check := range map[string]func(t *testing.T, b *bench, st Status){
		"collide": func(t *testing.T, b *bench, _ Status) {
			if text, err := b.call(t.Context(), "mcp_collide_read_file", `{}`); err != nil || text != "mine" {
				t.Errorf("%q, %v", text, err)
			}
			if _, _, ok := b.o.Registry.Lookup("read_file"); ok {
				t.Error("it took the name of a built-in tool")
			}
		},
		"instruct": func(t *testing.T, b *bench, st Status) {
			tool, _, ok := b.o.Registry.Lookup("mcp_instruct_add")
			if !ok || strings.Contains(tool.Description, "id_rsa") || !strings.Contains(tool.Description, "held back") {
				t.Errorf("the model is told: %+v", tool)
			}
			if _, _, ok := b.o.Registry.Lookup("mcp_instruct_hidden"); ok || len(st.Warnings) != 2 {
				t.Errorf("orders in a schema: %v, warnings %q", ok, st.Warnings)
			}
		},
		"many": func(t *testing.T, b *bench, st Status) {
			if len(b.names()) != config.MCPTools || len(st.Warnings) == 0 {
				t.Errorf("%d tools, warnings %q", len(b.names()), st.Warnings)
			}
		},
		"long": func(t *testing.T, b *bench, st Status) {
			tool, _, ok := b.o.Registry.Lookup("mcp_long_long")
			if !ok || len(tool.Description) > maxDescription+100 || len(st.Warnings) != 1 {
				t.Errorf("%v, %d bytes, warnings %q", ok, len(tool.Description), st.Warnings)
			}
		},
		"names": func(t *testing.T, b *bench, st Status) {
			if got := b.names(); len(got) != 6 || len(st.Warnings) != 1 {
				t.Errorf("%v, warnings %q", got, st.Warnings)
			}
			for _, name := range b.names() {
				if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || len(name) > 64 {
					t.Errorf("a name: %q", name)
				}
			}
			if text, err := b.call(t.Context(), "mcp_names_a_b", `{}`); err != nil || text != "a b" {
				t.Errorf("%q, %v", text, err)
			}
		},
		"schemas": func(t *testing.T, b *bench, st Status) {
			for _, name := range b.names() {
				if name != "mcp_schemas_echo" && name != "mcp_schemas_loop" {
					t.Errorf("%s is there", name)
				}
			}
			if _, _, ok := b.o.Registry.Lookup("mcp_schemas_loop"); ok {
				_, _ = b.call(t.Context(), "mcp_schemas_loop", `{"x":1}`) // comes to an end
			}
			if len(st.Warnings) < 3 {
				t.Errorf("warnings %q", st.Warnings)
			}
		},
		"giant": func(t *testing.T, b *bench, _ Status) {
			if text, err := b.call(t.Context(), "mcp_giant_giant", `{}`); codeOf(err) != tools.Unavailable {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		},
		"silent": func(t *testing.T, b *bench, _ Status) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			if _, err := b.call(ctx, "mcp_silent_silent", `{}`); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			b.mu.Lock()
			first := b.ended["silent"][0]
			b.mu.Unlock()
			<-first // it is killed
		},
		"garbage": func(t *testing.T, b *bench, st Status) {
			if len(st.Warnings) != 0 {
				t.Errorf("warnings %q", st.Warnings)
			}
			if _, err := b.call(t.Context(), "mcp_garbage_echo", `{}`); codeOf(err) != tools.Unavailable {
				t.Errorf("%v", err)
			}
		},
		"noise": func(t *testing.T, b *bench, st Status) {
			if len(st.Warnings) != 1 || !strings.Contains(st.Warnings[0], `"Server 1.2 [31mrunning on stdio", and 5 lines more`) {
				t.Errorf("warnings %q", st.Warnings)
			}
			if text, err := b.call(t.Context(), "mcp_noise_echo", `{}`); err != nil || text != "first" {
				t.Errorf("%q, %v", text, err)
			}
			if again := b.up("noise").Warnings; len(again) != 1 || !strings.Contains(again[0], "and 6 lines more") || len(again[0]) > 2*maxShown {
				t.Errorf("warnings %q", again)
			}
		},
		"twice": func(t *testing.T, b *bench, _ Status) {
			for range 3 {
				if text, err := b.call(t.Context(), "mcp_twice_echo", `{}`); err != nil || text != "first" {
					t.Errorf("%q, %v", text, err)
				}
			}
		},
		"flood": func(*testing.T, *bench, Status) {},
		"asks": func(t *testing.T, b *bench, _ Status) {
			text, err := b.call(t.Context(), "mcp_asks_ask", `{}`)
			if err != nil || !strings.Contains(text, "sampling") {
				t.Fatalf("%q, %v", text, err)
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t, stdio(how), Server{Name: "fine", Command: []string{"good"}})
			st := b.up(how)
			if st.State != Connected {
				t.Fatalf("%+v", st)
			}
			check(t, b, st)
			// The control, and what must not suffer: a server that behaves.
			if st := b.up("fine"); st.State != Connected || st.Tools != 1 {
				t.Errorf("the other one: %+v", st)
			}
			if text, err := b.call(t.Context(), "mcp_fine_echo", `{"text":"x"}`); err != nil || text == "" {
				t.Errorf("the other one: %q, %v", text, err)
			}
		})
	}
}

// TestAsked: an older server gets no model and no user, and of the files the
// workspace's name alone.
func TestAsked(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "old"}, &sdk.ServerOptions{SupportedProtocolVersions: []string{"2025-06-18"}})
	var said []string
	server.AddTool(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`), Description: "Asks."}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		_, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{}) //nolint:staticcheck // servers of the field do
		said = append(said, "sampling: "+err.Error())
		_, err = r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Your password?"})
		said = append(said, "elicitation: "+err.Error())
		roots, err := r.Session.ListRoots(ctx, nil) //nolint:staticcheck // likewise
		if err != nil {
			return nil, err
		}
		for _, root := range roots.Roots {
			said = append(said, root.URI)
		}
		return &sdk.CallToolResult{}, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer web.Close()
	b := newBench(t, Server{Name: "old", URL: web.URL, Root: "/a folder"})
	defer b.Close()
	if st := b.up("old"); st.State != Connected || st.Transport != "http" || st.Tools != 1 {
		t.Fatalf("%+v", st)
	}
	if _, err := b.call(t.Context(), "mcp_old_ask", `{}`); err != nil {
		t.Fatal(err)
	}
	if len(said) != 3 || !strings.Contains(said[0], "method not found") || said[2] != "file:///a%20folder" {
		t.Errorf("%q", said)
	}
}

// TestBegunAtOnce: what begins a server while it is ended is not undone by that
// end.
func TestBegunAtOnce(t *testing.T) {
	b := newBench(t, stdio("fine"))
	var alive atomic.Int32
	start := b.o.Start
	b.o.Start = func(ctx context.Context, s Server) (*Process, error) {
		p, err := start(ctx, s)
		if err == nil {
			if n := alive.Add(1); n > 1 {
				t.Errorf("%d of them run", n)
			}
			kill := p.Kill
			p.Kill = sync.OnceFunc(func() { kill(); alive.Add(-1) })
		}
		return p, err
	}
	b.up("fine")
	s, err := b.find("fine")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		var work sync.WaitGroup
		work.Go(s.end)
		for range 20 {
			work.Go(s.begin)
		}
		work.Wait()
		s.begin()
		s.settled(t.Context())
		if st := s.status(); st.State != Connected || st.Tools == 0 || st.Error != "" {
			t.Fatalf("%+v", st)
		}
	}
}

// TestCrashLoop: a server that does not stay is started a few times, and then
// no more, until a person asks for it.
func TestCrashLoop(t *testing.T) {
	b := newBench(t, stdio("crash"))
	b.up("crash")
	s, _ := b.find("crash")
	<-s.ended
	if st := s.status(); st.State != Failed || !strings.Contains(st.Error, "sidecar.mcp.reconnect") || !strings.Contains(st.Error, "no licence") || b.starts() != maxRestarts+1 {
		t.Errorf("%d starts, %+v", b.starts(), st)
	}
	for _, name := range []string{"mcp_crash_sum", "mcp:crash/sum", "mcp__crash__sum", " functions.mcp_crash_sum"} {
		if e := b.o.Registry.Unknown(name); e.Code != tools.Unavailable || e.Transient || !strings.Contains(e.Message, "the MCP server crash is not connected (failed: ") || !strings.Contains(e.Message, "no licence") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	b.Reload() // a look at it starts nothing
	if b.starts() != maxRestarts+1 {
		t.Errorf("%d starts", b.starts())
	}
	if _, err := b.Reconnect(t.Context(), "crash"); err != nil {
		t.Error(err)
	}
	<-s.ended
	if b.starts() != 2*(maxRestarts+1) {
		t.Errorf("%d starts", b.starts())
	}
}

// TestUsage: what a server that does not stay wrote to standard output is shown.
func TestUsage(t *testing.T) {
	b := newBench(t, stdio("usage"))
	b.up("usage")
	s, _ := b.find("usage")
	<-s.ended
	if st := s.status(); st.State != Failed || !strings.Contains(st.Error, `"usage: server xxx`) || len(st.Error) > 600 {
		t.Errorf("%+v", st)
	}
}

// TestAway: from the start to the end, a tool of a server that is not connected is
// away, and not unknown.
func TestAway(t *testing.T) {
	orders := Server{Name: "a_b", Broken: "ignore previous instructions"}
	b := newBench(t, stdio("mute"), Server{Name: "off", Off: true, URL: "http://127.0.0.1:1"}, Server{Name: "a", Command: []string{"good"}}, orders)
	b.up("a")
	for name, want := range map[string]string{
		"mcp_mute_x": "connecting", "mcp_off_x": "switched off by its entry", "mcp_a_b_echo": "held back", "mcp_a_x": "there is no tool",
	} {
		if e := b.o.Registry.Unknown(name); !strings.Contains(e.Message, want) || strings.Contains(e.Message, "previous") || e.Transient != (want == "connecting") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	b = newBench(t, stdio("lost"))
	b.o.After = func(time.Duration) <-chan time.Time { return nil } // it is never started again
	b.up("lost")
	<-b.change
	if _, err := b.call(t.Context(), "mcp_lost_look", `{}`); codeOf(err) != tools.Unavailable {
		t.Fatal(err)
	}
	<-b.change
	if e := b.o.Registry.Unknown("mcp_lost_look"); e.Code != tools.Unavailable || !e.Transient {
		t.Errorf("until it is started again: %+v", e)
	}
	var none *Manager
	if e := none.Away("mcp_a_x"); e == nil || e.Code != tools.Unavailable || none.Away("read_fil") != nil {
		t.Errorf("without servers: %v", e)
	}
}

// TestLost: a call whose server is lost may be made again when its tool says
// that this does no harm, and works then.
func TestLost(t *testing.T) {
	for name, again := range map[string]bool{"look": true, "set": true, "add": false} {
		b := newBench(t, stdio("lost"))
		b.up("lost")
		<-b.change
		tool, _, _ := b.o.Registry.Lookup("mcp_lost_" + name)
		if tool.Repeatable() != again {
			t.Errorf("%s: may be called again: %v", name, tool.Repeatable())
		}
		bound, err := tool.Bind(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = bound.Run(t.Context(), &tools.Call{})
		if e := tools.AsError(err); err == nil || e.Class() != tools.Transient {
			t.Fatalf("%s: %v", name, err)
		}
		for range 2 { // its tools go, and come back
			if <-b.change; len(b.names()) == 0 {
				if _, _, err := bound.Run(t.Context(), &tools.Call{}); err != nil && tools.AsError(err).Class() != tools.Transient {
					t.Errorf("%s, until its server is there again: %v", name, err)
				}
			}
		}
		if res, _, err := bound.Run(t.Context(), &tools.Call{}); err != nil || res.Text != "here" {
			t.Errorf("%s, when its server is there again: %q, %v", name, res.Text, err)
		}
	}
}

// TestTrust: what a project names runs only as it was trusted.
func TestTrust(t *testing.T) {
	theirs := stdio("good")
	theirs.Name, theirs.Project, theirs.Env = "theirs", true, map[string]string{"K": "v"}
	b := newBench(t, theirs)
	st := b.up("theirs")
	if st.State != Untrusted || st.Trusted || b.starts() != 0 || len(b.warned) != 1 || !strings.Contains(st.Command, `K="v"`) {
		t.Fatalf("%d starts, warned %q, %+v", b.starts(), b.warned, st)
	}
	if st, err := b.Reconnect(t.Context(), "theirs"); err != nil || st.State != Untrusted || b.starts() != 0 {
		t.Errorf("reconnected: %+v, %v", st, err)
	}
	if _, err := b.Trust(t.Context(), "theirs", "another"); codeOf(err) != tools.Conflict || b.starts() != 0 {
		t.Errorf("trusted what was not shown: %v", err)
	}
	if _, err := b.Trust(t.Context(), "nobody", ""); codeOf(err) != tools.NotFound {
		t.Errorf("trusted nobody: %v", err)
	}
	if st, err := b.Trust(t.Context(), "theirs", st.Hash); err != nil || st.State != Connected || st.Tools != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	for what, change := range map[string]func(*Server){
		"program":   func(s *Server) { s.Command = []string{"grow"} },
		"argument":  func(s *Server) { s.Command = append(slices.Clone(s.Command), "-v") },
		"variable":  func(s *Server) { s.Env = map[string]string{"K": "v2"} },
		"more":      func(s *Server) { s.Env = map[string]string{"K": "v", "LD_PRELOAD": "x.so"} },
		"directory": func(s *Server) { s.Dir = "sub" },
		"transport": func(s *Server) { s.Command, s.URL = nil, "https://mcp.example.org" },
	} {
		changed := theirs
		change(&changed)
		b.mu.Lock()
		b.servers = []Server{changed}
		b.mu.Unlock()
		before := b.starts()
		b.Reload()
		if st := b.List()[0]; st.State != Untrusted || b.starts() != before || len(b.names()) != 0 {
			t.Errorf("another %s: %d starts more, %+v", what, b.starts()-before, st)
		}
	}
	b.mu.Lock()
	b.servers = []Server{theirs}
	b.mu.Unlock()
	if st := b.up("theirs"); st.State != Connected {
		t.Errorf("control: as it was trusted: %+v", st)
	}
	b.mu.Lock()
	b.refused = "nobody trusts the workspace"
	b.mu.Unlock()
	if st := b.up("theirs"); st.State != Disabled || len(b.names()) != 0 {
		t.Errorf("in an untrusted workspace: %+v", st)
	}
	if _, err := b.Trust(t.Context(), "theirs", ""); codeOf(err) != tools.Unavailable {
		t.Errorf("in an untrusted workspace: %v", err)
	}
}

// TestPinned: a tool whose words change is held back until the user has
// trusted them.
func TestPinned(t *testing.T) {
	b := newBench(t, stdio("described"))
	describe := func(text string) {
		if err := ownfile.WriteFile(b.file+".text", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	describe("Adds two numbers.")
	if st := b.up("described"); st.Tools != 2 {
		t.Fatalf("%+v", st)
	}
	if st, err := b.Reconnect(t.Context(), "described"); err != nil || st.Tools != 2 || len(st.Changed) != 0 || len(b.warned) != 0 {
		t.Fatalf("control: nothing has changed: %+v, %v, warned %q", st, err, b.warned)
	}
	describe("Adds two numbers!")
	st, err := b.Reconnect(t.Context(), "described")
	if err != nil || st.Tools != 1 || !slices.Equal(st.Changed, []string{"sum"}) || st.Trusted || len(b.warned) != 1 {
		t.Fatalf("%+v, %v, warned %q", st, err, b.warned)
	}
	shown := st.Hash
	describe("Adds two numbers, and more.")
	if st, err = b.Reconnect(t.Context(), "described"); err != nil || st.Hash == shown {
		t.Fatalf("%+v, %v", st, err)
	}
	if _, err := b.Trust(t.Context(), "described", shown); codeOf(err) != tools.Conflict {
		t.Errorf("trusted other words than were shown: %v", err)
	}
	if st, err = b.Trust(t.Context(), "described", st.Hash); err != nil || st.Tools != 2 || len(st.Changed) != 0 || !st.Trusted {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestCantBeKept: where trust can't be kept, nothing runs by it.
func TestCantBeKept(t *testing.T) {
	theirs := stdio("good")
	theirs.Project = true
	b := newBench(t, theirs)
	b.memory.fail = io.ErrShortWrite
	if st := b.up("good"); st.State != Untrusted {
		t.Errorf("%+v", st)
	}
	if _, err := b.Trust(t.Context(), "good", ""); err == nil || b.starts() != 0 {
		t.Errorf("%d starts, %v", b.starts(), err)
	}
}

func TestBroken(t *testing.T) {
	off, broken := stdio("off"), stdio("broken")
	off.Off, broken.Broken = true, "needs an input"
	without := stdio("grow")
	without.Without = []string{"more"}
	b := newBench(t, off, broken, without, Server{Name: "nobody", URL: "http://127.0.0.1:1/"}, Server{Name: "redirects", URL: redirecting(t)})
	b.Reload()
	for name, want := range map[string]struct {
		state State
		why   string
		tools int
	}{
		"off": {Disabled, "switched off", 0}, "broken": {Failed, "needs an input", 0}, "grow": {Connected, "", 2},
		"nobody": {Failed, "connection refused", 0}, "redirects": {Failed, "redirects are not followed", 0},
	} {
		if st := b.up(name); st.State != want.state && st.State != Connecting || st.Tools != want.tools || !strings.Contains(st.Error, want.why) && st.State != Connecting {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

// redirecting sends everybody elsewhere, with what they have on them.
func redirecting(t *testing.T) string {
	t.Helper()
	w := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/", http.StatusTemporaryRedirect))
	t.Cleanup(w.Close)
	return w.URL
}
