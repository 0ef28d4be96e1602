package review_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
)

// git runs git as a user does.
func git(g *gittest.Repo, args ...string) string { return strings.TrimSpace(g.Git(args...)) }

type commitResult struct {
	Message string `json:"message"`
	Session string `json:"session"`
	ID      string `json:"id"`
	Error   string `json:"error"`
}

type batchResult struct {
	e2e.AcceptResult
	Commits []commitResult `json:"commits"`
}

// TestAuditMode goes the whole way: two agents work in audit mode, with files
// that are open in the editor and others, and commit; the user decides.
func TestAuditMode(t *testing.T) {
	e2e.Home(t)
	g := e2e.Repository(t, "open.txt", "1\n2\n3\n", "closed.txt", "a\nb\nc\n", "other.txt", "o\n")
	r := e2e.Connect(t, g.Dir, fakeeditor.Options{InitializationOptions: map[string]any{"sidecar": map[string]any{"mode": "audit"}}})
	open := fakeeditor.FileURI(g.Path("open.txt"))
	if err := r.Open(t.Context(), open, "text", "1\n2\n3\n"); err != nil {
		t.Fatal(err)
	}
	command := func(name string, arg, result any) {
		t.Helper()
		if err := r.ExecuteCommand(t.Context(), name, arg, result); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	call := func(session, tool string, args any) e2e.Result {
		t.Helper()
		var res e2e.Result
		command("sidecar.tools.call", map[string]any{"name": tool, "arguments": args, "session": session, "model": "model-" + session}, &res)
		return res
	}
	ok := func(res e2e.Result) {
		t.Helper()
		if !res.OK {
			t.Fatal(res.Content)
		}
	}
	command("sidecar.session.open", map[string]any{"id": "two", "mode": "audit"}, nil)

	ok(call("default", "edit_file", map[string]string{"path": "open.txt", "search": "1\n", "replace": "one\n"}))
	ok(call("default", "write_file", map[string]string{"path": "new/file.txt", "content": "new\n"}))
	if res := call("default", "git_commit", map[string]string{"message": "First"}); !res.OK || !strings.Contains(res.Content, "Queued as commit 1") {
		t.Errorf("%+v", res)
	}
	if res := call("default", "git_commit", map[string]string{"message": "Again"}); res.OK {
		t.Errorf("a commit of nothing: %s", res.Content)
	}
	ok(call("default", "edit_file", map[string]string{"path": "open.txt", "search": "3\n", "replace": "three\n"}))
	ok(call("default", "edit_file", map[string]string{"path": "closed.txt", "search": "b\n", "replace": "B\n"}))
	ok(call("default", "git_commit", map[string]string{"message": "Second"}))
	if res := call("two", "edit_file", map[string]string{"path": "closed.txt", "search": "c\n", "replace": "C\n"}); res.Error.Code != "conflict" {
		t.Errorf("a file of another batch: %+v", res)
	}
	ok(call("two", "edit_file", map[string]string{"path": "other.txt", "search": "o\n", "replace": "O\n"}))
	ok(call("two", "git_commit", map[string]string{"message": "Other"}))

	if got := git(g, "log", "--format=%s") + git(g, "status", "--porcelain", "--untracked-files=no"); got != "first" {
		t.Errorf("before it is accepted: %q", got)
	}
	var list struct {
		Batch   bool              `json:"batch"`
		Edits   []json.RawMessage `json:"edits"`
		Commits []commitResult    `json:"commits"`
	}
	command("sidecar.review.list", map[string]string{"session": "default"}, &list)
	if !list.Batch || len(list.Edits) != 3 || len(list.Commits) != 2 || list.Commits[0].Message != "First" {
		t.Errorf("list %+v", list)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.accept", map[string]any{"uris": []string{open}}, nil); err == nil {
		t.Error("a part of the batch was accepted")
	}

	var res batchResult
	command("sidecar.review.accept", map[string]string{"session": "default"}, &res)
	if len(res.Accepted) != 3 || len(res.Failed) != 0 || len(res.Commits) != 2 || res.Commits[1].ID != git(g, "rev-parse", "HEAD") {
		t.Errorf("accepted %+v", res)
	}
	if text, _ := r.Text(open); text != "one\n2\nthree\n" || r.File("closed.txt") != "a\nB\nc\n" || r.File("other.txt") != "o\n" {
		t.Errorf("buffer %q, files %q and %q", text, r.File("closed.txt"), r.File("other.txt"))
	}
	want := "First\n\nA\tnew/file.txt\nM\topen.txt\nSecond\n\nM\tclosed.txt\nM\topen.txt"
	if d := cmp.Diff(want, git(g, "log", "--reverse", "--format=%s", "--name-status", "main~2..")); d != "" {
		t.Error(d)
	}
	if got := git(g, "show", "main~1:open.txt") + git(g, "log", "-1", "--format=%(trailers)", "main~1"); got != "one\n2\n3X-AI-Model: model-default" {
		t.Errorf("the first commit has %q", got)
	}

	// The other agent's batch is rejected; its commit goes with it, and it is told.
	command("sidecar.review.reject", map[string]string{"session": "two", "reason": "not now"}, nil)
	if res := call("two", "read_file", map[string]string{"path": "other.txt"}); !strings.Contains(res.Content, `Your queued commit "Other" will not be made: not now`) {
		t.Errorf("told %q", res.Content)
	}
	command("sidecar.review.accept", nil, &res)
	if got := git(g, "log", "-1", "--format=%s"); got != "Second" || r.File("other.txt") != "o\n" {
		t.Errorf("after the rejection: %q, %q", got, r.File("other.txt"))
	}

	var undone struct {
		Restored []string       `json:"restored"`
		Commits  []commitResult `json:"commits"`
	}
	command("sidecar.review.undo", nil, &undone)
	if text, _ := r.Text(open); len(undone.Restored) != 3 || len(undone.Commits) != 2 || text != "1\n2\n3\n" || r.File("closed.txt") != "a\nb\nc\n" {
		t.Errorf("undone %+v, buffer %q", undone, text)
	}
}

// TestAuditByCommandLine is the same in a shell, run by run.
func TestAuditByCommandLine(t *testing.T) {
	e2e.Home(t)
	g := e2e.Repository(t, "a.txt", "1\n2\n")
	run := func(want int, args ...string) string {
		t.Helper()
		out, stderr, code := e2e.RunCLI(t, "", append(args, "--root", g.Dir)...)
		if code != want {
			t.Fatalf("%v: exit %d: %s%s", args, code, out, stderr)
		}
		return out + stderr
	}
	run(0, "call", "--mode", "audit", "edit_file", `{"path":"a.txt","search":"1\n","replace":"one\n"}`)
	run(0, "call", "--mode", "audit", "git_commit", `{"message":"Count in words"}`)
	if out := run(0, "review"); !strings.Contains(out, "by edit_file, batch of default") || !strings.Contains(out, `commit "Count in words", batch of default: a.txt`) {
		t.Errorf("list: %s", out)
	}
	if out := run(1, "review", "accept", "a.txt"); !strings.Contains(out, "as a whole or not at all") {
		t.Errorf("a part: %s", out)
	}
	if out := run(0, "review", "accept"); !strings.Contains(out, "accepted a.txt") || !strings.Contains(out, git(g, "rev-parse", "HEAD")) {
		t.Errorf("accepted: %s", out)
	}
	if got := git(g, "log", "-1", "--format=%s"); got != "Count in words" {
		t.Errorf("the last commit is %q", got)
	}
	if out := run(0, "review", "undo"); !strings.Contains(out, "The commits that were made stay") || !strings.Contains(out, "restored a.txt") {
		t.Errorf("undone: %s", out)
	}
	run(0, "call", "--mode", "audit", "edit_file", `{"path":"a.txt","search":"2\n","replace":"two\n"}`)
	run(0, "call", "--mode", "audit", "git_commit", `{"message":"Another"}`)
	if out := run(0, "review", "reject", "--all"); !strings.Contains(out, `rejected the commit "Another"`) {
		t.Errorf("rejected: %s", out)
	}
}
