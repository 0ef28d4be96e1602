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
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

func deps(o gitrepo.Options) Deps {
	return Deps{Open: func(_ context.Context, dir string) (*gitrepo.Repo, error) { return gitrepo.Open(dir, o) }}
}

// view opens directories as the roots of a view that keeps secrets back.
func view(t *testing.T, dirs ...string) workspace.Files {
	t.Helper()
	var folders []workspace.Folder
	for _, dir := range dirs {
		folders = append(folders, workspace.Folder{Name: filepath.Base(dir), Dir: dir})
	}
	disk, err := workspace.OpenDisk(folders, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	return workspace.Guard(disk, func(name string) bool { return name == "allowed.env" })
}

func call(t *testing.T, files workspace.Files, name, args string) (tools.Result, error) {
	t.Helper()
	list := Tools(deps(gitrepo.Options{}))
	i := slices.IndexFunc(list, func(t *tools.Tool) bool { return t.Name == name })
	if i < 0 {
		t.Fatalf("there is no tool %s", name)
	}
	b, err := list[i].Bind(json.RawMessage(args))
	if err != nil {
		return tools.Result{}, err
	}
	if err := b.Plan(t.Context(), files); err != nil {
		return tools.Result{}, err
	}
	r, _, err := b.Run(t.Context(), &tools.Call{ID: "1", Session: "default", Files: files})
	tooltest.Fits(t, list[i], r, err)
	return r, err
}

func mustCall(t *testing.T, files workspace.Files, name, args string) tools.Result {
	t.Helper()
	r, err := call(t, files, name, args)
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return r
}

// check compares the text of a result.
func check(t *testing.T, files workspace.Files, name, args, want string) {
	t.Helper()
	r, err := call(t, files, name, args)
	got := r.Text
	if err != nil {
		e := tools.AsError(err)
		got = "error " + string(e.Code) + ": " + e.Message
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s %s -want +got:\n%s", name, args, d)
	}
}

func sample(t *testing.T) *gittest.Repo {
	r := gittest.New(t)
	r.Commit("first: a subject", "a.txt", "one\ntwo\n", "d/b.txt", "b\n", "d/c.txt", "c\n", "moved.txt", "1\n2\n3\n4\n5\n")
	return r
}

func TestRules(t *testing.T) { tooltest.Rules(t, Tools(Deps{})) }

func TestStatus(t *testing.T) {
	r := sample(t)
	files := view(t, r.Dir)
	check(t, files, "git_status", `{}`, "on branch main\nnothing to commit, the working tree is clean\n")
	r.Git("mv", "moved.txt", "d/now.txt")
	r.Write("a.txt", "one\n2\n", "new file", "x", "odd\nname", "x", "deep/er/x", "x")
	r.Git("rm", "-q", "--cached", "d/b.txt")
	check(t, files, "git_status", `{}`, `on branch main
Staged (2):
  D d/b.txt
  R moved.txt -> d/now.txt
Not staged (1):
  M a.txt
Untracked (4):
  d/b.txt
  deep/
  new file
  "odd\nname"
`)
	info := mustCall(t, files, "git_status", `{}`).Structured.(StatusInfo)
	want := StatusInfo{
		Branch: "main", Commit: strings.TrimSpace(r.Git("rev-parse", "HEAD")),
		Files:     []StatusFile{{Path: "a.txt", Changed: "M"}, {Path: "d/b.txt", Staged: "D"}, {Path: "d/now.txt", From: "moved.txt", Staged: "R"}},
		Untracked: []string{"d/b.txt", "deep/", "new file", "odd\nname"},
	}
	if d := cmp.Diff(want, info); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	r.Git("checkout", "-q", "--detach")
	if text := mustCall(t, files, "git_status", `{}`).Text; !strings.HasPrefix(text, "on no branch, at commit "+info.Commit[:10]+"\n") {
		t.Errorf("detached: %s", text)
	}
}

func TestStatusIsCut(t *testing.T) {
	r := sample(t)
	for i := range maxListed + 5 {
		r.Write("n"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26), "")
	}
	res := mustCall(t, view(t, r.Dir), "git_status", `{}`)
	info := res.Structured.(StatusInfo)
	if !res.Truncated || !strings.Contains(res.Text, "more\n") || len(info.Untracked) <= maxListed {
		t.Errorf("%d files: truncated %v\n%s", len(info.Untracked), res.Truncated, res.Text[len(res.Text)-50:])
	}
}

func TestStatusConflict(t *testing.T) {
	r := sample(t)
	r.Git("checkout", "-qb", "side")
	r.Commit("side", "a.txt", "side\n")
	r.Git("checkout", "-q", "main")
	r.Commit("main", "a.txt", "main\n")
	r.Try("merge", "-q", "side")
	files := view(t, r.Dir)
	check(t, files, "git_status", `{}`, "on branch main\nIn conflict (1):\n  UU a.txt\n")
	check(t, files, "git_diff", `{}`, "no differences\na.txt is in conflict and not shown; read the file, its markers show both sides\n")
}

func TestLog(t *testing.T) {
	r := sample(t)
	t.Setenv("GIT_AUTHOR_DATE", "2026-03-04T05:06:07+0200")
	r.Write("a.txt", "x\n")
	r.Git("commit", "-qam", "second\tone \x1b[31mred\nstill the subject\n\nbody", "--author", "Mal\x07 lory <m@example.com>")
	r.Git("tag", "v1")
	files := view(t, r.Dir)
	short := func(rev string) string { return r.Git("rev-parse", rev)[:10] }
	want := short("HEAD") + " second one  [31mred still the subject (Mal  lory, 2026-03-04 05:06 +0200) [HEAD -> main, tag: v1]\n"
	first := short("HEAD~1") + " first: a subject (A U Thor, 2026-01-02 03:04 +0000)\n"
	check(t, files, "git_log", `{}`, want+first)
	check(t, files, "git_log", `{"count": 1}`, want)
	check(t, files, "git_log", `{"path": "d"}`, first)
	check(t, files, "git_log", `{"path": "./d/b.txt"}`, first)
	check(t, files, "git_log", `{"path": "`+r.Path("a.txt")+`"}`, want+first)
	check(t, files, "git_log", `{"path": "none"}`, "no commit changes none\n")
	if i := slices.IndexFunc(Tools(Deps{}), func(t *tools.Tool) bool { return t.Name == "git_log" }); !Tools(Deps{})[i].Untrusted {
		t.Error("the messages of others are taken for our own")
	}
}

func TestDiff(t *testing.T) {
	r := sample(t)
	files := view(t, r.Dir)
	check(t, files, "git_diff", `{}`, "no differences\n")
	r.Write("a.txt", "one\n2\n", "d/c.txt", "changed\n")
	r.Git("add", "d/c.txt")
	a := `diff --git a/a.txt b/a.txt
index 814f4a4229..99b356dcd0 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-two
+2
`
	c := `diff --git a/d/c.txt b/d/c.txt
index f2ad6c76f0..5ea2ed416f 100644
--- a/d/c.txt
+++ b/d/c.txt
@@ -1 +1 @@
-c
+changed
`
	check(t, files, "git_diff", `{}`, "1 file differs, +1 -1 lines\n1 file is staged and not shown; staged: true shows them\n\n"+a)
	check(t, files, "git_diff", `{"staged": true}`, "1 file differs, +1 -1 lines\n\n"+c)
	check(t, files, "git_diff", `{"ref1": "HEAD"}`, "2 files differ, +2 -2 lines\n\n"+a+c)
	check(t, files, "git_diff", `{"ref1": "main", "path": "d"}`, "1 file differs, +1 -1 lines\n\n"+c)
	r.Git("commit", "-qam", "second")
	check(t, files, "git_diff", `{"ref1": "HEAD~1", "ref2": "HEAD", "path": "d"}`, "1 file differs, +1 -1 lines\n\n"+c)
	check(t, files, "git_diff", `{"ref2": "HEAD"}`, "error invalid_arguments: ref2: it is compared with ref1; give that too")
	check(t, files, "git_diff", `{"ref1": "HEAD", "staged": true}`, "error invalid_arguments: staged: it compares what is staged with HEAD; leave out the refs, or staged")
	check(t, files, "git_diff", `{"ref1": "nope"}`, `error not_found: no such revision: "nope"; git_log shows commits, git_branch branches`)
}

func TestDiffSecrets(t *testing.T) {
	r := sample(t)
	secret := func(n string) string { return strings.Repeat("KEY=value\n", 20) + "TOKEN=" + n + "\n" }
	r.Commit("secrets", ".env", secret("one1"), "allowed.env", secret("one2"), "plain", secret("one3"))
	r.Write(".env", secret("two1"), "allowed.env", secret("two2"), "plain", secret("two3"))
	files := view(t, r.Dir)
	look := func(args string, hidden, open []string) {
		t.Helper()
		text := mustCall(t, files, "git_diff", args).Text
		for _, s := range hidden {
			if strings.Contains(text, s) {
				t.Errorf("%s shows %s:\n%s", args, s, text)
			}
		}
		for _, s := range append(open, "# .env: content not shown: the file may hold secrets") {
			if !strings.Contains(text, s) {
				t.Errorf("%s does not show %s:\n%s", args, s, text)
			}
		}
	}
	look(`{}`, []string{"one1", "two1"}, []string{"one2", "two2", "one3", "two3", "diff --git a/.env b/.env"})
	r.Git("mv", ".env", "harmless")
	r.Git("add", "-A")
	for _, args := range []string{`{"staged": true}`, `{"ref1": "HEAD"}`} {
		text := mustCall(t, files, "git_diff", args).Text
		if strings.Contains(text, "one1") || strings.Contains(text, "two1") || !strings.Contains(text, "rename from .env\nrename to harmless") {
			t.Errorf("%s after a rename:\n%s", args, text)
		}
	}
	r.Git("rm", "-qf", "--cached", "harmless")
	r.Git("commit", "-qm", "gone")
	look(`{"ref1": "HEAD~1", "ref2": "HEAD"}`, []string{"one1"}, []string{"deleted file mode"})
}

// Every value of the corpus is refused by every parameter that takes text, and
// has none of its effects.
func TestArguments(t *testing.T) {
	data, err := os.ReadFile("testdata/git-args.json")
	if err != nil {
		t.Fatal(err)
	}
	var corpus struct {
		Cases []struct{ ID, Tool, Arg string }
	}
	if err := json.Unmarshal(data, &corpus); err != nil {
		t.Fatal(err)
	}
	r := sample(t)
	outside := filepath.Join(filepath.Dir(r.Dir), "outside")
	r.At(outside).Write("secret.txt", "hunter2\n")
	files := view(t, r.Dir)
	values := []string{"-", "--", "-x", "a..b", "a...b", "@{1}", "HEAD@{u}", ":/first", "a\nb", "a\x1bb", "../outside/secret.txt", outside, "HEAD --output=x"}
	for _, c := range corpus.Cases {
		values = append(values, c.Arg)
	}
	refused := 0
	for _, value := range values {
		for _, param := range []struct{ tool, name string }{{"git_diff", "ref1"}, {"git_diff", "ref2"}, {"git_diff", "path"}, {"git_log", "path"}} {
			if param.name == "path" && value != outside && (strings.Contains(value, "@{") || value[0] != '-' && !strings.HasPrefix(value, "../") && !strings.ContainsAny(value, "\n\x1b")) {
				continue // a name like any other
			}
			args := map[string]string{param.name: value}
			if param.name == "ref2" {
				args["ref1"] = "HEAD"
			}
			text, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			res, err := call(t, files, param.tool, string(text))
			if code := tools.AsError(errors.Join(err, errors.New("x"))).Code; err == nil || code != tools.InvalidArguments && code != tools.OutsideWorkspace {
				t.Errorf("%s %s: %q, %v", param.tool, text, res.Text, err)
			}
			refused++
		}
	}
	if refused < 40 {
		t.Errorf("only %d values were tried", refused)
	}
	if status := r.Git("status", "--porcelain"); status != "" {
		t.Errorf("something was changed: %s", status)
	}
	for _, control := range []string{`{"ref1": "HEAD"}`, `{"ref1": "HEAD", "ref2": "main"}`, `{"path": "a.txt"}`, `{"path": "./-x"}`} {
		mustCall(t, files, "git_diff", control)
	}
}

// A root below the top of the working tree sees only what is below it, under
// its own names.
func TestRootBelow(t *testing.T) {
	r := sample(t)
	r.Commit("outside", "a.txt", "changed\n")
	r.Git("mv", "moved.txt", "d/now.txt")
	r.Write("a.txt", "x\n", "d/b.txt", "x\n", "d/new", "x\n", "other", "x\n")
	files := view(t, r.Path("d"))
	check(t, files, "git_status", `{}`, "on branch main\nStaged (1):\n  A now.txt\nNot staged (1):\n  M b.txt\nUntracked (1):\n  new\n")
	if text := mustCall(t, files, "git_log", `{}`).Text; strings.Contains(text, "outside") || !strings.Contains(text, "first") {
		t.Errorf("the log: %s", text)
	}
	text := mustCall(t, files, "git_diff", `{"path": "b.txt"}`).Text
	if strings.Contains(text, "a.txt") || !strings.Contains(text, "paths in the patch begin with d/") || !strings.Contains(text, "+++ b/d/b.txt") {
		t.Errorf("the diff: %s", text)
	}
}

func TestSeveralRoots(t *testing.T) {
	one, two := sample(t), sample(t)
	plain := filepath.Join(t.TempDir(), "plain")
	first, second := filepath.Join(filepath.Dir(one.Dir), "first"), filepath.Join(filepath.Dir(two.Dir), "second")
	if err := errors.Join(ownfile.Rename(one.Dir, first), ownfile.Rename(two.Dir, second), ownfile.Mkdir(plain, 0o755)); err != nil {
		t.Fatal(err)
	}
	two.At(second).Commit("only in the second", "d/b.txt", "new\n")
	one.At(first).Write("a.txt", "x\n")
	files := view(t, plain, first, second)
	check(t, files, "git_status", `{}`, "on branch main\nNot staged (1):\n  M first/a.txt\n")
	if text := mustCall(t, files, "git_log", `{"path": "second/d/b.txt"}`).Text; !strings.Contains(text, "only in the second") {
		t.Errorf("the log: %s", text)
	}
	if text := mustCall(t, files, "git_log", `{}`).Text; strings.Contains(text, "only in the second") {
		t.Errorf("the log: %s", text)
	}
	if _, err := call(t, files, "git_log", `{"path": "plain/x"}`); tools.AsError(err).Code != tools.Unavailable {
		t.Errorf("a root without a repository: %v", err)
	}
}

func TestNoRepository(t *testing.T) {
	gittest.Isolate(t)
	files := view(t, t.TempDir())
	for _, tool := range Tools(Deps{}) {
		args := `{}`
		if tool.Name == "git_init" {
			continue // it makes one
		}
		if tool.Name == "git_commit" {
			args = `{"message":"m"}`
		}
		_, err := call(t, files, tool.Name, args)
		if e := tools.AsError(errors.Join(err, errors.New("x"))); err == nil || e.Code != tools.Unavailable || !strings.Contains(e.Message, "not a git repository") {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
}

func TestDamagedRepository(t *testing.T) {
	r := sample(t)
	files := view(t, r.Dir)
	mustCall(t, files, "git_status", `{}`)
	if err := ownfile.WriteFile(r.Path(".git/index"), []byte("not an index at all, but long enough to be one"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"git_status", "git_diff"} {
		_, err := call(t, files, name, `{}`)
		if e := tools.AsError(errors.Join(err, errors.New("x"))); err == nil || e.Code != tools.Unavailable || !strings.Contains(e.Message, "index") {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.Write("sub/.git", "gitdir: ../.git\n")
	if _, err := call(t, view(t, r.Path("sub")), "git_log", `{}`); err == nil || !strings.Contains(err.Error(), "not used") {
		t.Errorf("a planted .git file: %v", err)
	}
}

// TestBehaviours: each fixture shows one behaviour of a tool.
func TestBehaviours(t *testing.T) {
	tooltest.Run(t, "testdata/behaviour", Tools(deps(gitrepo.Options{})))
}
