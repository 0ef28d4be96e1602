package pendingedits_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestTake has the user take what an agent proposes for lines that the user changed meanwhile.
func TestTake(t *testing.T) {
	proposal := replace(ten, "3\n", "three\n", "8\n", "8\n8½\n")
	for _, c := range []struct {
		name, live string
		hunk       int
		left       []string
		now        string // what the file is when it is accepted
	}{
		{"the line itself", replace(ten, "3\n", "drei\n"), 0, []string{"modify a clean +1-0 [8,0→9,1 clean]"}, replace(ten, "3\n", "three\n")},
		{"the line and more above", "0\n" + replace(ten, "3\n", "drei\n"), 0, []string{"modify a clean +1-0 [9,0→10,1 clean]"}, "0\n" + replace(ten, "3\n", "three\n")},
		{"the line deleted", replace(ten, "3\n", ""), 0, []string{"modify a clean +1-0 [8,0→9,1 clean]"}, replace(ten, "3\n", "three\n")},
		{"around an insertion", replace(ten, "8\n9\n", "acht\nneun\n"), 1, []string{"modify a clean +1-1 [3,1→3,1 clean]"}, replace(ten, "8\n", "8\n8½\n")},
		{"one of two", replace(ten, "3\n", "drei\n", "8\n9\n", "acht\nneun\n"), 0, []string{"modify a conflict +1-0 [7,0→8,1 conflict]"}, replace(ten, "3\n", "three\n", "8\n9\n", "acht\nneun\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, "a", ten)
			b.edit("a", proposal)
			b.write("a", c.live)
			id := b.ids("a")[c.hunk]
			if text, err := b.store.Text("a", pendingedits.Taken); err != nil || !strings.Contains(text, "three\n") || !strings.Contains(text, "8\n8½\n") {
				t.Errorf("the text with what is in conflict: %q, %v", text, err)
			}
			b.takeAndAccept(id)
			b.want("a", c.now, b.seen("a"))
			b.wantPending(c.left...)
			b.reopen()
			b.wantPending(c.left...)
			if strings.Contains(strings.Join(c.left, ""), "conflict") {
				return // what would be pending again could take the place of a conflict
			}
			if b.undo(); b.onDisk("a") != c.live {
				t.Errorf("undone, the file is %q, want the user's %q", b.onDisk("a"), c.live)
			}
		})
	}
}

// TestTakeWhole is TestTake for files that are made or deleted, and for what can't be taken.
func TestTakeWhole(t *testing.T) {
	t.Run("made by the user too", func(t *testing.T) {
		b := newBench(t)
		b.edit("a", "agent\n")
		b.write("a", "user\n")
		b.takeAndAccept(b.ids("a")[0])
		b.want("a", "agent\n", "agent\n")
		b.wantPending()
	})
	t.Run("changed before it is deleted", func(t *testing.T) {
		b := newBench(t, "a", "a\n")
		b.edit("a", absent)
		b.write("a", "b\n")
		b.takeAndAccept(b.ids("a")[0])
		b.want("a", absent, absent)
	})
	t.Run("the new name is taken", func(t *testing.T) {
		b := newBench(t, "a", ten)
		b.move("a", "b")
		b.write("b", "user\n")
		if _, err := pendingedits.TakeProposed(context.Background(), b.store, b.ids("b")); !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("%v, want a conflict", err)
		}
		b.want("b", "user\n", "user\n", "a", ten, ten)
	})
	t.Run("binary now", func(t *testing.T) {
		b := newBench(t, "a", ten)
		b.edit("a", replace(ten, "3\n", "three\n"))
		b.write("a", "\x00")
		if _, err := pendingedits.TakeProposed(context.Background(), b.store, b.ids("a")); !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("%v, want a conflict", err)
		}
		b.want("a", "\x00", "\x00")
	})
}

// TestTakeWithoutConflict changes nothing where there is no conflict, and leaves out what is gone.
func TestTakeWithoutConflict(t *testing.T) {
	b := newBench(t, "a", ten)
	b.edit("a", replace(ten, "3\n", "three\n"))
	ids := b.ids("a")
	got, err := pendingedits.TakeProposed(context.Background(), b.store, append(slices.Clone(ids), "gone"))
	if d := cmp.Diff(ids, got); d != "" || err != nil {
		t.Errorf("ids (-want +got):\n%s%v", d, err)
	}
	b.wantPending("modify a clean +1-1 [3,1→3,1 clean]")
	b.want("a", ten, replace(ten, "3\n", "three\n"))
}

func (b *bench) takeAndAccept(id string) {
	b.t.Helper()
	ids, err := pendingedits.TakeProposed(context.Background(), b.store, []string{id})
	if err != nil {
		b.t.Fatal(err)
	}
	if res := b.accept(pendingedits.Selection{Hunks: ids}); len(res.Failed) > 0 {
		b.t.Fatalf("failed: %v", res.Failed)
	}
}
