package git

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// titleOf is what a person is asked about a call; where the repository doesn't tell, "".
func titleOf(t *testing.T, files workspace.Files, name, args string) string {
	t.Helper()
	list := Tools(deps(gitrepo.Options{}))
	i := slices.IndexFunc(list, func(t *tools.Tool) bool { return t.Name == name })
	b, err := list[i].Bind(json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Plan(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	if b.Effects.Command == "" {
		t.Errorf("%s %s has no command line", name, args)
	}
	return b.Effects.Title
}

// A question about git names the branch, the remote and how many commits, where these are
// known. Controls: no repository, no remote.
func TestTitles(t *testing.T) {
	r := sample(t)
	files := view(t, r.Dir)
	is := func(name, args, want string) {
		t.Helper()
		if got := titleOf(t, files, name, args); got != want {
			t.Errorf("%s %s: %q, not %q", name, args, got, want)
		}
	}
	is("git_push", `{}`, "")
	is("git_pull", `{}`, "")
	is("git_commit", `{"message":"Subject\n\nbody"}`, "Commit on main: Subject")
	up := filepath.Join(t.TempDir(), "up.git")
	r.Git("clone", "-q", "--bare", ".", up)
	r.Git("remote", "add", "origin", up)
	is("git_push", `{"set_upstream":true}`, "Push main to origin, as a new branch")
	r.Git("push", "-q", "--set-upstream", "origin", "main")
	is("git_push", `{}`, "Push main to origin, no new commit")
	r.Commit("ours", "a.txt", "ours\n")
	is("git_push", `{}`, "Push main to origin, 1 commit")
	r.Commit("ours again", "a.txt", "again\n")
	is("git_push", `{}`, "Push main to origin, 2 commits")
	is("git_pull", `{"rebase":true}`, "Pull origin/main into main")
	r.Write("a.txt", "new\n")
	r.Write("d/b.txt", "new\n")
	r.Git("add", "--all")
	is("git_commit", `{"message":"Subject"}`, "Commit 2 files on main: Subject")
	is("git_branch", `{"action":"create","name":"fix"}`, "Create the branch fix")
	r.Git("branch", "fix")
	is("git_branch", `{"action":"switch","name":"fix"}`, "Switch to the branch fix")
	is("git_branch", `{"action":"delete","name":"fix"}`, "Delete the branch fix")
	is("git_branch", `{}`, "")
	r.Git("checkout", "-q", "--detach")
	is("git_push", `{}`, "")
	is("git_commit", `{"message":"Subject"}`, "Commit 2 files: Subject")

	alone := view(t, t.TempDir())
	if got := titleOf(t, alone, "git_commit", `{"message":"x"}`); got != "Commit: x" {
		t.Errorf("no repository: %q", got)
	}
	if got := titleOf(t, alone, "git_push", `{}`); got != "" {
		t.Errorf("no repository: %q", got)
	}
}
