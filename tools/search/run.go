package search

import (
	mathbits "math/bits"
	"regexp/syntax"
	"slices"
)

// byteSet is a set of bytes.
type byteSet struct {
	bits [4]uint64

	// Every byte of the set, and perhaps others, is want when mask is put over
	// it.
	want, mask byte
	share      float64 // about how many of the bytes of source text are such
}

func (s *byteSet) has(b byte) bool { return s.bits[b/64]>>(b%64)&1 != 0 }

// newByteSet makes a set with at least one byte.
func newByteSet(bits [4]uint64) byteSet {
	s := byteSet{bits: bits}
	any := false
	for i, w := range bits {
		for ; w != 0; w &= w - 1 {
			c := byte(64*i + mathbits.TrailingZeros64(w))
			if !any {
				s.want, any = c, true
			}
			s.mask |= s.want ^ c
		}
	}
	s.want |= s.mask
	for sub := s.mask; ; sub = (sub - 1) & s.mask {
		s.share += shareOf(s.want &^ sub)
		if sub == 0 {
			return s
		}
	}
}

func (s byteSet) or(o byteSet) byteSet {
	for i := range s.bits {
		s.bits[i] |= o.bits[i]
	}
	return newByteSet(s.bits)
}

// shareOf is about how many of the bytes of source text are c: the most common
// one is every fifth, the n-th as often divided by n.
func shareOf(c byte) float64 {
	const most, rare = 0.2, 0.0005
	if f := frequency(c); f > 0 {
		return most / float64(len(byFrequency)-f+1)
	}
	return rare
}

// runs are sequences of bytes that every match has, each byte one of a set.
type runs struct {
	prefix, suffix, best []byteSet
	exact                bool // a match is a prefix and nothing else
}

const (
	maxRun = 16 // bytes of a sequence that are looked at
	// rareRun is how often what is looked for may come, so that looking for it is
	// faster than matching everything.
	rareRun = 1. / 64
)

// requiredRun returns a sequence of bytes that every match of re has, nil when
// there is none that is rare.
func requiredRun(re *syntax.Regexp) []byteSet {
	if r := runsOf(re).best; rarity(r) <= rareRun {
		return r
	}
	return nil
}

// rarity is about how often the two rarest places of a sequence come together.
func rarity(r []byteSet) float64 {
	_, _, share := rarestOffsets(r)
	return share
}

// rarestOffsets returns the two places, in order, the same one twice of a
// sequence of one.
func rarestOffsets(r []byteSet) (a, b int, share float64) {
	least := [2]float64{1, 1}
	for i := range r {
		switch s := r[i].share; {
		case s < least[0]:
			a, b, least = i, a, [2]float64{s, least[0]}
		case s < least[1]:
			b, least[1] = i, s
		}
	}
	if len(r) < 2 {
		b = a
	}
	return min(a, b), max(a, b), least[0] * least[1]
}

func exactly(r ...byteSet) runs { return runs{r, r, r, true} }

func runsOf(re *syntax.Regexp) runs {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly()
	case syntax.OpLiteral:
		out := exactly()
		for _, r := range re.Rune {
			out = out.then(runsOfRanges([]rune{r, r}, re.Flags&syntax.FoldCase != 0))
		}
		return out
	case syntax.OpCharClass:
		return runsOfRanges(re.Rune, false)
	case syntax.OpCapture:
		return runsOf(re.Sub[0])
	case syntax.OpPlus:
		return runsOf(re.Sub[0]).repeated(1, -1)
	case syntax.OpRepeat:
		return runsOf(re.Sub[0]).repeated(re.Min, re.Max)
	case syntax.OpConcat:
		out := exactly()
		for _, sub := range re.Sub {
			out = out.then(runsOf(sub))
		}
		return out
	case syntax.OpAlternate:
		out := runsOf(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			out = out.either(runsOf(sub))
		}
		return out
	}
	return runs{}
}

// runsOfRanges is one character of the ranges. What is no ASCII takes several
// bytes, or none that are known.
func runsOfRanges(ranges []rune, fold bool) runs {
	var bits [4]uint64
	add := func(r rune) { bits[r/64] |= 1 << (r % 64) }
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1] >= 0x80 {
			return runs{}
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if lower := r | 0x20; fold && 'a' <= lower && lower <= 'z' {
				if lower == 'k' || lower == 's' { // the Kelvin sign, the long s
					return runs{}
				}
				add(lower)
				add(lower &^ 0x20)
			}
			add(r)
		}
	}
	if len(ranges) == 0 {
		return runs{}
	}
	return exactly(newByteSet(bits))
}

// then is one sequence after the other.
func (r runs) then(o runs) runs {
	out := runs{prefix: r.prefix, suffix: o.suffix, exact: r.exact && o.exact}
	if r.exact {
		out.prefix = slices.Concat(r.prefix, o.prefix)
		if len(out.prefix) > maxRun {
			out.prefix, out.exact = out.prefix[:maxRun], false
		}
	}
	if o.exact {
		out.suffix = slices.Concat(r.suffix, o.suffix)
		out.suffix = out.suffix[max(0, len(out.suffix)-maxRun):]
	}
	out.best = rarer(slices.Concat(r.suffix, o.prefix), rarer(r.best, o.best))
	return out
}

// repeated is the sequence between least and most times, without an end if
// most is negative.
func (r runs) repeated(least, most int) runs {
	if least == 0 {
		return runs{}
	}
	out := r
	for i := 1; i < least && (out.exact || i == 1); i++ { // beyond, all is the same
		out = out.then(r)
	}
	out.exact = out.exact && least == most
	return out
}

// either is what both have.
func (r runs) either(o runs) runs {
	n, m := min(len(r.prefix), len(o.prefix)), min(len(r.suffix), len(o.suffix))
	var out runs
	for i := range n {
		out.prefix = append(out.prefix, r.prefix[i].or(o.prefix[i]))
	}
	for i := range m {
		out.suffix = append(out.suffix, r.suffix[len(r.suffix)-m+i].or(o.suffix[len(o.suffix)-m+i]))
	}
	out.exact = r.exact && o.exact && len(r.prefix) == len(o.prefix)
	out.best = rarer(out.prefix, out.suffix)
	return out
}

func rarer(a, b []byteSet) []byteSet {
	if rarity(b) < rarity(a) {
		return b
	}
	return a
}
