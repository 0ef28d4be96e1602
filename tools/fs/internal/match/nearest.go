package match

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// What looking for the nearest region of a missing block may cost.
const (
	nearBody  = 4 << 20 // bytes of text; in a longer one only equal lines lead to a region
	nearLines = 3       // lines of the block that are looked for
	nearScore = 0.4     // less similar is no help

	minFragment = 0.6 // the same for a part of a line
)

// missing makes the error for a block that was not found, with the region that
// is most like it.
func missing(ctx context.Context, t *Text, old []string, reason string) error {
	near, err := Nearest(ctx, t, old)
	if err != nil {
		return err
	}
	return &Missing{Reason: reason, Nearest: near}
}

// Nearest returns the region of t that is most like old, nil when nothing is.
// It fails with ctx.Err() only.
func Nearest(ctx context.Context, t *Text, old []string) (*Near, error) {
	b := newBlock(old)
	if b.total == 0 || len(old) > maxBlockSize {
		return nil, ctx.Err()
	}
	var best *region
	regions := b.regions(t, 0)
	if len(t.Body) <= nearBody {
		starts, err := b.guesses(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, s := range starts {
			if r, ok := b.align(t, s-b.slack, s+len(old)+b.slack); ok {
				regions = append(regions, r)
			}
		}
	}
	for i, r := range regions {
		if best == nil || r.dist < best.dist {
			best = &regions[i]
		}
	}
	if best != nil && 1-best.dist >= nearScore {
		return best.near(), ctx.Err()
	}
	if b.solid == 1 {
		return b.fragment(ctx, t)
	}
	return nil, ctx.Err()
}

// guesses returns offsets at which the longest lines of the block have their
// nearest counterparts.
func (b *block) guesses(ctx context.Context, t *Text) ([]int, error) {
	order := make([]int, len(b.bare))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(len(b.bare[y]), len(b.bare[x])) })
	var out []int
	for _, j := range order[:min(nearLines, len(order))] {
		if b.bare[j] == "" {
			continue
		}
		at, score, err := nearestLine(ctx, t, trim(b.lines[j]))
		if err != nil {
			return nil, err
		}
		if score >= nearScore {
			out = append(out, at-j)
		}
	}
	return out, nil
}

// fragment is the line that has something like the block's only line in it.
func (b *block) fragment(ctx context.Context, t *Text) (*Near, error) {
	if len(t.Body) > nearBody {
		return nil, ctx.Err()
	}
	only := trim(strings.Join(b.lines, ""))
	at, score, err := nearestLine(ctx, t, only)
	if err != nil || score < minFragment {
		return nil, err
	}
	return &Near{at, at + 1, score}, nil
}

// nearestLine returns the line that contains something most like s, and how
// like it is.
func nearestLine(ctx context.Context, t *Text, s string) (at int, score float64, err error) {
	s = s[:min(len(s), 64)]
	var eq [256]uint64
	for i := range len(s) {
		eq[s[i]] |= 1 << i
	}
	best, gap := len(s)+1, 0
	for i, l := range t.Lines {
		if i&0xfff == 0 && ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		if len(l.Text)+best <= len(s) {
			continue
		}
		d := withinTable(&eq, len(s), l.Text)
		far := max(len(l.Text)-len(s), len(s)-len(l.Text))
		if d < best || d == best && far < gap {
			best, gap, at = d, far, i
		}
	}
	return at, 1 - float64(best)/float64(len(s)), nil
}
