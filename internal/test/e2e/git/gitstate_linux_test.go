package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestGitStateOfCommands: what commands of a session that waits for review do to the
// repository reaches it with what is accepted, or is said: a commit on a new branch is made
// there, a stash takes nothing of the user's, and a linked working tree has all of it.
func TestGitStateOfCommands(t *testing.T) {
	project := func(t *testing.T, kind string, more ...e2e.Object) (dir string, git func(args ...string) string) {
		dir = e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n"}, more...)
		git = func(args ...string) string { return e2e.GitIn(t, dir, args...) }
		git("init", "-q", "-b", "main")
		git("config", "user.name", "A")
		git("config", "user.email", "a@example.org")
		git("add", "a.txt")
		git("commit", "-qm", "base")
		if kind == "linked" {
			tree := filepath.Join(t.TempDir(), "tree")
			git("worktree", "add", "-q", "-b", "side", tree)
			dir = tree
		}
		return dir, git
	}
	for _, kind := range []string{"plain", "linked"} {
		t.Run(kind, func(t *testing.T) {
			dir, git := project(t, kind)
			r := e2e.WorldIn(t, dir)
			r.Ran("git switch -qc feat; echo more >> a.txt; git commit -qam 'On a branch'", `The commit "On a branch" on the new branch feat, which the workspace is then on, waits for its files`)
			if got := git("branch", "--list", "feat"); got != "" {
				t.Errorf("before it is accepted there is %q", got)
			}
			if res := r.Accept(e2e.Object{}); len(res.Failed) != 0 {
				t.Errorf("%+v", res)
			}
			if got := e2e.GitIn(t, dir, "log", "-1", "--format=%s %D"); got != "On a branch HEAD -> feat\n" {
				t.Errorf("the repository has %q", got)
			}
			if got := e2e.GitIn(t, dir, "status", "--porcelain"); strings.Contains(got, "a.txt") {
				t.Errorf("a.txt is %q", got)
			}
			r.Mode("autonomous")
			r.Ran("echo applied >> a.txt; git commit -qam Applied && git log -1 --format=%s", "Applied\n")
			if got := git("log", "-1", "--format=%s", "feat"); got != "Applied\n" {
				t.Errorf("the branch has %q", got)
			}
		})
	}
	t.Run("links in a linked tree", func(t *testing.T) {
		dir, git := project(t, "linked")
		git("config", "core.fsmonitor", "false #") // which is the user's, and a hazard in a new repository
		r := e2e.WorldIn(t, dir)
		r.Mode("autonomous")
		out := filepath.Join(t.TempDir(), "out")
		r.Ran(`ln -sf `+out+` "$(git rev-parse --git-dir)/logs/HEAD"; ln -sf `+out+` "$(git rev-parse --git-common-dir)/logs/refs/heads/side"`, "taken away again", "logs/HEAD", "logs/refs/heads/side")
		e2e.GitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "of the user")
		if _, err := os.Lstat(out); err == nil {
			t.Error("git wrote through a link")
		}
		if said := r.Ran("git log -1 --format=%s", "of the user"); strings.Contains(said, "taken away") {
			t.Errorf("then it says %s", said)
		}
	})
	t.Run("refused by a hook", func(t *testing.T) {
		dir, git := project(t, "plain", e2e.Object{"workspace.trust": "trusted"})
		hook := filepath.Join(dir, ".git", "hooks", "pre-commit")
		if err := ownfile.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		r := e2e.WorldIn(t, dir)
		r.Ran("git switch -qc feat; echo more >> a.txt; git commit -nqam two", "waits for its files")
		if out, _, _ := e2e.RunCLI(t, "", "review", "--root", dir, "list"); !strings.Contains(out, `commit "two", on the branch feat, which the workspace is then on, of `) {
			t.Errorf("the list says\n%s", out)
		}
		r.Accept(e2e.Object{})
		if got := git("branch", "--format=%(HEAD)%(refname:short)"); got != "*main\n" {
			t.Errorf("after it was refused, there are %q", got)
		}
		if err := ownfile.Remove(hook); err != nil {
			t.Fatal(err)
		}
		r.Accept(e2e.Object{}) // it is tried again
		if got := git("log", "-1", "--format=%s %D"); got != "two HEAD -> feat\n" {
			t.Errorf("then the repository has %q", got)
		}
	})
	t.Run("stash", func(t *testing.T) {
		dir, git := project(t, "plain")
		e2e.Write(t, filepath.Join(dir, "a.txt"), "a\nmine\n")
		r := e2e.WorldIn(t, dir)
		r.Ran("git stash -q; git tag v1", "Put away by git stash: a.txt.", "New tag v1 on")
		if queued := r.Queued(); len(queued) != 0 {
			t.Errorf("pending is %q", queued)
		}
		r.Mode("autonomous") // whose commands have the repository itself, with no such stash
		r.Ran("cat a.txt", "a\nmine\n")
		if got := r.File("a.txt"); got != "a\nmine\n" {
			t.Errorf("in another mode the disk has %q", got)
		}
		r.Mode("review")
		e2e.Write(t, filepath.Join(dir, "new.txt"), "mine\n")
		r.Ran("git stash -q; git stash -qu 2>&1; ls", "Put away by git stash: a.txt, new.txt.")
		git("add", "a.txt") // by which commands lose theirs
		r.Ran("cat a.txt new.txt", "a\nmine\nmine\n")
		git("reset", "-q")
		if queued := r.Queued(); len(queued) != 0 {
			t.Errorf("then pending is %q", queued)
		}
		r.Ran("git stash -q; git stash pop -q; cat a.txt", "a\nmine\n")
		if got := r.File("a.txt"); got != "a\nmine\n" || git("tag") != "" {
			t.Errorf("the disk has %q", got)
		}
	})
	t.Run("stash of new files", func(t *testing.T) {
		dir, _ := project(t, "plain")
		e2e.Write(t, filepath.Join(dir, "a.txt"), "a\nmine\n")
		e2e.Write(t, filepath.Join(dir, "new.txt"), "mine\n")
		e2e.Write(t, filepath.Join(dir, ".vscode", "settings.json"), "{}")
		e2e.Write(t, filepath.Join(dir, "lib", ".idea", "x.xml"), "x")
		e2e.GitIn(t, filepath.Join(dir, "lib"), "init", "-q")
		r := e2e.WorldIn(t, dir)
		// What somebody has is seen, what stands in for nothing is not in the way.
		r.Ran("git -C lib status --porcelain -uall; git status --porcelain -uall", "?? .idea/x.xml", "?? .vscode/settings.json", " M a.txt", "?? new.txt", "?? lib/")
		r.Ran("git stash -qu -- a.txt new.txt && git status --porcelain && echo done", "done")
		r.Ran("git stash pop -q && cat a.txt new.txt", "a\nmine\nmine\n")
		if got := r.File("a.txt") + r.File("new.txt"); got != "a\nmine\nmine\n" {
			t.Errorf("the disk has %q", got)
		}
	})
}
