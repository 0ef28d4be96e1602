package gitguard

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/inventory"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func look(ctx context.Context, a Area) ([]inventory.Item, error) {
	return inventory.New(a.Dir, a.Without...).Look(ctx)
}

func sh(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestOnlyWhatWasLookedAt: what takes a hazard's place before it is renamed
// stays, be it a link to another repository.
func TestOnlyWhatWasLookedAt(t *testing.T) {
	for name, swap := range map[string]string{
		"control":              "true",
		"the repository":       "mv a/.git gone; cp -r good a/.git",
		"its directory":        "mv a gone; ln -s . a",
		"its directory, again": "mv a gone; mkdir a; mv good a/.git",
	} {
		dir := t.TempDir()
		sh(t, dir, "git init -q .; git init -q g; mv g/.git good; git init -q a; git -C a config core.fsmonitor evil")
		s := &state{Areas: []Area{{Dir: dir}}}
		path := filepath.Join(dir, "a/.git")
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		h := s.hazard(s.Areas[0], path, info)
		if h == nil {
			t.Fatal("it is no hazard")
		}
		sh(t, dir, swap)
		said := h.setAside(s.Areas[0])
		if moved := strings.Contains(said, "renamed to"); moved != (name == "control") {
			t.Errorf("%s: %s", name, said)
		}
		if _, err := os.Stat(filepath.Join(dir, ".git/HEAD")); err != nil {
			t.Errorf("%s: the repository around it: %v", name, err)
		}
	}
}

// TestAgain: a name that is taken is not used, and nothing is lost.
func TestAgain(t *testing.T) {
	dir := t.TempDir()
	s := &state{Areas: []Area{{Dir: dir}}}
	for _, want := range []string{".git.set-aside", ".git.set-aside-2", ".git.set-aside-3"} {
		sh(t, dir, "git init -q a; git -C a config core.fsmonitor evil")
		said := s.check(t.Context(), look, nil)
		if len(said) != 1 || !strings.Contains(said[0], "a/"+want+",") {
			t.Errorf("%q, want %s", said, want)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "a", want, "config")); err != nil || !strings.Contains(string(data), "evil") {
			t.Errorf("%q, %v", data, err)
		}
	}
	if said := s.check(t.Context(), look, nil); len(said) > 0 {
		t.Errorf("what was set aside is set aside: %q", said)
	}
	// Undone by a command, it is set aside again.
	sh(t, dir, "cd a; mv .git.set-aside .git; mv .git/HEAD.set-aside .git/HEAD")
	if said := s.check(t.Context(), look, nil); len(said) != 1 {
		t.Errorf("%q", said)
	}
}

// TestLeftovers: what a server left is done by the next one, unless the command
// is still looked after.
func TestLeftovers(t *testing.T) {
	dir, records := t.TempDir(), filepath.Join(t.TempDir(), "records")
	sh(t, dir, "git init -q known; git -C known config core.fsmonitor mine")
	w, err := Begin(Options{Areas: []Area{{Dir: dir}}, Repositories: []string{filepath.Join(dir, "known/.git")}, Look: look, Dir: records})
	if err != nil {
		t.Fatal(err)
	}
	sh(t, dir, "git init -q a; git -C a config core.fsmonitor evil")
	tidied := []string{}
	tidy := func(dir string, repositories []string) { tidied = append(append(tidied, dir), repositories...) }
	if said := Leftovers(records, tidy, look); len(said) > 0 || len(tidied) > 0 {
		t.Errorf("the command is there: %q, %q", said, tidied)
	}
	data, err := os.ReadFile(w.Record())
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(records, "left.json")
	if err := ownfile.WriteFile(left, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := Leftovers(records, tidy, look); len(said) != 1 || !strings.HasPrefix(said[0], "a/.git ") || len(tidied) != 2 {
		t.Errorf("%q, %q", said, tidied)
	}
	if said := w.End(); len(said) > 0 {
		t.Errorf("said twice: %q", said)
	}
	if names, err := filepath.Glob(filepath.Join(records, "*")); err != nil || len(names) > 0 {
		t.Errorf("%q are left", names)
	}
	if _, err := os.Stat(filepath.Join(dir, "known/.git/HEAD")); err != nil {
		t.Error(err)
	}
}

// TestBelongings: the submodules of a linked working tree, and of a submodule, were there
// before the command, which can't write where they are. What a command makes elsewhere in
// such a git directory is looked at.
func TestBelongings(t *testing.T) {
	for _, c := range []struct {
		name, area, meanwhile, aside string
	}{
		{"a linked tree", "hub/worktrees/tree", "true", ""},
		{"a linked tree, with one in one", "hub/worktrees/tree", "git init -q hub/worktrees/tree/modules/sub/x; git -C hub/worktrees/tree/modules/sub/x config core.fsmonitor evil", "modules/sub/x/.git "},
		{"made in a linked tree", "hub/worktrees/tree", "git init -q hub/worktrees/tree/x; git -C hub/worktrees/tree/x config core.fsmonitor evil", "x/.git "},
		{"a submodule", "src/.git/modules/sub", "true", ""},
		{"made in a submodule", "src/.git/modules/sub", "git init -q src/.git/modules/sub/x; git -C src/.git/modules/sub/x config core.fsmonitor evil", "x/.git "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			sh(t, dir, `export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
				for r in inner sub src; do git init -q $r; git -C $r commit -q --allow-empty -m x; done
				git -C sub submodule --quiet add "$PWD/inner" inner; git -C sub commit -qm inner
				git -C src submodule --quiet add "$PWD/sub" sub; git -C src submodule --quiet update --init --recursive; git -C src commit -qm sub
				git clone -q --bare src hub; git -C hub worktree add -q ../tree; git -C tree submodule --quiet update --init --recursive`)
			area := filepath.Join(dir, filepath.FromSlash(c.area))
			w, err := Begin(Options{Areas: []Area{{Dir: area}}, Repositories: []string{area}, Look: look})
			if err != nil {
				t.Fatal(err)
			}
			sh(t, dir, c.meanwhile)
			said := w.End()
			if c.aside == "" && len(said) > 0 || c.aside != "" && (len(said) != 1 || !strings.HasPrefix(said[0], c.aside)) {
				t.Errorf("set aside: %q", said)
			}
			sh(t, dir, "git -C tree/sub/inner status; git -C src/sub/inner status")
		})
	}
}
