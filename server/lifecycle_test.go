package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

func TestInitialize(t *testing.T) {
	for _, c := range []struct {
		offered []lsp.Encoding
		want    lsp.Encoding
	}{
		{nil, lsp.UTF16},
		{[]lsp.Encoding{"utf-32", "utf-16"}, lsp.UTF32},
		{[]lsp.Encoding{"utf-16", "utf-8"}, lsp.UTF8},
		{[]lsp.Encoding{"utf-7"}, lsp.UTF16},
	} {
		caps := fakeeditor.Usual()
		caps.General.PositionEncodings = c.offered
		w := newWorld(t, setup{bare: true, capabilities: caps})
		r, err := w.Initialize(w.ctx)
		w.must(err)
		got := r.Capabilities
		if got.PositionEncoding != c.want {
			t.Errorf("offered %v: got %s, want %s", c.offered, got.PositionEncoding, c.want)
		}
		if r.ServerInfo != (lsp.Info{Name: "sidecar-ls", Version: "test"}) {
			t.Errorf("server info %v", r.ServerInfo)
		}
		var names []string
		for _, c := range commands.Table() {
			names = append(names, c.Name)
		}
		if d := cmp.Diff(names, got.ExecuteCommandProvider.Commands); d != "" {
			t.Error(d)
		}
		sync := got.TextDocumentSync
		if !sync.OpenClose || sync.Change != lsp.SyncIncremental || sync.Save == nil || !got.CodeActionProvider.ResolveProvider || !got.CodeLensProvider.ResolveProvider {
			t.Errorf("capabilities %+v", got)
		}
	}
}

func TestOrderOfLife(t *testing.T) {
	w := newWorld(t, setup{bare: true})
	list, err := fakeeditor.Command("sidecar.approval.list", nil)
	w.must(err)
	ask := func() int64 { return code(w.Call(w.ctx, "workspace/executeCommand", list, nil)) }
	if got := ask(); got != lsp.ServerNotInitialized {
		t.Errorf("before initialize: %d", got)
	}
	w.must(w.Notify(w.ctx, "textDocument/didOpen", object{"nonsense": 1})) // ignored
	w.must(second(w.Initialize(w.ctx)))
	if got := ask(); got != 0 {
		t.Errorf("running: %d", got)
	}
	if got := code(w.Call(w.ctx, "initialize", object{"processId": nil, "rootUri": nil, "capabilities": object{}}, nil)); got != lsp.InvalidRequest {
		t.Errorf("initialize again: %d", got)
	}
	if got := code(w.Call(w.ctx, "textDocument/hover", object{}, nil)); got != lsp.MethodNotFound {
		t.Errorf("unknown method: %d", got)
	}
	w.must(w.Call(w.ctx, "shutdown", nil, nil))
	if got := ask(); got != lsp.InvalidRequest {
		t.Errorf("after shutdown: %d", got)
	}
	w.must(w.Notify(w.ctx, "exit", nil))
	w.must(w.Wait(w.ctx))
}

func TestExitWithoutShutdown(t *testing.T) {
	w := newWorld(t, setup{})
	w.must(w.Notify(w.ctx, "exit", nil))
	if err := w.Wait(w.ctx); !errors.Is(err, ErrExit) {
		t.Errorf("got %v", err)
	}
}

func TestStartFails(t *testing.T) {
	s := New(Options{Start: func(context.Context, Start) (*Core, error) { return nil, errors.New("the folder is locked") }})
	e := fakeeditor.Serve(func(in io.Reader, out io.Writer) error { return s.Serve(context.Background(), in, out) }, fakeeditor.Options{})
	_, err := e.Initialize(t.Context())
	if code(err) != lsp.RequestFailed || !strings.Contains(err.Error(), "locked") {
		t.Errorf("got %v", err)
	}
	e.Hangup()
	if err := e.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFolders(t *testing.T) {
	text := func(s string) *string { return &s }
	drive, disk := "", "" // where paths begin, in a URI and for the system
	if runtime.GOOS == "windows" {
		drive, disk = "/c%3A", "C:"
	}
	uri := func(path string) string { return "file://" + drive + path }
	dir := func(path string) string { return disk + filepath.FromSlash(path) }
	for _, c := range []struct {
		name   string
		params lsp.InitializeParams
		want   []workspace.Folder
	}{
		{"none", lsp.InitializeParams{}, nil},
		{"rootUri", lsp.InitializeParams{RootURI: text(uri("/a%20b")), RootPath: text(dir("/x"))}, []workspace.Folder{{Name: "a b", Dir: dir("/a b")}}},
		{"rootPath", lsp.InitializeParams{RootPath: text(dir("/x/"))}, []workspace.Folder{{Name: "x", Dir: dir("/x")}}},
		{"relative rootPath", lsp.InitializeParams{RootPath: text("x")}, nil},
		{"folders", lsp.InitializeParams{
			RootURI: text(uri("/a")),
			WorkspaceFolders: []lsp.WorkspaceFolder{
				{URI: uri("/a"), Name: "one"}, {URI: uri("/b"), Name: "one"}, {URI: uri("/a/"), Name: "again"},
				{URI: uri("/c"), Name: "x/y"}, {URI: "vscode-vfs://github/d", Name: "d"},
			},
		}, []workspace.Folder{{Name: "one", Dir: dir("/a")}, {Name: "one-2", Dir: dir("/b")}, {Name: "c", Dir: dir("/c")}}},
	} {
		if d := cmp.Diff(c.want, FoldersOf(c.params)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestNoFolder(t *testing.T) {
	w := newWorld(t, setup{noFolder: true})
	for _, command := range []string{"sidecar.review.list", "sidecar.review.accept"} {
		err := w.ExecuteCommand(w.ctx, command, nil, nil)
		if code(err) != lsp.RequestFailed || !strings.Contains(err.Error(), "no folder is open") {
			t.Errorf("%s: %v", command, err)
		}
	}
	uri := "file:///somewhere/a.go"
	w.must(w.Open(w.ctx, uri, "go", "x"))
	w.must(w.Call(w.ctx, "textDocument/codeLens", lsp.CodeLensParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}}, nil))
	if got := run[commands.ModeResult](w, "sidecar.mode.get", nil); got.Mode == "" {
		t.Error("no mode")
	}
}

func TestConfiguration(t *testing.T) {
	loaded := make(chan string, 10)
	w := newWorld(t, setup{
		options:  object{"sidecar": object{"mode": "review"}},
		settings: map[string]any{"sidecar": object{"mode": 7}},
		configure: func(layers ...json.RawMessage) []string {
			loaded <- string(slices.Concat(layers...))
			return []string{"mode: a string is expected"}
		},
	})
	if got, want := take(w, loaded), `{"mode":"review"}{"mode":7}`; got != want {
		t.Errorf("loaded %s, want %s", got, want)
	}
	w.await("the problem", func(r *fakeeditor.Record) bool { return r.Count("window/showMessage") == 1 })
	w.must(w.Configure(w.ctx, map[string]any{"sidecar": object{"mode": "plan"}}))
	if got, want := take(w, loaded), `{"mode":"review"}{"mode":"plan"}`; got != want {
		t.Errorf("loaded %s, want %s", got, want)
	}
}

// Settings that change while older ones are loaded hold in the end.
func TestConfigurationChangesMeanwhile(t *testing.T) {
	loaded, release, loading := make(chan string, 10), make(chan struct{}), make(chan int, 10)
	var loads atomic.Int32
	w := newWorld(t, setup{
		settings: map[string]any{"sidecar": object{"mode": "review"}},
		configure: func(layers ...json.RawMessage) []string {
			if loads.Add(1) == 1 {
				loading <- 1
				<-release
			}
			loaded <- string(slices.Concat(layers...))
			return nil
		},
	})
	take(w, loading)
	w.must(w.Configure(w.ctx, map[string]any{"sidecar": object{"mode": "plan"}}))
	for range 50 { // in which a load that did not wait would overtake
		w.must(w.ExecuteCommand(w.ctx, "sidecar.session.list", nil, nil))
	}
	close(release)
	for _, want := range []string{`{"mode":"review"}`, `{"mode":"plan"}`} {
		if got := take(w, loaded); got != want {
			t.Errorf("loaded %s, want %s", got, want)
		}
	}
}

// Clients that push their settings can't be asked for them.
func TestConfigurationPushed(t *testing.T) {
	loaded := make(chan string, 10)
	caps := fakeeditor.Usual()
	caps.Workspace.Configuration = false
	w := newWorld(t, setup{capabilities: caps, configure: func(layers ...json.RawMessage) []string {
		loaded <- string(slices.Concat(layers...))
		return nil
	}})
	if got := take(w, loaded); got != "" {
		t.Errorf("loaded %s", got)
	}
	w.must(w.Notify(w.ctx, "workspace/didChangeConfiguration", object{"settings": object{"sidecar": object{"mode": "audit"}}}))
	if got, want := take(w, loaded), `{"mode":"audit"}`; got != want {
		t.Errorf("loaded %s, want %s", got, want)
	}
}

func TestCommandArguments(t *testing.T) {
	w := newWorld(t, setup{})
	for _, c := range []struct {
		command string
		args    string // the array
		want    string // in the error; "" is success
	}{
		{"sidecar.session.list", `[]`, ""},
		{"sidecar.session.list", `[{}]`, ""},
		{"sidecar.session.list", `[null]`, ""},
		{"sidecar.session.list", `[{"x":1}]`, "x: unknown member"},
		{"sidecar.session.list", `[{},{}]`, "arguments: one object"},
		{"sidecar.session.list", `["x"]`, "arguments[0]: an object is expected"},
		{"sidecar.session.list", `[[]]`, ""},
		{"sidecar.session.list", `[[1]]`, "arguments[0]: an object is expected"},
		{"sidecar.mode.set", `[[]]`, "mode: missing"},
		{"sidecar.mode.set", `[{}]`, "mode: missing"},
		{"sidecar.mode.set", `[{"Mode":"plan"}]`, "Mode: unknown member"},
		{"sidecar.mode.set", `[{"mode":7}]`, "mode: a string is expected"},
		{"sidecar.session.open", `[{"budget":{"tokens":"many"}}]`, "budget.tokens: a number is expected"},
		{"sidecar.session.open", `[{"budget":{"money":1}}]`, "budget.money: unknown member"},
		{"sidecar.session.open", `[{"allow":"grep"}]`, "allow: an array is expected"},
		{"sidecar.session.open", `[{"allow":[1]}]`, "allow.0: a string is expected"},
		{"sidecar.session.open", `[{"registry":"half"}]`, "registry"},
		{"sidecar.session.close", `[{"session":"lost"}]`, "session"},
		{"sidecar.tools.call", `[{"name":"x"}]`, "arguments: missing"},
		{"sidecar.tools.call", `[{"name":"x","arguments":[1]}]`, "arguments: an object is expected"},
		{"sidecar.policy.explain", `[{"name":"read_file","arguments":[ ]}]`, ""},
		{"sidecar.session.open", `[{"budget":[]}]`, ""},
		{"sidecar.session.open", `[{"budget":[1]}]`, "budget: an object is expected"},
		{"sidecar.tools.list", `[{"source":"elsewhere"}]`, "source"},
		{"sidecar.tools.list", `[{"strict":"yes"}]`, "strict: true or false is expected"},
		{"sidecar.tools.list", `[{"format":"xml"}]`, "format"},
		{"sidecar.tools.list", `[{"session":"lost"}]`, "session"},
		{"sidecar.review.text", `[{"uri":"file:///etc/passwd","side":"base"}]`, "uri"},
		{"sidecar.review.text", `[{"uri":"http://x/y","side":"base"}]`, "uri: \"http://x/y\" is not a file URI"},
		{"sidecar.review.text", `[{"uri":"file:///x","side":"left"}]`, "side"},
		{"sidecar.review.accept", `[{"uris":["untitled:x"]}]`, "uris.0"},
		{"sidecar.review.accept", `[{"revision":"new"}]`, "revision: a number is expected"},
		{"sidecar.approval.answer", `[{"id":"x","outcome":"allow"}]`, "id"},
		{"sidecar.approval.allowOldest", `[]`, "no approval is open"},
		{"sidecar.nonesuch", `[]`, "command: \"sidecar.nonesuch\" is unknown"},
		{"no.such", `[]`, "command"},
	} {
		err := w.Call(w.ctx, "workspace/executeCommand", json.RawMessage(`{"command":"`+c.command+`","arguments":`+c.args+`}`), nil)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s %s: %v", c.command, c.args, err)
		case c.want != "" && (code(err) != lsp.InvalidParams || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s: got %v, want %q", c.command, c.args, err, c.want)
		}
	}
}

func TestSessions(t *testing.T) {
	w := newWorld(t, setup{})
	opened := run[commands.SessionResult](w, "sidecar.session.open", object{"id": "a1", "mode": "plan"})
	if opened.Session != "a1" {
		t.Errorf("opened %q", opened.Session)
	}
	if got := run[commands.ModeResult](w, "sidecar.mode.get", object{"session": "a1"}); got.Mode != "plan" {
		t.Errorf("mode %q", got.Mode)
	}
	if got := run[commands.ModeResult](w, "sidecar.mode.set", object{"mode": "review"}); got.Mode != "review" {
		t.Errorf("mode %q", got.Mode)
	}
	var got []string
	for _, s := range run[commands.SessionList](w, "sidecar.session.list", nil).Sessions {
		got = append(got, s.Session+" "+s.Mode)
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"a1 plan", "default review"}, got); d != "" {
		t.Error(d)
	}
	run[object](w, "sidecar.session.close", object{"session": "a1"})
	if err := w.ExecuteCommand(w.ctx, "sidecar.mode.get", object{"session": "a1"}, nil); code(err) != lsp.InvalidParams {
		t.Errorf("closed session: %v", err)
	}
}

// TestEndsWithTheClientsProcess: the pipe stays open, but its owner has died.
func TestEndsWithTheClientsProcess(t *testing.T) {
	const client = "SERVER_TEST_CLIENT"
	if os.Getenv(client) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), client+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !alive(cmd.Process.Pid) {
		t.Fatal("a living process counts as ended")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		watchParent(cancelled, cmd.Process.Pid, func() { t.Error("a living process was taken for one that has ended") })
	}()
	cancel()
	<-left
	gone := make(chan struct{})
	go watchParent(t.Context(), cmd.Process.Pid, func() { close(gone) })
	if err := stdin.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	<-gone
	if alive(cmd.Process.Pid) || alive(0) || alive(-1) {
		t.Error("an ended process counts as alive")
	}
}

// TestDroppedIsTold: the client is told of a message that was too long to be
// read, and is served on. A document whose change was lost counts as not open:
// what is changed of it later would be applied to another text.
func TestDroppedIsTold(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.txt": "one\n", "b.txt": "two\n"}, maxFrame: 1 << 20})
	uri := w.open("a.txt", "one of the user\n")
	w.open("b.txt", "two of the user\n")
	if err := w.Type(w.ctx, uri, strings.Repeat("x", 1<<20)); err != nil {
		t.Fatal(err)
	}
	w.await("a message", func(r *fakeeditor.Record) bool { return r.Count("window/logMessage") == 1 })
	var list review.Listed
	w.must(w.ExecuteCommand(w.ctx, "sidecar.review.list", nil, &list))
	if open := w.server.docs.Names(); !slices.Equal(open, []string{"b.txt"}) {
		t.Errorf("open are %q", open)
	}
	w.must(w.Type(w.ctx, uri, "later\n"))
	w.must(w.ExecuteCommand(w.ctx, "sidecar.review.list", nil, &list))
	if open := w.server.docs.Names(); !slices.Equal(open, []string{"b.txt"}) {
		t.Errorf("after a change, open are %q", open)
	}
	w.must(w.Close(w.ctx, uri))
	w.open("a.txt", "again\n")
	w.must(w.ExecuteCommand(w.ctx, "sidecar.review.list", nil, &list))
	if doc := w.server.docs.At(uri); doc == nil || doc.Text.Text() != "again\n" {
		t.Errorf("opened again: %+v", doc)
	}
}

// TestLeft: whoever started the server is told that its client has left, while
// work of it still goes on, and whether that was in order.
func TestLeft(t *testing.T) {
	for _, orderly := range []bool{true, false} {
		w := newWorld(t, setup{})
		left := make(chan bool, 1)
		w.server.opts.Left = func(orderly bool) { left <- orderly }
		begun, end := make(chan struct{}), make(chan struct{})
		w.tools.call = func(context.Context, dispatch.Request) (*dispatch.Result, error) {
			close(begun)
			<-end // it does not hear that it is cancelled
			return &dispatch.Result{}, nil
		}
		go func() {
			_ = w.ExecuteCommand(w.ctx, "sidecar.tools.call", map[string]any{"name": "x", "arguments": map[string]any{}}, nil)
		}()
		<-begun
		if orderly {
			w.must(w.Call(w.ctx, "shutdown", nil, nil))
			w.must(w.Notify(w.ctx, "exit", nil))
		} else {
			w.Hangup()
		}
		if got := <-left; got != orderly {
			t.Errorf("orderly %v is told as %v", orderly, got)
		}
		close(end)
	}
}
