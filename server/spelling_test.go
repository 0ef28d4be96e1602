package server

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/folded"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// onFolded runs a test where the disk only says that letter case makes no difference,
// and where it makes none.
func onFolded(t *testing.T, do func(t *testing.T, w *world)) {
	files := map[string]string{"a.go": "one\n", "dir/b.go": "two\n"}
	t.Run("said", func(t *testing.T) {
		do(t, newWorld(t, setup{files: files, folding: func(string) workspace.Folding { return workspace.Folding{Case: true} }}))
	})
	t.Run("real", func(t *testing.T) { do(t, newWorldAt(t, folded.Dir(t), t.TempDir(), setup{files: files})) })
}

// otherURI is the URI of a file as some editors write it, with its name spelled
// otherwise: file:///z%3A/p/A.GO.
func (w *world) otherURI(name string) string {
	uri := workspace.FileURI(w.path(name))
	if runtime.GOOS != "windows" {
		return uri
	}
	drive, rest, _ := strings.Cut(strings.TrimPrefix(uri, "file:///"), ":")
	return "file:///" + strings.ToLower(drive) + "%3A" + rest
}

// TestOpenUnderAnotherSpelling reads and edits what is unsaved in a document whose URI
// spells the file in another way.
func TestOpenUnderAnotherSpelling(t *testing.T) {
	onFolded(t, func(t *testing.T, w *world) {
		uri := w.otherURI("A.GO")
		w.must(w.Open(w.ctx, uri, "go", "unsaved\n"))
		w.must(w.Open(w.ctx, w.otherURI("New.go"), "go", "never saved\n"))
		w.sync()
		view := w.store.For(agent)
		for given, want := range map[string]string{"a.go": "unsaved\n", "A.go": "unsaved\n", "new.GO": "never saved\n"} {
			name, err := view.Resolve(given)
			w.must(err)
			data, err := view.ReadFile(name)
			if err != nil || string(data) != want {
				t.Errorf("%s is %s, with %q, %v", given, name, data, err)
			}
		}
		w.propose("a.go", "unsaved\n", "changed\n")
		if list := w.store.List("").Edits; len(list) != 1 || list[0].Name != "a.go" {
			t.Errorf("pending: %+v", list)
		}
		r, err := w.store.Accept(w.ctx, pendingedits.Selection{})
		if err != nil || len(r.Failed) > 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		if w.text(uri) != "changed\n" || w.disk("a.go") != "one\n" {
			t.Errorf("the buffer has %q, the file %q", w.text(uri), w.disk("a.go"))
		}
		err = w.live.Apply(w.ctx, workspace.Change{Path: "new.go", After: []byte("x\n")})
		if err == nil || w.text(w.otherURI("New.go")) != "never saved\n" {
			t.Errorf("a file was made where a document is unsaved: %v", err)
		}
		// Open twice: the one that is left is the file.
		w.open("a.go", "second\n")
		w.must(w.Close(w.ctx, w.uri("a.go")))
		w.sync()
		if got := w.read("a.go"); got != "changed\n" {
			t.Errorf("the view has %q", got)
		}
	})
	t.Run("control", func(t *testing.T) {
		w := newWorld(t, setup{files: map[string]string{"a.go": "one\n"}})
		if folded.Is(t, w.dir) {
			needs.Skip(t, needs.ExactNames, "names fold here")
		}
		w.open("A.GO", "unsaved\n")
		if got := w.read("a.go"); got != "one\n" {
			t.Errorf("the view has %q", got)
		}
	})
}

// TestRespellOpenDocument renames the file of an open document by its spelling.
func TestRespellOpenDocument(t *testing.T) {
	onFolded(t, func(t *testing.T, w *world) {
		uri := w.open("a.go", "one\n")
		listed := func() string {
			entries, err := os.ReadDir(w.dir)
			w.must(err)
			return entries[0].Name()
		}
		rename := workspace.Change{From: "a.go", Path: "A.go", Before: []byte("one\n"), After: []byte("one\n")}
		w.must(w.store.For(agent).Apply(w.ctx, rename))
		r, err := w.store.Accept(w.ctx, pendingedits.Selection{})
		if err != nil || len(r.Failed) > 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		if listed() != "A.go" || w.text(uri) != "one\n" || w.live.Document("A.go") == nil {
			t.Errorf("the file is %s, the document has %q", listed(), w.text(uri))
		}
		u, err := w.store.Undo(w.ctx)
		if err != nil || len(u.Failed) > 0 || listed() != "a.go" {
			t.Errorf("undone: %+v, %v, the file is %s", u, err, listed())
		}
		w.must(w.Type(w.ctx, uri, "typed\n"))
		w.sync()
		rename.Before, rename.After = []byte("typed\n"), []byte("typed\n")
		if err := w.live.Apply(w.ctx, rename); err == nil || !strings.Contains(err.Error(), "unsaved") {
			t.Errorf("with something unsaved: %v", err)
		}
	})
}

// TestAnotherRootSpelling takes the root of a URI for the folder's, too.
func TestAnotherRootSpelling(t *testing.T) {
	dir := folded.Dir(t)
	if runtime.GOOS == "linux" {
		// Above the volume names are exact: the folder is one of its directories.
		w := newWorldAt(t, filepath.Join(dir, "Root"), t.TempDir(), setup{files: map[string]string{"a.go": "one\n"}})
		w.must(w.Open(w.ctx, workspace.FileURI(filepath.Join(dir, "ROOT", "A.go")), "go", "unsaved\n"))
		w.sync()
		if got := w.read("a.go"); got != "unsaved\n" {
			t.Errorf("the view has %q", got)
		}
		return
	}
	w := newWorldAt(t, dir, t.TempDir(), setup{files: map[string]string{"a.go": "one\n"}})
	w.must(w.Open(w.ctx, workspace.FileURI(strings.ToUpper(w.path("a.go"))), "go", "unsaved\n"))
	w.sync()
	if got := w.read("a.go"); got != "unsaved\n" {
		t.Errorf("the view has %q", got)
	}
}
