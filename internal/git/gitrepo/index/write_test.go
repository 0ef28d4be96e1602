package index

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestWriteIndex: what is read is written as git wrote it, byte for byte.
func TestWriteIndex(t *testing.T) {
	long := strings.Repeat("d/", 100) + strings.Repeat("n", 200)
	for _, c := range []struct {
		name  string
		setup func(r *gittest.Repo)
	}{
		{"committed", func(r *gittest.Repo) {
			r.Commit("first", "a", "1\n", "b/c", "2\n", "b/dd/e", "3\n", "b/z/f", "4\n", "long/"+long, "5\n", "ä", "6\n")
		}},
		{"nothing", func(r *gittest.Repo) { r.Git("read-tree", "--empty") }},
		{"staged", func(r *gittest.Repo) {
			r.Commit("first", "a", "1\n", "b/c", "2\n", "d/e", "3\n")
			r.Write("b/new", "n\n")
			r.Git("add", "b/new")
		}},
		{"flags", func(r *gittest.Repo) {
			r.Commit("first", "a", "1\n", "b", "2\n")
			r.Git("update-index", "--skip-worktree", "a")
			r.Git("update-index", "--assume-unchanged", "b")
			r.Write("new", "n\n")
			r.Git("add", "-N", "new")
		}},
		{"conflict", func(r *gittest.Repo) {
			r.Commit("first", "a", "1\n")
			r.Git("switch", "-qc", "other")
			r.Commit("other", "a", "2\n")
			r.Git("switch", "-q", "main")
			r.Commit("main", "a", "3\n")
			if r.Try("merge", "-q", "other") {
				t.Fatal("it merged")
			}
			r.Git("update-index", "--no-untracked-cache")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gittest.New(t)
			c.setup(r)
			path := r.Path(".git/index")
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			x, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := Write(path, x); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if _, err := os.Stat(path + ".lock"); err == nil {
				t.Error("the lock is still there")
			}
		})
	}
}

func TestWriteIndexLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	if err := ownfile.WriteFile(path+".lock", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, New()); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v", err)
	}
	if err := ownfile.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, New()); err != nil {
		t.Error(err)
	}
}
