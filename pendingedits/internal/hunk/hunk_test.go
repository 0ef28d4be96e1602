package hunk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

func always(Hunk) bool { return true }

func never(Hunk) bool { return false }

// randomText has few different lines, so that changes often meet, and sometimes no end.
func randomText(rnd *rand.Rand) []byte {
	var b strings.Builder
	for range rnd.IntN(9) {
		fmt.Fprintf(&b, "%d\n", rnd.IntN(4))
	}
	if rnd.IntN(4) == 0 {
		b.WriteString("end")
	}
	return []byte(b.String())
}

// changed is a text with a line or two that are others, more or gone.
func changed(rnd *rand.Rand, text []byte) []byte {
	lines := diff.SplitLines(string(text))
	for range 1 + rnd.IntN(2) {
		i := rnd.IntN(len(lines) + 1)
		switch rest := lines[i:]; rnd.IntN(3) {
		case 0:
			lines = append(append(lines[:i:i], fmt.Sprintf("%d\n", rnd.IntN(6))), rest...)
		case 1:
			lines = append(lines[:i:i], rest[min(1, len(rest)):]...)
		default:
			lines = append(append(lines[:i:i], "x\n"), rest[min(1, len(rest)):]...)
		}
	}
	return Join(lines)
}

// TestArithmetic holds what the parts promise each other over texts of all kinds.
func TestArithmetic(t *testing.T) {
	conflicts, kept := 0, 0
	for seed := range uint64(5_000) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		base := randomText(rnd)
		want, live := changed(rnd, base), changed(rnd, base)
		check := func(what string, got, want []byte) {
			if !bytes.Equal(got, want) {
				t.Fatalf("seed %d: %s is %q, want %q (base %q, live %q)", seed, what, got, want, base, live)
			}
		}
		hunks := Between(base, want)
		for i := range hunks {
			hunks[i].ID, hunks[i].By = fmt.Sprint(i), []string{"s"}
		}
		check("the base with its changes", Apply(base, hunks), want)
		all, left := Split(base, hunks, always, never)
		if check("what all were applied to", all, want); left != nil {
			t.Fatalf("seed %d: %v are left of all", seed, left)
		}
		same, left := Split(base, hunks, never, never)
		check("what none was applied to", same, base)
		check("what is left of none", Apply(same, left), want)
		check("the text in its own base", Place(base, hunks, base).Text, want)
		done := Place(base, hunks, want)
		if check("the text where all is done", done.Text, want); len(done.Ready) > 0 {
			t.Fatalf("seed %d: %v are to be done again", seed, done.Ready)
		}
		merged, ok := Merge(base, live, want)
		other, okToo := Merge(base, want, live)
		if ok && okToo && len(hunks) == 1 && len(Between(base, live)) == 1 && hunks[0].Start != Between(base, live)[0].Start {
			check("the merge from the other side", other, merged)
		}

		// Whatever is wanted next: the hunks that say it make it of the live text, and what is in
		// conflict stays so until somebody decides.
		p := Place(base, hunks, live)
		if ok != (len(p.clashes) == 0) && !bytes.Equal(live, base) {
			t.Fatalf("seed %d: merged %v, %d clashes", seed, ok, len(p.clashes))
		}
		next := changed(rnd, p.Text)
		n := 0
		newID := func(Hunk) string { n++; return fmt.Sprint("new", n) }
		for _, user := range []bool{false, true} {
			again, reworked := Rework(p, live, next, newID, Credit{By: []string{"r"}, User: user})
			placed := Place(again, reworked, live)
			check("what was reworked", placed.Text, next)
			if user && len(placed.clashes) > 0 {
				t.Fatalf("seed %d: the user decided, and %d clashes stay", seed, len(placed.clashes))
			}
			if conflicts += len(p.clashes); len(placed.clashes) > 0 {
				kept++
			}
			for _, h := range reworked {
				if h.ID == "" || len(h.By) == 0 {
					t.Fatalf("seed %d: %+v is nobody's", seed, h)
				}
			}
		}
	}
	if conflicts < 500 || kept < 50 {
		t.Errorf("only %d conflicts were seen, and %d stayed", conflicts, kept)
	}
}

// TestFollowAll: what is whose stays in the text, and what is all of it stays so.
func TestFollowAll(t *testing.T) {
	then, now := []byte("1\n2\n3\n"), []byte("0\n1\n2\n3\n")
	got := FollowAll([]Owned{{1, 2, []string{"s"}}, Everywhere("r")[0]}, then, now)
	if got[0].Start != 2 || got[0].End != 3 || got[1].End != Everywhere()[0].End {
		t.Errorf("%+v", got)
	}
	if got := FollowAll(nil, then, now); got != nil {
		t.Errorf("nobody's: %+v", got)
	}
}
