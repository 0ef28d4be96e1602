package rank

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// looking is what the processors that look for an answer share.
type looking struct {
	r     *Ranker
	q     *Question
	f     Filter
	kinds segment.Kinds // that the filter lets pass
	parts []Part
	list  []weighed
	named map[uint32][]gain

	maxUnits, maxFiles int // that are kept
}

// best returns the best that are kept by looks at all the parts.
func (l *looking) best(look func(s *share, part uint32)) (units, files []first) {
	shares, together := make([]share, processors(l.list, len(l.parts))), new(bars)
	for i := range shares {
		shares[i] = l.share()
	}
	order := l.promising()
	sideBySide(len(shares), len(order), func(k, i int) {
		s := &shares[k]
		together.meet(s)
		look(s, order[i])
		together.meet(s)
	})
	all := &shares[0]
	for i := range shares {
		shares[i].sums.all, shares[i].sums.inside = segment.Cursor{}, segment.Inside{} // they would keep segments that are gone
		l.r.scratch.Put(shares[i].sums)
		if i > 0 {
			all.units.addAll(&shares[i].units)
			all.files.addAll(&shares[i].files)
		}
	}
	return all.units.sorted(), all.files.sorted()
}

// processors is how many processors a question is worth.
func processors(list []weighed, parts int) int {
	const each = 20_000 // postings, for which waking another one pays
	places := 0
	for i := range list {
		places += int(list[i].units)
	}
	return max(1, min(runtime.GOMAXPROCS(0), parts, places/each))
}

// promising is the order of the parts in which the best come soonest: by how
// much of the question's weight is in them.
func (l *looking) promising() []uint32 {
	weight, order := make([]float32, len(l.parts)), make([]uint32, len(l.parts))
	for i := range order {
		order[i] = uint32(i)
		for k := range l.list {
			weight[i] += l.list[k].unitWeight * float32(l.list[k].places[i].Units) / float32(l.list[k].units)
		}
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(weight[b], weight[a]) })
	return order
}

// filesOf returns the files that were found or have units that were, of each
// part in order.
func filesOf(parts []Part, units, files []first) [][]uint32 {
	out := make([][]uint32, len(parts))
	for _, c := range units {
		out[c.Part] = append(out[c.Part], parts[c.Part].Units[c.ID].File)
	}
	for _, c := range files {
		out[c.Part] = append(out[c.Part], c.ID)
	}
	for i := range out {
		slices.Sort(out[i])
		out[i] = slices.Compact(out[i])
	}
	return out
}

// spanOf are the units of a file.
func spanOf(f *segment.File) segment.Span {
	return segment.Span{First: f.First, End: f.First + f.Count}
}

// appendSpan adds the units of a file behind the spans of those before it.
func appendSpan(spans []segment.Span, f *segment.File) []segment.Span {
	next := spanOf(f)
	if n := len(spans); n > 0 && spans[n-1].End == next.First {
		spans[n-1].End = next.End
		return spans
	}
	return append(spans, next)
}

// bars are the scores that what one of several processors has kept so far
// reaches at least: what is below is not among the best of them all.
type bars struct{ units, files bar }

func (b *bars) meet(s *share) {
	b.units.meet(&s.units)
	b.files.meet(&s.files)
}

// bar is a number, not negative, as its bits, which are in the same order.
type bar struct{ bits atomic.Uint32 }

// meet brings a bar and what one processor keeps to the higher of both.
func (b *bar) meet(t *top) {
	t.bar = max(t.bar, math.Float32frombits(b.bits.Load()))
	for mine := math.Float32bits(max(0, t.bar)); ; {
		if old := b.bits.Load(); old >= mine || b.bits.CompareAndSwap(old, mine) {
			return
		}
	}
}
