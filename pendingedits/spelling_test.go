package pendingedits_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/folded"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// where are the file systems that tests of spellings run on: one that only says that
// it folds names, so that they run everywhere, and one that does.
var where = map[string]func(t *testing.T, files ...string) *bench{
	"said": func(t *testing.T, files ...string) *bench {
		return newBenchIn(t, t.TempDir(), func(string) workspace.Folding { return workspace.Folding{Case: true} }, files...)
	},
	"real": func(t *testing.T, files ...string) *bench { return newBenchIn(t, folded.Dir(t), nil, files...) },
}

// exact is a bench where each spelling is a file of its own.
func exact(t *testing.T, files ...string) *bench {
	t.Helper()
	b := newBench(t, files...)
	if folded.Is(t, b.dir) {
		needs.Skip(t, needs.ExactNames, "names fold here")
	}
	return b
}

func onFolded(t *testing.T, name string, do func(t *testing.T, open func(files ...string) *bench)) {
	for kind, open := range where {
		t.Run(name+", "+kind, func(t *testing.T) {
			do(t, func(files ...string) *bench { return open(t, files...) })
		})
	}
}

// names lists what is pending, with what it was called before.
func (b *bench) names() (all []string) {
	for _, e := range b.store.List("").Edits {
		name := e.Name + " " + e.Kind
		if e.From != "" {
			name = e.From + " > " + name
		}
		all = append(all, name+" "+string(e.State))
	}
	return all
}

func (b *bench) isPending(want ...string) {
	b.t.Helper()
	if got := b.names(); !slices.Equal(got, want) {
		b.t.Errorf("pending: %q, want %q", got, want)
	}
}

// isListed looks at how the names of the workspace are written.
func (b *bench) isListed(want ...string) {
	b.t.Helper()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("the directory has %q, want %q", got, want)
	}
}

// path is a path as a tool is given it, resolved in the queue's view.
func (b *bench) path(given string) string {
	b.t.Helper()
	name, err := b.store.For(agent).Resolve(given)
	if err != nil {
		b.t.Fatal(err)
	}
	return name
}

// TestSpellings edits one file by two names.
func TestSpellings(t *testing.T) {
	onFolded(t, "edit", func(t *testing.T, open func(...string) *bench) {
		b := open("a.go", "1\n2\n3\n4\n5\n6\n7\n")
		b.edit("a.go", "one\n2\n3\n4\n5\n6\n7\n")
		name := b.path("A.GO")
		if got := b.seen(name); name != "a.go" || got != "one\n2\n3\n4\n5\n6\n7\n" {
			t.Errorf("%s has %q", name, got)
		}
		// A caller that did not resolve the name finds the file all the same.
		b.apply(workspace.Change{Path: "A.GO", Before: []byte(b.seen("a.go")), After: []byte("one\n2\n3\n4\n5\n6\nseven\n")})
		b.isPending("a.go modify clean")
		if e, _, ok := b.store.Edit("A.go"); !ok || len(e.Hunks) != 2 {
			t.Errorf("by another spelling it is %+v", e)
		}
		b.reopen()
		b.isPending("a.go modify clean")
		if r := b.accept(pendingedits.Selection{Names: []string{"A.GO"}}); len(r.Accepted) != 1 || len(r.Failed) != 0 {
			t.Errorf("accepted %+v", r)
		}
		b.isPending()
		b.isListed("a.go")
	})
	onFolded(t, "create", func(t *testing.T, open func(...string) *bench) {
		b := open("z", "")
		b.edit("New/a.go", "1\n")
		if name := b.path("new/A.go"); name != "New/a.go" || b.seen(name) != "1\n" {
			t.Errorf("the name is %s", name)
		}
		err := b.store.For(agent).Apply(t.Context(), workspace.Change{Path: "new/A.go", After: []byte("2\n")})
		if !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("it is made twice: %v", err)
		}
		b.edit(b.path("NEW/a.go"), "2\n")
		b.edit(b.path("new/b.go"), "b\n")
		b.isPending("New/a.go create clean", "New/b.go create clean")
		// The user makes it, too, and calls it otherwise.
		b.write("new/A.go", "user\n")
		b.store.BaseChanged("new/A.go")
		if b.dir != "" && folded.Is(t, b.dir) {
			b.isPending("New/a.go create conflict", "New/b.go create clean")
		}
	})
	onFolded(t, "delete", func(t *testing.T, open func(...string) *bench) {
		b := open("a.go", "1\n")
		b.apply(workspace.Change{Path: "A.GO", Before: []byte("1\n")})
		b.isPending("a.go delete clean")
		if got := b.seen("a.go"); got != absent {
			t.Errorf("it has %q", got)
		}
		b.edit(b.path("A.go"), "2\n")
		b.isPending("a.go modify clean")
	})
	t.Run("control", func(t *testing.T) {
		b := exact(t, "a.go", "1\n")
		b.edit("a.go", "2\n")
		if name := b.path("A.GO"); name != "A.GO" || b.seen(name) != absent {
			t.Errorf("it is %s", name)
		}
		b.edit("A.GO", "other\n")
		b.isPending("A.GO create clean", "a.go modify clean")
		b.accept(pendingedits.Selection{})
		b.isListed("A.GO", "a.go")
	})
}

// TestRespell renames a file by its spelling alone.
func TestRespell(t *testing.T) {
	onFolded(t, "accept, undo, redo", func(t *testing.T, open func(...string) *bench) {
		b := open("a.go", "1\n2\n")
		b.move("a.go", "A.go")
		b.isPending("a.go > A.go rename clean")
		if name := b.path("a.go"); name != "A.go" || b.seen(name) != "1\n2\n" {
			t.Errorf("it is %s now, with %q", name, b.seen(name))
		}
		b.edit(b.path("a.GO"), "1\ntwo\n")
		b.isPending("a.go > A.go rename clean")
		b.isListed("a.go")
		b.reopen()
		b.isPending("a.go > A.go rename clean")
		if r := b.accept(pendingedits.Selection{}); len(r.Accepted) != 1 || len(r.Failed) != 0 {
			t.Fatalf("accepted %+v", r)
		}
		b.isPending()
		b.isListed("A.go")
		if got := b.onDisk("A.go"); got != "1\ntwo\n" {
			t.Errorf("it has %q", got)
		}
		if r, err := b.store.Undo(t.Context()); err != nil || len(r.Failed) != 0 {
			t.Fatalf("undone: %+v, %v", r, err)
		}
		b.isListed("a.go")
		b.isPending("a.go > A.go rename clean")
		if got := b.onDisk("a.go"); got != "1\n2\n" {
			t.Errorf("it has %q", got)
		}
		b.accept(pendingedits.Selection{})
		b.isListed("A.go")
	})
	onFolded(t, "taken back", func(t *testing.T, open func(...string) *bench) {
		b := open("a.go", "1\n")
		b.move("a.go", "A.go")
		b.move("A.go", "a.go")
		b.isPending()
		b.move("a.go", "A.go")
		b.move("A.go", "b.go")
		b.isPending("a.go > b.go rename clean")
		b.move("b.go", "A.GO") // that is on disk, as a.go
		b.isPending()
	})
	onFolded(t, "deleted", func(t *testing.T, open func(...string) *bench) {
		b := open("a.go", "1\n")
		b.move("a.go", "A.go")
		b.edit("A.go", absent)
		b.isPending("a.go delete clean")
	})
	onFolded(t, "taken", func(t *testing.T, open func(...string) *bench) {
		b := open("a.go", "1\n", "b.go", "2\n")
		err := b.store.For(agent).Apply(t.Context(), workspace.Change{From: "a.go", Path: "B.go", Before: []byte("1\n"), After: []byte("1\n")})
		if !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("moved over another: %v", err)
		}
	})
	onFolded(t, "the user is first", func(t *testing.T, open func(...string) *bench) {
		b := open("a.go", "1\n")
		b.move("a.go", "A.go")
		for _, r := range [][2]string{{"a.go", "x"}, {"x", "A.go"}} {
			if err := ownfile.Rename(filepath.Join(b.dir, r[0]), filepath.Join(b.dir, r[1])); err != nil {
				t.Fatal(err)
			}
		}
		b.store.BaseChanged("a.go", "A.go")
		b.isPending()
	})
	t.Run("control", func(t *testing.T) {
		b := exact(t, "a.go", "1\n")
		b.move("a.go", "A.go")
		if name := b.path("a.go"); name != "a.go" || b.seen(name) != absent {
			t.Errorf("it is %s", name)
		}
		b.edit("a.go", "another\n")
		b.accept(pendingedits.Selection{})
		b.isListed("A.go", "a.go")
	})
}

// TestCommitOfARespelling commits a rename that changes the spelling alone: the
// repository has the file once.
func TestCommitOfARespelling(t *testing.T) {
	two := replace(ten, "2\n", "two\n")
	onFolded(t, "commit", func(t *testing.T, open func(...string) *bench) {
		b := &batch{bench: open("a.go", ten), repo: &repo{path: filepath.Join(t.TempDir(), "repo")}}
		b.opts.Commits = b.repo
		b.reopen()
		b.must(b.store.For(auditor).Apply(t.Context(), workspace.Change{Path: "A.go", From: "a.go", Before: []byte(ten), After: []byte(two)}))
		b.must(b.commit("first"))
		b.must(b.edits(auditor, "A.go", replace(two, "9\n", "nine\n"))) // is not committed
		b.accept(pendingedits.Selection{})
		b.isListed("A.go")
		b.history(`first ["A.go=` + quoted(two) + `" "a.go gone"]` + "\n")
	})
}

// TestKeptUnderAnotherSpelling opens a queue that an earlier version has kept.
func TestKeptUnderAnotherSpelling(t *testing.T) {
	onFolded(t, "kept", func(t *testing.T, open func(...string) *bench) {
		now := open("a.go", "1\n", "b.go", "2\n")
		really := folded.Is(t, now.dir)
		now.store.Close()
		old := newBenchIn(t, now.dir, func(string) workspace.Folding { return workspace.Folding{} })
		old.store.Close()
		old.state = now.state
		old.open()
		names := []string{"A.GO", "B.GO", "b.go"}
		if !really { // else they are there
			for i, text := range []string{"1\n", "2\n"} {
				old.write(names[i], text)
			}
		}
		for _, name := range names {
			old.edit(name, "new\n")
		}
		old.isPending("A.GO modify clean", "B.GO modify clean", "b.go modify clean")
		if err := old.store.Close(); err != nil {
			t.Fatal(err)
		}
		if !really {
			for _, name := range names[:2] {
				if err := ownfile.Remove(filepath.Join(now.dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		now.open()
		want := []string{"B.GO modify clean", "a.go modify clean", "b.go modify clean"}
		if !really {
			want[0] = "B.GO modify conflict" // a disk that only says so has no such file
		}
		now.isPending(want...)
		now.reopen()
		now.isPending(want...)
		if r := now.accept(pendingedits.Selection{Names: []string{"a.go"}}); len(r.Accepted) != 1 || now.onDisk("a.go") != "new\n" {
			t.Errorf("%+v", r)
		}
	})
}
