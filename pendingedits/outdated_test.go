package pendingedits_test

import (
	"errors"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestOutdated: a change of a text that was changed otherwise meanwhile waits as if
// it had been there first.
func TestOutdated(t *testing.T) {
	proposal := replace(ten, "3\n", "three\n", "8\n", "8\n8½\n")
	for _, c := range []struct {
		name, before, live, after string // "" is no file
		pending                   string
		seen                      string
	}{
		{"a line that the user changed", ten, replace(ten, "3\n", "drei\n"), proposal, "modify a conflict +2-1 [3,1→3,1 conflict] [8,0→9,1 clean]", replace(ten, "3\n", "drei\n", "8\n", "8\n8½\n")},
		{"nothing that the user changed", ten, "0\n" + ten, proposal, "modify a moved +2-1 [4,1→4,1 moved] [9,0→10,1 moved]", "0\n" + proposal},
		{"deleted here", ten, ten + "11\n", "(absent)", "delete a conflict +0-10 [1,10→0,0 conflict]", ten + "11\n"},
		{"deleted there", ten, "(absent)", proposal, "modify a conflict +2-1 [1,1→1,1 conflict] [0,0→1,1 conflict]", "(absent)"},
		{"made by both", "(absent)", "by the user\n", "by a command\n", "create a conflict +1-0 [0,0→1,1 conflict]", "by the user\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			if c.live != "(absent)" {
				b.write("a", c.live)
			}
			change := workspace.Change{Path: "a", Before: bytesOf(c.before), After: bytesOf(c.after)}
			if c.before != c.live {
				if err := b.store.For(agent).Apply(t.Context(), change); !errors.Is(err, workspace.ErrConflict) {
					t.Errorf("as a change of what is there: %v", err)
				}
			}
			if err := b.disk.Apply(t.Context(), outdated(change)); !errors.Is(err, workspace.ErrConflict) {
				t.Errorf("on the disk: %v", err)
			}
			b.apply(outdated(change))
			for range 2 {
				b.wantPending(c.pending)
				b.want("a", c.live, c.seen)
				b.reopen()
			}
			// A second change can't be late for a file that has a first.
			if err := b.store.For(agent).Apply(t.Context(), outdated(change)); !errors.Is(err, workspace.ErrConflict) {
				t.Errorf("a second time: %v", err)
			}
			if err := b.store.For(agent).Apply(t.Context(), outdated(workspace.Change{Path: "b", From: "a", Before: change.Before, After: change.After})); !errors.Is(err, workspace.ErrConflict) {
				t.Errorf("a late rename: %v", err)
			}
			// When the user's change goes, so does the conflict.
			if c.before == "(absent)" {
				b.remove("a")
			} else {
				b.write("a", c.before)
			}
			if res := b.accept(pendingedits.Selection{}); len(res.Failed) != 0 {
				t.Errorf("accept: %+v", res)
			}
			b.want("a", c.after, c.after)
		})
	}
}

func outdated(c workspace.Change) workspace.Change {
	c.Outdated = true
	return c
}
