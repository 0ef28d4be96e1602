package shadow_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// house is a repository with a manager.
type house struct {
	*gittest.Repo
	t *testing.T
	*shadow.Manager
	main *workspace.Disk
}

// newHouse commits files and opens a manager on them.
func newHouse(t *testing.T, files ...string) *house {
	t.Helper()
	r := gittest.New(t)
	r.Commit("first", files...)
	return openHouse(t, r, shadow.Options{})
}

func openHouse(t *testing.T, r *gittest.Repo, o shadow.Options) *house {
	t.Helper()
	o.Dir = r.Dir
	o.Prepare = func() error {
		return ownfile.MkdirAll(r.Path(".sidecar"), 0o755)
	}
	if err := ownfile.MkdirAll(r.Path(".sidecar"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(r.Path(".sidecar/.gitignore"), []byte("*\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := shadow.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	if _, err := m.List(context.Background()); err != nil { // it has tidied up then
		t.Fatal(err)
	}
	main, err := workspace.OpenDisk([]workspace.Folder{{Dir: r.Dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { main.Close() })
	return &house{r, t, m, main}
}

func (h *house) create(r shadow.CreateRequest) (shadow.Shadow, *gittest.Repo) {
	h.t.Helper()
	s, err := h.Create(context.Background(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return s, h.At(s.Path)
}

// sound asks git whether the repository is as it should be.
func (h *house) sound() {
	h.t.Helper()
	if out := h.Git("fsck", "--no-dangling"); out != "" {
		h.t.Errorf("git fsck: %s", out)
	}
	h.Git("worktree", "list")
	if out := h.Git("status", "--porcelain"); out != "" {
		h.t.Errorf("git status of the main tree: %s", out)
	}
}

func read(t *testing.T, r *gittest.Repo, name string) string {
	t.Helper()
	data, err := os.ReadFile(r.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCreate(t *testing.T) {
	h := newHouse(t, "a.txt", "one\n", "dir/b.sh", "two\n", "dir/deep/c", "three\n")
	h.Git("update-index", "--chmod=+x", "dir/b.sh")
	if err := ownfile.Symlink("a.txt", h.Path("link")); err != nil {
		t.Fatal(err)
	}
	h.Git("add", "link")
	h.Git("commit", "-qm", "second")
	h.Git("checkout", "-q", "--", ".")
	head := strings.TrimSpace(h.Git("rev-parse", "HEAD"))
	s, w := h.create(shadow.CreateRequest{ID: "one"})
	if s.ID != "one" || s.Base != head || s.Path != h.Path(".sidecar/shadows/one") || s.Root != s.Path {
		t.Errorf("got %+v", s)
	}
	if list := h.Git("worktree", "list"); !strings.Contains(list, s.Path) || !strings.Contains(list, "(detached HEAD)") {
		t.Errorf("git worktree list: %s", list)
	}
	if out := w.Git("status", "--porcelain", "--untracked-files=all"); out != "" {
		t.Errorf("git status: %s", out)
	}
	if out := w.Git("diff-index", "--cached", "HEAD"); out != "" {
		t.Errorf("the index is not the commit's: %s", out)
	}
	for _, name := range []string{"a.txt", "dir/b.sh", "dir/deep/c", "link"} {
		if read(t, w, name) != read(t, h.Repo, name) {
			t.Errorf("%s differs", name)
		}
	}
	if info, err := os.Lstat(w.Path("dir/b.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("dir/b.sh can't be run: %v %v", info, err)
	}
	h.sound()

	w.Commit("inside", "new.txt", "x\n")
	if n := w.Git("rev-list", "--count", "HEAD"); strings.TrimSpace(n) != "3" {
		t.Errorf("%s commits", n)
	}
	h.sound()
	h.Git("worktree", "remove", s.Path)
	if _, err := os.Stat(filepath.Join(h.Dir, ".git", "worktrees")); err == nil {
		t.Error("git worktree remove left something")
	}
	h.sound()
}

// TestDirs: a folder may be named from where the process is, and where that
// goes later doesn't matter; what is no folder is refused.
func TestDirs(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a", "1\n", "sub/b", "2\n")
	t.Chdir(r.Path("sub"))
	var all []*shadow.Manager
	for _, o := range []shadow.Options{{Dir: ".."}, {Dir: r.Dir}, {Dir: "../sub/..", StateDir: "../.sidecar/state"}} {
		m, err := shadow.New(o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		t.Cleanup(m.Close)
		all = append(all, m)
	}
	t.Chdir(t.TempDir())
	for i, m := range all {
		id := string(rune('a' + i))
		s, err := m.Create(t.Context(), shadow.CreateRequest{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if s.Path != r.Path(".sidecar/shadows/"+id) || m.Top(s.Path+"/sub/b") != s.Path {
			t.Errorf("got %s, and %q is the top of it", s.Path, m.Top(s.Path+"/sub/b"))
		}
		if out := r.Git("worktree", "list"); !strings.Contains(out, s.Path+" ") {
			t.Errorf("git worktree list: %s", out)
		}
		if list, err := all[0].List(t.Context()); err != nil || len(list) != i+1 {
			t.Errorf("another one sees %+v, %v", list, err)
		}
	}
	for _, dir := range []string{"", r.Path("a"), r.Path("sub/b")} {
		if _, err := shadow.New(shadow.Options{Dir: dir}); !errors.Is(err, shadow.ErrInvalid) {
			t.Errorf("%q: %v", dir, err)
		}
	}
	if _, err := shadow.New(shadow.Options{Dir: "nowhere"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
