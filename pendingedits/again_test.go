package pendingedits_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestIDsComeBack: a hunk that comes back is the one that it was, for whoever
// knows it by its id; another one is not.
func TestIDsComeBack(t *testing.T) {
	b := newBench(t, "a", ten, "old", "text\n")
	b.edit("a", replace(ten, "2\n", "two\n", "5\n", "five\n", "8\n", "eight\n"))
	b.edit("new", "n\n")
	b.move("old", "moved")
	before := map[string][]string{"a": b.ids("a"), "new": b.ids("new"), "moved": b.ids("moved")}
	same := func(what string) {
		t.Helper()
		for name, want := range before {
			if d := cmp.Diff(want, b.ids(name)); d != "" {
				t.Errorf("%s: %s -want +got:\n%s", what, name, d)
			}
		}
	}
	b.accept(pendingedits.Selection{Hunks: before["a"][1:2]})
	b.undo()
	same("after one hunk")
	b.acceptAll()
	b.undo()
	same("after all")

	// The agent proposes what was rejected once more: the same hunk. Another
	// text in its place is another one.
	if _, err := b.store.Reject(context.Background(), pendingedits.Selection{Hunks: before["a"][:1]}, ""); err != nil {
		t.Fatal(err)
	}
	b.edit("a", replace(b.seen("a"), "2\n", "two\n"))
	same("after a rejection")
	if _, err := b.store.Reject(context.Background(), pendingedits.Selection{Hunks: before["a"][:1]}, ""); err != nil {
		t.Fatal(err)
	}
	b.edit("a", replace(b.seen("a"), "2\n", "zwei\n"))
	if got := b.ids("a"); len(got) != 3 || got[0] == before["a"][0] {
		t.Errorf("another text has the id of the first: %v, %v", got, before["a"])
	}
}
