package git

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// same compares what git prints with what is wanted.
func same(t *testing.T, r *gittest.Repo, want string, args ...string) {
	t.Helper()
	if got := strings.TrimSuffix(r.Git(args...), "\n"); got != want {
		t.Errorf("git %v: got %q, want %q", args, got, want)
	}
}

func TestStageAndCommit(t *testing.T) {
	r := sample(t)
	files := view(t, r.Dir)
	check(t, files, "git_stage", `{}`, "nothing to stage\n")
	check(t, files, "git_commit", `{"message":"m"}`, "error conflict: nothing is staged, so there is nothing to commit; stage changes first")
	r.Write("a.txt", "one\n2\n", "new.txt", "x\n", ".env", "S=1\n", "allowed.env", "S=2\n", "odd\nname", "x", "-dash", "x")
	check(t, files, "git_stage", `{"files":["a.txt","d"]}`, "Staged (1):\n  modified a.txt\nWithout a change to stage: d\n")
	check(t, files, "git_stage", `{"files":[".env"]}`, "error sensitive_path: .env may hold secrets and is not in the repository yet, so it is not staged; the user can stage it, or allow it with sidecar.sensitive.allow")
	check(t, files, "git_stage", `{"files":["../x"]}`, "error outside_workspace: ../x: the path leads out of the workspace; use a path inside the workspace")
	check(t, files, "git_stage", `{"files":["nope"]}`, "error not_found: nope is neither a file nor known to git; the status shows what has changed")
	check(t, files, "git_stage", `{"files":["-dash"]}`, "error invalid_arguments: path: \"-dash\" begins with a dash; write ./-dash for a file of that name")
	check(t, files, "git_stage", `{"files":["./-dash"]}`, "Staged (1):\n  added -dash\n")
	check(t, files, "git_stage", `{}`, `Staged (3):
  added allowed.env
  added new.txt
  added "odd\nname"
Left out (1):
  .env may hold secrets and is not in the repository yet, so it is not staged; the user can stage it, or allow it with sidecar.sensitive.allow
`)
	same(t, r, "A  -dash\nM  a.txt\nA  allowed.env\nA  new.txt\nA  \"odd\\nname\"\n?? .env", "status", "--porcelain", "--untracked-files=all")

	list := Tools(Deps{
		Open:      deps(gitrepo.Options{}).Open,
		Models:    func(session string) []string { return []string{session + "-model", "other"} },
		Committed: func(session string) { r.Write("committed", session) },
	})
	res, err := run(t, list, files, "git_commit", `{"message":"the subject\n\nwhy\n\nFixes: #3"}`)
	if err != nil {
		t.Fatal(err)
	}
	info := res.Structured.(CommitInfo)
	same(t, r, info.Hash+"\nFixes: #3\nX-AI-Model: default-model\nX-AI-Model: other\n", "log", "-1", "--format=%H%n%(trailers)")
	want := info.Hash[:10] + " the subject\nFiles (5):\n  added -dash\n  modified a.txt\n  added allowed.env\n  added new.txt\n  added \"odd\\nname\"\n"
	if d := cmp.Diff(want, res.Text); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if data, _ := os.ReadFile(filepath.Join(r.Dir, "committed")); string(data) != "default" {
		t.Errorf("the session's commit was not told: %q", data)
	}
	ownfile.Remove(filepath.Join(r.Dir, "committed"))
	if _, err := run(t, list, files, "git_commit", `{"message":"again"}`); err == nil {
		t.Error("nothing was committed")
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "committed")); err == nil {
		t.Error("a commit that was not made was told")
	}
}

// run is call of a given list.
func run(t *testing.T, list []*tools.Tool, files workspace.Files, name, args string) (tools.Result, error) {
	t.Helper()
	i := slices.IndexFunc(list, func(t *tools.Tool) bool { return t.Name == name })
	b, err := list[i].Bind(json.RawMessage(args))
	if err != nil {
		return tools.Result{}, err
	}
	if err := b.Plan(t.Context(), files); err != nil {
		return tools.Result{}, err
	}
	res, _, err := b.Run(t.Context(), &tools.Call{ID: "1", Session: "default", Files: files})
	tooltest.Fits(t, list[i], res, err)
	return res, err
}

func TestBelowTheTop(t *testing.T) {
	r := sample(t)
	r.Write("a.txt", "changed\n", "d/b.txt", "changed\n", "d/new", "n\n")
	files := view(t, filepath.Join(r.Dir, "d"))
	check(t, files, "git_stage", `{}`, "Staged (2):\n  modified b.txt\n  added new\n")
	same(t, r, " M a.txt\nM  d/b.txt\nA  d/new", "status", "--porcelain")
	r.Git("add", "a.txt")
	check(t, files, "git_commit", `{"message":"m"}`, "error outside_workspace: the repository is larger than the workspace, and changes outside of it are staged: a.txt; the user should commit or unstage them")
	r.Git("reset", "-q", "a.txt")
	if text := mustCall(t, files, "git_commit", `{"message":"m"}`).Text; !strings.HasSuffix(text, " m\nFiles (2):\n  modified b.txt\n  added new\n") {
		t.Error(text)
	}
	r.Write("d/b.txt", "again\n")
	mustCall(t, files, "git_stash", `{"action":"push"}`)
	same(t, r, " M a.txt", "status", "--porcelain")
}

func TestFilesOfTwoRepositories(t *testing.T) {
	a, b := sample(t), sample(t)
	dir := t.TempDir()
	for name, r := range map[string]*gittest.Repo{"one": a, "two": b} {
		if err := ownfile.Rename(r.Dir, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(filepath.Join(dir, name, "a.txt"), []byte("new\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files := view(t, filepath.Join(dir, "one"), filepath.Join(dir, "two"))
	check(t, files, "git_stage", `{"files":["one/a.txt","two/a.txt"]}`, "error invalid_arguments: files: one/a.txt and two/a.txt are in different repositories; call once for each")
	check(t, files, "git_stage", `{"files":["two/a.txt"]}`, "Staged (1):\n  modified two/a.txt\n")
}

func TestBranchAndStash(t *testing.T) {
	r := sample(t)
	files := view(t, r.Dir)
	short := strings.TrimSpace(r.Git("rev-parse", "--short", "HEAD"))
	check(t, files, "git_branch", `{"action":"create","name":"topic"}`, "created topic at the current commit; switch to it with action switch\n")
	check(t, files, "git_branch", `{}`, "Branches (2):\n  * main "+short+"\n    topic "+short+"\n")
	check(t, files, "git_branch", `{"action":"switch","name":"topic"}`, "on branch topic\n")
	same(t, r, "topic", "branch", "--show-current")
	check(t, files, "git_branch", `{"action":"delete","name":"main"}`, "deleted main\n")
	check(t, files, "git_branch", `{"action":"switch","name":"topc"}`, "error not_found: there is no branch \"topc\"; did you mean topic?")
	check(t, files, "git_branch", `{"action":"delete","name":"zz"}`, "error not_found: there is no branch \"zz\"; git_branch with action list shows what there is")
	check(t, files, "git_branch", `{"action":"list","name":"x"}`, "error invalid_arguments: name: list takes none; leave it out")
	check(t, files, "git_branch", `{"action":"create"}`, "error invalid_arguments: name: \"\" can't be the name of a branch: it is empty")
	check(t, files, "git_branch", `{"action":"create","name":"a..b"}`, "error invalid_arguments: name: \"a..b\" can't be the name of a branch: it holds two dots in a row")

	check(t, files, "git_stash", `{"action":"list"}`, "no stashes\n")
	check(t, files, "git_stash", `{}`, "error conflict: there are no changes of tracked files to put away; new files stay where they are")
	r.Write("a.txt", "x\n")
	if text := mustCall(t, files, "git_stash", `{"message":"why"}`).Text; !strings.Contains(text, "  0: On topic: why (") {
		t.Error(text)
	}
	same(t, r, "", "status", "--porcelain")
	check(t, files, "git_stash", `{"action":"pop","index":3}`, "error not_found: there is no stash 3; git_stash with action list shows what there is")
	check(t, files, "git_stash", `{"action":"drop","index":3}`, "error not_found: there is no stash 3; git_stash with action list shows what there is")
	check(t, files, "git_stash", `{"action":"pop"}`, "brought back stash 0\nno stashes\n")
	same(t, r, " M a.txt", "status", "--porcelain")
}

func TestPushAndPullTools(t *testing.T) {
	slow.Test(t)
	r := sample(t)
	files := view(t, r.Dir)
	up := filepath.Join(t.TempDir(), "up.git")
	check(t, files, "git_push", `{}`, "error conflict: the repository has no remote; the user can add one with git remote add")
	r.Git("clone", "-q", "--bare", ".", up)
	r.Git("remote", "add", "origin", up)
	check(t, files, "git_push", `{}`, "error conflict: the branch main has no upstream (remotes: origin); git_push with set_upstream: true pushes to a branch of the same name and follows it from then on")
	check(t, files, "git_push", `{"set_upstream":true}`, "up to date: main to origin/main, which is its upstream now\n")
	check(t, files, "git_push", `{"remote":"ext::evil% x"}`, "error not_found: there is no remote \"ext::evil% x\"; name one of: origin")
	peer := r.At(filepath.Join(t.TempDir(), "peer"))
	r.Git("clone", "-q", up, peer.Dir)
	peer.Commit("theirs", "d/b.txt", "theirs\n")
	peer.Git("push", "-q")
	check(t, files, "git_pull", `{}`, "main: fast-forward\nFiles (1):\n  modified d/b.txt\n")
	check(t, files, "git_pull", `{"rebase":true}`, "main: up to date\n")
	r.Commit("ours", "a.txt", "ours\n")
	check(t, files, "git_push", `{}`, "pushed: main to origin/main\n")
	same(t, r.At(up), "ours", "log", "-1", "--format=%s")

	peer.Git("pull", "-q")
	peer.Commit("theirs again", "d/b.txt", "theirs again\n")
	peer.Git("push", "-q")
	r.Commit("ours again", "a.txt", "ours again\n")
	check(t, files, "git_pull", `{}`, "error conflict: the branch and its upstream both have commits that the other has not; call again with rebase: true, to put the branch's commits on top, or rebase: false, to merge")
	r.Git("switch", "-qc", "other", "--track", "origin/main")
	check(t, files, "git_push", `{}`, "error conflict: other has no upstream of its own name, only main; git_push with set_upstream: true pushes to a branch of the same name and follows it from then on")
	check(t, files, "git_push", `{"set_upstream":true}`, "created: other to origin/other, which is its upstream now\n")
}

// TestEffects: what a person is asked is the line that would be typed.
func TestEffects(t *testing.T) {
	list := Tools(Deps{})
	for _, c := range []struct {
		tool, args, command string
		readOnly, waits     bool
	}{
		{"git_stage", `{}`, "git add --all", false, false},
		{"git_stage", `{"files":["a b","it's"]}`, `git add --all -- 'a b' 'it'\''s'`, false, false},
		{"git_commit", `{"message":"fix $(evil)"}`, "git commit -m 'fix $(evil)'", false, true},
		{"git_push", `{"remote":"origin","set_upstream":true}`, "git push --set-upstream origin", false, false},
		{"git_pull", `{"rebase":false}`, "git pull --no-rebase", false, false},
		{"git_pull", `{}`, "git pull", false, false},
		{"git_stash", `{"action":"list"}`, "git stash list", true, false},
		{"git_stash", `{"action":"drop","index":2}`, "git stash drop 'stash@{2}'", false, false},
		{"git_branch", `{"action":"list"}`, "git branch --list", true, false},
		{"git_branch", `{"action":"delete","name":"x"}`, "git branch -d x", false, false},
	} {
		i := slices.IndexFunc(list, func(t *tools.Tool) bool { return t.Name == c.tool })
		b, err := list[i].Bind(json.RawMessage(c.args))
		if err != nil {
			t.Fatal(err)
		}
		if e := b.Effects; e.Command != c.command || e.ReadOnly != c.readOnly || (e.Commit != nil) != c.waits || (e.Irrecoverable != "") != strings.HasPrefix(c.command, "git stash drop") {
			t.Errorf("%s %s: %+v", c.tool, c.args, e)
		}
	}
}

// TestRefusedUnasked: what can't be meant is refused before anybody is asked.
func TestRefusedUnasked(t *testing.T) {
	list := Tools(Deps{})
	for _, c := range []struct{ tool, bad, good string }{
		{"git_commit", `{"message":" "}`, `{"message":"x"}`},
		{"git_commit", `{"message":"--amend"}`, `{"message":"amend --this"}`},
		{"git_push", `{"remote":"--force"}`, `{"remote":"origin"}`},
		{"git_stash", `{"message":"-a"}`, `{"message":"a"}`},
		{"git_branch", `{"action":"create","name":"-x"}`, `{"action":"create","name":"x"}`},
		{"git_branch", `{"action":"switch"}`, `{"action":"switch","name":"x"}`},
		{"git_diff", `{"ref1":"--output=x"}`, `{"ref1":"x"}`},
		{"git_diff", `{"ref2":"x"}`, `{"ref1":"x","ref2":"x"}`},
	} {
		i := slices.IndexFunc(list, func(t *tools.Tool) bool { return t.Name == c.tool })
		var e *tools.Error
		if _, err := list[i].Bind(json.RawMessage(c.bad)); !errors.As(err, &e) || e.Code != tools.InvalidArguments {
			t.Errorf("%s %s: %v", c.tool, c.bad, err)
		}
		if _, err := list[i].Bind(json.RawMessage(c.good)); err != nil {
			t.Errorf("%s %s: %v", c.tool, c.good, err)
		}
	}
}

// TestInjectedArguments gives each value to every text argument of every tool.
func TestInjectedArguments(t *testing.T) {
	slow.Test(t)
	var file struct {
		Cases []struct{ ID, Tool, Arg string }
	}
	data, err := os.ReadFile("testdata/git-args.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]string{
		"git_stage": {`{"files":[%s]}`}, "git_commit": {`{"message":%s}`}, "git_push": {`{"remote":%s}`, `{"set_upstream":%s}`},
		"git_pull": {`{"rebase":%s}`}, "git_stash": {`{"action":%s}`, `{"index":%s}`}, "git_branch": {`{"action":%s}`, `{"action":"create","name":%s}`, `{"action":"switch","name":%s}`, `{"action":"delete","name":%s}`},
		"git_diff": {`{"ref1":%s}`, `{"ref1":"HEAD","ref2":%s}`}, "git_log": {`{"path":%s}`, `{"count":%s}`},
	}
	tried := 0
	for _, c := range file.Cases {
		r := sample(t)
		r.Write("a.txt", "changed\n", "../outside/secret.txt", "canary-in-secret\n")
		r.Git("add", "a.txt")
		r.Git("branch", "other")
		before := r.Git("for-each-ref") + r.Git("status", "--porcelain") + r.Git("config", "--list", "--local")
		files := view(t, r.Dir)
		quoted, err := json.Marshal(c.Arg)
		if err != nil {
			t.Fatal(err)
		}
		for tool, forms := range texts {
			for _, form := range forms {
				if (tool == "git_commit" || form == `{"path":%s}`) && !strings.HasPrefix(c.Arg, "-") {
					continue // a message, a name
				}
				tried++
				res, err := call(t, files, tool, strings.Replace(form, "%s", string(quoted), 1))
				if err == nil {
					t.Errorf("%s: %s takes %q: %s", c.ID, tool, c.Arg, res.Text)
				} else if strings.Contains(err.Error(), "canary") {
					t.Errorf("%s: %s tells a secret: %v", c.ID, tool, err)
				}
			}
		}
		if after := r.Git("for-each-ref") + r.Git("status", "--porcelain") + r.Git("config", "--list", "--local"); after != before {
			t.Errorf("%s: the repository has changed\n%s\n%s", c.ID, before, after)
		}
	}
	if len(file.Cases) != 14 || tried < 14*14 {
		t.Errorf("%d cases, %d tried", len(file.Cases), tried)
	}
}

// TestUntrustedHooks: the result says what did not run.
func TestUntrustedHooks(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		r := sample(t)
		if err := ownfile.WriteFile(filepath.Join(r.Dir, ".git/hooks/pre-commit"), []byte("#!/bin/sh\necho it says no; exit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		r.Write("a.txt", "x\n")
		r.Git("add", "a.txt")
		list := Tools(Deps{Open: func(_ context.Context, dir string) (*gitrepo.Repo, error) {
			return gitrepo.Open(dir, gitrepo.Options{Trusted: func() bool { return trusted }})
		}})
		res, err := run(t, list, view(t, r.Dir), "git_commit", `{"message":"m"}`)
		if trusted && (err != nil || !strings.Contains(res.Text, "the hook pre-commit did not run: hooks run in the sandbox of a session")) {
			t.Errorf("trusted, and nobody runs hooks: %q, %v", res.Text, err)
		}
		if !trusted && (err != nil || !strings.HasSuffix(res.Text, "Note: the hook pre-commit did not run: the workspace is not trusted; the user can set sidecar.workspace.trust to trusted.\n")) {
			t.Errorf("not trusted: %q, %v", res.Text, err)
		}
	}
}

// TestNothingOutsideChanges: in a repository that is larger than the workspace no
// switch, pull or stash writes outside of it; one that stays within it works.
func TestNothingOutsideChanges(t *testing.T) {
	for name, args := range map[string]string{"git_branch": `{"action":"switch","name":"other"}`, "git_pull": `{"rebase":false}`, "git_stash": `{"action":"pop"}`} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{"a.txt", "d/b.txt"} {
				r := sample(t)
				files := view(t, filepath.Join(r.Dir, "d"))
				r.Git("switch", "-qc", "other")
				r.Commit("other", file, "theirs\n")
				r.Git("switch", "-q", "-")
				r.Git("branch", "-q", "--set-upstream-to=other")
				r.Write(file, "theirs\n")
				r.Git("stash", "-q")
				before := r.Git("rev-parse", "HEAD")
				_, err := run(t, Tools(deps(gitrepo.Options{})), files, name, args)
				data, _ := os.ReadFile(r.Path(file))
				if file == "a.txt" && (tools.AsError(errors.Join(err, errors.New("x"))).Code != tools.OutsideWorkspace || err == nil || !strings.Contains(err.Error(), "a.txt") || string(data) == "theirs\n" || r.Git("rev-parse", "HEAD") != before) {
					t.Errorf("outside: %v, %q", err, data)
				}
				if file != "a.txt" && (err != nil || string(data) != "theirs\n") {
					t.Errorf("inside: %v, %q", err, data)
				}
			}
		})
	}
}
