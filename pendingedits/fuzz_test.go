package pendingedits_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// FuzzReview proposes one text for another and decides on the hunks: accepting
// all of them gives the proposal, in one step or one by one in any order;
// rejecting all leaves the base; and what is left after some were accepted and
// the server was started again is still the rest of the proposal.
func FuzzReview(f *testing.F) {
	f.Add("a\nb\nc\nd\ne\nf\n", "a\nB\nc\nd\nE\nf\ng\n", uint64(1))
	f.Add("one\r\ntwo\r\nthree", "one\r\nthree\r\n", uint64(2))
	f.Add("x\n\n\n\ny\n", "\nx\n\ny\n\n", uint64(3))
	f.Add("", "new\n", uint64(4))
	f.Add("a\rb\rc", "a\rB\rc\r", uint64(5))
	f.Fuzz(func(t *testing.T, base, proposal string, seed uint64) {
		if len(base)+len(proposal) > 4096 {
			return // long texts teach nothing new
		}
		rnd := rand.New(rand.NewPCG(seed, 0))
		b := newBench(t, "all", base, "none", base, "some", base)
		for _, name := range []string{"all", "none", "some"} {
			b.edit(name, proposal)
		}
		if base == proposal {
			b.wantPending()
			return
		}
		b.accept(pendingedits.Selection{Names: []string{"all"}})
		b.is("all", proposal)
		if _, err := b.store.Reject(t.Context(), pendingedits.Selection{Names: []string{"none"}}, ""); err != nil {
			t.Fatal(err)
		}
		b.is("none", base)
		for n := 0; ; n++ {
			ids := b.ids("some")
			if len(ids) == 0 {
				break
			}
			if n == 1 {
				b.reopen()
				if got, err := b.store.Text("some", pendingedits.Proposed); err != nil || got != proposal {
					t.Fatalf("after the restart: %q, %v; want %q", got, err, proposal)
				}
			}
			id := ids[rnd.IntN(len(ids))]
			r, err := b.store.Accept(t.Context(), pendingedits.Selection{Hunks: []string{id}})
			if err != nil || len(r.Failed) > 0 {
				t.Fatalf("hunk %s: %+v, %v", id, r, err)
			}
		}
		b.is("some", proposal)
	})
}

// is compares a file on disk.
func (b *bench) is(name, want string) {
	b.t.Helper()
	got, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil || string(got) != want {
		b.t.Fatalf("%s: %q, %v; want %q", name, got, err, want)
	}
}
