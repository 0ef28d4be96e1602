package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// hookedProject is a trusted workspace with the hooks of many projects: each runs a
// program of node_modules, which git ignores and commands may replace.
func hookedProject(t *testing.T, more ...e2e.Object) (dir, mark string, g gitTree) {
	t.Helper()
	dir = e2e.WorldProject(t, "auto", map[string]string{"a.txt": "1\n", ".gitignore": "node_modules\n.sidecar\ntrace\n", "node_modules/.bin/lint": "#!/bin/sh\necho the project\\'s own\n"}, append(more, e2e.Object{"workspace.trust": "trusted"})...)
	mark = filepath.Join(t.TempDir(), "mark")
	g = gitTree{t, dir}
	up := filepath.Join(t.TempDir(), "up.git")
	g.git("init", "-q", "-b", "main")
	g.git("config", "user.name", "A")
	g.git("config", "user.email", "a@example.org")
	g.git("add", ".")
	g.git("commit", "-qm", "base")
	g.git("branch", "other")
	g.git("init", "-q", "--bare", up)
	g.git("remote", "add", "origin", up)
	g.git("push", "-qu", "origin", "main")
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "pre-push", "post-merge"} {
		e2e.Write(t, filepath.Join(dir, ".git/hooks", name), "#!/bin/sh\nexec ./node_modules/.bin/lint "+name+" \"$@\"\n")
		if err := ownfile.Chmod(filepath.Join(dir, ".git/hooks", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := ownfile.Chmod(filepath.Join(dir, "node_modules/.bin/lint"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, mark, g
}

// TestGitHooksAreConfined: what an agent prepared for hooks to run, they run in the
// sandbox; and they are hooks all the same.
func TestGitHooksAreConfined(t *testing.T) {
	slow.Test(t)
	allow := e2e.Object{"toolPermissions": e2e.Object{"run_command": "allow", "git_commit": "allow", "git_stage": "allow", "git_branch": "allow", "git_stash": "allow", "git_push": "allow", "git_pull": "allow"}}
	t.Run("autonomous", func(t *testing.T) {
		dir, mark, g := hookedProject(t, allow)
		r := e2e.ServeBy(t, dir, fakeeditor.Options{}, program.ServerAnywhere(t))
		r.Mode("autonomous")
		r.Planted(mark, `case $1 in pre-commit) echo formatted >> a.txt; git add a.txt;; commit-msg) echo "Change-Id: 5" >> "$2";; esac`)
		e2e.Write(t, filepath.Join(dir, "a.txt"), "changed\n")
		seen := 0
		ran := func(tool string, args e2e.Object, hooks ...string) e2e.Result {
			t.Helper()
			res := r.Tool(tool, args)
			var got []string
			for _, word := range strings.Fields(r.Ran("cat trace 2>/dev/null; true")) {
				if name, ok := strings.CutPrefix(word, "hook:"); ok {
					got = append(got, name)
				}
			}
			got, seen = got[seen:], len(got)
			if strings.Join(got, " ") != strings.Join(hooks, " ") {
				t.Errorf("%s ran %q, want %q: %s", tool, got, hooks, res.Content)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Errorf("%s: a hook got out", tool)
				_ = ownfile.Remove(mark)
			}
			return res
		}
		ran("git_stage", e2e.Object{})
		if res := ran("git_commit", e2e.Object{"message": "m"}, "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"); !res.OK {
			t.Errorf("commit: %s", res.Content)
		}
		if got := g.git("show", "HEAD:a.txt"); got != "changed\nformatted" {
			t.Errorf("the commit has %q", got)
		}
		if got := g.git("log", "-1", "--format=%B"); got != "m\nChange-Id: 5\n" {
			t.Errorf("the message has %q", got)
		}
		if data, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(data) != "changed\nformatted\n" {
			t.Errorf("the file is %q", data)
		}
		if got := g.git("status", "--porcelain"); got != "" {
			t.Errorf("left: %s", got)
		}
		ran("git_branch", e2e.Object{"action": "switch", "name": "other"}, "post-checkout")
		ran("git_branch", e2e.Object{"action": "switch", "name": "main"}, "post-checkout")
		ran("git_branch", e2e.Object{"action": "create", "name": "third"})
		e2e.Write(t, filepath.Join(dir, "a.txt"), "more\n")
		ran("git_stash", e2e.Object{"action": "push"})
		ran("git_stash", e2e.Object{"action": "pop"})
		if res := ran("git_push", e2e.Object{}, "pre-push"); !res.OK {
			t.Errorf("push: %s", res.Content)
		}
		// A hook that fails stops what it comes before.
		r.Planted(mark, "echo not today; exit 1")
		head := g.git("rev-parse", "HEAD")
		g.git("add", "a.txt")
		if res := ran("git_commit", e2e.Object{"message": "m"}, "pre-commit"); res.OK || !strings.Contains(res.Content, "the hook pre-commit failed; it says: not today") {
			t.Errorf("commit: %s", res.Content)
		}
		g.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "two")
		if res := ran("git_push", e2e.Object{}, "pre-push"); res.OK || !strings.Contains(res.Content, "the hook pre-push failed") {
			t.Errorf("push: %s", res.Content)
		}
		if got := g.git("rev-parse", "HEAD~1", "origin/main"); got != head+"\n"+head {
			t.Errorf("commits: %s", got)
		}
		// The control: git runs them where it runs.
		r.Planted(mark, "")
		g.git("commit", "-q", "--allow-empty", "-m", "by the user")
		if _, err := os.Stat(mark); err != nil {
			t.Errorf("the control: %v", err)
		}
	})
	t.Run("review", func(t *testing.T) {
		dir, mark, g := hookedProject(t, allow)
		r := e2e.ServeBy(t, dir, fakeeditor.Options{}, program.ServerAnywhere(t))
		r.Mode("autonomous")
		r.Planted(mark, `case $1 in pre-commit) grep -q formatted a.txt || { echo formatted >> a.txt; git add a.txt; };; esac`)
		r.Mode("review")
		e2e.Write(t, filepath.Join(dir, "a.txt"), "changed\n")
		g.git("add", "a.txt")
		head, staged := g.git("rev-parse", "HEAD"), g.git("ls-files", "--stage")
		if res := r.Tool("git_commit", e2e.Object{"message": "m"}); res.OK || !strings.Contains(res.Content, "waits for review; nothing was committed") {
			t.Errorf("commit: %s", res.Content)
		}
		if got := g.git("rev-parse", "HEAD"); got != head || g.git("ls-files", "--stage") != staged {
			t.Error("the repository was changed")
		}
		if data, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(data) != "changed\n" {
			t.Errorf("the disk has %q", data)
		}
		if list := r.Pending(); len(list.Edits) != 1 {
			t.Errorf("pending: %+v", list)
		}
		r.Accept(e2e.Object{})
		g.git("add", "a.txt")
		if res := r.Tool("git_commit", e2e.Object{"message": "m"}); !res.OK {
			t.Errorf("commit: %s", res.Content)
		}
		if got := g.git("show", "HEAD:a.txt"); got != "changed\nformatted" {
			t.Errorf("the commit has %q", got)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Error("a hook got out")
		}
	})
	t.Run("audit", func(t *testing.T) {
		dir, mark, g := hookedProject(t, allow)
		r := e2e.ServeBy(t, dir, fakeeditor.Options{}, program.ServerAnywhere(t))
		r.Mode("autonomous")
		r.Planted(mark, "echo not today; exit 1")
		r.Mode("audit")
		if res := r.Tool("edit_file", e2e.Object{"path": "a.txt", "search": "1\n", "replace": "one\n"}); !res.OK {
			t.Fatal(res.Content)
		}
		if res := r.Tool("git_commit", e2e.Object{"message": "m"}); !res.OK {
			t.Fatal(res.Content)
		}
		var accepted struct {
			Commits []struct {
				Error string `json:"error"`
			} `json:"commits"`
		}
		accept := func() {
			t.Helper()
			accepted.Commits = nil
			if err := r.ExecuteCommand(t.Context(), "sidecar.review.accept", e2e.Object{}, &accepted); err != nil {
				t.Fatal(err)
			}
		}
		accept()
		if len(accepted.Commits) != 1 || !strings.Contains(accepted.Commits[0].Error, "the hook pre-commit failed; it says: not today") {
			t.Errorf("accepted %+v", accepted)
		}
		if got := g.git("log", "--format=%s"); got != "base" {
			t.Errorf("history: %s", got)
		}
		e2e.Write(t, filepath.Join(dir, "node_modules/.bin/lint"), "#!/bin/sh\ntouch "+mark+" 2>/dev/null\nexit 0\n")
		accept()
		if got := g.git("log", "--format=%s"); got != "m\nbase" {
			t.Errorf("history: %s; %+v", got, accepted)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Error("a hook got out")
		}
	})
	t.Run("without a sandbox", func(t *testing.T) {
		dir, mark, g := hookedProject(t, allow, e2e.Object{"sandbox.mode": "off"})
		r := e2e.ServeBy(t, dir, fakeeditor.Options{}, program.ServerAnywhere(t))
		r.Mode("autonomous")
		e2e.Write(t, filepath.Join(dir, "node_modules/.bin/lint"), "#!/bin/sh\ntouch "+mark+"\nexit 1\n")
		e2e.Write(t, filepath.Join(dir, "a.txt"), "changed\n")
		g.git("-c", "core.hooksPath=/dev/null", "add", "a.txt")
		if res := r.Tool("git_commit", e2e.Object{"message": "m"}); !res.OK && !strings.Contains(res.Content, "not approved") || res.OK && !strings.Contains(res.Content, "did not run: nothing would confine them") {
			t.Errorf("commit: %s", res.Content)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Error("a hook ran unconfined")
		}
	})
}
