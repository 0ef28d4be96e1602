package textindex

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// The signature of a block of text is a set of the hashes of all its runs of
// gram bytes, as a bitmap: a text whose own runs are not all in it is not in
// the block. Letter case doesn't count. The bitmap is as large as the number
// of different runs asks for, a power of two.
const (
	gram    = 4
	minBits = 9 // log₂ of the sizes
	maxBits = 16

	// blockSize is how much text shares a signature.
	blockSize = 64 << 10
)

// most is how many different runs there may be for a bit. More make the index
// smaller and more files be read in vain. Small signatures are spared nothing:
// they are many and take little.
func most(log2 int) float64 {
	if log2 <= 11 {
		return 0.3
	}
	return 0.6
}

// caseBits makes eight letters lower case, and other bytes something that is
// the same everywhere.
const caseBits = 0x2020202020202020

// hash hashes four bytes that caseBits were added to. All bits of the result
// depend on all bytes, so that any of them can be left out.
func hash(x uint32) uint16 { return uint16(uint64(x) * 0x9e3779b97f4a7c15 >> 48) }

// grams returns the hashes of the runs of a text, without those that are not
// looked for in files.
func grams(text string) []uint16 {
	var all []uint16
	for i := 0; i+gram <= len(text); i++ {
		all = append(all, hash(binary.LittleEndian.Uint32([]byte(text[i:i+gram]))|caseBits&math.MaxUint32))
	}
	return all
}

// signer makes the signatures of one file after another.
type signer struct {
	seen  [1 << maxBits]byte // 1 for a hash that is there
	bits  []uint64           // of all blocks
	log2  []uint8            // the sizes of the blocks' bitmaps
	parts []Part             // the blocks
	at    Part               // where the next one begins
}

func (s *signer) reset() {
	s.bits, s.log2, s.parts, s.at = s.bits[:0], s.log2[:0], s.parts[:0], Part{Line: 1}
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
	log2 := min(max(bits.Len(uint(len(data))), minBits), maxBits)
	seen := s.seen[:1<<log2]
	clear(seen)
	mark(&s.seen, data, uint16(1<<log2-1))
	from := len(s.bits)
	count := 0
	for i := 0; i < len(seen); i += 64 {
		word := uint64(0)
		for j := range 8 {
			// Eight bytes that are 0 or 1 become eight bits.
			eight := binary.LittleEndian.Uint64(seen[i+8*j:]) * 0x0102040810204080 >> 56
			word |= eight << (8 * j)
		}
		count += bits.OnesCount64(word)
		s.bits = append(s.bits, word)
	}
	size := float64(len(seen))
	different := size // some share a bit
	if count < len(seen) {
		different = -size * math.Log1p(-float64(count)/size)
	}
	for log2 > minBits && different <= most(log2-1)*float64(int(1)<<(log2-1)) {
		half := s.bits[from : from+1<<log2/128]
		for i, w := range s.bits[from+len(half):] {
			half[i] |= w
		}
		s.bits = s.bits[:from+len(half)]
		log2--
	}
	s.log2 = append(s.log2, uint8(log2))
}

// mark marks the hashes of all runs.
func mark(seen *[1 << maxBits]byte, data []byte, mask uint16) {
	for len(data) >= 11 {
		x := binary.LittleEndian.Uint64(data) | caseBits
		y := binary.LittleEndian.Uint64(data[3:]) | caseBits
		seen[hash(uint32(x))&mask] = 1
		seen[hash(uint32(x>>8))&mask] = 1
		seen[hash(uint32(x>>16))&mask] = 1
		seen[hash(uint32(x>>24))&mask] = 1
		seen[hash(uint32(x>>32))&mask] = 1
		seen[hash(uint32(y>>16))&mask] = 1
		seen[hash(uint32(y>>24))&mask] = 1
		seen[hash(uint32(y>>32))&mask] = 1
		data = data[8:]
	}
	for ; len(data) >= gram; data = data[1:] {
		seen[hash(binary.LittleEndian.Uint32(data)|caseBits&math.MaxUint32)&mask] = 1
	}
}
