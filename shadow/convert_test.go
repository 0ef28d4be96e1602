package shadow_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// TestConversions: where files are not the bytes of their objects, or the
// repository is of an unusual kind, a shadow is what git would have made.
func TestConversions(t *testing.T) {
	slow.Test(t)
	const lfs = "git config --global filter.upper.clean 'tr A-Z a-z'; git config --global filter.upper.smudge 'tr a-z A-Z'; git config --global filter.upper.required true; "
	for _, c := range []struct {
		name   string
		script string // in a repository with the files a.txt and b.bin
	}{
		{name: "line ends by an attribute", script: "printf '*.txt eol=crlf\n' > .gitattributes; git add .; git commit -qm x; rm a.txt; git checkout -q -- ."},
		{name: "line ends by a setting", script: "git config core.autocrlf true; rm -- *; git checkout -q -- ."},
		{name: "line ends by another setting", script: "printf '* text=auto\n' > .gitattributes; git add .; git commit -qm x; git config core.eol crlf; rm -- *; git checkout -q -- ."},
		{name: "text=auto alone", script: "printf '* text=auto\n' > .gitattributes; git add .; git commit -qm x"},
		{name: "ident", script: "printf '*.txt ident\n' > .gitattributes; printf '$Id$\n' > a.txt; git add .; git commit -qm x; rm a.txt; git checkout -q -- ."},
		{name: "an encoding", script: "printf '*.txt working-tree-encoding=UTF-16LE\n' > .gitattributes; rm a.txt; git add .; printf 'a\\000\\n\\000' > a.txt; git add .; git commit -qm x"},
		{name: "a filter of the user's", script: lfs + "printf '*.txt filter=upper\n' > .gitattributes; git add .; git commit -qm x; rm a.txt; git checkout -q -- ."},
		{name: "a filter of the user's, other files", script: lfs + "printf '*.txt filter=upper\n' > .gitattributes; git add .; git commit -qm x; rm a.txt; git checkout -q -- .; echo changed > a.txt; git commit -qam y; git branch z HEAD~1; echo worse > a.txt"},
		{name: "a filter that nobody defines", script: "printf '*.txt filter=lfs\n' > .gitattributes; printf 'version https://git-lfs.github.com/spec/v1\n' > a.txt; git add .; git commit -qm x"},
		{name: "attributes of the repository", script: "printf '*.txt eol=crlf\n' > .git/info/attributes; rm a.txt; git checkout -q -- ."},
		{name: "split index", script: "git update-index --split-index"},
		{name: "sparse", script: "mkdir in out; echo 1 > in/x; echo 2 > out/y; git add .; git commit -qm x; git sparse-checkout set in"},
		{name: "settings of working trees", script: "git config extensions.worktreeConfig true; git config --worktree core.abbrev 9"},
		{name: "index version 4", script: "git update-index --index-version 4"},
		{name: "untracked cache", script: "git update-index --untracked-cache; git status -s >/dev/null"},
		{name: "assume unchanged", script: "git update-index --assume-unchanged a.txt; echo other > a.txt"},
		{name: "intent to add", script: "echo new > n; git add -N n"},
		{name: "packed", script: "git gc -q; rm a.txt"},
		{name: "in the middle of a merge", script: "git switch -qc o; echo o > a.txt; git commit -qam o; git switch -q main; echo m > a.txt; git commit -qam m; git merge -q o >/dev/null || true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gittest.New(t)
			r.Commit("first", "a.txt", "one\ntwo\n", "b.bin", "\x00\x01", "same", "s\n")
			sh(t, r.Dir, c.script)
			h := openHouse(t, r, shadow.Options{})
			want := h.At("../want")
			h.Git("worktree", "add", "-q", "--detach", "../want", "HEAD")
			ctx := context.Background()
			s, w := h.create(shadow.CreateRequest{ID: "x"})
			if out := w.Git("status", "--porcelain"); out != "" {
				t.Errorf("git status: %s", out)
			}
			compareTrees(t, want.Dir, w.Dir)
			if d, err := h.Diff(ctx, s.ID); err != nil || len(d.Files) > 0 {
				t.Errorf("diff: %+v %v", d, err)
			}
			// A file that was only written again is no change; one that was changed is one.
			data, err := os.ReadFile(w.Path("same"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"a.txt", "same"} {
				now, err := os.ReadFile(w.Path(name))
				if err != nil {
					t.Fatal(err)
				}
				ownfile.Remove(w.Path(name))
				if err := ownfile.WriteFile(w.Path(name), now, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d, err := h.Diff(ctx, s.ID); err != nil || len(d.Files) > 0 {
				t.Errorf("diff of files that were written again: %+v %v", d, err)
			}
			if err := ownfile.WriteFile(w.Path("same"), append(data, "more\n"...), 0o644); err != nil {
				t.Fatal(err)
			}
			if d, err := h.Diff(ctx, s.ID); err != nil || len(d.Files) != 1 || !strings.Contains(d.Text, "+more\n") {
				t.Errorf("diff: %+v %v", d, err)
			}
			if got := summary(h.merge(s.ID, h.main)); got != "modify same" {
				t.Errorf("merge: %q", got)
			}
			if _, err := h.Discard(ctx, s.ID); err != nil {
				t.Error(err)
			}
			h.Close()
			if out := h.Git("fsck", "--no-dangling"); out != "" {
				t.Errorf("git fsck: %s", out)
			}
			_, w = h.create(shadow.CreateRequest{ID: "again"})
			if out := w.Git("status", "--porcelain"); out != "" {
				t.Errorf("git status of one that was used before: %s", out)
			}
			compareTrees(t, want.Dir, w.Dir)
		})
	}
}

// TestFilterOfRepository: no filter that only a repository's settings define runs,
// trusted or not. What can be copied needs none.
func TestFilterOfRepository(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a.txt", "one\n", "same", "s\n")
	mark := filepath.Join(t.TempDir(), "ran")
	sh(t, r.Dir, "printf '*.txt filter=x\n' > .gitattributes; git add .; git commit -qm x; git config filter.x.smudge 'touch "+mark+"; cat'; git config filter.x.clean cat; rm a.txt")
	for _, trust := range []bool{false, true} {
		h := openHouse(t, r, shadow.Options{Settings: settings{trusted: trust}})
		if _, err := h.Create(context.Background(), shadow.CreateRequest{ID: "x"}); err == nil {
			t.Error("a file was made without its filter")
		}
		if _, err := os.Stat(mark); err == nil {
			t.Fatal("the filter ran")
		}
		h.clean1()
	}
	sh(t, r.Dir, "git config --remove-section filter.x; git config --global filter.x.smudge 'touch "+mark+"; cat'; git config --global filter.x.clean cat")
	h := openHouse(t, r, shadow.Options{})
	h.create(shadow.CreateRequest{ID: "x"})
	if _, err := os.Stat(mark); err != nil {
		t.Error("the user's own filter did not run")
	}
}

// clean1 makes sure that a failure left nothing.
func (h *house) clean1() {
	h.t.Helper()
	if list := h.Git("worktree", "list"); strings.Count(list, "\n") != 1 {
		h.t.Errorf("git worktree list: %s", list)
	}
	if left, _ := os.ReadDir(h.Path(".sidecar/shadows")); len(left) > 0 {
		h.t.Errorf("left: %v", left)
	}
}

func sh(t *testing.T, dir, script string) {
	t.Helper()
	cmd := command(t, "sh", "-ec", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// compareTrees compares all files of two trees, but for .git.
func compareTrees(t *testing.T, want, got string) {
	t.Helper()
	out, err := command(t, "diff", "-r", "--no-dereference", "-x", ".git", want, got).CombinedOutput()
	if err != nil {
		t.Errorf("other files: %v\n%s", err, out)
	}
}

func command(t *testing.T, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(t.Context(), name, args...)
}

// TestWithoutGit: all is done without a git command, but for what needs one,
// which says so.
func TestWithoutGit(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a.txt", "one\n", "b.txt", "b\n")
	h := openHouse(t, r, shadow.Options{Git: gitcmd.NoGit})
	r.Write("a.txt", "not committed\n")
	s, w := h.create(shadow.CreateRequest{ID: "x", IncludeUncommitted: true})
	w.Write("a.txt", "two\n")
	if d, err := h.Diff(context.Background(), s.ID); err != nil || !strings.Contains(d.Text, "-not committed\n+two\n") {
		t.Errorf("%+v %v", d, err)
	}
	if got := summary(h.apply(s.ID, h.main)); got != "modify a.txt" {
		t.Errorf("%q", got)
	}
	if _, err := h.Discard(context.Background(), s.ID); err != nil {
		t.Error(err)
	}
	h.Close() // until what was discarded is ready for the next one, which fails
	sh(t, r.Dir, "git checkout -q -- .; git config core.autocrlf true; rm a.txt")
	if _, err := h.Create(context.Background(), shadow.CreateRequest{ID: "y"}); !errors.Is(err, gitcmd.ErrNoGit) {
		t.Errorf("got %v", err)
	}
	h.Close()
	h.clean1()
}
