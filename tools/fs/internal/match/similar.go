package match

import (
	"cmp"
	"context"
	"slices"
)

// Bounds of the similarity tier. A block is taken for what it is similar to
// only when all of them hold.
const (
	minLines     = 3       // lines with content in the block
	minBytes     = 24      // their bytes, white space not counted
	minEqual     = 2       // lines that are equal but for white space and say something
	maxDistance  = 0.10    // share of the block's bytes that differ
	maxUnequal   = 4       // one line in so many may differ, be missing or be additional …
	maxUnequalOf = 3       // … and in a long block one in so many
	leadFactor   = 2       // the runner-up must be so many times as far away …
	leadMargin   = 0.03    // … and that much more
	candidates   = 8       // regions that are compared closely
	maxSlack     = 16      // lines by which a region may drift
	commonLine   = 64      // a line that occurs more often votes for nothing
	sparseBlock  = 8       // lines from which on a line may be left out
	edgeLine     = 5       // bytes from which on a first or last line may differ as well
	longBlock    = 10      // lines from which on a difference may be any slip
	maxWork      = 1 << 27 // steps spent on distances per block; beyond, lines must be equal
	maxBlockSize = 1000    // lines; longer blocks must match better than by similarity
)

// region is a candidate, aligned with the block.
type region struct {
	at          []int // per line of the block: line of the text, or -1
	first, last int   // [first, last)
	cost        int   // of the alignment
	dist        float64
	equal       int // telling lines that are equal but for white space
	unequal     int // lines that differ, are missing or additional
	lost, extra int // of these: lines that only the block has, that only the text has
	weight      float64
}

// similar finds old by the lines that it shares with the text: each votes for
// an offset, a rare line more than a common one; the best regions are then
// aligned with old and measured by edit distance.
func similar(ctx context.Context, t *Text, old []string, o Options) (Match, error) {
	if len(old) > maxBlockSize {
		return Match{}, missing(ctx, t, old, "")
	}
	b := newBlock(old)
	if err := ctx.Err(); err != nil {
		return Match{}, err
	}
	regions := b.regions(t, o.From)
	if len(regions) == 0 {
		return Match{}, missing(ctx, t, old, "")
	}
	best := regions[0]
	// The text around the best region may have a twin elsewhere that shares no
	// line with old. It would be a runner-up, so it is looked for as well.
	twin := newBlock(Texts(t.Lines[best.first:best.last]))
	for _, r := range twin.regions(t, o.From) {
		if r.first < best.last && best.first < r.last {
			continue
		}
		if r, ok := b.align(t, r.first-b.slack, r.last+b.slack); ok {
			regions = append(regions, r)
		}
	}
	if reason := b.doubt(t, best, regions); reason != "" {
		return Match{}, &Missing{Reason: reason, Nearest: best.near()}
	}
	return Match{Tier: Similar, First: best.first, Last: best.last, At: best.at, Score: 1 - best.dist}, nil
}

func (r region) near() *Near { return &Near{r.first, r.last, max(0, 1-r.dist)} }

// block is a block prepared for comparison.
type block struct {
	lines []string
	bare  []string // without white space
	keys  []uint64
	total int // bytes of bare
	solid int // lines with content
	slack int
	work  int // spent on distances so far
}

func newBlock(lines []string) *block {
	b := &block{lines: lines, bare: make([]string, len(lines)), keys: make([]uint64, len(lines))}
	for i, l := range lines {
		b.bare[i], b.keys[i] = bare(l), key(l)
		b.total += len(b.bare[i])
		if b.bare[i] != "" {
			b.solid++
		}
	}
	b.slack = min(max(2, len(lines)/5), maxSlack)
	return b
}

// bare drops white space.
func bare(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != ' ' && s[i] != '\t' {
			out = append(out, s[i])
		}
	}
	return string(out)
}

func (t *Text) lineKeys() []uint64 {
	if t.keys == nil {
		t.keys = make([]uint64, len(t.Lines))
		for i, l := range t.Lines {
			t.keys[i] = key(l.Text)
		}
	}
	return t.keys
}

type vote struct {
	offset int
	weight float64
}

// regions returns the aligned candidates, nearest first.
func (b *block) regions(t *Text, from int) []region {
	in := make(map[uint64][]int, len(b.keys)) // lines of the block by key
	for j, k := range b.keys {
		if k != 0 {
			in[k] = append(in[k], j)
		}
	}
	// A small table of bits says quickly that a line is not in the block.
	var sieve [512]uint64
	for k := range in {
		sieve[k>>49&511] |= 1 << (k >> 58)
	}
	hits := make(map[uint64][]int, len(in)) // lines of the text by key
	for i, k := range t.lineKeys() {
		if k == 0 || i < from || sieve[k>>49&511]>>(k>>58)&1 == 0 {
			continue
		}
		if _, ok := in[k]; ok && len(hits[k]) <= commonLine {
			hits[k] = append(hits[k], i)
		}
	}
	var votes []vote
	for k, at := range hits {
		if len(at) > commonLine || len(at)*len(in[k]) > commonLine*8 {
			continue
		}
		for _, j := range in[k] {
			for _, i := range at {
				votes = append(votes, vote{i - j, 1 / float64(len(at)*len(in[k]))})
			}
		}
	}
	slices.SortFunc(votes, func(a, c vote) int { return cmp.Compare(a.offset, c.offset) })

	var out []region
	for _, w := range b.windows(votes) {
		if r, ok := b.align(t, max(from, w.offset-b.slack), w.offset+len(b.lines)+2*b.slack); ok {
			r.weight = w.weight
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, c region) int {
		return cmp.Or(cmp.Compare(a.cost, c.cost), cmp.Compare(a.first, c.first))
	})
	return distinct(out)
}

// windows returns the offsets with the most votes near them.
func (b *block) windows(votes []vote) []vote {
	var sums []vote
	for lo := 0; lo < len(votes); {
		hi, sum := lo, 0.0
		for hi < len(votes) && votes[hi].offset <= votes[lo].offset+b.slack {
			sum += votes[hi].weight
			hi++
		}
		sums = append(sums, vote{votes[lo].offset, sum})
		for off := votes[lo].offset; lo < len(votes) && votes[lo].offset == off; {
			lo++
		}
	}
	slices.SortStableFunc(sums, func(a, c vote) int { return cmp.Compare(c.weight, a.weight) })
	var out []vote
next:
	for _, s := range sums {
		for _, o := range out {
			if s.offset-o.offset <= b.slack && o.offset-s.offset <= b.slack {
				continue next
			}
		}
		if out = append(out, s); len(out) == candidates {
			break
		}
	}
	return out
}

// distinct drops the regions that overlap a nearer one.
func distinct(rs []region) []region {
	var out []region
next:
	for _, r := range rs {
		for _, o := range out {
			if r.first < o.last && o.first < r.last {
				continue next
			}
		}
		out = append(out, r)
	}
	return out
}

// doubt says why best is not certainly the place, or nothing.
func (b *block) doubt(t *Text, best region, all []region) string {
	switch {
	case b.solid < minLines || b.total < minBytes || best.equal < minEqual:
		return "too little text to place it by similarity"
	case best.dist > maxDistance:
		return "the nearest region differs too much"
	case best.unequal > b.mayDiffer():
		return "too many lines of the nearest region differ"
	case best.at[0] < 0 || best.at[len(best.at)-1] < 0:
		return "its first or last line is not there"
	case best.lost > 0:
		return "a line of it is not there"
	case best.extra > 0 && (b.differs(t, best, 0) || b.differs(t, best, len(best.at)-1)):
		return "its first or last line differs"
	case best.extra > 0 && b.solid < sparseBlock:
		return "the nearest region has more lines"
	}
	for _, r := range all {
		if r.first < best.last && best.first < r.last {
			continue
		}
		if r.dist < leadFactor*best.dist+leadMargin {
			return "another region is nearly as similar"
		}
	}
	return b.otherNames(t, best)
}

// mayDiffer is how many lines may differ, be missing or be additional.
func (b *block) mayDiffer() int {
	if b.solid >= longBlock {
		return b.solid / maxUnequalOf
	}
	return max(1, b.solid/maxUnequal)
}

// differs reports whether a line at the edge differs and is too short for the
// edge to be certain where lines are left out.
func (b *block) differs(t *Text, r region, j int) bool {
	return len(b.bare[j]) < edgeLine && b.keys[j] != t.keys[r.at[j]]
}
