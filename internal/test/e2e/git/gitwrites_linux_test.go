package git_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// gitTree is a repository whose commits are made without its working tree.
type gitTree struct {
	t   *testing.T
	dir string
}

func (g gitTree) git(args ...string) string {
	g.t.Helper()
	return strings.TrimSuffix(e2e.GitIn(g.t, g.dir, args...), "\n")
}

// commit makes a commit on parent that has a file besides, and returns it.
func (g gitTree) commit(parent, name, mode, text string) string {
	g.t.Helper()
	index := filepath.Join(g.t.TempDir(), "index")
	file := index + ".text"
	e2e.Write(g.t, file, text)
	g.t.Setenv("GIT_INDEX_FILE", index)
	defer os.Unsetenv("GIT_INDEX_FILE")
	g.git("read-tree", parent)
	g.git("-c", "core.protectNTFS=false", "-c", "core.protectHFS=false", "update-index", "--add", "--cacheinfo", mode+","+g.git("hash-object", "-w", "--no-filters", file)+","+name)
	return g.git("commit-tree", "-p", parent, "-m", "with "+name, g.git("write-tree"))
}

// state is all that an operation of git changes.
func (g gitTree) state() string {
	g.t.Helper()
	return g.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/stash", "refs/tags") + "\n" + g.git("rev-parse", "HEAD") + g.git("symbolic-ref", "HEAD") +
		g.git("ls-files", "--stage") + g.git("status", "--porcelain", "--ignored") + g.git("stash", "list")
}

// gitOperations change files of the working tree: ready has one write a file of a
// commit, and back takes back what that did.
var gitOperations = []struct {
	name, tool  string
	args        e2e.Object
	ready, back func(g gitTree, with string)
}{
	{"switch", "git_branch", e2e.Object{"action": "switch", "name": "evil"},
		func(g gitTree, with string) { g.git("branch", "-f", "evil", with) },
		func(g gitTree, _ string) { g.git("switch", "-q", "main") }},
	{"switch to a remote's branch", "git_branch", e2e.Object{"action": "switch", "name": "far"},
		func(g gitTree, with string) {
			g.git("push", "-qf", "origin", with+":refs/heads/far")
			g.git("fetch", "-q")
		},
		func(g gitTree, _ string) { g.git("switch", "-q", "main"); _, _ = g.try("branch", "-qD", "far") }},
	{"stash pop", "git_stash", e2e.Object{"action": "pop"},
		func(g gitTree, with string) {
			index := g.git("commit-tree", "-p", "HEAD", "-m", "index", "HEAD^{tree}")
			g.git("stash", "store", "-m", "s", g.git("commit-tree", "-p", "HEAD", "-p", index, "-m", "On main: s", with+"^{tree}"))
		},
		func(g gitTree, _ string) { g.git("stash", "clear"); g.git("reset", "-q", "--hard") }},
	{"stash apply of new files", "git_stash", e2e.Object{"action": "apply"},
		func(g gitTree, with string) {
			index := g.git("commit-tree", "-p", "HEAD", "-m", "index", "HEAD^{tree}")
			only := g.git("diff-tree", "-r", "--no-commit-id", with)
			f := strings.Fields(only)
			g.t.Setenv("GIT_INDEX_FILE", filepath.Join(g.t.TempDir(), "index"))
			g.git("update-index", "--add", "--cacheinfo", f[1]+","+f[3]+","+f[5])
			added := g.git("commit-tree", "-m", "untracked", g.git("write-tree"))
			os.Unsetenv("GIT_INDEX_FILE")
			g.git("stash", "store", "-m", "s", g.git("commit-tree", "-p", "HEAD", "-p", index, "-p", added, "-m", "On main: s", "HEAD^{tree}"))
		},
		func(g gitTree, _ string) { g.git("stash", "clear"); g.git("clean", "-qfdx", "-e", ".sidecar/s*e") }},
	{"stash push", "git_stash", e2e.Object{"action": "push"},
		func(g gitTree, with string) {
			g.git("tag", "was", "HEAD")
			g.git("update-ref", "refs/heads/main", with)
			e2e.Write(g.t, filepath.Join(g.dir, "a.txt"), "changed\n")
		},
		func(g gitTree, _ string) {
			g.git("stash", "clear")
			g.git("reset", "-q", "--hard", "was")
			g.git("tag", "-d", "was")
		}},
	{"stash push over an index that hides it", "git_stash", e2e.Object{"action": "push"},
		func(g gitTree, with string) {
			g.git("tag", "was", "HEAD")
			g.git("update-ref", "refs/heads/main", with)
			f := strings.Fields(g.git("diff-tree", "-r", "--no-commit-id", with))
			g.git("update-index", "--add", "--cacheinfo", f[1]+","+f[3]+","+f[5])
			g.git("update-index", "--assume-unchanged", f[5])
			e2e.Write(g.t, filepath.Join(g.dir, "a.txt"), "changed\n")
		},
		func(g gitTree, _ string) {
			g.git("stash", "clear")
			g.git("reset", "-q", "--hard", "was")
			g.git("tag", "-d", "was")
		}},
	{"pull", "git_pull", e2e.Object{},
		func(g gitTree, with string) { g.git("push", "-qf", "origin", with+":refs/heads/main") },
		func(g gitTree, _ string) {
			g.git("reset", "-q", "--hard", "base")
			g.git("push", "-qf", "origin", "base:refs/heads/main")
			g.git("fetch", "-q")
		}},
	{"pull with a merge", "git_pull", e2e.Object{"rebase": false}, diverging, undiverged},
	{"pull with a rebase", "git_pull", e2e.Object{"rebase": true}, diverging, undiverged},
}

func diverging(g gitTree, with string) {
	g.git("push", "-qf", "origin", with+":refs/heads/main")
	g.git("update-ref", "refs/heads/main", g.commit("HEAD", "ours.txt", "100644", "ours\n"))
	g.git("reset", "-q", "--hard")
}

func undiverged(g gitTree, _ string) {
	g.git("reset", "-q", "--hard", "base")
	g.git("push", "-qf", "origin", "base:refs/heads/main")
	g.git("fetch", "-q")
}

func (g gitTree) try(args ...string) (string, error) {
	g.t.Helper()
	out, err := exec.CommandContext(g.t.Context(), "git", append([]string{"-C", g.dir}, args...)...).CombinedOutput()
	return string(out), err
}

// TestGitWritesAreDecided: what an operation of git would write is decided like a
// write of it, in every mode, whatever else allows the call; a refusal leaves all as
// it was, and what nobody minds goes on as it did.
func TestGitWritesAreDecided(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
	kinds := []struct {
		name, mode, text string
		never            bool
	}{
		{".sidecar/settings.json", "100644", "{}", true},
		{".sidecar/hooks.json", "100644", "{}", true},
		{"sub/.SIDECAR/settings.json", "100644", "{}", true},
		{"outlink", "120000", "/etc/hostname", true},
		{"sub/up", "120000", "../../elsewhere", true},
		{"tohooks", "120000", ".git/hooks", true},
		{".vscode/tasks.json", "100644", "{}", false},
		{"sub/.vscode/tasks.json", "100644", "{}", false},
		{".VSCODE/tasks.json", "100644", "{}", false},
		{".envrc", "100644", "x", false},
		{".env", "100644", "A=b", false},
		{".mcp.json", "100644", "{}", false},
		{".husky/pre-commit", "100755", "x", false},
		{".claude/settings.json", "100644", "{}", false},
		{"node_modules/pkg/.npmrc", "100644", "x", false},
	}
	cells := 0
	for _, mode := range []string{"autonomous", "cautious", "review", "audit"} {
		t.Run(mode, func(t *testing.T) {
			dir := e2e.Project(t, map[string]string{"a.txt": "1\n", ".gitignore": ".sidecar/state\n.sidecar/cache\n.sidecar/.gitignore\n"})
			g := gitTree{t, dir}
			up := filepath.Join(t.TempDir(), "up.git")
			g.git("init", "-q", "-b", "main")
			g.git("config", "user.name", "A")
			g.git("config", "user.email", "a@example.org")
			g.git("add", ".")
			g.git("commit", "-qm", "base")
			g.git("tag", "base")
			g.git("init", "-q", "--bare", up)
			g.git("remote", "add", "origin", up)
			g.git("push", "-qu", "origin", "main")
			r := e2e.Connect(t, dir, fakeeditor.Options{})
			r.Mode(mode)
			var mu sync.Mutex
			var questions []string
			allow := func(string) bool { return true }
			r.Answer("window/showMessageRequest", func(_ context.Context, params json.RawMessage) (any, error) {
				var p lsp.ShowMessageRequestParams
				if err := lsp.Params(params, &p); err != nil {
					return nil, err
				}
				mu.Lock()
				defer mu.Unlock()
				questions = append(questions, p.Message)
				for _, a := range p.Actions {
					if a.Title == "Allow" && allow(p.Message) {
						return a, nil
					}
				}
				return nil, nil
			})
			ask := func(may func(string) bool) { mu.Lock(); questions, allow = nil, may; mu.Unlock() }
			asked := func(name string) (n int) {
				mu.Lock()
				defer mu.Unlock()
				for _, q := range questions {
					if strings.Contains(q, name) {
						n++
					}
				}
				return n
			}
			for _, op := range gitOperations {
				// The control: a file that nobody minds.
				with := g.commit("HEAD", "plain.txt", "100644", "plain\n")
				op.ready(g, with)
				ask(func(string) bool { return true })
				if res := r.Tool(op.tool, op.args); !res.OK {
					t.Errorf("%s: the control: %s", op.name, res.Content)
				}
				if _, err := os.Lstat(filepath.Join(dir, "plain.txt")); err != nil {
					t.Errorf("%s: the control: %v", op.name, err)
				}
				if mode == "autonomous" && asked("") != 0 {
					t.Errorf("%s: the control was asked about: %q", op.name, questions)
				}
				op.back(g, with)
				for i, k := range kinds {
					// All kinds are one decision: each is tried by one way, and some by all.
					if all := mode == "autonomous" && op.name == "switch"; !all && i%6 != 0 && k.name != "outlink" {
						continue
					}
					cells++
					what := fmt.Sprintf("%s of %s", op.name, k.name)
					with := g.commit("HEAD", k.name, k.mode, k.text)
					op.ready(g, with)
					before := g.state()
					ask(func(q string) bool { return !strings.Contains(q, k.name) })
					res := r.Tool(op.tool, op.args)
					switch {
					case res.OK:
						t.Errorf("%s was done: %s", what, res.Content)
					case k.never && (res.Error.Code != tools.ProtectedPath || asked(k.name) != 0):
						t.Errorf("%s: asked %d times, %s", what, asked(k.name), res.Content)
					case !k.never && (res.Error.Code != tools.NotApproved || asked(k.name) != 1):
						t.Errorf("%s: asked %d times, %s\n%q", what, asked(k.name), res.Content, questions)
					}
					if after := g.state(); after != before {
						t.Errorf("%s was refused, and left\n%s\nof\n%s", what, after, before)
					}
					if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(k.name))); err == nil {
						t.Errorf("%s was written", what)
					}
					op.back(g, with)
				}
			}
			// Who is asked can allow it.
			with := g.commit("HEAD", ".vscode/tasks.json", "100644", "{}")
			g.git("branch", "-f", "evil", with)
			ask(func(string) bool { return true })
			if res := r.Tool("git_branch", e2e.Object{"action": "switch", "name": "evil"}); !res.OK {
				t.Errorf("allowed: %s", res.Content)
			}
			if _, err := os.Stat(filepath.Join(dir, ".vscode/tasks.json")); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("%d refusals", cells)
}

// TestMovedReferences: a command that makes a commit of a file that it may not write
// is told that there is one now.
func TestMovedReferences(t *testing.T) {
	slow.Test(t)
	dir, _, g := hookedProject(t)
	r := e2e.ServeBy(t, dir, fakeeditor.Options{}, program.ServerAnywhere(t))
	r.Mode("autonomous")
	for _, c := range []struct{ ref, how string }{
		{"refs/heads/evil", "git update-ref refs/heads/evil $c"},
		{"refs/tags/t", "git update-ref refs/tags/t $c"},
		{"refs/heads/other", "git update-ref refs/heads/other $c"},
		{"refs/stash", "git update-ref refs/stash $(git commit-tree -m s -p HEAD -p HEAD $c^{tree})"},
	} {
		res := r.Tool("run_command", e2e.Object{"command": "(export GIT_INDEX_FILE=node_modules/index; git read-tree HEAD; git update-index --add --cacheinfo 100644,$(echo {} | git hash-object -w --stdin),.sidecar/settings.json; c=$(git commit-tree -m e -p HEAD $(git write-tree)); " + c.how + ")"})
		if want := c.ref + " now names a commit with .sidecar/settings.json"; !strings.Contains(res.Content, want) {
			t.Errorf("no %q in %s", want, res.Content)
		}
	}
	// The control: others are not spoken of.
	if res := r.Tool("run_command", e2e.Object{"command": "git branch plain; git tag p; git -c core.hooksPath=/dev/null commit -q --allow-empty -m x"}); !res.OK || strings.Contains(res.Content, "now names a commit") {
		t.Error(res.Content)
	}
	if got := g.git("log", "-1", "--format=%s"); got != "x" {
		t.Errorf("the control made %q", got)
	}
}
