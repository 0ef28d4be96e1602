package pendingedits_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

const nineLines = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"

func (b *bench) reject(sel pendingedits.Selection) {
	b.t.Helper()
	if _, err := b.store.Reject(b.t.Context(), sel, "no"); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) undoLast() string {
	return b.turned(b.store.UndoTo(b.t.Context(), pendingedits.Last))
}

// TestRejectedComesBack: what was rejected is pending again as it was, with its ids, also
// after a restart.
func TestRejectedComesBack(t *testing.T) {
	for _, restart := range []bool{false, true} {
		b := newBench(t, "a.txt", nineLines, "gone.txt", "gone\n", "old.txt", "moved\n")
		b.edit("a.txt", replace(nineLines, "one", "ONE", "nine", "NINE"))
		b.edit("new.txt", "new\n")
		b.edit("gone.txt", "")
		b.apply(workspace.Change{Path: "gone.txt", Before: bytesOf("")}) // a deletion
		b.move("old.txt", "new/name.txt")
		want, ids := b.pending(), b.ids("a.txt")
		b.reject(pendingedits.Selection{})
		b.wantPending()
		if restart {
			b.reopen()
		}
		b.wantSaid(b.undoLast(), "undo a.txt,gone.txt,new.txt,new/name.txt")
		b.wantPending(want...)
		if d := cmp.Diff(ids, b.ids("a.txt")); d != "" {
			t.Error("ids", d)
		}
		for _, e := range b.store.List("").Edits {
			for _, h := range e.Hunks {
				if h.Again {
					t.Errorf("%s of %s is marked as rejected", h.ID, e.Name)
				}
			}
		}
		if said := b.undoLast(); said != "undo " {
			t.Errorf("nothing is left to take back: %s", said)
		}
		b.acceptAll()
		if text := b.onDisk("a.txt"); text != replace(nineLines, "one", "ONE", "nine", "NINE") {
			t.Errorf("accepted: %q", text)
		}
	}
}

// TestRejectedHunkComesBack: one hunk of two, beside what was proposed since; and not over it.
func TestRejectedHunkComesBack(t *testing.T) {
	b := newBench(t, "a.txt", nineLines)
	b.edit("a.txt", replace(nineLines, "one", "ONE", "nine", "NINE"))
	ids := b.ids("a.txt")
	b.reject(pendingedits.Selection{Hunks: ids[:1]})
	b.reopen()
	b.wantSaid(b.undoLast(), "undo a.txt")
	if d := cmp.Diff(ids, b.ids("a.txt")); d != "" {
		t.Error("ids", d)
	}
	b.reject(pendingedits.Selection{Hunks: ids[:1]})
	b.accept(pendingedits.Selection{Hunks: ids[1:]})
	history := pendingedits.Decisions(b.store)
	if len(history) != 2 || history[0].What != "accept" || history[1].What != "reject" {
		t.Fatalf("history %+v", history)
	}
	b.edit("a.txt", replace(nineLines, "five", "FIVE", "nine", "NINE"))
	b.wantSaid(b.undoTo(history[1].ID), "undo a.txt")
	if seen := b.seen("a.txt"); seen != replace(nineLines, "one", "ONE", "five", "FIVE", "nine", "NINE") {
		t.Errorf("seen: %q", seen)
	}

	b.reject(pendingedits.Selection{})
	b.edit("a.txt", replace(nineLines, "one", "uno", "nine", "NINE"))
	b.wantSaid(b.undoLast(), "undo  failed a.txt")
	b.reject(pendingedits.Selection{}) // uno
	b.wantSaid(b.undoLast(), "undo a.txt")
	if seen := b.seen("a.txt"); !strings.HasPrefix(seen, "uno\n") {
		t.Errorf("seen: %q", seen)
	}
	b.accept(pendingedits.Selection{})
	history = pendingedits.Decisions(b.store)
	if len(history) != 3 || history[1].What != "reject" || history[1].Undoable != true {
		t.Errorf("what could not come back is not kept: %+v", history)
	}
}

// TestUndoStepsBack: asked for the last again and again, it takes decisions back one by one,
// rejections among them; redo goes the other way. Control: without that word, an undo of an
// accept is followed by its redo.
func TestUndoStepsBack(t *testing.T) {
	b := newBench(t, "a.txt", "a\n", "b.txt", "b\n", "c.txt", "c\n", "d.txt", "d\n")
	accept := func(name, text string) {
		b.edit(name, text)
		b.accept(pendingedits.Selection{Names: []string{name}})
	}
	accept("a.txt", "A\n")
	b.edit("d.txt", "D\n")
	b.reject(pendingedits.Selection{})
	accept("b.txt", "B\n")
	accept("c.txt", "C\n")
	b.wantSaid(b.undoLast(), "undo c.txt")
	b.wantSaid(b.undoLast(), "undo b.txt")
	b.reopen()
	b.wantSaid(b.undoLast(), "undo d.txt")
	b.wantSaid(b.undoLast(), "undo a.txt")
	b.wantSaid(b.undoLast(), "undo ")
	b.wantDisk("a.txt", "a\n", "b.txt", "b\n", "c.txt", "c\n", "d.txt", "d\n")
	b.wantSaid(b.redoTo(""), "redo a.txt")
	b.wantSaid(b.redoTo(""), "redo b.txt")
	accept("d.txt", "DD\n")
	b.wantSaid(b.redoTo(""), "redo c.txt") // made again after d
	b.wantSaid(b.undoLast(), "undo c.txt")
	b.wantSaid(b.undoLast(), "undo d.txt")
	b.wantSaid(b.undoLast(), "undo b.txt")
	b.wantDisk("a.txt", "A\n", "b.txt", "b\n", "c.txt", "c\n", "d.txt", "d\n")

	b.wantSaid(b.undoTo(""), "redo b.txt")
	b.wantSaid(b.undoTo(""), "undo b.txt")
}

// TestUndoOfAcceptsLeavesRejections: the undo that editors have is about accepts alone, and
// what an agent withdraws is no rejection.
func TestUndoOfAcceptsLeavesRejections(t *testing.T) {
	b := newBench(t, "a.txt", "a\n", "b.txt", "b\n", "c.txt", "c\n")
	b.edit("a.txt", "A\n")
	b.acceptAll()
	b.edit("b.txt", "B\n")
	b.reject(pendingedits.Selection{})
	b.edit("c.txt", "C\n")
	if err := b.store.Withdraw(t.Context(), agent.Session, "c.txt"); err != nil {
		t.Fatal(err)
	}
	if list := b.store.History("", 0); len(list) != 1 || list[0].What != "accept" {
		t.Errorf("history %+v", list)
	}
	b.wantSaid(b.undoTo(""), "undo a.txt")
	b.wantSaid(b.redoTo(""), "redo a.txt")
	list := pendingedits.Decisions(b.store)
	if len(list) != 2 {
		t.Fatalf("decisions %+v", list)
	}
	b.wantSaid(b.undoTo(list[0].ID), "undo b.txt")
	b.wantPending("modify b.txt clean +1-1 [1,1→1,1 clean]")
}

// TestRejectionsAreKeptForATime: as long as an accept.
func TestRejectionsAreKeptForATime(t *testing.T) {
	now := time.Now()
	b := newBench(t, "a.txt", "a\n")
	b.opts.Now, b.opts.Undo = func() time.Time { return now }, limits{bytes: 1 << 20, age: time.Hour}
	b.reopen()
	b.edit("a.txt", "A\n")
	b.reject(pendingedits.Selection{})
	if list := pendingedits.Decisions(b.store); len(list) != 1 {
		t.Fatalf("decisions %+v", list)
	}
	now = now.Add(2 * time.Hour)
	b.wantSaid(b.undoLast(), "undo ")
	b.wantPending()
}

// TestRejectedBatchComesBack: with the commits that waited for it.
func TestRejectedBatchComesBack(t *testing.T) {
	b := newBatch(t, "a", ten, "b", ten)
	b.must(b.edits(auditor, "a", replace(ten, "2\n", "two\n"), "b", replace(ten, "2\n", "two\n")))
	b.must(b.commit("Both"))
	b.reject(pendingedits.Selection{Names: []string{"b"}})
	b.expect("commits after one file", b.waiting(), "Both [a]")
	b.reject(pendingedits.Selection{})
	b.expect("commits after all", b.waiting())
	b.reopen()
	b.wantSaid(b.undoLast(), "undo a")
	b.wantSaid(b.undoLast(), "undo b")
	b.expect("commits", b.waiting(), "Both [a b]")
	for _, e := range b.store.List("").Edits {
		if !e.Batch {
			t.Errorf("%s is not of the batch", e.Name)
		}
	}
	b.accept(pendingedits.Selection{})
	b.expect("commits that wait", b.waiting())
	if log := b.repo.log(); strings.Count(log, "two") != 2 {
		t.Errorf("the commit is %s", log)
	}
}
