package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

// ledger is a repository that only counts.
type ledger struct {
	refuse error
	made   []string
}

func (l *ledger) Head(context.Context, pendingedits.CommitRequest) (string, error) {
	return fmt.Sprint(len(l.made)), nil
}

func (l *ledger) Commit(_ context.Context, r pendingedits.CommitRequest) (string, error) {
	if l.refuse != nil {
		return "", l.refuse
	}
	l.made = append(l.made, r.Message)
	return fmt.Sprint("id", len(l.made)), nil
}

func (l *ledger) Made(context.Context, string, pendingedits.CommitRequest) (string, error) {
	return "", nil
}

func (w *world) queueCommit(message string) {
	w.t.Helper()
	by := agent
	by.Batch = true
	w.must(second(w.store.QueueCommit(w.ctx, by, message, []string{"m1"}, false, nil)))
}

func TestBatchWithCommits(t *testing.T) {
	repo := &ledger{refuse: errors.New("the hook says no")}
	caps := fakeeditor.Usual()
	caps.Experimental.Sidecar = lsp.SidecarCapabilities{PendingEdits: true}
	w := newWorld(t, setup{batch: true, commits: repo, capabilities: caps, files: map[string]string{"a.txt": "a\n", "b.txt": "b\n"}})
	uri := w.open("a.txt", "a\n")
	w.propose("a.txt", "a\n", "A\n")
	w.diagnostics("the hunk", uri, "replace 1 line by 1 (edit_file), part of a batch")
	w.propose("b.txt", "b\n", "B\n")
	w.queueCommit("first")
	w.await("sidecar/pendingEdits with the commit", func(r *fakeeditor.Record) bool {
		for _, m := range r.Notifications {
			var p review.Listed
			if m.Method == "sidecar/pendingEdits" && json.Unmarshal(m.Params, &p) == nil && p.Batch && len(p.Commits) == 1 && p.Commits[0].Message == "first" {
				return true
			}
		}
		return false
	})
	list := run[review.Listed](w, "sidecar.review.list", nil)
	want := []review.QueuedCommit{{Message: "first", Session: "default", Paths: []string{"a.txt", "b.txt"}, Models: []string{"m1"}}}
	if d := cmp.Diff(want, list.Commits); d != "" || !list.Batch || !list.Edits[0].Batch {
		t.Errorf("list %+v %s", list, d)
	}
	for what, arg := range map[string]object{
		"a file":       {"uris": []string{uri}},
		"a hunk":       {"hunks": []string{list.Edits[0].Hunks[0].ID}},
		"no such file": {"uris": []string{w.uri("none.txt")}},
	} {
		if err := w.ExecuteCommand(w.ctx, "sidecar.review.accept", arg, nil); code(err) != lsp.InvalidParams || !strings.Contains(err.Error(), "as a whole") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if w.text(uri) != "a\n" || w.disk("b.txt") != "b\n" {
		t.Errorf("buffer %q, disk %q", w.text(uri), w.disk("b.txt"))
	}

	// One file can't be accepted, so nothing is.
	w.must(w.Change(w.ctx, uri, lsp.ContentChange{Text: "mine\n"}))
	w.sync()
	r := run[review.AcceptResult](w, "sidecar.review.accept", nil)
	if len(r.Accepted) != 0 || len(r.Failed) != 2 || r.Failed[0].URI != uri || !strings.HasPrefix(r.Failed[1].Error, "conflict: ") || w.disk("b.txt") != "b\n" {
		t.Errorf("a conflict: %+v, disk %q", r, w.disk("b.txt"))
	}
	w.must(w.Change(w.ctx, uri, lsp.ContentChange{Text: "a\n"}))
	w.sync()

	// All of it by the code action; the commit fails and waits.
	w.choose(w.actions(uri, span(0, 0, 0, 0)), "Accept the whole batch of pending changes and commits")
	if w.text(uri) != "A\n" || w.disk("b.txt") != "B\n" || len(w.Record().Edits) != 1 {
		t.Errorf("buffer %q, disk %q, %d edits", w.text(uri), w.disk("b.txt"), len(w.Record().Edits))
	}
	list = run[review.Listed](w, "sidecar.review.list", nil)
	if len(list.Edits) != 0 || len(list.Commits) != 1 || list.Commits[0].Error != "the hook says no" {
		t.Errorf("list %+v", list)
	}

	// A batch of commits alone.
	repo.refuse = nil
	r = run[review.AcceptResult](w, "sidecar.review.accept", nil)
	if d := cmp.Diff([]review.CommitResult{{Message: "first", ID: "id1"}}, r.Commits); d != "" || len(r.Failed) != 0 {
		t.Errorf("%+v %s", r, d)
	}
	u := run[review.UndoResult](w, "sidecar.review.undo", nil)
	if len(u.Restored) != 2 || len(u.Commits) != 1 || u.Commits[0].ID != "id1" || w.text(uri) != "a\n" || w.disk("b.txt") != "b\n" {
		t.Errorf("undone %+v", u)
	}

	// Rejecting everything throws the commits away.
	w.propose("a.txt", "A\n", "AA\n")
	w.queueCommit("second")
	if r := run[review.RejectResult](w, "sidecar.review.reject", nil); len(r.Rejected) != 2 || len(r.Commits) != 1 || r.Commits[0].Message != "second" {
		t.Errorf("rejected %+v", r)
	}
	if list := run[review.Listed](w, "sidecar.review.list", nil); len(list.Edits)+len(list.Commits) != 0 || len(repo.made) != 1 {
		t.Errorf("left %+v, made %q", list, repo.made)
	}
}

// Edits that are not of a batch are accepted one by one beside one, also from
// a session that is in audit mode.
func TestBatchBesideSingleEdits(t *testing.T) {
	w := newWorld(t, setup{batch: true, files: map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"}})
	w.propose("a.txt", "a\n", "A\n")
	for name, by := range map[string]pendingedits.Proposer{"b.txt": agent, "c.txt": {Session: "s2", Tool: "edit_file", Batch: true}} {
		old := strings.TrimSuffix(name, ".txt") + "\n"
		w.must(w.store.For(by).Apply(w.ctx, workspace.Change{Path: name, Before: []byte(old), After: []byte(strings.ToUpper(old))}))
	}
	want := []string{"0 Accept file", "0 Reject file", "0 Show diff", "0 Accept", "0 Reject"}
	if d := cmp.Diff(want, w.lenses(w.uri("b.txt"))); d != "" {
		t.Error(d)
	}
	if r := run[review.AcceptResult](w, "sidecar.review.accept", object{"uris": []string{w.uri("b.txt")}}); len(r.Accepted) != 1 || w.disk("b.txt") != "B\n" {
		t.Errorf("accepted %+v", r)
	}
	if r := run[review.AcceptResult](w, "sidecar.review.accept", object{"session": "s2"}); len(r.Accepted) != 1 || w.disk("c.txt") != "C\n" || w.disk("a.txt") != "a\n" {
		t.Errorf("accepted %+v", r)
	}
	// The lens was shown for what is there no more.
	lenses := w.actions(w.uri("a.txt"), span(0, 0, 0, 0), review.KindAccept)
	run[object](w, "sidecar.review.propose", object{"uri": w.uri("a.txt"), "text": "AAA\n"})
	w.choose(lenses, "Accept the whole batch of pending changes and commits")
	if w.disk("a.txt") != "a\n" {
		t.Errorf("a stale choice was accepted: %q", w.disk("a.txt"))
	}
	run[review.AcceptResult](w, "sidecar.review.accept", nil)
	if w.disk("a.txt") != "AAA\n" {
		t.Errorf("disk %q", w.disk("a.txt"))
	}
}

// The editor's part is made before the files', so a server that dies between
// them finds out from the documents that the batch was accepted.
func TestBatchAfterRestart(t *testing.T) {
	died := false
	fail := func(point string) error {
		if died = died || point == "accept.apply"; died {
			return errors.New("dead")
		}
		return nil
	}
	w := newWorld(t, setup{batch: true, fail: fail, files: map[string]string{"a.txt": "a\n", "b.txt": "b\n"}})
	w.open("a.txt", "a\n")
	w.propose("a.txt", "a\n", "A\n")
	w.propose("b.txt", "b\n", "B\n")
	if r := run[review.AcceptResult](w, "sidecar.review.accept", nil); len(r.Failed) != 2 {
		t.Fatalf("accepted %+v", r)
	}
	w.Hangup()
	w.must(w.Wait(w.ctx))

	caps := fakeeditor.Usual()
	caps.Experimental.Sidecar = lsp.SidecarCapabilities{PendingEdits: true}
	again := newWorldAt(t, w.dir, w.state, setup{batch: true, capabilities: caps})
	uri := again.open("a.txt", "A\n") // the editor has it, as if the answer had been lost
	again.await("nothing is pending", func(*fakeeditor.Record) bool {
		return len(again.store.List("").Edits) == 0 && again.disk("b.txt") == "B\n"
	})
	if again.text(uri) != "A\n" {
		t.Errorf("buffer %q", again.text(uri))
	}
}
