package pendingedits_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// auditor proposes in a mode of batches.
var auditor = pendingedits.Proposer{Session: "audit", Tool: "t", Batch: true}

// batch is a bench with a repository, whose agent proposes a batch.
type batch struct {
	*bench
	repo *repo
}

func newBatch(t testing.TB, files ...string) *batch {
	b := &batch{bench: newBench(t, files...), repo: &repo{path: filepath.Join(t.TempDir(), "repo")}}
	b.opts.Commits = b.repo
	b.reopen()
	return b
}

// edits makes files' texts others: name, text, name, text, …
func (b *batch) edits(by pendingedits.Proposer, files ...string) error {
	var changes []workspace.Change
	for i := 0; i < len(files); i += 2 {
		changes = append(changes, workspace.Change{Path: files[i], Before: bytesOf(b.seen(files[i])), After: bytesOf(files[i+1])})
	}
	return b.store.For(by).Apply(b.t.Context(), changes...)
}

func (b *batch) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *batch) commit(message string) error {
	_, err := b.store.QueueCommit(b.t.Context(), auditor, message, []string{"m"}, false, nil)
	return err
}

func (b *batch) accept(sel pendingedits.Selection) pendingedits.AcceptResult {
	b.t.Helper()
	res, err := b.store.Accept(b.t.Context(), sel)
	b.must(err)
	return res
}

func (b *batch) waiting() []string {
	var out []string
	for _, q := range b.store.List("").Commits {
		out = append(out, fmt.Sprint(q.Message, " ", q.Files))
	}
	return out
}

// expect compares a list in words.
func (b *batch) expect(what string, got []string, want ...string) {
	b.t.Helper()
	if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
		b.t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (b *batch) history(want ...string) {
	b.t.Helper()
	if d := cmp.Diff(strings.Join(want, ""), b.repo.log()); d != "" {
		b.t.Errorf("commits (-want +got):\n%s", d)
	}
}

func failures(list []pendingedits.Failure) (names []string) {
	for _, f := range list {
		names = append(names, f.Name)
	}
	return names
}

func TestBatchIsAllOrNothing(t *testing.T) {
	b := newBatch(t, "a", ten, "b", ten, "gone", "x\n", "old", "o\n")
	b.must(b.edits(auditor, "a", replace(ten, "2\n", "two\n"), "b", replace(ten, "2\n", "two\n"), "gone", absent, "new/n", "n\n"))
	b.must(b.store.For(auditor).Apply(t.Context(), workspace.Change{Path: "moved", From: "old", Before: []byte("o\n"), After: []byte("o\n")}))
	names := []string{"a", "b", "gone", "moved", "new/n"}
	for _, e := range b.store.List("").Edits {
		if !e.Batch {
			t.Errorf("%s is not of the batch", e.Name)
		}
	}

	b.write("b", replace(ten, "2\n", "mine\n"))
	res := b.accept(pendingedits.Selection{})
	b.expect("nothing is accepted", res.Accepted)
	if got := failures(res.Failed); got[0] != "b" || len(got) != len(names) {
		t.Errorf("failed: %v", got)
	}
	for _, f := range res.Failed {
		if !errors.Is(f.Err, workspace.ErrConflict) || !strings.Contains(f.Err.Error(), "user changed") {
			t.Errorf("%s: %v", f.Name, f.Err)
		}
	}
	if b.onDisk("a") != ten || b.onDisk("gone") != "x\n" || b.onDisk("new/n") != absent || b.onDisk("moved") != absent {
		t.Error("a part of the batch is on disk")
	}

	b.write("b", ten)
	b.reopen() // it is a batch after a restart too
	revision := b.store.Revision()
	b.must(b.edits(auditor, "a", replace(ten, "2\n", "zwei\n")))
	if _, err := b.store.Accept(t.Context(), pendingedits.Selection{Revision: revision}); !errors.Is(err, workspace.ErrConflict) {
		t.Errorf("a stale revision: %v", err)
	}
	b.expect("accepted", b.accept(pendingedits.Selection{Revision: b.store.Revision()}).Accepted, names...)
	if b.onDisk("a") != replace(ten, "2\n", "zwei\n") || b.onDisk("gone") != absent || b.onDisk("new/n") != "n\n" || b.onDisk("moved") != "o\n" {
		t.Error("the batch is not on disk")
	}

	// One step back, all or nothing; and forth.
	b.write("b", replace(ten, "2\n", "other\n"))
	undo := func() pendingedits.UndoResult {
		res, err := b.store.Undo(t.Context())
		b.must(err)
		return res
	}
	if res := undo(); len(res.Restored) != 0 || len(res.Failed) != len(names) || res.Failed[0].Name != "b" || b.onDisk("new/n") != "n\n" {
		t.Errorf("an undo that can't be: %v, %v", res.Restored, res.Failed)
	}
	b.write("b", replace(ten, "2\n", "two\n"))
	if res := undo(); len(res.Restored) != len(names) || b.onDisk("a") != ten || b.onDisk("new/n") != absent || b.onDisk("old") != "o\n" {
		t.Errorf("undo: %v, %v", res.Restored, res.Failed)
	}
	if list := b.store.List("").Edits; len(list) != len(names) || !list[0].Batch {
		t.Errorf("pending again: %+v", list)
	}
	if res := undo(); len(res.Restored) != len(names) || b.onDisk("moved") != "o\n" || b.onDisk("b") != replace(ten, "2\n", "two\n") {
		t.Errorf("undo of the undo: %v, %v", res.Restored, res.Failed)
	}
	b.expect("told", b.told,
		"audit: The user accepted your batch: a, b, gone, moved, new/n.",
		"audit: The user took back accepting your batch (a, b, gone, moved, new/n); it is pending again.",
		"audit: The user accepted your batch (a, b, gone, moved, new/n) again.")
}

func TestPartOfBatch(t *testing.T) {
	b := newBatch(t, "a", ten, "b", ten, "c", ten)
	b.must(b.edits(auditor, "a", replace(ten, "2\n", "two\n", "8\n", "eight\n"), "b", "b\n"))
	b.must(b.edits(agent, "c", "c\n"))
	for _, sel := range []pendingedits.Selection{
		{Names: []string{"a"}}, {Names: []string{"a", "b", "c"}}, {Hunks: []string{b.store.List("").Edits[0].Hunks[0].ID}},
	} {
		if _, err := b.store.Accept(t.Context(), sel); !errors.Is(err, pendingedits.ErrBatch) {
			t.Errorf("%+v: %v", sel, err)
		}
	}
	if b.onDisk("a") != ten || b.onDisk("c") != ten {
		t.Error("something was accepted")
	}
	b.expect("a single edit", b.accept(pendingedits.Selection{Names: []string{"c"}}).Accepted, "c") // the control
	b.expect("of a session without one", b.accept(pendingedits.Selection{Session: "s"}).Accepted)
	b.expect("of the session", b.accept(pendingedits.Selection{Session: "audit"}).Accepted, "a", "b")
}

func TestSessionsDontMix(t *testing.T) {
	b := newBatch(t, "a", ten, "b", ten, "c", ten, "old", ten)
	other := pendingedits.Proposer{Session: "two", Tool: "t", Batch: true}
	b.must(b.edits(auditor, "a", "A\n"))
	b.must(b.edits(agent, "b", "B\n"))
	b.must(b.store.For(auditor).Apply(t.Context(), workspace.Change{Path: "new", From: "old", Before: []byte(ten), After: []byte(ten)}))
	b.must(b.edits(auditor, "c", "C\n"))
	b.must(b.commit("c"))
	b.must(b.edits(auditor, "c", ten)) // no edit is left, but a commit is
	for what, err := range map[string]error{
		"another's batch, by a batch":    b.edits(other, "a", "x\n"),
		"another's batch, by an edit":    b.edits(agent, "a", "x\n"),
		"another's edit, by a batch":     b.edits(auditor, "b", "x\n"),
		"the new name of another's move": b.edits(agent, "new", "x\n"),
		"the old name of another's move": b.edits(agent, "old", "x\n"),
		"another's commit":               b.edits(other, "c", "x\n"),
	} {
		if !errors.Is(err, workspace.ErrConflict) || !strings.Contains(err.Error(), "session ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	// The controls: one's own, and what two do who review edit by edit.
	b.must(b.edits(auditor, "a", "AA\n"))
	b.must(b.edits(pendingedits.Proposer{Session: "three", Tool: "t"}, "b", "BB\n"))
	b.must(b.edits(other, "d", "D\n"))

	// Each batch stands for itself.
	b.write("a", "mine\n")
	res := b.accept(pendingedits.Selection{})
	b.expect("accepted", res.Accepted, "b", "d")
	b.expect("failed", failures(res.Failed), "a", "new")
	if len(res.Commits) != 1 || res.Commits[0].Err == nil {
		t.Errorf("commits %+v", res.Commits)
	}
	b.history()
}

func TestQueuedCommits(t *testing.T) {
	b := newBatch(t, "a", "1\n2\n3\n", "b", "b\n", "c", "c\n")
	if err := b.commit("nothing"); !errors.Is(err, pendingedits.ErrNothingToCommit) {
		t.Errorf("nothing to commit: %v", err)
	}
	b.must(b.edits(auditor, "a", "one\n2\n3\n"))
	if err := b.commit(" \n"); err == nil {
		t.Error("an empty message")
	}
	b.must(b.commit("first"))
	if err := b.commit("again"); !errors.Is(err, pendingedits.ErrNothingToCommit) {
		t.Errorf("nothing new: %v", err)
	}
	b.must(b.edits(auditor, "a", "one\n2\nthree\n", "b", absent))
	b.must(b.store.For(auditor).Apply(t.Context(), workspace.Change{Path: "d", From: "c", Before: []byte("c\n"), After: []byte("d\n")}))
	b.must(b.commit("second"))
	b.must(b.edits(auditor, "e", "never committed\n"))
	b.reopen()
	b.expect("waiting", b.waiting(), "first [a]", "second [a b c d]")

	// The user adds a line meanwhile: no commit takes it back.
	b.write("a", "0\n1\n2\n3\n")
	res := b.accept(pendingedits.Selection{})
	b.expect("accepted", res.Accepted, "a", "b", "d", "e")
	if len(res.Commits) != 2 || res.Commits[0].ID != "id1" || res.Commits[1].ID != "id2" {
		t.Errorf("commits %+v", res.Commits)
	}
	b.history(`first ["a=0\none\n2\n3\n"]`+"\n", `second ["a=0\none\n2\nthree\n" "b gone" "c gone" "d=d\n"]`+"\n")
	if d := cmp.Diff([]string{"m"}, b.repo.commits()[0].Models); d != "" {
		t.Error(d)
	}
	b.expect("waiting", b.waiting())

	// The commits stay when the files go back.
	undone, err := b.store.Undo(t.Context())
	b.must(err)
	if len(undone.Restored) != 4 || len(undone.Commits) != 2 || undone.Commits[1].ID != "id2" {
		t.Errorf("undone %+v", undone)
	}
	b.history(`first ["a=0\none\n2\n3\n"]`+"\n", `second ["a=0\none\n2\nthree\n" "b gone" "c gone" "d=d\n"]`+"\n")
}

func TestCommitFails(t *testing.T) {
	b := newBatch(t, "a", "1\n2\n3\n")
	b.must(b.edits(auditor, "a", "one\n2\n3\n"))
	b.must(b.commit("first"))
	b.must(b.edits(auditor, "a", "one\n2\nthree\n"))
	b.must(b.commit("second"))
	b.repo.refuse = errors.New("the hook says no")
	res := b.accept(pendingedits.Selection{})
	b.expect("the files stay", append(res.Accepted, b.onDisk("a")), "a", "one\n2\nthree\n")
	if len(res.Commits) != 2 || !errors.Is(res.Commits[0].Err, b.repo.refuse) || res.Commits[1].Err == nil {
		t.Errorf("commits %+v", res.Commits)
	}
	b.expect("waiting", b.waiting(), "first [a]", "second [a]")
	if got := b.store.List("").Commits[0].Error; got != "the hook says no" {
		t.Errorf("listed with %q", got)
	}

	// The files go back and are accepted again, the user writes, and then the
	// hook agrees: a batch of nothing but commits.
	for range 2 {
		if _, err := b.store.Undo(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.reopen()
	b.write("a", "0\none\n2\nthree\n")
	b.repo.refuse = nil
	res = b.accept(pendingedits.Selection{})
	b.expect("accepted", res.Accepted)
	if len(res.Commits) != 2 || res.Commits[1].ID != "id2" || len(res.Failed) != 0 {
		t.Errorf("commits %+v", res.Commits)
	}
	b.history(`first ["a=0\none\n2\n3\n"]`+"\n", `second ["a=0\none\n2\nthree\n"]`+"\n")

	// A store that can't make commits keeps them.
	b.opts.Commits = nil
	b.reopen()
	b.must(b.edits(auditor, "b", "b\n"))
	b.must(b.commit("third"))
	if res := b.accept(pendingedits.Selection{}); len(res.Accepted) != 1 || len(res.Commits) != 1 || res.Commits[0].Err == nil {
		t.Errorf("accepted %+v", res)
	}
	b.expect("waiting", b.waiting(), "third [b]")
}

func TestRejectFromBatch(t *testing.T) {
	setUp := func(t *testing.T) *batch {
		b := newBatch(t, "a", ten, "b", ten)
		b.must(b.edits(auditor, "a", replace(ten, "2\n", "two\n", "8\n", "eight\n"), "b", "b\n"))
		b.must(b.commit("first"))
		b.must(b.edits(auditor, "b", "bb\n"))
		b.must(b.commit("second"))
		return b
	}
	reject := func(b *batch, sel pendingedits.Selection) pendingedits.RejectResult {
		b.t.Helper()
		res, err := b.store.Reject(context.Background(), sel, "no")
		b.must(err)
		return res
	}
	t.Run("a hunk", func(t *testing.T) {
		b := setUp(t)
		reject(b, pendingedits.Selection{Hunks: []string{b.store.List("").Edits[0].Hunks[1].ID}})
		b.expect("waiting", b.waiting(), "first [a b]", "second [b]")
		b.accept(pendingedits.Selection{})
		b.history(fmt.Sprintf("first %q\n", []string{"a=" + replace(ten, "2\n", "two\n"), "b=b\n"}), `second ["b=bb\n"]`+"\n")
	})
	t.Run("a file", func(t *testing.T) {
		b := setUp(t)
		res := reject(b, pendingedits.Selection{Names: []string{"b"}})
		b.expect("waiting", b.waiting(), "first [a]")
		if len(res.Commits) != 1 || res.Commits[0].Message != "second" {
			t.Errorf("commits %+v", res.Commits)
		}
		b.reopen()
		b.accept(pendingedits.Selection{})
		b.history(fmt.Sprintf("first %q\n", []string{"a=" + replace(ten, "2\n", "two\n", "8\n", "eight\n")}))
	})
	t.Run("all", func(t *testing.T) {
		b := setUp(t)
		reject(b, pendingedits.Selection{})
		b.expect("waiting", b.waiting())
		b.expect("told", b.told,
			"audit: The user rejected your edit of a (line 2, line 8): no", "audit: The user rejected your edit of b (lines 1–10): no",
			`audit: Your queued commit "first" will not be made: no`, `audit: Your queued commit "second" will not be made: no`)
		b.reopen()
		b.accept(pendingedits.Selection{})
		b.history()
	})
	t.Run("of another session", func(t *testing.T) {
		b := setUp(t)
		reject(b, pendingedits.Selection{Session: "s"})
		b.expect("waiting", b.waiting(), "first [a b]", "second [b]")
	})
	t.Run("the user's own text", func(t *testing.T) {
		b := setUp(t)
		b.must(b.store.Propose(t.Context(), "b", []byte("mine\n")))
		b.accept(pendingedits.Selection{})
		if got := b.repo.commits()[1].Files; !slices.Equal(got, []string{"b=mine\n"}) {
			t.Errorf("committed %q", got)
		}
	})
}

// What the agent takes back is in the commit that had it, and in the one that
// takes it back.
func TestCommitOfARevert(t *testing.T) {
	b := newBatch(t, "a", "a\n")
	b.must(b.edits(auditor, "a", "A\n"))
	b.must(b.commit("do"))
	b.must(b.edits(auditor, "a", "a\n"))
	b.must(b.commit("undo"))
	b.accept(pendingedits.Selection{})
	b.history(`do ["a=A\n"]`+"\n", `undo ["a=a\n"]`+"\n")
}

func TestCommitOfWhatIsStaged(t *testing.T) {
	b := newBatch(t)
	_, err := b.store.QueueCommit(t.Context(), auditor, "staged", nil, true, nil)
	b.must(err)
	b.expect("waiting", b.waiting(), "staged []")
	b.accept(pendingedits.Selection{})
	b.history("staged []\n")
}

// A log that was written before there were batches is read as it was.
func TestLogFromBeforeBatches(t *testing.T) {
	data, err := os.ReadFile("testdata/before-batches.log")
	if err != nil {
		t.Fatal(err)
	}
	b := newBatch(t, "a", ten, "b", ten, "new", "n\n")
	b.must(errors.Join(b.store.Close(), ownfile.MkdirAll(b.state, 0o700), ownfile.WriteFile(filepath.Join(b.state, "pending.log"), data, 0o600)))
	b.open()
	var got []string
	for _, e := range b.store.List("").Edits {
		got = append(got, fmt.Sprint(e.Name, " ", e.Kind, " ", len(e.Hunks), " ", e.Batch))
	}
	b.expect("pending", got, "a modify 2 false", "moved rename 1 false")
	res, err := b.store.Undo(t.Context())
	b.must(err)
	b.expect("undone", append(res.Restored, b.onDisk("new")), "new", absent)
}
