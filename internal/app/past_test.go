package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
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

// TestPastIsKept: a later run reads no more than what is new, and what it does
// not know for its own is read anew.
func TestPastIsKept(t *testing.T) {
	r := gittest.New(t)
	r.Commit("everything", "a", "1\n")
	r.Commit("two", "a", "2\n")
	r.Commit("three", "b", "3\n")
	cache := t.TempDir()
	file := filepath.Join(cache, pastName)
	store := &index.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(cache) }}
	run := func(what, folder string, problems int, want ...string) {
		t.Helper()
		var told []error
		p := past{folders: []workspace.Folder{{Name: folder, Dir: r.Dir}}, store: store, problem: func(err error) { told = append(told, err) }}
		commits, news, err := p.read(t.Context())
		var got []string
		for _, c := range commits {
			got = append(got, strings.Join(c.Files, " "))
		}
		if err != nil || !news || !slices.Equal(got, want) || len(told) != problems {
			t.Fatalf("%s: %q, news %v, %v, %q; want %q", what, got, news, err, told, want)
		}
		if _, news, err := p.read(t.Context()); news || err != nil {
			t.Fatalf("%s: again news %v, %v", what, news, err)
		}
	}
	run("the first run", "", 0, "b", "a")

	// What is kept is what is known: one that differs shows that it was used.
	var kept []keptPast
	data, err := store.Kept(pastName)
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil {
		t.Fatal(err)
	}
	kept[0].Commits[0].Files = []string{"kept"}
	if data, err = json.Marshal(kept); err != nil {
		t.Fatal(err)
	}
	again := func() {
		t.Helper()
		if err := store.Keep(pastName, data); err != nil {
			t.Fatal(err)
		}
	}
	again()
	run("nothing is new", "", 0, "kept", "a")
	r.Commit("four", "c", "4\n")
	run("one is new", "", 0, "c", "kept", "a")
	run("it was kept again", "", 0, "c", "kept", "a")
	run("another folder", "other", 0, "c", "b", "a")

	again()
	r.Git("reset", "-q", "--hard", "HEAD~2")
	r.Commit("another way", "d", "1\n")
	run("no ancestor", "", 0, "d", "a")

	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(good[:len(good)-1], 'x'), 0o600); err != nil {
		t.Fatal(err)
	}
	run("damaged", "", 1, "d", "a")
	again()
	if err := os.Rename(file, file+".aside"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file + ".aside"); err != nil || os.WriteFile(file, text, 0o600) != nil {
		t.Fatal(err)
	}
	run("a copy", "", 1, "d", "a")
	if err := store.Keep(pastName, []byte(`[{"Head":"x"}]`)); err != nil {
		t.Fatal(err)
	}
	run("other data", "", 1, "d", "a")
}
