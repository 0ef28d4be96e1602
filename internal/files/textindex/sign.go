package textindex

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// The signature of a block of text is an n-gram Bloom filter with one hash
// function: the hashes of its 4-grams, and of the 6-grams of words, as a bitmap.
// A text whose n-grams are not all in it is not in the block. Letter case doesn't
// count. 4-grams in which one byte stands between two words don't count: they are
// many, and most text that has one has n-grams at the ends of these words, too.
// Nor do those that reach from one line into the next. The size of the bitmap, a
// power of two, goes by the number of different n-grams.
const (
	minBits = 9 // log₂ of the sizes
	maxBits = 16

	// blockSize is how much text shares a signature.
	blockSize = 64 << 10
)

// The load of a filter is how many different n-grams it has for a bit. A larger
// one makes the index smaller and more files be read in vain. The largest bitmap
// is for lists of checksums and the like: they get it where the load of the next
// smaller one would be so large that it says next to nothing.
const (
	maxLoad          = 0.62
	maxLoadBelowLast = 1.4
)

// caseBit makes a letter lower case, and other bytes something that is the same
// everywhere.
const caseBit = 0x20

// wordBytes has a bit for each byte that words are of, after caseBit was added
// to it: letters, digits, the underscore and all that is not ASCII.
const (
	wordBytes0 uint64 = (1<<10 - 1) << '0'
	wordBytes1 uint64 = (1<<26-1)<<('a'-64) | 1<<('_'|caseBit-64)
)

func isWord(c byte) bool {
	return c >= 0x80 || c >= 64 && wordBytes1>>(c-64)&1 != 0 || c < 64 && wordBytes0>>c&1 != 0
}

// The hash of six bytes in pairs b01, b23, b45 is that of four and one step
// more, on 16 bits, of which a vector has many. All bits of the result depend
// on all bytes, so that any of them can be left out.
const (
	factor1, factor2, factor3 = 0x9e35, 0x85eb, 0xc2b3
	last4, last6              = 0xca6b, 0x27d5
)

// between has a bit for each pattern of the bytes of words in a 4-gram that
// has one other byte between two words.
const between uint16 = 1<<0b1011 | 1<<0b1101

// state4 is the state after four bytes, the first one lowest.
func state4(x uint32) uint16 {
	return uint16(x)*factor1 + bits.ReverseBytes16(uint16(x>>16)*factor2)
}

func hash4(state uint16) uint16 { state *= last4; return state ^ state>>8 }

func hash6(state, b45 uint16) uint16 {
	state = (state + bits.ReverseBytes16(state) + b45*factor3) * last6
	return state ^ state>>8
}

// hashesOf returns the hashes of the n-grams of a text that count. What counts
// is the same wherever the text stands.
func hashesOf(text []byte) (hashes []uint16) {
	last := uint64(0)          // six bytes, the newest one highest
	word, line := uint16(0), 0 // a bit for each of the newest bytes: of a word; how many are of one line
	for _, c := range text {
		line++
		if c == '\n' {
			line = 0
		}
		c |= caseBit
		last = last>>8 | uint64(c)<<40
		if word <<= 1; isWord(c) {
			word |= 1
		}
		if line >= 4 && between>>(word&0xf)&1 == 0 {
			hashes = append(hashes, hash4(state4(uint32(last>>16))))
		}
		if word&0x3f == 0x3f {
			hashes = append(hashes, hash6(state4(uint32(last)), uint16(last>>32)))
		}
	}
	return hashes
}

// signer makes the signatures of one file after another.
type signer struct {
	seen  [1 << maxBits]byte // 1 for a hash that is there
	bits  []uint64           // of all blocks that are not cut
	log2  []uint8            // the sizes of the blocks' bitmaps
	parts []Part             // the blocks
	at    Part               // where the next one begins
}

// mark is a place between blocks.
type mark struct{ blocks, bits int }

func (s *signer) end() mark { return mark{len(s.parts), len(s.bits)} }

// cut forgets the blocks after a place, where the next file begins.
func (s *signer) cut(at mark) {
	s.bits, s.log2, s.parts, s.at = s.bits[:at.bits], s.log2[:at.blocks], s.parts[:at.blocks], Part{Line: 1}
}

// add signs the next piece of a file, which ends with a line; last says that
// nothing follows.
func (s *signer) add(data []byte, last bool) {
	for len(data) > 0 {
		n := len(data)
		if n > blockSize {
			// Lines stay whole, so that everything of a line is in one block.
			for n = blockSize; n < len(data) && data[n-1] != '\n'; n++ {
			}
		}
		s.block(data[:n])
		part := Part{s.at.From, s.at.From + uint32(n), s.at.Line}
		s.parts = append(s.parts, part)
		if s.at.From = part.To; n < len(data) || !last {
			s.at.Line += uint32(bytes.Count(data[:n], []byte{'\n'}))
		}
		data = data[n:]
	}
}

func (s *signer) block(data []byte) {
	// The largest bitmap is tried last: it is seldom worth it, and is larger than
	// what the processor has close by.
	log2 := min(max(bits.Len(uint(len(data))), minBits), maxBits-1)
	from := len(s.bits)
	different := s.fill(data, log2)
	if log2 == maxBits-1 && different > maxLoadBelowLast*float64(int(1)<<log2) {
		s.bits, log2 = s.bits[:from], maxBits
		s.fill(data, log2)
	}
	for log2 > minBits && different <= maxLoad*float64(int(1)<<(log2-1)) {
		half := s.bits[from : from+1<<log2/128]
		for i, w := range s.bits[from+len(half):] {
			half[i] |= w
		}
		s.bits = s.bits[:from+len(half)]
		log2--
	}
	s.log2 = append(s.log2, uint8(log2))
}

// fill appends a bitmap of a block and returns about how many different n-grams
// are in the block.
func (s *signer) fill(data []byte, log2 int) float64 {
	seen := s.seen[:1<<log2]
	clear(seen)
	seen[0] = 1 // marking is faster when it has a bit for n-grams that don't count
	s.mark(data, uint16(1<<log2-1))
	from := len(s.bits)
	s.bits = slices.Grow(s.bits, len(seen)/64)[:from+len(seen)/64]
	pack(s.bits[from:], seen)
	count := 0
	for _, w := range s.bits[from:] {
		count += bits.OnesCount64(w)
	}
	size := float64(len(seen))
	if count == len(seen) {
		return math.Inf(1)
	}
	return -size * math.Log1p(-float64(count)/size) // some share a bit
}

// markGeneric marks the hashes of data, and 0 for n-grams that don't count. It has
// few branches, as text gives the processor no way to foresee them, and takes
// half the time of hashesOf.
func (s *signer) markGeneric(data []byte, mask uint16) {
	words := [4]uint64{wordBytes0, wordBytes1, math.MaxUint64, math.MaxUint64}
	last := uint32(0)                       // four bytes, the newest one highest
	word, line := uint16(0), uint16(0xffff) // a bit for each of the newest bytes: of a word; the end of a line
	before, before2 := uint16(0), uint16(0) // the states of one and two bytes ago
	for _, c := range data {
		line = line<<1 | uint16((uint32(c^'\n')-1)>>31)
		c |= caseBit
		word = word<<1 | uint16(words[c>>6]>>(c&63)&1)
		last = last>>8 | uint32(c)<<24
		state := state4(last)
		inLine := uint16((uint32(line&0xf) - 1) >> 31)
		s.seen[hash4(state)&mask&-(inLine&^(between>>(word&0xf)))] = 1
		if word&0x3f == 0x3f {
			s.seen[hash6(before2, uint16(last>>16))&mask] = 1
		}
		before, before2 = state, before
	}
}

// packGeneric makes bits of bytes that are 0 or 1, which are 64 for each of to.
func packGeneric(to []uint64, seen []byte) {
	for i := range to {
		to[i] = 0
		for j := range 8 {
			// Eight bytes become eight bits.
			eight := binary.LittleEndian.Uint64(seen[64*i+8*j:]) * 0x0102040810204080 >> 56
			to[i] |= eight << (8 * j)
		}
	}
}
