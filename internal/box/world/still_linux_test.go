package world

import (
	"errors"
	"os"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// A command that runs alone sees no text that becomes pending meanwhile, and nothing begins
// beside it. Control: another command sees it.
func TestStill(t *testing.T) { eachKind(t, testStill) }

func testStill(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"lock": "one\n"})
	begin := func(still bool) (*Run, error) {
		return r.m.Begin(Request{Session: "s", Kind: kind, Root: r.root, View: workspace.NewOverlay(r.disk, r.q), Still: still})
	}
	for _, still := range []bool{true, false} {
		r.q.texts = map[string][]byte{}
		run, err := begin(still)
		if err != nil {
			t.Fatal(err)
		}
		r.edit("lock", "two\n")
		r.m.Again()
		if out := r.start(run, "cat lock"); (out == "one\n") != still {
			t.Errorf("still %v: it sees %q", still, out)
		}
		beside, err := begin(!still)
		if err == nil || still && !errors.Is(err, errStill) || !still && !errors.Is(err, ErrOthersRun) {
			t.Errorf("still %v: something begins beside it: %v", still, err)
			_, _ = beside.End(false)
		}
		if _, err := settled(run.End(true)); err != nil {
			t.Fatal(err)
		}
	}
	run, err := begin(true)
	if err != nil {
		t.Fatal(err)
	}
	run.GiveUp()
	if run, err = begin(false); err != nil {
		t.Fatalf("after the end: %v", err)
	}
	_, _ = run.End(false)
	if _, err := os.Stat(r.root); err != nil {
		t.Fatal(err)
	}
}
