package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func TestInit(t *testing.T) {
	r := gittest.New(t)
	dir := t.TempDir()
	for _, name := range []string{"sub", "other"} {
		if err := ownfile.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := ownfile.WriteFile(filepath.Join(dir, "a.txt"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := view(t, dir)
	check(t, files, "git_init", `{"path":"sub"}`, "sub is a git repository now, on branch main, without a commit; git_stage and git_commit make the first\n")
	same(t, r.At(filepath.Join(dir, "sub")), "main", "symbolic-ref", "--short", "HEAD")
	for args, want := range map[string]string{
		`{"path":"none"}`:   "error not_found: none does not exist; name a directory of the workspace, or make one by writing a file into it",
		`{"path":"a.txt"}`:  "error invalid_arguments: a.txt is a file; name a directory",
		`{"path":"../x"}`:   "error outside_workspace: ../x: the path leads out of the workspace; use a path inside the workspace",
		`{"path":"--bare"}`: "error invalid_arguments: path: \"--bare\" begins with a dash; write ./--bare for a file of that name",
		`{"path":"sub"}`:    "error already_exists: sub is a git repository already; nothing was done",
	} {
		check(t, files, "git_init", args, want)
	}
	if err := ownfile.WriteFile(filepath.Join(os.Getenv("HOME"), ".gitconfig"), []byte("[init]\n\tdefaultBranch = trunk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, files, "git_init", `{}`, "the workspace is a git repository now, on branch trunk, without a commit; git_stage and git_commit make the first\n")
	check(t, files, "git_init", `{"path":"other"}`, "error already_exists: other lies in a git repository, which would not see its files any more; nothing was done")
	check(t, files, "git_stage", `{"files":["a.txt"]}`, "Staged (1):\n  added a.txt\n")
	same(t, r.At(dir), "A  a.txt\n?? sub/", "status", "--porcelain")
}
