package editors_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// A server that remembers what it has read still sees everything: what others
// write, unsaved and pending text, and each shadow its own tree.
func TestResidentSearchOverLSP(t *testing.T) {
	files := []string{".gitignore", "out/\n", "a.txt", "here is the_needle_text\n", "b.txt", "nothing\n", ".env", "the_needle_text\n", "go.mod", "module m\n", "f.go", "package m\n\nfunc the_needle_text() {}\n"}
	for i := range 200 {
		files = append(files, fmt.Sprintf("d/f%d.txt", i), "nothing\n")
	}
	repo := e2e.Repository(t, files...)
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	r.Shadowed("agent", "autonomous")
	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "review", "mode": "review"})
	files1 := []string{"a.txt", "f.go"}
	look := func(when, session string, want ...string) {
		t.Helper()
		slices.Sort(want)
		for _, q := range []e2e.Object{{"pattern": "the_needle_text", "mode": "files"}, {"pattern": "the_[a-z]+_text", "mode": "files"}} {
			res := r.In(session, "grep", q)
			got, _, _ := strings.Cut(res.Content, "\n\n")
			if !res.OK || got != strings.Join(want, "\n") {
				t.Errorf("%s, %s: %q, want %q", when, session, res.Content, want)
			}
		}
	}
	for range 2 { // the second time from memory
		look("at first", "default", files1...)
		look("at first", "review", files1...)
		look("at first", "agent", files1...)
	}
	repo.Write("b.txt", "the_needle_text\n", "new/c.txt", "the_needle_text\n", "out/d.txt", "the_needle_text\n")
	look("others have written", "default", "a.txt", "b.txt", "f.go", "new/c.txt")
	look("others have written", "agent", files1...)
	if err := ownfile.Remove(repo.Path("b.txt")); err != nil {
		t.Fatal(err)
	}
	uri, err := r.OpenFile(t.Context(), repo.Path("a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Type(t.Context(), uri, "typed over\n"); err != nil {
		t.Fatal(err)
	}
	look("the user types", "default", "f.go", "new/c.txt")
	if res := r.In("review", "write_file", e2e.Object{"path": "d/f7.txt", "content": "the_needle_text\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	look("an edit is pending", "review", "d/f7.txt", "f.go", "new/c.txt")
	look("an edit is pending", "default", "f.go", "new/c.txt")
	if res := r.In("agent", "write_file", e2e.Object{"path": "b.txt", "content": "the_needle_text\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	look("the shadow has changed", "agent", "a.txt", "b.txt", "f.go")
	repo.Write(".gitignore", "out/\nnew/\n")
	look("other rules", "default", "f.go")
	for session, want := range map[string]int{"default": 0, "review": 0, "agent": 1} {
		res := r.In(session, "search_files", e2e.Object{"pattern": "b.txt"})
		if got := strings.Count(res.Content, "b.txt\n"); !res.OK || got != want {
			t.Errorf("%s lists %q", session, res.Content)
		}
	}
	if res := r.In("default", "find_references", e2e.Object{"symbol": "the_needle_text"}); !res.OK || !strings.Contains(res.Content, "f.go:3:6") {
		t.Errorf("references: %s", res.Content)
	}
}
