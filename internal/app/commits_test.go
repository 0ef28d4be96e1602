package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// audited is a core in audit mode over a real repository.
type audited struct {
	*Workspace
	t    *testing.T
	dir  string
	repo *gittest.Repo
}

func newAudited(t *testing.T, files map[string]string) *audited {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	repo := gittest.New(t)
	a := &audited{t: t, dir: repo.Dir, repo: repo}
	for name, text := range files {
		a.write(name, text)
	}
	repo.Commit("base")
	a.open()
	return a
}

func (a *audited) open() {
	a.t.Helper()
	c, err := Open(context.Background(), []workspace.Folder{{Name: "ws", Dir: a.dir}}, Options{
		Log: slog.New(slog.DiscardHandler), Mode: "audit", Queue: QueueAlways,
		Layers: []json.RawMessage{json.RawMessage(`{"workspace":{"trust":"trusted"}}`)},
	})
	a.must(err)
	a.Workspace = c
	a.t.Cleanup(func() { c.Close() })
}

func (a *audited) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *audited) write(name, text string) {
	a.t.Helper()
	path := filepath.Join(a.dir, name)
	a.must(errors.Join(ownfile.MkdirAll(filepath.Dir(path), 0o755), ownfile.WriteFile(path, []byte(text), 0o755)))
}

func (a *audited) git(args ...string) string { return strings.TrimSpace(a.repo.Git(args...)) }

func (a *audited) call(tool, args string) {
	a.t.Helper()
	res, err := a.Dispatch.Call(a.t.Context(), dispatch.Request{Name: tool, Arguments: json.RawMessage(args)})
	a.must(err)
	if !res.OK {
		a.t.Fatalf("%s: %s", tool, res.Content)
	}
}

func (a *audited) queue(message string, models ...string) error {
	_, err := a.views(of(a.Client.Sessions, "default", func(s *session.Session) *session.Session { return s })).QueueCommit(a.t.Context(), "default", message, models, "")
	return err
}

func (a *audited) accept() pendingedits.AcceptResult {
	a.t.Helper()
	res, err := a.Home.Queue.Accept(a.t.Context(), pendingedits.Selection{})
	a.must(err)
	for _, f := range res.Failed {
		a.t.Errorf("%s: %v", f.Name, f.Err)
	}
	return res
}

func (a *audited) same(what, got, want string) {
	a.t.Helper()
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
		a.t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// TestCommitsOfABatch makes the commits of a batch with the real git, and reads
// them with it.
func TestCommitsOfABatch(t *testing.T) {
	a := newAudited(t, map[string]string{"a.txt": "1\n2\n3\n", "sub/b.txt": "b\n", "old.txt": "same\n", "staged.txt": "s\n", "run.sh": "echo\n"})
	a.write("staged.txt", "the user's own\n")
	a.git("add", "staged.txt")
	a.call("edit_file", `{"path":"a.txt","search":"1\n","replace":"one\n"}`)
	a.call("edit_file", `{"path":"run.sh","search":"echo\n","replace":"echo hello\n"}`)
	a.must(a.queue("First of two\n\nWith a body.", "model-a", "model-b"))
	a.call("edit_file", `{"path":"a.txt","search":"3\n","replace":"three\n"}`)
	a.call("delete_file", `{"path":"sub/b.txt"}`)
	a.call("move_file", `{"from":"old.txt","to":"deep/new.txt"}`)
	a.must(a.queue("Second"))
	a.call("write_file", `{"path":"loose.txt","content":"never committed\n"}`)
	if err := a.queue("Third"); err != nil { // the new file
		t.Error(err)
	}
	a.call("edit_file", `{"path":"loose.txt","search":"never","replace":"not yet"}`)

	a.Close()
	a.open() // the queue outlives the server
	res := a.accept()
	for i, hash := range strings.Fields(a.git("log", "--reverse", "--format=%H", "main", "^main~3")) {
		if res.Commits[i].ID != hash {
			t.Errorf("commit %d is said to be %+v, and is %s", i, res.Commits[i], hash)
		}
	}
	a.same("history", a.git("log", "--reverse", "--format=%s", "--name-status", "--no-renames", "main~3.."),
		"First of two\n\nM\ta.txt\nM\trun.sh\nSecond\n\nM\ta.txt\nA\tdeep/new.txt\nD\told.txt\nD\tsub/b.txt\nThird\n\nA\tloose.txt")
	a.same("the first version", a.git("show", "main~2:a.txt"), "one\n2\n3")
	a.same("the second version", a.git("show", "main~1:a.txt"), "one\n2\nthree")
	a.same("trailers", a.git("log", "-1", "--format=%(trailers:key=X-AI-Model)", "main~2"), "X-AI-Model: model-a\nX-AI-Model: model-b")
	a.same("mode", strings.Fields(a.git("ls-tree", "main", "run.sh"))[0], "100755")
	a.same("status", a.git("status", "--porcelain", "--untracked-files=no"), "M loose.txt\nM  staged.txt") // trimmed at its beginning
	a.same("the file", a.git("show", ":staged.txt"), "the user's own")

	undone, err := a.Home.Queue.Undo(t.Context())
	a.must(err)
	if len(undone.Failed) > 0 || len(undone.Commits) != 3 {
		t.Errorf("undone %+v", undone)
	}
	a.same("the commits stay", a.git("log", "-1", "--format=%s"), "Third")
}

func TestCommitOfABatchFails(t *testing.T) {
	a := newAudited(t, map[string]string{"a.txt": "1\n"})
	a.call("edit_file", `{"path":"a.txt","search":"1\n","replace":"one\n"}`)
	a.must(a.queue("one"))
	a.write(".git/refs/heads/main.lock", "")
	res := a.accept()
	if len(res.Accepted) != 1 || len(res.Commits) != 1 || res.Commits[0].Err == nil || !strings.Contains(res.Commits[0].Err.Error(), "locked by another git command") {
		t.Errorf("accepted %+v", res)
	}
	a.same("history", a.git("log", "--format=%s"), "base")

	a.Close()
	a.open()
	if q := a.Home.Queue.List("").Commits; len(q) != 1 || !strings.Contains(q[0].Error, "locked by another git command") {
		t.Errorf("waiting %+v", q)
	}
	a.must(ownfile.Remove(filepath.Join(a.dir, ".git/refs/heads/main.lock")))
	if res := a.accept(); len(res.Accepted) != 0 || len(res.Commits) != 1 || res.Commits[0].Err != nil {
		t.Errorf("accepted %+v", res)
	}
	a.same("history", a.git("log", "--format=%s"), "one\nbase")
	a.same("status", a.git("status", "--porcelain", "--untracked-files=no"), "")
}

// A commit of a batch has the links and the modes of its files.
func TestCommitOfModesAndLinks(t *testing.T) {
	a := newAudited(t, map[string]string{"a.txt": "1\n", "f": "f\n", "gone": "g\n"})
	a.must(ownfile.Chmod(filepath.Join(a.dir, "a.txt"), 0o644))
	a.must(ownfile.Symlink("a.txt", filepath.Join(a.dir, "l")))
	a.git("add", "-A")
	a.git("commit", "-qm", "more")
	view := a.Home.Queue.For(pendingedits.Proposer{Session: "default", Tool: "shadow merge", Batch: true})
	a.must(view.Apply(t.Context(),
		workspace.Change{Path: "a.txt", Before: []byte("1\n"), After: []byte("1\n"), Mode: 0o755},
		workspace.Change{Path: "f", Before: []byte("f\n"), After: []byte("a.txt"), AfterLink: true},
		workspace.Change{Path: "l", Before: []byte("a.txt"), BeforeLink: true, After: []byte("text\n"), Mode: 0o644},
		workspace.Change{Path: "new", After: []byte("nowhere"), AfterLink: true},
		workspace.Change{Path: "gone", Before: []byte("g\n")}))
	a.must(a.queue("all"))
	if err := a.queue("again"); err == nil {
		t.Error("the same was queued twice")
	}
	if res := a.accept(); len(res.Commits) != 1 || res.Commits[0].Err != nil || len(res.Accepted) != 5 {
		t.Errorf("%+v", res)
	}
	a.same("commit", a.git("show", "--format=", "--summary", "--no-renames", "HEAD"),
		"mode change 100644 => 100755 a.txt\n mode change 100755 => 120000 f\n delete mode 100755 gone\n mode change 120000 => 100644 l\n create mode 120000 new")
	a.same("status", a.git("status", "--porcelain"), "")
}

// A commit that was made and not noted is found, and one that was not isn't.
func TestCommitOfABatchIsFound(t *testing.T) {
	a := newAudited(t, map[string]string{"a.txt": "1\n"})
	r := pendingedits.CommitRequest{Message: "one", Files: []pendingedits.CommitFile{{Name: "a.txt", Data: []byte("one\n")}}}
	c := a.commits
	head, err := c.Head(t.Context(), r)
	a.must(err)
	for i, want := range []bool{false, true} {
		if i == 1 {
			_, err := c.Commit(t.Context(), r)
			a.must(err)
		}
		if id, err := c.Made(t.Context(), head, r); err != nil || (id != "") != want {
			t.Errorf("made %v: found %q, %v", want, id, err)
		}
	}
	a.same("only what was asked for", a.git("show", "HEAD:a.txt")+a.git("status", "--porcelain", "--untracked-files=no"), "oneM a.txt")
}

// The same of what was staged; and nobody else's commit is taken for it.
func TestStagedCommitIsFound(t *testing.T) {
	a := newAudited(t, map[string]string{"a.txt": "1\n", "b.txt": "1\n"})
	r := pendingedits.CommitRequest{Message: "one"}
	c := a.commits
	for _, others := range []func(){
		nil,
		func() { a.git("commit", "-qm", "another") },
		func() { a.git("reset", "-q"); a.git("commit", "-qm", "one", "b.txt") },
		func() { a.git("commit", "-qm", "before"); a.git("commit", "-qm", "one", "--allow-empty") },
	} {
		a.write("a.txt", a.git("rev-parse", "HEAD"))
		a.write("b.txt", a.git("rev-parse", "HEAD"))
		a.git("add", "a.txt")
		head, err := c.Head(t.Context(), r)
		a.must(err)
		if id, err := c.Made(t.Context(), head, r); err != nil || id != "" {
			t.Errorf("before: %q, %v", id, err)
		}
		want := ""
		if others == nil {
			want, err = c.Commit(t.Context(), r)
			a.must(err)
		} else {
			others()
		}
		if id, err := c.Made(t.Context(), head, r); err != nil || id != want {
			t.Errorf("found %q, %v, want %q", id, err, want)
		}
	}
	unborn := newAudited(t, nil)
	unborn.git("update-ref", "-d", "HEAD")
	unborn.write("a.txt", "1\n")
	unborn.git("add", "a.txt")
	c = unborn.commits
	head, err := c.Head(t.Context(), r)
	unborn.must(err)
	want, err := c.Commit(t.Context(), r)
	unborn.must(err)
	if id, err := c.Made(t.Context(), head, r); err != nil || id != want {
		t.Errorf("the first: found %q, %v, want %q", id, err, want)
	}
}

func TestNothingToCommit(t *testing.T) {
	a := newAudited(t, map[string]string{"a.txt": "1\n"})
	if err := a.queue("none"); tools.AsError(err).Code != tools.CommandFailed || !strings.Contains(err.Error(), "nothing to commit") {
		t.Errorf("nothing: %v", err)
	}
	a.write("a.txt", "2\n")
	a.git("add", "a.txt")
	a.must(a.queue("what is staged"))
	if err := a.queue("again"); err == nil {
		t.Error("what is staged was taken twice")
	}
	if res := a.accept(); len(res.Commits) != 1 || res.Commits[0].Err != nil {
		t.Errorf("accepted %+v", res)
	}
	a.same("history", a.git("log", "--format=%s"), "what is staged\nbase")

	plain := &audited{t: t, dir: t.TempDir()} // no repository
	plain.write("a.txt", "1\n")
	plain.open()
	plain.call("edit_file", `{"path":"a.txt","search":"1\n","replace":"one\n"}`)
	plain.must(plain.queue("nowhere"))
	if res := plain.accept(); len(res.Accepted) != 1 || len(res.Commits) != 1 || res.Commits[0].Err == nil {
		t.Errorf("accepted %+v", res)
	}
}
