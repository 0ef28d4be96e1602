package shadow_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestShadowGit: the git tools of a session work on its shadow's HEAD, index
// and files, and on no others.
func TestShadowGit(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\n", "b.txt", "b\n")
	repo.Write("b.txt", "the user's\n", "new of main.txt", "n\n")
	repo.Git("add", "b.txt")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	s := r.Shadowed("x", "autonomous")
	ok := func(tool string, args e2e.Object, has ...string) string {
		t.Helper()
		res := r.In("x", tool, args)
		if !res.OK {
			t.Fatalf("%s %v: %+v", tool, args, res)
		}
		for _, part := range has {
			if !strings.Contains(res.Content, part) {
				t.Errorf("%s %v has no %q: %s", tool, args, part, res.Content)
			}
		}
		if strings.Contains(res.Content, "of main") || strings.Contains(res.Content, "the user's") {
			t.Errorf("%s %v tells of the main tree: %s", tool, args, res.Content)
		}
		return res.Content
	}
	index, head := repo.Git("ls-files", "--stage"), repo.Git("rev-parse", "HEAD")
	if out := ok("git_status", e2e.Object{}); strings.Contains(out, ".txt") {
		t.Errorf("it begins with changes: %s", out)
	}
	ok("write_file", e2e.Object{"path": "a.txt", "content": "two\n"})
	ok("git_status", e2e.Object{}, "a.txt")
	e2e.Write(t, filepath.Join(s.Path, "by a program.txt"), "p\n")
	ok("git_status", e2e.Object{}, "a.txt", "by a program.txt")
	ok("git_diff", e2e.Object{}, "-one", "+two")
	for _, path := range []string{repo.Path("b.txt"), "../../../b.txt", "../../.."} {
		for tool, args := range map[string]e2e.Object{"git_stage": {"files": []string{path}}, "git_diff": {"path": path}, "git_log": {"path": path}} {
			if res := r.In("x", tool, args); res.OK {
				t.Errorf("%s %s: %+v", tool, path, res)
			}
		}
	}
	ok("git_stage", e2e.Object{"files": []string{"a.txt"}})
	ok("git_commit", e2e.Object{"message": "in the shadow"})
	ok("git_log", e2e.Object{}, "in the shadow", "first")
	if repo.Git("ls-files", "--stage") != index || repo.Git("rev-parse", "HEAD") != head || repo.Git("symbolic-ref", "HEAD") != "refs/heads/main\n" {
		t.Error("the main tree's index or HEAD was touched")
	}
	if got := repo.At(s.Path).Git("log", "--format=%s"); got != "in the shadow\nfirst\n" {
		t.Errorf("the shadow's log: %q", got)
	}
	d := e2e.Command[struct{ Diff string }](r, "sidecar.shadow.diff", e2e.Object{"id": "x"})
	if !strings.Contains(d.Diff, "-one\n+two\n") {
		t.Errorf("what was committed is not in the diff: %s", d.Diff)
	}
	if gone := e2e.Command[e2e.Object](r, "sidecar.shadow.discard", e2e.Object{"id": "x"}); len(gone) != 0 {
		t.Errorf("%v", gone)
	}
	r.Told("in the shadow")
}

// TestShadowGitIsConfined: whatever becomes of the shadow's .git file, git tools
// don't take the repository around it, or one that it names, for the shadow's.
func TestShadowGitIsConfined(t *testing.T) {
	elsewhere := gittest.New(t)
	elsewhere.Commit("secret of another repository", "s", "s\n")
	for name, spoil := range map[string]func(dot, main string) error{
		"nothing":         nil,
		"removed":         func(dot, _ string) error { return ownfile.Remove(dot) },
		"the main tree's": func(dot, main string) error { return ownfile.WriteFile(dot, []byte("gitdir: "+main+"/.git\n"), 0o644) },
		"another repository": func(dot, _ string) error {
			return ownfile.WriteFile(dot, []byte("gitdir: "+elsewhere.Dir+"/.git\n"), 0o644)
		},
		"a link": func(dot, main string) error {
			if err := ownfile.Remove(dot); err != nil {
				return err
			}
			return ownfile.Symlink(main+"/.git", dot)
		},
		"no pointer": func(dot, _ string) error { return ownfile.WriteFile(dot, []byte("x"), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			repo := e2e.Repository(t, "a.txt", "one\n")
			r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
			s := r.Shadowed("x", "autonomous")
			repo.Commit("the main tree's own", "only of main.txt", "m\n")
			e2e.Write(t, filepath.Join(s.Path, "a.txt"), "two\n")
			if spoil != nil {
				if err := spoil(filepath.Join(s.Path, ".git"), repo.Dir); err != nil {
					t.Fatal(err)
				}
			}
			head := repo.Git("rev-parse", "HEAD")
			for _, c := range []struct {
				tool string
				args e2e.Object
			}{{"git_log", e2e.Object{}}, {"git_status", e2e.Object{}}, {"git_diff", e2e.Object{}}, {"git_stage", e2e.Object{"files": []string{"a.txt"}}}, {"git_commit", e2e.Object{"message": "m"}}} {
				res := r.In("x", c.tool, c.args)
				if res.OK != (spoil == nil) {
					t.Errorf("%s: %+v", c.tool, res)
				}
				if strings.Contains(res.Content, "of main") || strings.Contains(res.Content, "main tree's own") || strings.Contains(res.Content, "secret of") {
					t.Errorf("%s tells of another tree: %s", c.tool, res.Content)
				}
			}
			if repo.Git("rev-parse", "HEAD") != head || repo.Git("status", "--porcelain") != "" || fmt.Sprint(elsewhere.Git("status", "--porcelain")) != "" {
				t.Error("another tree was touched")
			}
		})
	}
}
