package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// TestLazyShadowOverLSP: a shadow without files serves all file and search
// tools, and has its files as soon as a tool looks at the disk.
func TestLazyShadowOverLSP(t *testing.T) {
	repo := repository(t, "a.txt", "one\ntwo\n", "dir/b.txt", "needle\n", ".gitignore", "*.log\n")
	r := connect(t, repo.Dir, fakeeditor.Options{})
	var none any
	if err := r.ExecuteCommand(t.Context(), "sidecar.shadow.create", object{"id": "work", "materialize": "no"}, &none); err == nil {
		t.Error("materialize can be a text")
	}
	lazy := false
	s := command[created](r, "sidecar.shadow.create", object{"id": "work", "materialize": lazy})
	if list := repo.Git("worktree", "list"); !strings.Contains(list, s.Path) {
		t.Errorf("git worktree list: %s", list)
	}
	command[object](r, "sidecar.session.open", object{"id": "agent", "shadow": "work", "mode": "review"})
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
	tried := func(tool string, args object, has string) {
		t.Helper()
		res := r.in("agent", tool, args)
		if !res.OK || !strings.Contains(res.Content, has) || strings.Contains(res.Content, "main tree") {
			t.Errorf("%s %v: %+v", tool, args, res)
		}
	}
	tried("read_file", object{"path": "dir/b.txt"}, "needle")
	tried("read_file", object{"path": filepath.Join(s.Path, "a.txt")}, "two")
	tried("grep", object{"pattern": "needle"}, "dir/b.txt")
	tried("search_files", object{"pattern": "**/*.txt"}, "a.txt")
	tried("list_directory", object{"path": "."}, "dir")
	if got := files(); !slices.Equal(got, []string{".git"}) {
		t.Errorf("there are files: %q", got)
	}
	tried("edit_file", object{"path": "a.txt", "edits": []object{{"search": "two", "replace": "zwei"}}}, "")
	tried("write_file", object{"path": "dir/c.log", "content": "needle\n"}, "")
	tried("grep", object{"pattern": "needle"}, "in 1 file")
	tried("grep", object{"pattern": "zwei"}, "a.txt")
	d := command[struct{ Diff string }](r, "sidecar.shadow.diff", object{"id": "work"})
	if !strings.Contains(d.Diff, "-two\n+zwei\n") || strings.Contains(d.Diff, "needle") {
		t.Errorf("%s", d.Diff)
	}
	if got := files(); !slices.Equal(got, []string{".git", "a.txt", "dir"}) {
		t.Errorf("there is %q", got)
	}
	tried("git_status", object{}, "a.txt")
	if got := files(); !slices.Equal(got, []string{".git", ".gitignore", "a.txt", "dir"}) {
		t.Errorf("there is %q", got)
	}
	if out := repo.At(s.Path).Git("status", "--porcelain"); out != " M a.txt\n" {
		t.Errorf("git status: %q", out)
	}
	tried("read_file", object{"path": "dir/b.txt"}, "needle")
	tried("edit_file", object{"path": "dir/b.txt", "edits": []object{{"search": "needle", "replace": "thread"}}}, "")
	if got, err := os.ReadFile(filepath.Join(s.Path, "dir/b.txt")); err != nil || string(got) != "thread\n" {
		t.Errorf("%q %v", got, err)
	}
	command[object](r, "sidecar.shadow.discard", object{"id": "work"})
	if list := repo.Git("worktree", "list"); strings.Contains(list, s.Path) {
		t.Errorf("git worktree list: %s", list)
	}

	// The control: without materialize all files are there at once.
	s = command[created](r, "sidecar.shadow.create", object{"id": "full"})
	if got := files(); !slices.Equal(got, []string{".git", ".gitignore", "a.txt", "dir"}) {
		t.Errorf("there is %q", got)
	}
}
