package sandbox

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestProtectedTogether: what can't be written in a protected directory, or
// beside one, does not open that again.
func TestProtectedTogether(t *testing.T) {
	slow.Test(t)
	eachLevel(t, []spec.Level{spec.Bubblewrap, spec.Full}, func(t *testing.T, s *Sandbox) {
		root := realTemp(t)
		for _, dir := range []string{".git/objects", ".git/refs", ".git/hooks", ".husky/_", "sub/.git/objects", "sub/.git/refs", "sub/t", "sub/.git/x"} {
			if err := ownfile.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		spec := spec.Spec{Root: root, Repositories: []string{filepath.Join(root, ".git"), filepath.Join(root, "sub/.git")}}
		for _, name := range []string{".git/HEAD", ".git/config", ".git/hooks/mon", ".git/inc", ".husky/_/x", ".husky/y", "sub/.git/HEAD", "sub/.git/config", "sub/t/clean", "sub/.git/x/inc"} {
			put(t, filepath.Join(root, name), "kept")
			if !strings.HasSuffix(name, "HEAD") && !strings.HasSuffix(name, "config") && name != ".husky/y" {
				spec.ReadOnly = append(spec.ReadOnly, filepath.Join(root, name))
			}
		}
		for _, script := range []string{
			"echo x > .git/config", "echo x > .git/inc", "echo x > .git/hooks/new", "mv .git g", "echo x > .husky/y", "echo x > .husky/new", "echo x > sub/.git/config", "echo x > sub/.git/hooks/x",
			"mv sub/.git sub/g", "mv sub/t sub/u", "mv sub s", "echo x > sub/t/clean", "mv sub/.git/x sub/.git/y", "echo x > sub/.git/x/inc", "rm sub/t/clean", "mkdir -p .git/worktrees/x",
		} {
			if r := sh(t, s, spec, script); r.code == 0 {
				t.Errorf("%q worked", script)
			}
		}
		if r := sh(t, s, spec, "echo x > sub/new && echo x > sub/t/new && echo x > .git/index && echo x > sub/.git/index && mv sub/new sub/t/"); r.code != 0 {
			t.Errorf("what is not protected can't be written: %s", r.said)
		}
		if left := leftovers(t, root); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	})
}

// TestProtected: what stands in for missing names goes again, and what took
// its place all the same is taken away.
func TestProtected(t *testing.T) {
	slow.Test(t)
	eachLevel(t, []spec.Level{spec.Bubblewrap, spec.Full}, func(t *testing.T, s *Sandbox) {
		root := realTemp(t)
		for _, dir := range []string{".git/objects", ".git/refs", ".idea", "sub/deep"} {
			if err := ownfile.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{".git/HEAD", ".git/config", ".npmrc", "sub/deep/file"} {
			if err := ownfile.WriteFile(filepath.Join(root, name), []byte("kept"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := spec.Spec{Root: root, ReadOnly: []string{filepath.Join(root, "sub/deep")}}
		for _, script := range []string{
			"echo x > .vscode/tasks.json", "echo x > .mcp.json", "rmdir .vscode", "mv .vscode other", "echo x > .npmrc", "rm .npmrc", "mv sub/deep sub/deeper",
			"mv sub other", "echo x > sub/deep/file", "git init -q .git/modules/x", "mkdir .git/hooks/x", "ln -s /tmp .idea/x",
		} {
			if r := sh(t, s, want, script); r.code == 0 {
				t.Errorf("%q worked", script)
			}
		}
		if r := sh(t, s, want, "echo x > sub/new && echo x > .git/index && mkdir -p other/.vscode && echo x > other/.vscode/x && rm -r other"); r.code != 0 {
			t.Errorf("what is not protected can't be written: %s", r.said)
		}
		c, err := s.Command(t.Context(), want, root, "bash", "-c", "echo ../evil > .git/commondir")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		if trap := filepath.Join(root, ".git/commondir"); !slices.Equal(c.Removed(), []string{trap}) || spec.Exists(trap) {
			t.Errorf("removed %q, want %s", c.Removed(), trap)
		}
		for _, name := range []string{".vscode", ".mcp.json", ".sidecar", ".git/hooks", ".git/info"} {
			if spec.Exists(filepath.Join(root, name)) {
				t.Errorf("%s is left", name)
			}
		}
		if !spec.Exists(filepath.Join(root, ".idea")) {
			t.Error("an empty directory of the user's was removed")
		}
		// Nothing can be mounted over a link.
		if err := ownfile.Symlink("sub", filepath.Join(root, ".cursor")); err != nil {
			t.Fatal(err)
		}
		var refused *spec.RefusedError
		if _, err := s.Command(t.Context(), want, root, "true"); !errors.As(err, &refused) || !strings.Contains(err.Error(), ".cursor is a link") {
			t.Errorf("a link in the place of settings: %v", err)
		}
		if left := leftovers(t, root); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	})
}
