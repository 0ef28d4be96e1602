package pendingedits_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/opcount"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// manyHunks is a text, and another with a change in every second line.
func manyHunks(n int, distinct bool) (before, after string) {
	var b, a strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d stays\nline %d of the file\n", i, i)
		if distinct {
			fmt.Fprintf(&a, "line %d stays\nanother text in line %d\n", i, i)
		} else {
			fmt.Fprintf(&a, "line %d stays\nline %d of the file\nthe same\n", i, i)
		}
	}
	return b.String(), a.String()
}

// queueOf is a queue over a file in memory with n hunks.
func queueOf(tb testing.TB, n int, distinct bool) (*pendingedits.Store, *memory) {
	tb.Helper()
	base := newMemory()
	before, after := manyHunks(n, distinct)
	base.set("a", before)
	s, err := pendingedits.Open(filepath.Join(tb.TempDir(), "p"), base, pendingedits.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	if err := s.For(agent).Apply(context.Background(), workspace.Change{Path: "a", Before: []byte(before), After: []byte(after)}); err != nil {
		tb.Fatal(err)
	}
	return s, base
}

// manyWork is what is done with many hunks.
var manyWork = map[string]func(tb testing.TB, s *pendingedits.Store, base *memory){
	"list": func(_ testing.TB, s *pendingedits.Store, _ *memory) { s.List("") },
	"accept all": func(tb testing.TB, s *pendingedits.Store, _ *memory) {
		if r, err := s.Accept(tb.Context(), pendingedits.Selection{}); err != nil || len(r.Accepted) != 1 {
			tb.Error(r, err)
		}
	},
	"accept half by id": func(tb testing.TB, s *pendingedits.Store, _ *memory) {
		var sel pendingedits.Selection
		for i, h := range s.List("").Edits[0].Hunks {
			if i%2 == 0 {
				sel.Hunks = append(sel.Hunks, h.ID)
			}
		}
		if r, err := s.Accept(tb.Context(), sel); err != nil || len(r.Accepted) != 1 {
			tb.Error(r, err)
		}
		s.List("")
	},
	"reject half by id": func(tb testing.TB, s *pendingedits.Store, _ *memory) {
		var sel pendingedits.Selection
		for i, h := range s.List("").Edits[0].Hunks {
			if i%2 == 0 {
				sel.Hunks = append(sel.Hunks, h.ID)
			}
		}
		if _, err := s.Reject(tb.Context(), sel, ""); err != nil {
			tb.Error(err)
		}
		s.List("")
	},
	"undo": func(tb testing.TB, s *pendingedits.Store, _ *memory) {
		if _, err := s.Accept(tb.Context(), pendingedits.Selection{}); err != nil {
			tb.Error(err)
		}
		if _, err := s.Undo(tb.Context()); err != nil {
			tb.Error(err)
		}
	},
	"a line of the user above": func(_ testing.TB, s *pendingedits.Store, base *memory) {
		base.set("a", "the user's\n"+text(base, "a"))
		s.List("")
	},
	"a line of the user, all else in conflict": func(_ testing.TB, s *pendingedits.Store, base *memory) {
		base.set("a", strings.ReplaceAll(text(base, "a"), " of the file", " of the user"))
		s.List("")
	},
	"one more edit": func(tb testing.TB, s *pendingedits.Store, _ *memory) {
		now := text(s.For(agent), "a")
		if err := s.For(agent).Apply(tb.Context(), workspace.Change{Path: "a", Before: []byte(now), After: []byte("more\n" + now)}); err != nil {
			tb.Error(err)
		}
	},
	"diff": func(tb testing.TB, s *pendingedits.Store, _ *memory) {
		if _, err := s.Diff(""); err != nil {
			tb.Error(err)
		}
	},
}

// BenchmarkManyHunks shows how the work grows with the hunks of a file.
func BenchmarkManyHunks(b *testing.B) {
	for _, distinct := range []bool{true, false} {
		for name, work := range manyWork {
			for _, n := range []int{1_000, 10_000, 50_000, 200_000} {
				b.Run(fmt.Sprintf("%s/distinct=%v/%d", name, distinct, n), func(b *testing.B) {
					for b.Loop() {
						b.StopTimer()
						s, base := queueOf(b, n, distinct)
						b.StartTimer()
						work(b, s, base)
						b.StopTimer()
						s.Close()
						b.StartTimer()
					}
				})
			}
		}
	}
}

// TestManyHunksGrow: what is done with the hunks of a file grows with their
// number, and not with its square.
func TestManyHunksGrow(t *testing.T) {
	slow.Test(t)
	slow.Test(t) // it compiles the packages to count what they do
	const n = 500
	over := []string{".", "./internal/hunk", "../internal/text/diff", "slices", "sort"}
	counts := opcount.Count(t, "TestManyHunksWork", []int{n, 4 * n}, over...)
	small, large := counts[0], counts[1]
	t.Logf("%d and %d hunks: %d and %d statements, %.1f times as many", n, 4*n, small, large, float64(large)/float64(small))
	if small < 1000*n || large > 6*small { // logarithms are allowed
		t.Errorf("%d statements for %d hunks, %d for %d", small, n, large, 4*n)
	}
}

// TestManyHunksWork is the work that TestManyHunksGrow counts.
func TestManyHunksWork(t *testing.T) {
	n, ok := opcount.Size()
	if !ok {
		n = 100
	}
	for _, distinct := range []bool{true, false} {
		for _, work := range manyWork {
			s, base := queueOf(t, n, distinct)
			work(t, s, base)
			s.Close()
		}
	}
}
