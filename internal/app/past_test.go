package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
)

// TestPast: what a project index hears of the commits of the folders it is of.
func TestPast(t *testing.T) {
	r := gittest.New(t)
	plain := t.TempDir()
	p := past{folders: []workspace.Folder{{Name: "in", Dir: filepath.Join(r.Dir, "in")}, {Name: "plain", Dir: plain}}}
	check := func(news bool, want ...string) {
		t.Helper()
		commits, changed, err := p.read(t.Context())
		if err != nil || changed != news {
			t.Fatalf("news %v, %v; want %v", changed, err, news)
		}
		var got []string
		for _, c := range commits {
			got = append(got, strings.Join(c.Files, " "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("commits of %q, want %q", got, want)
		}
	}
	if err := os.Mkdir(filepath.Join(r.Dir, "in"), 0o777); err != nil {
		t.Fatal(err)
	}
	check(false)
	r.Commit("everything", "in/a", "1\n", "out", "1\n")
	check(true) // the first commit says nothing about one file
	r.Commit("two", "in/a", "2\n", "out", "2\n")
	check(true, "in/a")
	r.Commit("one outside", "out", "3\n")
	r.Commit("deeper", "in/b/c", "1\n")
	check(true, "in/b/c", "", "in/a")
	check(false, "in/b/c", "", "in/a")
	r.Git("reset", "-q", "--hard", "HEAD~1")
	r.Commit("another way", "in/d", "1\n")
	check(true, "in/d", "", "in/a")
	if err := os.RemoveAll(filepath.Join(r.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	check(true)

	p.rest = 1 << 60
	if commits, news, err := p.read(t.Context()); commits != nil || news || err != nil {
		t.Errorf("right after a look: %v %v %v", commits, news, err)
	}
}

// TestPastIsBounded: of a large change nothing is kept, control: a small one.
func TestPastIsBounded(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a", "1\n")
	var files []string
	for i := range history.MaxFiles + 1 {
		files = append(files, filepath.Join("d", strings.Repeat("x", i+1)), "1\n")
	}
	r.Commit("too much", files...)
	r.Commit("small", files[0], "2\n")
	p := past{folders: []workspace.Folder{{Dir: r.Dir}}}
	commits, _, err := p.read(t.Context())
	if err != nil || len(commits) != 1 || len(commits[0].Files) != 1 {
		t.Errorf("%d commits are known, %v", len(commits), err)
	}
}
