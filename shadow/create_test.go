package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// TestCreateRefused: what can't be made leaves nothing, and the same request
// without its fault succeeds.
func TestCreateRefused(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		name  string
		setup func(h *house)
		req   shadow.CreateRequest
		err   error
		says  string
		undo  func(h *house) // takes the fault away
		good  shadow.CreateRequest
	}{
		{name: "an option as id", req: shadow.CreateRequest{ID: "-x"}, err: shadow.ErrInvalid, says: "id"},
		{name: "a way up as id", req: shadow.CreateRequest{ID: ".."}, err: shadow.ErrInvalid, says: "id"},
		{name: "a way up in an id", req: shadow.CreateRequest{ID: "a..b"}, err: shadow.ErrInvalid, says: "id", good: shadow.CreateRequest{ID: "a.b"}},
		{name: "a hidden id", req: shadow.CreateRequest{ID: ".x"}, err: shadow.ErrInvalid, says: "id"},
		{name: "a path as id", req: shadow.CreateRequest{ID: "a/b"}, err: shadow.ErrInvalid, says: "id"},
		{name: "an absolute path as id", req: shadow.CreateRequest{ID: "/tmp/x"}, err: shadow.ErrInvalid, says: "id"},
		{name: "a control character in an id", req: shadow.CreateRequest{ID: "a\nb"}, err: shadow.ErrInvalid, says: "id"},
		{name: "a NUL in an id", req: shadow.CreateRequest{ID: "a\x00b"}, err: shadow.ErrInvalid, says: "id"},
		{name: "a long id", req: shadow.CreateRequest{ID: strings.Repeat("a", 65)}, err: shadow.ErrInvalid, says: "64", good: shadow.CreateRequest{ID: strings.Repeat("a", 64)}},
		{name: "a lock's name as id", req: shadow.CreateRequest{ID: "x.lock"}, err: shadow.ErrInvalid, says: "id"},
		{name: "letters of other scripts in an id", req: shadow.CreateRequest{ID: "tâche"}, err: shadow.ErrInvalid, says: "id"},
		{name: "an option as base", req: shadow.CreateRequest{ID: "x", Base: "--upload-pack=x"}, err: shadow.ErrInvalid, says: "base"},
		{name: "a base that is not there", req: shadow.CreateRequest{ID: "x", Base: "nowhere"}, err: shadow.ErrInvalid, says: "base", good: shadow.CreateRequest{ID: "x", Base: "main"}},
		{name: "a base that is no commit", req: shadow.CreateRequest{ID: "x", Base: "HEAD:a"}, err: shadow.ErrInvalid, says: "base", good: shadow.CreateRequest{ID: "x", Base: "HEAD~0"}},
		{name: "a base with a control character", req: shadow.CreateRequest{ID: "x", Base: "HEAD\n"}, err: shadow.ErrInvalid, says: "base"},
		{name: "a range as base", req: shadow.CreateRequest{ID: "x", Base: "HEAD..main"}, err: shadow.ErrInvalid, says: "base"},
		{name: "uncommitted over another commit", setup: func(h *house) { h.Commit("second", "b", "2\n") }, req: shadow.CreateRequest{ID: "x", Base: "HEAD~1", IncludeUncommitted: true}, err: shadow.ErrInvalid, says: "base",
			good: shadow.CreateRequest{ID: "x", Base: "HEAD~1"}},
		{name: "the id of a shadow", setup: func(h *house) { h.create(shadow.CreateRequest{ID: "x"}) }, req: shadow.CreateRequest{ID: "x"}, err: shadow.ErrExists, says: "choose another", good: shadow.CreateRequest{ID: "y"}},
		{name: "the name of a worktree", setup: func(h *house) { h.Git("worktree", "add", "-q", "--detach", "../x") }, req: shadow.CreateRequest{ID: "x"}, err: shadow.ErrExists, says: "choose another", good: shadow.CreateRequest{ID: "y"}},
		{name: "a directory in the way", setup: func(h *house) { h.Write(".sidecar/shadows/x/mine", "1") }, req: shadow.CreateRequest{ID: "x"}, err: shadow.ErrExists, says: "choose another", good: shadow.CreateRequest{ID: "y"}},
		{name: "a link in place of .sidecar", setup: func(h *house) {
			ownfile.Rename(h.Path(".sidecar"), h.Path("elsewhere"))
			ownfile.Symlink("elsewhere", h.Path(".sidecar"))
			ownfile.WriteFile(h.Path(".git/info/exclude"), []byte("/.sidecar\n/elsewhere\n"), 0o644)
		}, req: shadow.CreateRequest{ID: "x"}, err: shadow.ErrUnusable, says: "is a link", undo: func(h *house) {
			ownfile.Remove(h.Path(".sidecar"))
			ownfile.Rename(h.Path("elsewhere"), h.Path(".sidecar"))
		}},
		{name: "a link in place of .sidecar/shadows", setup: func(h *house) { ownfile.Symlink(h.t.TempDir(), h.Path(".sidecar/shadows")) }, req: shadow.CreateRequest{ID: "x"}, err: shadow.ErrUnusable, says: "is a link",
			undo: func(h *house) { ownfile.Remove(h.Path(".sidecar/shadows")) }},
		{name: "a link in place of the locks", setup: func(h *house) {
			ownfile.MkdirAll(h.Path(".sidecar/state"), 0o755)
			ownfile.Symlink(h.t.TempDir(), h.Path(".sidecar/state/shadows"))
		}, req: shadow.CreateRequest{ID: "x"}, err: shadow.ErrUnusable, says: "is a link", undo: func(h *house) { ownfile.Remove(h.Path(".sidecar/state/shadows")) }},
		{name: "a file in place of .sidecar/shadows", setup: func(h *house) { ownfile.WriteFile(h.Path(".sidecar/shadows"), nil, 0o644) }, req: shadow.CreateRequest{ID: "x"}, err: shadow.ErrUnusable, says: "is not a directory",
			undo: func(h *house) { ownfile.Remove(h.Path(".sidecar/shadows")) }},
		{name: "an include file that takes too much", setup: func(h *house) {
			h.Commit("rules", ".gitignore", "big/\n", ".worktreeinclude", "big\n")
			ownfile.Mkdir(h.Path("big"), 0o755)
			for i := range 20_001 {
				ownfile.Link(h.Path("a"), h.Path(fmt.Sprintf("big/%d", i)))
			}
		}, req: shadow.CreateRequest{ID: "x"}, err: shadow.ErrTooMuch, says: "end the pattern", undo: func(h *house) { ownfile.Remove(h.Path(".worktreeinclude")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, "a", "1\n", "dir/b", "2\n")
			if c.setup != nil {
				c.setup(h)
			}
			before := h.everything()
			_, err := h.Create(context.Background(), c.req)
			if !errors.Is(err, c.err) || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want %v that says %q", err, c.err, c.says)
			}
			if after := h.everything(); after != before {
				t.Errorf("something was left:\n%s\nbefore:\n%s", after, before)
			}
			if c.undo != nil {
				c.undo(h)
				c.good = c.req
			}
			if c.good.ID == "" {
				c.good = shadow.CreateRequest{ID: "good"}
			}
			h.create(c.good)
		})
	}
}

// everything lists what there is, but for empty directories and locks.
func (h *house) everything() string {
	h.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(h.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && !strings.Contains(path, "/big/") {
			fmt.Fprintln(&b, path)
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return b.String()
}

func TestNoRepository(t *testing.T) {
	gittest.Isolate(t)
	r := gittest.New(t)
	bare := r.At(t.TempDir())
	bare.Git("init", "-q", "--bare")
	other := r.At(t.TempDir())
	other.Git("init", "-q", "--object-format=sha256")
	other.Commit("first", "a", "1\n")
	for _, c := range []struct {
		name string
		dir  string
		says string
	}{
		{"no repository", t.TempDir(), "no git repository"},
		{"no commit", r.Dir, "no commit yet"},
		{"a bare repository", bare.Dir, "no working tree"},
		{"another kind of names", other.Dir, "sha256"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := shadow.New(shadow.Options{Dir: c.dir})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			_, err = m.Create(context.Background(), shadow.CreateRequest{})
			if !errors.Is(err, shadow.ErrUnusable) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if entries, _ := os.ReadDir(filepath.Join(c.dir, ".sidecar", "shadows")); len(entries) > 0 {
				t.Errorf("left %v", entries)
			}
		})
	}
	r.Commit("first", "a", "1\n")
	h := openHouse(t, r, shadow.Options{})
	h.create(shadow.CreateRequest{})
	// What keeps it from being read is something else.
	r.Write(".git/config", "[core\n")
	if _, err := h.Create(t.Context(), shadow.CreateRequest{}); err == nil || strings.Contains(err.Error(), "no commit") || !strings.Contains(err.Error(), "config") {
		t.Errorf("got %v", err)
	}
}

// TestPartial: of a partial clone there are shadows as far as its files are
// there, and else it is said how they get there.
func TestPartial(t *testing.T) {
	from := gittest.New(t)
	from.Commit("first", "a", "1\n")
	from.Commit("second", "a", "2\n")
	from.Git("config", "uploadpack.allowFilter", "true")
	to := filepath.Join(t.TempDir(), "clone")
	from.Git("clone", "-q", "--filter=blob:none", "file://"+from.Dir, to)
	h := openHouse(t, from.At(to), shadow.Options{})
	h.create(shadow.CreateRequest{})
	_, err := h.Create(t.Context(), shadow.CreateRequest{Base: "HEAD~1"})
	if err == nil || !strings.Contains(err.Error(), "partial clone") || !strings.Contains(err.Error(), "git archive") {
		t.Fatalf("got %v", err)
	}
	h.Git("archive", "-o", filepath.Join(t.TempDir(), "x.tar"), "HEAD~1")
	_, w := h.create(shadow.CreateRequest{Base: "HEAD~1"})
	if got := read(t, w, "a"); got != "1\n" {
		t.Errorf("got %q", got)
	}
}

// settings are those of a test.
type settings struct {
	limits  shadow.Limits
	steps   []shadow.Step
	trusted bool
}

func (s settings) Limits() shadow.Limits   { return s.limits }
func (s settings) Trusted() bool           { return s.trusted }
func (s settings) Hidden(name string) bool { return workspace.Sensitive(name) }
func (s settings) Setup() []shadow.Step    { return s.steps }

func limits(l shadow.Limits) shadow.Settings { return settings{limits: l} }

func TestLimits(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a", "1\n", "b", "2\n")
	for _, c := range []struct {
		name   string
		limits shadow.Limits
		fits   shadow.Limits
	}{
		{"files", shadow.Limits{Files: 1}, shadow.Limits{Files: 2}},
		{"bytes", shadow.Limits{Bytes: 3}, shadow.Limits{Bytes: 4}},
	} {
		h := openHouse(t, r, shadow.Options{Settings: limits(c.limits)})
		if _, err := h.Create(context.Background(), shadow.CreateRequest{}); !errors.Is(err, shadow.ErrTooMuch) {
			t.Errorf("%s: got %v", c.name, err)
		}
		s, _ := openHouse(t, r, shadow.Options{Settings: limits(c.fits)}).create(shadow.CreateRequest{})
		if _, err := h.Discard(context.Background(), s.ID); err != nil {
			t.Error(err)
		}
	}
	h := openHouse(t, r, shadow.Options{Settings: limits(shadow.Limits{Shadows: 2})})
	h.create(shadow.CreateRequest{ID: "one"})
	h.create(shadow.CreateRequest{ID: "two"})
	if _, err := h.Create(context.Background(), shadow.CreateRequest{}); !errors.Is(err, shadow.ErrTooMuch) {
		t.Errorf("got %v", err)
	}
	if _, err := h.Discard(context.Background(), "one"); err != nil {
		t.Fatal(err)
	}
	h.create(shadow.CreateRequest{ID: "three"})
}

// TestBases: a shadow of another commit has its files, whatever the main tree
// has.
func TestBases(t *testing.T) {
	h := newHouse(t, "a", "1\n", "gone/x", "x\n", "was a file", "f\n")
	h.Git("rm", "-rq", "gone", "was a file")
	h.Commit("second", "a", "2\n", "was a file/inside", "i\n")
	h.Git("branch", "other", "HEAD~1")
	h.Git("tag", "-a", "-m", "t", "annotated", "HEAD~1")
	h.Write("a", "not committed\n")
	h.Git("gc", "-q")
	first := strings.TrimSpace(h.Git("rev-parse", "HEAD~1"))
	for i, base := range []string{"HEAD~1", "other", "annotated", first, first[:8]} {
		s, w := h.create(shadow.CreateRequest{ID: fmt.Sprint("s", i), Base: base})
		if s.Base != first {
			t.Errorf("%s: base %s", base, s.Base)
		}
		if out := w.Git("status", "--porcelain"); out != "" {
			t.Errorf("%s: git status: %s", base, out)
		}
		if read(t, w, "a") != "1\n" || read(t, w, "gone/x") != "x\n" || read(t, w, "was a file") != "f\n" {
			t.Errorf("%s: other files", base)
		}
	}
}

func TestUncommitted(t *testing.T) {
	h := newHouse(t, "same", "s\n", "staged", "1\n", "unstaged", "1\n", "both", "1\n", "deleted", "1\n", "removed", "1\n",
		"mode", "1\n", "open", "1\n", "buffer only", "1\n", "dir to file/x", "1\n", "file to dir", "1\n", "untouched/deep/x", "1\n", ".gitignore", "*.log\n/out/\n")
	h.Write("staged", "2\n", "both", "2\n", "added", "new\n")
	h.Git("add", "staged", "both", "added")
	h.Git("rm", "-q", "removed")
	h.Write("unstaged", "2\n", "both", "3\n", "untracked", "u\n", "new dir/x", "x\n", "noise.log", "ignored\n", "out/x", "ignored\n")
	ownfile.Remove(h.Path("deleted"))
	ownfile.Chmod(h.Path("mode"), 0o755)
	ownfile.RemoveAll(h.Path("dir to file"))
	ownfile.Remove(h.Path("file to dir"))
	h.Write("dir to file", "f\n", "file to dir/x", "x\n")
	if err := ownfile.Symlink("same", h.Path("link")); err != nil {
		t.Fatal(err)
	}
	status := h.Git("status", "--porcelain", "-uall")
	index := read(t, h.Repo, ".git/index")
	view := workspace.NewOverlay(h.main, layer{"open": "typed\n", "untracked": "typed too\n", "unsaved new": "n\n", "noise.log": "typed into what is ignored\n"})
	s, w := h.create(shadow.CreateRequest{ID: "x", IncludeUncommitted: true, View: view})

	for name, want := range map[string]string{
		"same": "s\n", "staged": "2\n", "unstaged": "2\n", "both": "3\n", "added": "new\n", "untracked": "typed too\n", "new dir/x": "x\n",
		"open": "typed\n", "unsaved new": "n\n", "dir to file": "f\n", "file to dir/x": "x\n", "link": "s\n", "untouched/deep/x": "1\n", "mode": "1\n",
	} {
		if got := read(t, w, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"deleted", "removed", "noise.log", "out", "dir to file/x"} {
		if _, err := os.Lstat(w.Path(name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if info, err := os.Lstat(w.Path("mode")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("mode: %v %v", info, err)
	}
	if target, err := os.Readlink(w.Path("link")); err != nil || target != "same" {
		t.Errorf("link: %q %v", target, err)
	}
	if read(t, h.Repo, ".git/index") != index || h.Git("status", "--porcelain", "-uall") != status {
		t.Error("the main tree's index was touched")
	}
	// What came along is no change of the shadow's.
	if list, err := h.List(context.Background()); err != nil || list[0].Changed != 0 {
		t.Errorf("changed: %+v %v", list, err)
	}
	d, err := h.Diff(context.Background(), s.ID)
	if err != nil || len(d.Files) > 0 || d.Text != "" {
		t.Errorf("diff: %+v %v", d, err)
	}
	w.Write("untracked", "the shadow's\n")
	if d, err = h.Diff(context.Background(), s.ID); err != nil || len(d.Files) != 1 || !strings.Contains(d.Text, "-typed too\n+the shadow's\n") {
		t.Errorf("diff: %+v %v", d, err)
	}
	// Neither git gc nor the main tree can lose the state to compare with.
	h.Git("reset", "-q", "--hard")
	h.Git("clean", "-fdq")
	h.Git("gc", "-q", "--prune=now")
	if again, err := h.Diff(context.Background(), s.ID); err != nil || again.Text != d.Text {
		t.Errorf("after gc: %+v %v", again, err)
	}
	h.sound()
}

// layer is texts over files.
type layer map[string]string

func (l layer) Lookup(name string) ([]byte, bool, bool) {
	text, ok := l[name]
	return []byte(text), false, ok
}

func (l layer) Names() []string {
	var names []string
	for name := range l {
		names = append(names, name)
	}
	// Sorted, as the interface wants.
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			if names[j] < names[i] {
				names[i], names[j] = names[j], names[i]
			}
		}
	}
	return names
}

func TestInclude(t *testing.T) {
	h := newHouse(t, ".gitignore", ".env*\n*.local\nnode_modules/\nbuild/\nsecret/\n", "a", "1\n", "config/c", "c\n",
		".worktreeinclude", "# what programs need\n.env*\n!.env.old\nconfig/*.local\nnode_modules/\nbuild/cache/keep\n")
	h.Write(".env", "KEY=1\n", ".env.old", "no\n", "config/db.local", "db\n", "config/deep/db.local", "not named\n", "other.local", "not named\n",
		"node_modules/left/index.js", "js\n", "node_modules/.lock", "l\n", "build/cache/keep", "k\n", "build/cache/drop", "d\n", "secret/.env", "in what is ignored as a whole\n")
	_, w := h.create(shadow.CreateRequest{ID: "x"})
	for name, want := range map[string]string{".env": "KEY=1\n", "config/db.local": "db\n", "node_modules/left/index.js": "js\n", "node_modules/.lock": "l\n", "build/cache/keep": "k\n"} {
		if got := read(t, w, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{".env.old", "config/deep", "other.local", "build/cache/drop", "secret"} {
		if _, err := os.Lstat(w.Path(name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if info, err := os.Lstat(w.Path("node_modules/left")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("not linked: %v %v", info, err)
	}
	if out := w.Git("status", "--porcelain"); out != "" {
		t.Errorf("git status: %s", out)
	}
	// Tools don't follow the links out of the shadow, and do read what was copied.
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: w.Dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	if _, err := disk.ReadFile("node_modules/left/index.js"); !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("read through a link: %v", err)
	}
	if data, err := disk.ReadFile("node_modules/.lock"); err != nil || string(data) != "l\n" {
		t.Errorf("read a copy: %q %v", data, err)
	}
	if list, err := h.List(context.Background()); err != nil || list[0].Changed != 0 {
		t.Errorf("%+v %v", list, err)
	}
	// A directory that is used again has none of it, unless it is named again.
	if _, err := h.Discard(context.Background(), "x"); err != nil {
		t.Fatal(err)
	}
	ownfile.Remove(h.Path(".env"))
	h.Close()
	_, w = h.create(shadow.CreateRequest{ID: "y"})
	if _, err := os.Lstat(w.Path(".env")); err == nil {
		t.Error("a secret of an earlier shadow is there")
	}
	if data, _ := os.ReadFile(h.Path("node_modules/left/index.js")); string(data) != "js\n" {
		t.Error("discarding followed a link")
	}
}

// TestSubmodule: a submodule is an empty directory, as git leaves it.
func TestSubmodule(t *testing.T) {
	sub := gittest.New(t)
	sub.Commit("sub", "s", "1\n")
	h := newHouse(t, "a", "1\n")
	h.Git("submodule", "add", "-q", sub.Dir, "mod")
	h.Git("commit", "-qm", "module")
	s, w := h.create(shadow.CreateRequest{ID: "x"})
	if out := w.Git("status", "--porcelain"); out != "" {
		t.Errorf("git status: %s", out)
	}
	if entries, err := os.ReadDir(w.Path("mod")); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
	d, err := h.Diff(context.Background(), s.ID)
	if err != nil || len(d.Files) > 0 {
		t.Errorf("%+v %v", d, err)
	}
	// What a task has put there is not left for the next one.
	for i, leave := range []func() error{
		func() error { return nil },
		func() error { return ownfile.WriteFile(w.Path("mod/secret"), []byte("x"), 0o644) },
		func() error { return ownfile.Remove(w.Path("mod")) },
		func() error {
			return errors.Join(ownfile.Remove(w.Path("mod")), ownfile.WriteFile(w.Path("mod"), []byte("x"), 0o644))
		},
		func() error {
			return errors.Join(ownfile.Remove(w.Path("mod")), ownfile.Symlink(sub.Dir, w.Path("mod")))
		},
	} {
		if err := leave(); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Discard(context.Background(), s.ID); err != nil {
			t.Error(err)
		}
		h.Close()
		if pools, err := filepath.Glob(h.Path(".sidecar/shadows/.pool-*/tree")); err != nil || len(pools) != 1 {
			t.Fatalf("%d: the pool has %q, %v", i, pools, err)
		}
		s, w = h.create(shadow.CreateRequest{ID: fmt.Sprint("again", i)})
		if out := w.Git("status", "--porcelain"); out != "" {
			t.Errorf("%d: git status: %s", i, out)
		}
		if entries, err := os.ReadDir(w.Path("mod")); err != nil || len(entries) > 0 {
			t.Errorf("%d: %v %v", i, entries, err)
		}
	}
	if got := read(t, sub, "s"); got != "1\n" {
		t.Errorf("the submodule's own repository has %q", got)
	}
}

// TestLinkAboveFiles: a tree that names a link and files below it leads nobody
// out of the shadow.
func TestLinkAboveFiles(t *testing.T) {
	outside := t.TempDir()
	for _, below := range []string{"100644", "120000"} {
		h := newHouse(t, "a", "1\n")
		blob := strings.TrimSpace(h.GitIn(outside, "hash-object", "-w", "--stdin"))
		sub := strings.TrimSpace(h.GitIn(fmt.Sprintf("%s blob %s\tplanted\n", below, blob), "mktree"))
		tree := strings.TrimSpace(h.GitIn(fmt.Sprintf("120000 blob %s\tout\n040000 tree %s\tout\n", blob, sub), "mktree"))
		commit := strings.TrimSpace(h.Git("commit-tree", "-m", "both", tree))
		if _, err := h.Create(t.Context(), shadow.CreateRequest{ID: "x", Base: commit}); err == nil {
			t.Error("it was made")
		}
		if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
			t.Errorf("outside there is %v, %v", list, err)
		}
		h.create(shadow.CreateRequest{ID: "x"})
	}
}

// TestRecycle: a directory that was used before comes to the same as a new one.
func TestRecycle(t *testing.T) {
	h := newHouse(t, "a", "1\n", "b/c", "2\n", "b/d/e", "3\n", ".gitignore", "*.o\n")
	_, w := h.create(shadow.CreateRequest{ID: "one"})
	w.Write("a", "changed\n", "new", "n\n", "b/x.o", "object\n", "b/nested/f", "f\n")
	w.Git("init", "-q", "b/nested")
	ownfile.Remove(w.Path("b/c"))
	if err := ownfile.Symlink(h.t.TempDir(), w.Path("b/c")); err != nil {
		t.Fatal(err)
	}
	ownfile.RemoveAll(w.Path("b/d"))
	if err := ownfile.Symlink(h.t.TempDir(), w.Path("b/d")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Discard(context.Background(), "one"); err != nil {
		t.Fatal(err)
	}
	h.Close()
	pools, _ := filepath.Glob(h.Path(".sidecar/shadows/.pool-*/tree"))
	if len(pools) != 1 {
		t.Fatalf("pool: %v", pools)
	}
	h.Git("rm", "-q", "b/c")
	h.Commit("second", "a", "2\n", "z/new", "z\n")
	_, w = h.create(shadow.CreateRequest{ID: "two"})
	if out := w.Git("status", "--porcelain", "--ignored"); out != "" {
		t.Errorf("git status: %s", out)
	}
	if read(t, w, "a") != "2\n" || read(t, w, "z/new") != "z\n" || read(t, w, "b/d/e") != "3\n" {
		t.Error("other files")
	}
	for _, name := range []string{"b/c", "b/nested", "new", "b/x.o"} {
		if _, err := os.Lstat(w.Path(name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if pools, _ := filepath.Glob(h.Path(".sidecar/shadows/.pool-*")); len(pools) > 0 {
		t.Errorf("pool: %v", pools)
	}
	h.sound()
}

// TestCancel: a creation that is given up leaves nothing.
func TestCancel(t *testing.T) {
	h := newHouse(t, "a", "1\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	before := h.everything()
	if _, err := h.Create(ctx, shadow.CreateRequest{ID: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if h.everything() != before {
		t.Error("something was left")
	}
	h.create(shadow.CreateRequest{ID: "x"})
}
