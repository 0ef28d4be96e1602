package shadow_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// TestLazyShadowOverLSP: a shadow without files serves all file and search
// tools, and has its files as soon as a tool looks at the disk.
func TestLazyShadowOverLSP(t *testing.T) {
	repo := e2e.Repository(t, "a.txt", "one\ntwo\n", "dir/b.txt", "needle\n", ".gitignore", "*.log\n")
	r := e2e.Connect(t, repo.Dir, fakeeditor.Options{})
	var none any
	if err := r.ExecuteCommand(t.Context(), "sidecar.shadow.create", e2e.Object{"id": "work", "materialize": "no"}, &none); err == nil {
		t.Error("materialize can be a text")
	}
	lazy := false
	s := e2e.Command[e2e.Created](r, "sidecar.shadow.create", e2e.Object{"id": "work", "materialize": lazy})
	if list := repo.Git("worktree", "list"); !strings.Contains(list, s.Path) {
		t.Errorf("git worktree list: %s", list)
	}
	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "agent", "shadow": "work", "mode": "review"})
	repo.Write("dir/b.txt", "needle of the main tree\n")
	files := func() []string {
		var names []string
		list, err := os.ReadDir(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			names = append(names, e.Name())
		}
		return names
	}
	tried := func(tool string, args e2e.Object, has string) {
		t.Helper()
		res := r.In("agent", tool, args)
		if !res.OK || !strings.Contains(res.Content, has) || strings.Contains(res.Content, "main tree") {
			t.Errorf("%s %v: %+v", tool, args, res)
		}
	}
	tried("read_file", e2e.Object{"path": "dir/b.txt"}, "needle")
	tried("read_file", e2e.Object{"path": filepath.Join(s.Path, "a.txt")}, "two")
	tried("grep", e2e.Object{"pattern": "needle"}, "dir/b.txt")
	tried("search_files", e2e.Object{"pattern": "**/*.txt"}, "a.txt")
	tried("list_directory", e2e.Object{"path": "."}, "dir")
	if got := files(); !slices.Equal(got, []string{".git"}) {
		t.Errorf("there are files: %q", got)
	}
	tried("edit_file", e2e.Object{"path": "a.txt", "edits": []e2e.Object{{"search": "two", "replace": "zwei"}}}, "")
	tried("write_file", e2e.Object{"path": "dir/c.log", "content": "needle\n"}, "")
	tried("grep", e2e.Object{"pattern": "needle"}, "in 1 file")
	tried("grep", e2e.Object{"pattern": "zwei"}, "a.txt")
	d := e2e.Command[struct{ Diff string }](r, "sidecar.shadow.diff", e2e.Object{"id": "work"})
	if !strings.Contains(d.Diff, "-two\n+zwei\n") || strings.Contains(d.Diff, "needle") {
		t.Errorf("%s", d.Diff)
	}
	if got := files(); !slices.Equal(got, []string{".git", "a.txt", "dir"}) {
		t.Errorf("there is %q", got)
	}
	tried("git_status", e2e.Object{}, "a.txt")
	if got := files(); !slices.Equal(got, []string{".git", ".gitignore", "a.txt", "dir"}) {
		t.Errorf("there is %q", got)
	}
	if out := repo.At(s.Path).Git("status", "--porcelain"); out != " M a.txt\n" {
		t.Errorf("git status: %q", out)
	}
	tried("read_file", e2e.Object{"path": "dir/b.txt"}, "needle")
	tried("edit_file", e2e.Object{"path": "dir/b.txt", "edits": []e2e.Object{{"search": "needle", "replace": "thread"}}}, "")
	if got, err := os.ReadFile(filepath.Join(s.Path, "dir/b.txt")); err != nil || string(got) != "thread\n" {
		t.Errorf("%q %v", got, err)
	}
	e2e.Command[e2e.Object](r, "sidecar.shadow.discard", e2e.Object{"id": "work"})
	if list := repo.Git("worktree", "list"); strings.Contains(list, s.Path) {
		t.Errorf("git worktree list: %s", list)
	}

	// The control: without materialize all files are there at once.
	s = e2e.Command[e2e.Created](r, "sidecar.shadow.create", e2e.Object{"id": "full"})
	if got := files(); !slices.Equal(got, []string{".git", ".gitignore", "a.txt", "dir"}) {
		t.Errorf("there is %q", got)
	}
}
