package knowledge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

const greeter = "package a\n\n// Greet says hello to somebody.\nfunc Greet(name string) string {\n\treturn \"hello \" + name\n}\n"

// TestKnowledge asks the index through a whole server, which follows the disk,
// unsaved text and pending edits.
func TestKnowledge(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a/greet.go": greeter, "b.go": "package b\n\nfunc Other() {}\n", ".env": "GREET_TOKEN=1\n"})
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	ask := func(query string) string {
		t.Helper()
		res := r.Tool("project_knowledge_search", map[string]any{"query": query, "kind_filter": []string{"function"}})
		if !res.OK {
			t.Fatal(res.Content)
		}
		return res.Content
	}
	if got := ask("say hello"); !strings.Contains(got, "a/greet.go:4-6\tfunction\tGreet") {
		t.Errorf("got %s", got)
	}
	if got := ask("farewell"); !strings.HasPrefix(got, "no match") {
		t.Errorf("before: %s", got)
	}
	e2e.Write(t, filepath.Join(dir, "c/bye.go"), "package c\n\nfunc Farewell() {}\n")
	if got := ask("farewell"); !strings.Contains(got, "c/bye.go:3-3\tfunction\tFarewell") {
		t.Errorf("a new file: %s", got)
	}
	uri := fakeeditor.FileURI(filepath.Join(dir, "b.go"))
	if err := r.Open(t.Context(), uri, "go", "package b\n\nfunc Unsaved() {}\n"); err != nil {
		t.Fatal(err)
	}
	if got := ask("unsaved other"); !strings.Contains(got, "Unsaved") || strings.Contains(got, "Other") {
		t.Errorf("a buffer: %s", got)
	}
	r.Mode("review")
	if res := r.Tool("write_file", map[string]any{"path": "d.go", "content": "package d\n\nfunc Pending() {}\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	if got := ask("pending"); !strings.Contains(got, "d.go:3-3\tfunction\tPending") {
		t.Errorf("a pending edit: %s", got)
	}
	if res := r.Tool("project_knowledge_search", map[string]any{"query": "greet token env"}); strings.Contains(res.Content, ".env") {
		t.Errorf("a file of secrets: %s", res.Content)
	}
	var status struct {
		Files     int    `json:"files"`
		Symbols   int    `json:"symbols"`
		Ready     bool   `json:"ready"`
		IndexedAt string `json:"indexedAt"`
	}
	command := func(name string, arg, into any) error { return r.ExecuteCommand(t.Context(), name, arg, into) }
	if err := command("sidecar.knowledge.status", nil, &status); err != nil || !status.Ready || status.Files != 3 || status.Symbols != 3 || status.IndexedAt == "" {
		t.Errorf("%+v, %v", status, err)
	}
	if err := command("sidecar.knowledge.status", map[string]any{"x": 1}, nil); err == nil {
		t.Error("an unknown member is taken")
	}
	if err := command("sidecar.knowledge.rebuild", nil, nil); err != nil {
		t.Error(err)
	}
	if got := ask("say hello"); !strings.Contains(got, "Greet") {
		t.Errorf("after a rebuild: %s", got)
	}
}

func TestKnowledgeSwitchedOff(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a/greet.go": greeter})
	r := e2e.Connect(t, dir, fakeeditor.Options{InitializationOptions: map[string]any{"sidecar": map[string]any{"knowledge": map[string]any{"enabled": false}}}})
	if res := r.Tool("project_knowledge_search", map[string]any{"query": "hello"}); res.OK || res.Error.Code != "unavailable" {
		t.Errorf("%+v", res)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.knowledge.status", nil, nil); err == nil {
		t.Error("there is a status")
	}
}

func TestKnowledgeCommandLine(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a/greet.go": greeter})
	for what, c := range map[string]struct {
		args        []string
		code        int
		out, stderr string
	}{
		"search":       {[]string{"search", "say", "hello"}, 0, "a/greet.go:4-6", ""},
		"as JSON":      {[]string{"search", "--json", "--max", "1", "hello"}, 0, `"ok": true`, ""},
		"too many":     {[]string{"search", "--max", "51", "hello"}, 1, "", "invalid_arguments"},
		"no question":  {[]string{"search"}, 2, "", "takes a question"},
		"status":       {[]string{"status"}, 0, "0 of 1 source files are parsed", ""},
		"no verb":      {nil, 0, "1 file", ""},
		"another verb": {[]string{"serch", "x"}, 2, "", `no verb "serch"`},
		"status of":    {[]string{"status", "x"}, 2, "", "no arguments"},
	} {
		out, stderr, code := e2e.RunCLI(t, "", append([]string{"knowledge", "--root", dir}, c.args...)...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s: code %d, out %q, err %q", what, code, out, stderr)
		}
	}
}

// TestKnowledgeCacheLink: what a project brings along does not choose where
// the index is kept.
func TestKnowledgeCacheLink(t *testing.T) {
	e2e.Home(t)
	ask := func(dir string) {
		t.Helper()
		if out, stderr, code := e2e.RunCLI(t, "", "knowledge", "--root", dir, "search", "hello"); code != 0 || !strings.Contains(out, "Greet") {
			t.Fatalf("code %d, out %q, err %q", code, out, stderr)
		}
	}
	dir := e2e.Project(t, map[string]string{"a/greet.go": greeter})
	ask(dir)
	if _, err := os.Stat(filepath.Join(dir, ".sidecar/cache/knowledge.index")); err != nil {
		t.Error(err) // the control
	}
	outside := t.TempDir()
	dir = e2e.Project(t, map[string]string{"a/greet.go": greeter, ".sidecar/x": ""})
	if err := ownfile.Symlink(outside, filepath.Join(dir, ".sidecar/cache")); err != nil {
		t.Fatal(err)
	}
	ask(dir)
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestKnowledgeOfShadow: a session in a shadow asks about its own tree.
func TestKnowledgeOfShadow(t *testing.T) {
	e2e.Home(t)
	g := e2e.Repository(t, "a/greet.go", greeter, "b.go", "package b\n\nfunc Other() {}\n")
	r := e2e.Connect(t, g.Dir, fakeeditor.Options{})
	e2e.Command[e2e.Object](r, "sidecar.shadow.create", e2e.Object{"id": "work"})
	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "agent", "shadow": "work", "mode": "autonomous"})
	if res := r.In("agent", "write_file", e2e.Object{"path": "c.go", "content": "package c\n\nfunc InShadow() {}\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	for session, want := range map[string]bool{"agent": true, "default": false} {
		res := r.In(session, "project_knowledge_search", e2e.Object{"query": "in shadow", "kind_filter": []string{"function"}})
		if !res.OK || strings.Contains(res.Content, "InShadow") != want {
			t.Errorf("%s: %+v", session, res)
		}
		if res := r.In(session, "project_knowledge_search", e2e.Object{"query": "say hello"}); !strings.Contains(res.Content, "Greet") {
			t.Errorf("%s: %+v", session, res)
		}
	}
}
