package knowledge_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// TestKnowledgeForgets: a symbol that is removed is found no more, wherever it
// was removed, and by whom; each session sees its own view at once.
func TestKnowledgeForgets(t *testing.T) {
	e2e.Home(t)
	g := e2e.Repository(t, "a.go", "package a\n\nfunc Alpaca() {}\n\nfunc Bison() {}\n\nfunc Camel() {}\n\nfunc Dingo() {}\n", "gone/b.go", "package b\n\nfunc Emu() {}\n")
	r := e2e.Connect(t, g.Dir, fakeeditor.Options{Capabilities: e2e.Knowing()})
	r.Shadowed("agent", "autonomous")
	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "review", "mode": "review"})
	expect := func(when, session string, want bool, names ...string) {
		t.Helper()
		for _, name := range names {
			if got := r.Has(session, name); got != want {
				t.Errorf("%s, %s: %s is found: %v", when, session, name, got)
			}
		}
	}
	sessions := []string{"default", "review", "agent"}
	for _, s := range sessions {
		expect("at first", s, true, "Alpaca", "Bison", "Camel", "Dingo", "Emu")
	}
	r.Indexed("all is parsed", func(s server.KnowledgeStatus) bool { return s.Ready && s.Parsed == 2 })
	for _, s := range sessions {
		expect("when all is parsed", s, true, "Alpaca", "Emu")
	}

	cut := func(name string) e2e.Object {
		return e2e.Object{"path": "a.go", "search": "func " + name + "() {}\n", "replace": ""}
	}
	if res := r.In("review", "edit_file", cut("Alpaca")); !res.OK {
		t.Fatal(res.Content)
	}
	expect("an edit is pending", "review", false, "Alpaca")
	expect("an edit is pending", "default", true, "Alpaca")
	expect("an edit is pending", "agent", true, "Alpaca")

	if res := r.In("agent", "edit_file", cut("Bison")); !res.OK {
		t.Fatal(res.Content)
	}
	if res := r.In("agent", "write_file", e2e.Object{"path": "new.go", "content": "package a\n\nfunc Falcon() {}\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	expect("in the shadow", "agent", false, "Bison")
	expect("in the shadow", "agent", true, "Camel", "Emu", "Falcon")
	expect("in the shadow", "default", true, "Bison")
	expect("in the shadow", "default", false, "Falcon")
	if res := r.In("agent", "delete_file", e2e.Object{"path": "new.go"}); !res.OK {
		t.Fatal(res.Content)
	}
	expect("the shadow's file is deleted", "agent", false, "Falcon")

	uri, err := r.OpenFile(t.Context(), g.Path("a.go"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Type(t.Context(), uri, "package a\n\nfunc Alpaca() {}\n\nfunc Typed() {}\n"); err != nil {
		t.Fatal(err)
	}
	expect("the user types", "default", false, "Camel", "Dingo")
	expect("the user types", "default", true, "Typed", "Alpaca")
	expect("the user types", "agent", true, "Camel")
	expect("the user types", "agent", false, "Typed")

	if err := ownfile.RemoveAll(g.Path("gone")); err != nil {
		t.Fatal(err)
	}
	expect("a directory is removed", "default", false, "Emu")
	expect("a directory is removed", "agent", true, "Emu")
	if err := ownfile.Rename(g.Path("a.go"), g.Path("a.txt")); err != nil {
		t.Fatal(err)
	}
	g.Write("h.go", "package a\n\nfunc Heron() {}\n")
	expect("others write", "default", true, "Heron")
	g.Write("h.go", "package a\n\nfunc Ibis() {}\n")
	expect("others write again", "default", false, "Heron")
	expect("others write again", "default", true, "Ibis")
}

// TestKnowledgeWithoutFolder: the folder goes away under a server, and comes
// back.
func TestKnowledgeWithoutFolder(t *testing.T) {
	e2e.Home(t)
	parent := t.TempDir()
	dir := filepath.Join(parent, "work")
	e2e.Write(t, filepath.Join(dir, "a.go"), greeter)
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	if !r.Has("default", "Greet") {
		t.Fatal("nothing is found at first")
	}
	for err := ownfile.RemoveAll(dir); err != nil; err = ownfile.RemoveAll(dir) {
		if !errors.Is(err, syscall.ENOTEMPTY) { // the server may be writing its index there
			t.Fatal(err)
		}
	}
	if r.Has("default", "Greet") {
		t.Error("what is gone is found")
	}
	e2e.Command[e2e.Object](r, "sidecar.knowledge.status", e2e.Object{})
	e2e.Write(t, filepath.Join(dir, "b.go"), "package b\n")
	r.In("default", "project_knowledge_search", e2e.Object{"query": "greet"}) // no panic, whatever is there now
}

// TestKnowledgeOfLazyShadow: a shadow without files has its own answers, too,
// before and after its files are made.
func TestKnowledgeOfLazyShadow(t *testing.T) {
	e2e.Home(t)
	g := e2e.Repository(t, "a.go", "package a\n\nfunc Alpaca() {}\n\nfunc Bison() {}\n", "b.go", "package a\n\nfunc Camel() {}\n")
	r := e2e.Connect(t, g.Dir, fakeeditor.Options{})
	if !r.Has("default", "Camel") {
		t.Fatal("nothing is found at first")
	}
	e2e.Command[e2e.Object](r, "sidecar.shadow.create", e2e.Object{"id": "lazy", "materialize": false})
	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "agent", "shadow": "lazy", "mode": "autonomous"})
	g.Write("b.go", "package a\n\nfunc Dingo() {}\n") // in the main tree alone
	for when, step := range map[string]struct {
		tool string
		args e2e.Object
	}{
		"an edit":    {"edit_file", e2e.Object{"path": "a.go", "search": "func Bison() {}\n", "replace": "func Emu() {}\n"}},
		"a new file": {"write_file", e2e.Object{"path": "c.go", "content": "package a\n\nfunc Falcon() {}\n"}},
	} {
		if res := r.In("agent", step.tool, step.args); !res.OK {
			t.Fatalf("%s: %+v", when, res)
		}
	}
	check := func(when string) {
		t.Helper()
		for session, found := range map[string]map[string]bool{
			"agent":   {"Alpaca": true, "Bison": false, "Camel": true, "Dingo": false, "Emu": true, "Falcon": true},
			"default": {"Alpaca": true, "Bison": true, "Camel": false, "Dingo": true, "Emu": false, "Falcon": false},
		} {
			for name, want := range found {
				if got := r.Has(session, name); got != want {
					t.Errorf("%s, %s: %s is found: %v", when, session, name, got)
				}
			}
		}
	}
	check("copy on write")
	if out, stderr, code := e2e.RunCLI(t, "", "shadow", "--root", g.Dir, "fill", "lazy"); code != 0 {
		t.Fatalf("code %d, out %q, err %q", code, out, stderr)
	}
	check("with files")
	if res := r.In("agent", "write_file", e2e.Object{"path": "d.go", "content": "package a\n\nfunc Gnu() {}\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	if !r.Has("agent", "Gnu") || r.Has("default", "Gnu") {
		t.Error("with files: what comes then is not followed")
	}
	e2e.Command[e2e.Object](r, "sidecar.shadow.discard", e2e.Object{"id": "lazy"})
	if res := r.In("agent", "project_knowledge_search", e2e.Object{"query": "Alpaca"}); res.OK {
		t.Errorf("a shadow that is gone answers: %+v", res)
	}
}
