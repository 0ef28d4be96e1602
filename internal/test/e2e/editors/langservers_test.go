package editors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/servers"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

func TestServersAgree(t *testing.T) {
	if got, want := slices.Sorted(slices.Values(langserver.Names())), config.ServerNames(); !slices.Equal(got, want) {
		t.Errorf("servers that can be run: %v; that can be set up: %v", got, want)
	}
}

// served is a real server with an editor, whose gopls is that of the tests.
type served struct {
	*e2e.Rig
	cmd *exec.Cmd
}

func serveGo(t *testing.T, dir string, settings map[string]any, capabilities *lsp.ClientCapabilities) *served {
	t.Helper()
	gopls := servers.Gopls(t)
	e2e.Home(t)
	set := map[string]any{
		"mode": "review", "workspace.trust": "trusted",
		"languageServers": map[string]any{"gopls": map[string]any{"command": []string{gopls}}},
	}
	for key, value := range settings {
		set[key] = value
	}
	cmd := exec.Command(os.Args[0], "serve", "--log-level", "error")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: dir, InitializationOptions: map[string]any{"sidecar": set}, Capabilities: capabilities})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Initialize(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = e.Shutdown(ctx) // of one that was killed this fails at once
		_ = e.Wait(ctx)
		if t.Failed() {
			t.Logf("the server's log:\n%s", &stderr)
		}
	})
	return &served{&e2e.Rig{Editor: e, T: t, Dir: dir}, cmd}
}

// diagnosed is what the tests look at in a result about problems.
type diagnosed struct {
	OK         bool   `json:"ok"`
	Content    string `json:"content"`
	Structured struct {
		State    string `json:"state"`
		Problems []struct {
			Path    string `json:"path"`
			Line    int    `json:"line"`
			Message string `json:"message"`
			From    string `json:"from"`
		} `json:"problems"`
	} `json:"structured"`
	Checked *struct {
		State   string `json:"state"`
		Total   int    `json:"total"`
		AtLeast bool   `json:"atLeast"`
		Open    int    `json:"open"`
		Why     string `json:"why"`
		Later   bool   `json:"later"`
	} `json:"checked"`
	Error struct {
		Code string `json:"code"`
	} `json:"error"`
}

func (s *served) tool(name string, args map[string]any) diagnosed {
	s.T.Helper()
	var res diagnosed
	if err := s.ExecuteCommand(s.T.Context(), "sidecar.tools.call", map[string]any{"name": name, "arguments": args}, &res); err != nil {
		s.T.Fatalf("%s: %v", name, err)
	}
	return res
}

type problemList struct {
	Edits []struct {
		Path     string `json:"path"`
		Problems *struct {
			Errors   int `json:"errors"`
			Warnings int `json:"warnings"`
		} `json:"problems"`
	} `json:"edits"`
	Problems []struct {
		Path    string `json:"path"`
		Line    int    `json:"line"`
		Message string `json:"message"`
	} `json:"problems"`
}

func goFiles() map[string]string {
	return map[string]string{
		"go.mod":     "module example.org/m\n\ngo 1.24\n",
		"main.go":    "package main\n\nimport \"example.org/m/lib\"\n\nfunc main() { println(lib.Name()) }\n",
		"lib/lib.go": "package lib\n\nfunc Name() string { return \"disk\" }\n",
	}
}

// TestEditsAreNotBlamed: what is laid to an edit is what that edit brought. What
// others brought before is said as that.
func TestEditsAreNotBlamed(t *testing.T) {
	slow.Test(t)
	files := goFiles()
	files["lib/pay.go"] = "package lib\n\nfunc Pay(n int) int { return n }\n\nvar A, B, C = Pay(1), Pay(2), Pay(3)\n"
	s := serveGo(t, e2e.Project(t, files), nil, nil)
	if r := s.tool("get_diagnostics", map[string]any{}); r.Structured.State != "clean" {
		t.Fatalf("%+v", r)
	}
	edit := func(path, search, replace string) diagnosed {
		t.Helper()
		r := s.tool("edit_file", map[string]any{"path": path, "search": search, "replace": replace})
		if !r.OK || r.Checked == nil {
			t.Fatalf("%s %+v", r.Content, r.Checked)
		}
		return r
	}
	if r := edit("lib/pay.go", "Pay(n int) int", "Pay(n int, tip int) int"); r.Checked.Total != 3 || r.Checked.Open != 0 || !strings.Contains(r.Content, "brings at least 3 new problems") {
		t.Errorf("the one that breaks: %s %+v", r.Content, r.Checked)
	}
	for _, path := range []string{"lib/lib.go", "lib/new.go"} {
		r := s.tool("write_file", map[string]any{"path": path, "content": "package lib\n\n// Only a comment.\n" + map[string]string{"lib/lib.go": "func Name() string { return \"disk\" }\n"}[path]})
		if r.Checked == nil || r.Checked.State != "clean" || r.Checked.Total != 0 || r.Checked.Open != 3 || !strings.Contains(r.Content, "No new problems") || !strings.Contains(r.Content, "Still open from earlier edits: 3 problems.") {
			t.Errorf("a comment in %s: %s %+v", path, r.Content, r.Checked)
		}
	}
	// In the file that is broken, one more is one, and the last fix leaves nothing.
	if r := edit("lib/pay.go", "return n", "return n + m"); r.Checked.Total != 1 || r.Checked.Open != 3 || !strings.Contains(r.Content, "undefined: m") {
		t.Errorf("one more: %s %+v", r.Content, r.Checked)
	}
	if r := edit("lib/pay.go", "return n + m", "return n"); r.Checked.State != "clean" || r.Checked.Open != 3 {
		t.Errorf("one less: %s %+v", r.Content, r.Checked)
	}
	if r := edit("lib/pay.go", "Pay(n int, tip int) int", "Pay(n int) int"); r.Checked.State != "clean" || r.Checked.Open != 0 || strings.Contains(r.Content, "Still open") {
		t.Errorf("none: %s %+v", r.Content, r.Checked)
	}
}

// TestEditsAreToldLater: what isn't known when an edit is held comes with a
// later result of its session, and of no other.
func TestEditsAreToldLater(t *testing.T) {
	slow.Test(t)
	files := goFiles()
	files["lib/pay.go"] = "package lib\n\nfunc Pay(n int) int { return n }\n\nvar A, B, C = Pay(1), Pay(2), Pay(3)\n"
	s := serveGo(t, e2e.Project(t, files), nil, nil)
	var other struct{ Session string }
	if err := s.ExecuteCommand(t.Context(), "sidecar.session.open", map[string]any{"id": "other"}, &other); err != nil {
		t.Fatal(err)
	}
	r := s.tool("edit_file", map[string]any{"path": "lib/pay.go", "search": "Pay(n int) int", "replace": "Pay(n int, tip int) int"})
	if r.Checked == nil || r.Checked.State != "unknown" || !r.Checked.Later || !strings.Contains(r.Content, "not known yet (gopls: it is starting); a later result says it") {
		t.Fatalf("no server runs yet: %s %+v", r.Content, r.Checked)
	}
	later := func(want string) {
		t.Helper()
		for {
			r := s.tool("list_directory", map[string]any{"path": "."})
			switch {
			case strings.Contains(r.Content, want):
				return
			case strings.Contains(r.Content, "Your edit of"):
				t.Errorf("told: %s\nwant %s", r.Content, want)
				return
			case t.Context().Err() != nil:
				t.Fatalf("not told: %s", want)
			}
		}
	}
	later("Your edit of lib/pay.go brings 3 new problems, says gopls:\nlib/pay.go:5:")
	if r := s.tool("list_directory", map[string]any{"path": "."}); strings.Contains(r.Content, "Your edit") {
		t.Errorf("told twice: %s", r.Content)
	}

	// What breaks in the file itself is told at once; the rest is not.
	r = s.tool("edit_file", map[string]any{"path": "lib/lib.go", "search": "Name() string { return \"disk\" }", "replace": "Title() string { return 1 }"})
	if r.Checked == nil || r.Checked.Total != 1 || !r.Checked.AtLeast || r.Checked.Open != 3 || !r.Checked.Later {
		t.Errorf("%s %+v", r.Content, r.Checked)
	}
	later("Your edit of lib/lib.go brings 1 more problem, says gopls:\nmain.go:5:")

	var res diagnosed
	if err := s.ExecuteCommand(t.Context(), "sidecar.tools.call", map[string]any{"session": other.Session, "name": "list_directory", "arguments": map[string]any{"path": "."}}, &res); err != nil || strings.Contains(res.Content, "Your edit") {
		t.Errorf("another session is told: %v %s", err, res.Content)
	}
}

// From the edit to the review: what it breaks is said before anyone accepts it.
func TestPendingEditsAreChecked(t *testing.T) {
	slow.Test(t)
	dir := e2e.Project(t, goFiles())
	s := serveGo(t, dir, nil, nil)
	uri, err := s.OpenFile(t.Context(), filepath.Join(dir, "lib", "lib.go"))
	if err != nil {
		t.Fatal(err)
	}
	if r := s.tool("get_diagnostics", map[string]any{}); r.Structured.State != "clean" || !strings.Contains(r.Content, "gopls (2 files)") {
		t.Fatalf("%+v", r)
	}
	edit := func(search, replace string) diagnosed {
		t.Helper()
		r := s.tool("edit_file", map[string]any{"path": "lib/lib.go", "search": search, "replace": replace})
		if !r.OK {
			t.Fatal(r.Content)
		}
		return r
	}
	if r := edit("disk", "pending"); r.Checked == nil || r.Checked.State != "clean" || !strings.Contains(r.Content, "No new problems, says gopls.") {
		t.Errorf("a harmless edit: %s, %+v", r.Content, r.Checked)
	}
	r := edit(`Name() string { return "pending" }`, `Name() int { return "pending" }`)
	if r.Checked == nil || r.Checked.State != "problems" || r.Checked.Total != 1 || !strings.Contains(r.Content, `lib/lib.go:3:26: error: cannot use "pending"`) {
		t.Errorf("a harmful edit: %s, %+v", r.Content, r.Checked)
	}
	shows := func(what string, want func(text string) bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Await(ctx, what, func(rec *fakeeditor.Record) bool {
			list := rec.Diagnostics[uri]
			return len(list) == 1 && want(list[0].Message)
		}); err != nil {
			t.Error(err)
		}
	}
	shows("the problem on the hunk", func(text string) bool { return strings.Contains(text, "brings a new error in line 3: cannot use") })
	review := func() (list problemList) {
		t.Helper()
		if err := s.ExecuteCommand(t.Context(), "sidecar.review.list", nil, &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	if list := review(); len(list.Edits) != 1 || list.Edits[0].Problems == nil || list.Edits[0].Problems.Errors != 1 || len(list.Problems) != 1 || list.Problems[0].Line != 3 {
		t.Errorf("the review: %+v", list)
	}
	if r := s.tool("get_diagnostics", map[string]any{"path": "lib/lib.go"}); r.Structured.State != "problems" || len(r.Structured.Problems) != 1 || r.Structured.Problems[0].From != "gopls" {
		t.Errorf("%+v", r)
	}

	// What breaks elsewhere is said too, and all of it is taken back.
	if r := edit(`Name() int { return "pending" }`, `Title() string { return "pending" }`); !strings.Contains(r.Content, "main.go:5:27: error: undefined: lib.Name") {
		t.Errorf("elsewhere: %s", r.Content)
	}
	if list := review(); len(list.Problems) != 1 || list.Problems[0].Path != "main.go" || list.Edits[0].Problems == nil || list.Edits[0].Problems.Errors != 0 {
		t.Errorf("the review: %+v", list)
	}
	shows("no problem on the hunk", func(text string) bool { return !strings.Contains(text, "brings") })

	// A rename is an edit like all others: pending, in all files.
	edit("Title", "Name")
	rename := s.tool("lsp_rename", map[string]any{"path": "lib/lib.go", "line": 3, "symbol": "Name", "new_name": "Title"})
	if !rename.OK || rename.Checked == nil || rename.Checked.State != "clean" {
		t.Errorf("%+v", rename)
	}
	if list := review(); len(list.Edits) != 2 {
		t.Errorf("after the rename: %+v", list)
	}
	if got := s.File("main.go"); !strings.Contains(got, "lib.Name()") {
		t.Errorf("the disk has\n%s", got)
	}
	if r := s.tool("lsp_rename", map[string]any{"path": "lib/lib.go", "line": 3, "symbol": "Title", "new_name": "no name"}); r.Error.Code != "invalid_arguments" {
		t.Errorf("%+v", r)
	}
	for tool, want := range map[string]string{"lsp_definition": "lib/lib.go:3:6: func Title", "lsp_references": "main.go:5:27", "lsp_hover": "func lib.Title() string"} {
		if r := s.tool(tool, map[string]any{"path": "main.go", "line": 5, "symbol": "Title"}); !r.OK || !strings.Contains(r.Content, want) {
			t.Errorf("%s: %+v", tool, r)
		}
	}
	if r := s.tool("lsp_symbols", map[string]any{"query": "Title"}); !strings.Contains(r.Content, "lib/lib.go:3:6 function") || strings.Contains(r.Content, "unicode") {
		t.Errorf("%+v", r)
	}
	for _, args := range []map[string]any{{"path": "../x.go", "line": 1}, {"path": "main.go"}, {"path": "main.go", "line": 0}, {"path": "main.go", "line": 5, "symbol": "nope"}, {"path": "gone.go", "line": 1}} {
		if r := s.tool("lsp_hover", args); r.OK {
			t.Errorf("%v: %s", args, r.Content)
		}
	}
}

// A shadow has a server of its own, which sees its files.
func TestServersOfAShadow(t *testing.T) {
	slow.Test(t)
	dir := e2e.Project(t, goFiles())
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s := serveGo(t, dir, nil, nil)
	if err := s.ExecuteCommand(t.Context(), "sidecar.shadow.create", map[string]any{"id": "try"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.ExecuteCommand(t.Context(), "sidecar.session.open", map[string]any{"id": "in", "shadow": "try", "mode": "autonomous"}, nil); err != nil {
		t.Fatal(err)
	}
	call := func(tool string, args map[string]any) (res diagnosed) {
		t.Helper()
		if err := s.ExecuteCommand(t.Context(), "sidecar.tools.call", map[string]any{"name": tool, "arguments": args, "session": "in"}, &res); err != nil {
			t.Fatal(err)
		}
		return res
	}
	if r := call("get_diagnostics", map[string]any{"path": "main.go"}); r.Structured.State != "clean" {
		t.Fatalf("%+v", r)
	}
	if r := call("edit_file", map[string]any{"path": "lib/lib.go", "search": "Name", "replace": "Title"}); !r.OK {
		t.Fatal(r.Content)
	}
	if r := call("get_diagnostics", map[string]any{"path": "main.go"}); r.Structured.State != "problems" || r.Structured.Problems[0].Path != "main.go" {
		t.Errorf("in the shadow: %+v", r)
	}
	if r := s.tool("get_diagnostics", map[string]any{"path": "main.go"}); r.Structured.State != "clean" {
		t.Errorf("in the main tree: %+v", r)
	}
}

// Without trust nothing runs, also when the project names a program, and the
// state is not clean; what the editor shows is told all the same.
func TestServersNeedTrust(t *testing.T) {
	files := goFiles()
	evil := filepath.Join(t.TempDir(), "ran")
	files["evil.sh"] = "#!/bin/sh\ntouch " + evil + "\n"
	files[".sidecar/settings.json"] = `{"languageServers": {"gopls": {"command": ["./evil.sh"]}}}`
	dir := e2e.Project(t, files)
	if err := ownfile.Chmod(filepath.Join(dir, "evil.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	can := fakeeditor.Usual()
	can.Experimental.Sidecar.Diagnostics = true
	s := serveGo(t, dir, map[string]any{"workspace.trust": "unknown", "languageServers": map[string]any{}}, can)
	var shown []map[string]any
	s.Answer("sidecar/diagnostics", func(context.Context, json.RawMessage) (any, error) {
		if shown == nil {
			return nil, lsp.Errorf(lsp.MethodNotFound, "no")
		}
		return map[string]any{"diagnostics": shown}, nil
	})
	if r := s.tool("get_diagnostics", map[string]any{"path": "main.go"}); !r.OK || r.Structured.State != "unknown" || !strings.Contains(r.Content, "trust") {
		t.Errorf("%+v", r)
	}
	if r := s.tool("lsp_hover", map[string]any{"path": "main.go", "line": 5, "symbol": "Name"}); r.Error.Code != "unavailable" {
		t.Errorf("%+v", r)
	}
	place := map[string]any{"start": map[string]int{"line": 4, "character": 0}, "end": map[string]int{"line": 4, "character": 1}}
	shown = []map[string]any{
		{"uri": "file://" + dir + "/main.go", "diagnostics": []map[string]any{{"range": place, "message": "spelling", "severity": 3}, {"range": place, "message": "ours", "source": "sidecar"}}},
		{"uri": "file:///etc/passwd", "diagnostics": []map[string]any{{"range": place, "message": "elsewhere"}}},
	}
	r := s.tool("get_diagnostics", map[string]any{})
	if r.Structured.State != "problems" || len(r.Structured.Problems) != 1 || r.Structured.Problems[0].Message != "spelling" || r.Structured.Problems[0].From != "editor" {
		t.Errorf("%+v", r)
	}
	if r := s.tool("get_diagnostics", map[string]any{"path": "main.go", "severity": "error"}); r.Structured.State != "clean" {
		t.Errorf("only errors: %+v", r)
	}
	// The editor has not seen what is pending.
	if r := s.tool("write_file", map[string]any{"path": "main.go", "content": "package main\n"}); !r.OK || r.Checked != nil {
		t.Errorf("%+v", r)
	}
	if r := s.tool("get_diagnostics", map[string]any{"path": "main.go"}); r.Structured.State != "unknown" || !strings.Contains(r.Content, "has not seen") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(evil); err == nil {
		t.Error("the program of the project has run")
	}
}

// A server that is killed leaves no language server behind.
func TestServersEndWithUs(t *testing.T) {
	if runtime.GOOS != "linux" {
		needs.Skip(t, needs.Linux, "processes are looked for in /proc")
	}
	dir := e2e.Project(t, goFiles())
	s := serveGo(t, dir, nil, nil)
	if r := s.tool("get_diagnostics", map[string]any{"path": "main.go"}); r.Structured.State != "clean" {
		t.Fatalf("%+v", r)
	}
	mine := func() (list []string) {
		all, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, link := range all {
			if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir) {
				list = append(list, link)
			}
		}
		return list
	}
	if len(mine()) == 0 {
		t.Fatal("control: gopls is not found")
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait(t.Context())
	deadline := time.Now().Add(time.Minute)
	for len(mine()) > 0 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if left := mine(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
