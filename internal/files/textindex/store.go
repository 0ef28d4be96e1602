package textindex

import (
	"math/bits"
	"slices"
)

// store holds the signatures, those of one size together, as a bit-sliced
// signature file: a row has one bit of each of slabColumns signatures, so that a look-up
// reads a few rows instead of all signatures.
type store struct {
	classes [maxBits - minBits + 1]class
	dropped int // columns that belong to no file any more
	columns int
	used    int // bytes of all signatures
}

const slabColumns = 512

// rowWords is the length of a row: a line of the processor's cache.
const rowWords = slabColumns / 64

// class holds the signatures of one size, a column each.
type class struct {
	slabs [][]uint64 // slabColumns columns each, row after row
	stage [][]uint64 // the columns after these, each one in memory of its own: most will not stay
	files []int32    // the files of the columns; noFile: dropped
	parts []Part     // what of the files the columns are about
}

// Part is a part of a file, whole lines of it.
type Part struct {
	From, To uint32 // in bytes
	Line     uint32 // the number of the first line
}

const noFile = -1

// column says where a signature is: its class and its place there.
type column uint32

const noColumn = ^column(0)

func (c column) split() (class, at int) { return int(c >> 28), int(c & (1<<28 - 1)) }

// add stores a signature of 1<<log2 bits.
func (s *store) add(file int32, part Part, log2 uint8, signature []uint64) column {
	k := int(log2) - minBits
	c := &s.classes[k]
	at := column(k<<28 | len(c.files))
	c.files, c.parts = append(c.files, file), append(c.parts, part)
	c.stage = append(c.stage, slices.Clone(signature))
	s.columns++
	s.used += 8 * len(signature)
	if len(c.files)%slabColumns == 0 {
		c.slabs = append(c.slabs, transpose(c.stage))
		c.stage = nil
	}
	return at
}

// drop forgets a signature. Its room is won back by the next rebuild.
func (s *store) drop(c column) {
	k, at := c.split()
	s.classes[k].files[at] = noFile
	s.dropped++
}

// signature returns what add got for a column; the signature is appended to
// buf.
func (s *store) signature(col column, buf []uint64) (part Part, log2 uint8, signature []uint64) {
	k, at := col.split()
	c := &s.classes[k]
	part = c.parts[at]
	if slab := at / slabColumns; slab < len(c.slabs) {
		return part, uint8(k + minBits), untranspose(c.slabs[slab], at%slabColumns, buf)
	}
	return part, uint8(k + minBits), append(buf, c.stage[at-len(c.slabs)*slabColumns]...)
}

// renumber gives the files other numbers; those that become noFile are
// dropped.
func (s *store) renumber(numbers []int32) {
	for k := range s.classes {
		for i, f := range s.classes[k].files {
			if f == noFile {
				continue
			}
			if s.classes[k].files[i] = numbers[f]; numbers[f] == noFile {
				s.dropped++
			}
		}
	}
}

// transpose makes rows of slabColumns columns.
func transpose(columns [][]uint64) []uint64 {
	words := len(columns[0])
	slab := make([]uint64, words*slabColumns)
	var square [64]uint64
	for w := range words {
		for group := range rowWords {
			for i := range square {
				square[i] = columns[group*64+i][w]
			}
			flip(&square)
			for i, row := range square {
				slab[(w*64+i)*rowWords+group] = row
			}
		}
	}
	return slab
}

// flip mirrors a square of bits: it swaps the halves that lie across, then
// those of each quarter, down to single bits.
func flip(a *[64]uint64) {
	for n, mask := 32, uint64(1<<32-1); n > 0; n, mask = n/2, mask^mask<<(n/2) {
		for i := 0; i < 64; i = (i + n + 1) &^ n {
			t := (a[i]>>n ^ a[i+n]) & mask
			a[i] ^= t << n
			a[i+n] ^= t
		}
	}
}

// untranspose gives the signature at a column of a slab back.
func untranspose(slab []uint64, at int, to []uint64) []uint64 {
	word, bit := at/64, uint(at%64)
	for from := 0; from < len(slab); from += 64 * rowWords {
		w := uint64(0)
		for i := range 64 {
			w |= slab[from+i*rowWords+word] >> bit & 1 << i
		}
		to = append(to, w)
	}
	return to
}

// find calls hit for the files of all signatures that may have what is needed.
// A file may come more than once, with another part.
func (s *store) find(need clauses, hit func(file int32, part Part)) {
	for k := range s.classes {
		c := &s.classes[k]
		mask := 1<<(k+minBits) - 1
		for i, slab := range c.slabs {
			rows := need.inSlab(slab, mask)
			for w, word := range rows {
				for ; word != 0; word &= word - 1 {
					at := i*slabColumns + w*64 + bits.TrailingZeros64(word)
					if f := c.files[at]; f != noFile {
						hit(f, c.parts[at])
					}
				}
			}
		}
		from := len(c.slabs) * slabColumns
		for i, signature := range c.stage {
			if f := c.files[from+i]; f != noFile && need.inColumn(signature, mask) {
				hit(f, c.parts[from+i])
			}
		}
	}
}

// bytes is the memory that the signatures take.
func (s *store) bytes() int {
	n := 0
	for k := range s.classes {
		c := &s.classes[k]
		for _, slab := range c.slabs {
			n += 8 * cap(slab)
		}
		n += 24*cap(c.stage) + 1<<(k+minBits)/8*len(c.stage) + 4*cap(c.files) + 12*cap(c.parts)
	}
	return n
}

// clauses are what a text must have: of each clause one alternative, of that
// all n-grams.
type clauses [][]alternative

type alternative []uint16

func (n clauses) inSlab(slab []uint64, mask int) (rows [rowWords]uint64) {
	for i := range rows {
		rows[i] = ^uint64(0)
	}
	for _, clause := range n {
		var either [rowWords]uint64
		for _, alt := range clause {
			these := alt.inSlab(slab, mask, rows)
			for i, w := range these {
				either[i] |= w
			}
		}
		rows = either
		if rows == [rowWords]uint64{} {
			break
		}
	}
	return rows
}

func (a alternative) inSlab(slab []uint64, mask int, rows [rowWords]uint64) [rowWords]uint64 {
	for _, h := range a {
		row := (*[rowWords]uint64)(slab[(int(h)&mask)*rowWords:])
		any := uint64(0)
		for i := range rows {
			rows[i] &= row[i]
			any |= rows[i]
		}
		if any == 0 {
			break
		}
	}
	return rows
}

func (n clauses) inColumn(signature []uint64, mask int) bool {
	for _, clause := range n {
		ok := false
		for _, alt := range clause {
			if ok = alt.inColumn(signature, mask); ok {
				break
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

func (a alternative) inColumn(signature []uint64, mask int) bool {
	for _, h := range a {
		at := int(h) & mask
		if signature[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}
