package gitcmd

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// TestAside: git on another working tree takes its programs from where the first one
// does, and what is the repository's is so for both.
func TestAside(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	finder := lookup.New(lookup.Options{})
	g := New(Tree{Dir: at("work"), GitDir: at("git"), CommonDir: at("common")}, Config{Programs: finder})
	a := g.Aside(Tree{Dir: at("empty"), GitDir: at("aside"), CommonDir: at("aside")}, index.NewLast(at("aside/index")))
	if a.programs != finder {
		t.Error("it has another finder")
	}
	for _, place := range []string{"work", "git", "common", "empty", "aside"} {
		if !slices.Contains(a.own(), at(place)) || a.outside(at(place+"/x")) {
			t.Errorf("%s is not the repository's", place)
		}
	}
	if !a.outside(at("elsewhere/x")) || !g.outside(at("empty/x")) {
		t.Error("all is the repository's")
	}
}
