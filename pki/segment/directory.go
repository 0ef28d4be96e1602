package segment

import (
	"hash/maphash"
	"maps"
	"math/bits"
	"slices"
	"weak"
)

// Directory tells which of many segments may bear a name, at the price of one
// look instead of one into each. It never changes, and nil knows nothing. The
// zero value knows no segment.
//
// For each of two places that a name's hash gives there is a bit for each
// segment, as in a signature file that is stored by columns.
type Directory struct {
	seed  maphash.Seed
	slots []uint64
	bits  map[weak.Pointer[Segment]]uint64 // of those that are in it: one bit; it keeps none of them
}

const (
	// directoryFew is how many segments are asked one by one just as well.
	directoryFew = 4
	// smallSegment is how many units a segment has that is not worth a bit.
	smallSegment = 2000
	slotsPerUnit = 4
	maxSlots     = 1 << 19
)

// With returns a directory that knows these segments, as far as they are large
// and it has room. It returns d itself if there is nothing new.
func (d *Directory) With(segments []*Segment) *Directory {
	large, most := make([]*Segment, 0, len(segments)), 0
	for _, s := range segments {
		if len(s.Units) >= smallSegment && len(large) < 64 {
			large, most = append(large, s), max(most, len(s.Units))
		}
	}
	if len(large) <= directoryFew {
		return nil
	}
	if d != nil && !slices.ContainsFunc(large, func(s *Segment) bool { return d.bits[weak.Make(s)] == 0 }) {
		return d
	}
	size := min(1<<bits.Len(uint(most*slotsPerUnit-1)), maxSlots)
	next := &Directory{bits: map[weak.Pointer[Segment]]uint64{}}
	if d != nil && len(d.slots) >= size {
		next.seed, next.slots, next.bits = d.seed, slices.Clone(d.slots), maps.Clone(d.bits)
		next.retain(large)
	} else {
		next.seed, next.slots = maphash.MakeSeed(), make([]uint64, size)
	}
	for _, s := range large {
		if next.bits[weak.Make(s)] == 0 {
			next.enter(s)
		}
	}
	return next
}

// retain forgets all others.
func (d *Directory) retain(segments []*Segment) {
	left := uint64(0)
	for s := range d.bits {
		if !slices.Contains(segments, s.Value()) {
			delete(d.bits, s)
			continue
		}
		left |= d.bits[s]
	}
	for i := range d.slots {
		d.slots[i] &= left
	}
}

// enter gives a segment the first bit that is free.
func (d *Directory) enter(s *Segment) {
	used := uint64(0)
	for _, bit := range d.bits {
		used |= bit
	}
	bit := ^used & (used + 1)
	d.bits[weak.Make(s)] = bit
	for u := range s.Units {
		if s.Units[u].Kind() != FileKind {
			a, b := d.span(s.Name(uint32(u)))
			d.slots[a] |= bit
			d.slots[b] |= bit
		}
	}
}

func (d *Directory) span(name string) (a, b uint64) {
	h, mask := maphash.String(d.seed, name), uint64(len(d.slots)-1)
	return h & mask, h >> 32 & mask
}

// Bits returns the bit of each segment, 0 for one that is not known.
func (d *Directory) Bits(segments []*Segment) []uint64 {
	out := make([]uint64, len(segments))
	if d != nil {
		for i, s := range segments {
			out[i] = d.bits[weak.Make(s)]
		}
	}
	return out
}

// Without returns the bits of segments of which no unit has that name.
func (d *Directory) Without(name string) uint64 {
	if d == nil {
		return 0
	}
	a, b := d.span(name)
	return ^(d.slots[a] & d.slots[b])
}
