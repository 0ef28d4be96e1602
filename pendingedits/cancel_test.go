package pendingedits_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestCancelledDecisions: a decision that is cancelled before it has begun does
// nothing; one that has begun is made as a whole.
func TestCancelledDecisions(t *testing.T) {
	for _, what := range []string{"accept", "reject", "undo"} {
		for _, point := range []string{"", "pick", "intent"} {
			if what == "undo" && point == "pick" {
				continue // there is nothing to pick
			}
			t.Run(what+" "+point, func(t *testing.T) {
				b := newBench(t, "a", numbered, "b", numbered)
				b.by("A", "a", "2\n", "A2\n")
				b.by("A", "b", "2\n", "A2\n")
				if what == "undo" {
					b.acceptAll()
				}
				before := b.onDisk("a") + b.onDisk("b")
				b.told = nil
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				begun := false
				b.must(b.store.Close())
				b.opts.Fail = func(at string) error {
					if point == "intent" && (at == what+".intent.written" || at == what+".written") {
						begun = true
						cancel()
					}
					return nil
				}
				b.open()
				switch point {
				case "":
					cancel()
				case "pick":
					ctx = &endsAfter{Context: ctx, looks: 1}
				}
				var err error
				switch what {
				case "accept":
					_, err = b.store.Accept(ctx, pendingedits.Selection{})
				case "reject":
					_, err = b.store.Reject(ctx, pendingedits.Selection{}, "")
				case "undo":
					_, err = b.store.Undo(ctx)
				}
				after, left := b.onDisk("a")+b.onDisk("b"), len(b.store.List("").Edits)
				want := map[string]int{"accept": 2, "reject": 2}[what]
				switch {
				case point == "intent" && (!begun || after != before && left == want):
					t.Errorf("begun %v, then: %v, %q, %d edits", begun, err, after, left)
				case point != "intent" && (!errors.Is(err, context.Canceled) || after != before || left != want || len(b.told) > 0):
					t.Errorf("%v, %q, %d edits, told %q", err, after, left, b.told)
				}
			})
		}
	}
}

// endsAfter is a context that has ended after it was looked at so often.
type endsAfter struct {
	context.Context
	looks int
}

func (e *endsAfter) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return e.Context.Err()
}
