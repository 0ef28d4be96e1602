package pendingedits_test

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestRejectedAgain: a change that was rejected is marked when it comes again, and no other is.
func TestRejectedAgain(t *testing.T) {
	b := newBench(t, "a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n", "b.txt", "one\n")
	again := func(name string) (marked []bool) {
		t.Helper()
		e, _, ok := b.store.Edit(name)
		if !ok {
			t.Fatalf("%s is not pending", name)
		}
		for _, h := range e.Hunks {
			marked = append(marked, h.Again)
		}
		return marked
	}
	first, other := "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n", "uno\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n"
	b.edit("a.txt", first)
	if got := again("a.txt"); len(got) != 2 || got[0] || got[1] {
		t.Fatalf("marked at first: %v", got)
	}
	e, _, _ := b.store.Edit("a.txt")
	if _, err := b.store.Reject(t.Context(), pendingedits.Selection{Hunks: []string{e.Hunks[0].ID}}, "no"); err != nil {
		t.Fatal(err)
	}
	if got := again("a.txt"); len(got) != 1 || got[0] {
		t.Errorf("what was not rejected is marked: %v", got)
	}
	b.edit("a.txt", first)
	if got := again("a.txt"); len(got) != 2 || !got[0] || got[1] {
		t.Errorf("the same again: %v", got)
	}
	b.edit("a.txt", other)
	if got := again("a.txt"); len(got) != 2 || got[0] || got[1] {
		t.Errorf("another change of the same line: %v", got)
	}
	b.edit("b.txt", "ONE\n") // the same in another file
	if got := again("b.txt"); len(got) != 1 || got[0] {
		t.Errorf("another file: %v", got)
	}
}
