package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func TestOpen(t *testing.T) {
	r := gittest.New(t)
	r.Commit("one", "a/b/c.txt", "text\n")
	link := filepath.Join(t.TempDir(), "link")
	if err := ownfile.Symlink(r.Dir, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{r.Dir, r.Path("a"), r.Path("a/b"), link, filepath.Join(link, "a")} {
		got, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		if got.Dir != r.Dir || got.GitDir != r.Path(".git") || got.CommonDir != got.GitDir {
			t.Errorf("%s: opened %+v", dir, got)
		}
	}
	if _, err := Open(t.TempDir(), Options{}); !errors.Is(err, ErrNoRepository) {
		t.Errorf("outside of a repository: %v", err)
	}
}

func TestOpenLinked(t *testing.T) {
	r := gittest.New(t)
	r.Commit("one", "a.txt", "text\n")
	tree := filepath.Join(filepath.Dir(r.Dir), "tree")
	r.Git("worktree", "add", "-q", tree)
	got, err := Open(tree, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Dir != tree || got.GitDir != r.Path(".git/worktrees/tree") || got.CommonDir != r.Path(".git") {
		t.Errorf("opened %+v", got)
	}

	other := gittest.New(t)
	other.Commit("one", "a.txt", "text\n")
	r.Git("submodule", "--quiet", "add", other.Dir, "lib/sub")
	got, err = Open(r.Path("lib/sub"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Dir != r.Path("lib/sub") || got.GitDir != r.Path(".git/modules/lib/sub") {
		t.Errorf("opened %+v", got)
	}
	// A sparse checkout moves core.worktree into the settings of the working tree.
	r.Git("-C", "lib/sub", "sparse-checkout", "set", "x")
	if got, err = Open(r.Path("lib/sub"), Options{}); err != nil || got.Dir != r.Path("lib/sub") {
		t.Errorf("with a sparse checkout: opened %+v, %v", got, err)
	}
	// Without the extension git does not obey them.
	r.Git("-C", "lib/sub", "config", "extensions.worktreeConfig", "false")
	if _, err := Open(r.Path("lib/sub"), Options{}); !errors.Is(err, ErrRefused) {
		t.Errorf("with settings that don't count: %v", err)
	}
}

// What comes with the code must not make another repository ours. The positive
// controls are in the tests above.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, r, victim *gittest.Repo) (dir string)
		text string
	}{
		{"a .git file that names another repository", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Write("sub/.git", "gitdir: "+victim.Path(".git")+"\n")
			return r.Path("sub")
		}, "core.worktree"},
		{"a .git file that names the own repository", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Write("sub/.git", "gitdir: ../.git\n")
			return r.Path("sub")
		}, "core.worktree"},
		{"a .git file that names another working tree's place", func(t *testing.T, r, victim *gittest.Repo) string {
			victim.Git("worktree", "add", "-q", victim.Path("tree"))
			r.Write("sub/.git", "gitdir: "+victim.Path(".git/worktrees/tree")+"\n")
			return r.Path("sub")
		}, "another working tree"},
		{"a planted place that takes another repository's objects", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Write("sub/.git", "gitdir: ../place\n", "place/HEAD", "ref: refs/heads/main\n",
				"place/commondir", victim.Path(".git")+"\n", "place/gitdir", r.Path("sub/.git")+"\n")
			return r.Path("sub")
		}, "not among the working trees"},
		{"a .git link", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Write("sub/x", "")
			if err := ownfile.Symlink(victim.Path(".git"), r.Path("sub/.git")); err != nil {
				t.Fatal(err)
			}
			return r.Path("sub")
		}, "core.worktree"},
		{"a .git file of nonsense", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Write("sub/.git", "hello\n")
			return r.Path("sub")
		}, "does not link"},
		{"a .git file that leads nowhere", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Write("sub/.git", "gitdir: nowhere\n")
			return r.Path("sub")
		}, "not a repository"},
		{"a bare repository", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Git("init", "-q", "--bare", "sub")
			return r.Path("sub")
		}, "bare"},
		{"below a bare repository", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Git("init", "-q", "--bare", "sub")
			return r.Path("sub/objects")
		}, "bare"},
		{"inside .git", func(t *testing.T, r, victim *gittest.Repo) string { return r.Path(".git/objects") }, "bare"},
		{"core.worktree elsewhere", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Git("config", "core.worktree", victim.Dir)
			return r.Dir
		}, "another directory"},
		{"core.bare", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Git("config", "core.bare", "true")
			return r.Dir
		}, "no working tree"},
		{"commondir", func(t *testing.T, r, victim *gittest.Repo) string {
			r.Write(".git/commondir", victim.Path(".git")+"\n")
			return r.Dir
		}, "commondir"},
		{"another user's", func(t *testing.T, r, victim *gittest.Repo) string {
			if os.Geteuid() != 0 {
				needs.Skip(t, needs.OtherUser, "only root can give files away")
			}
			if err := ownfile.Chown(r.Dir, 12345, 12345); err != nil {
				t.Fatal(err)
			}
			return r.Dir
		}, "another user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, victim := gittest.New(t), gittest.New(t)
			r.Commit("one", "a.txt", "text\n")
			victim.Commit("one", "secret.txt", "text\n")
			got, err := Open(c.make(t, r, victim), Options{})
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("got %+v, %v, want a refusal with %q", got, err, c.text)
			}
		})
	}
}

func TestSafeDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Skip(t, needs.OtherUser, "only root can give files away")
	}
	r := gittest.New(t)
	if err := ownfile.Chown(r.Dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		values string
		ok     bool
	}{
		{"[safe]\n\tdirectory = " + r.Dir, true},
		{"[safe]\n\tdirectory = *", true},
		{"[safe]\n\tdirectory = *\n\tdirectory =", false},
		{"[safe]\n\tdirectory = /elsewhere", false},
	} {
		if err := ownfile.WriteFile(filepath.Join(os.Getenv("HOME"), ".gitconfig"), []byte(c.values+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(r.Dir, Options{}); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.values, err)
		}
	}
}
