package segment

import (
	"encoding/binary"
	"math/bits"

	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// Hash is a content's hash: good against accidents, not against anyone who
// wants two contents to be alike.
func Hash(data []byte) uint64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	h := uint64(len(data)) ^ k0
	for len(data) >= 16 {
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(data)^k1, binary.LittleEndian.Uint64(data[8:])^h)
		h = hi ^ lo
		data = data[16:]
	}
	var rest [16]byte
	copy(rest[:], data)
	hi, lo := bits.Mul64(binary.LittleEndian.Uint64(rest[:])^k1, binary.LittleEndian.Uint64(rest[8:])^h)
	hi, lo = bits.Mul64(hi^lo^k0, k1)
	return hi ^ lo
}

// word is an identifier as the builder knows it.
type word struct {
	first uint32 // of its terms in pool
	count uint8
	sole  bool // it is one word
	stop  bool // it says nothing in a body
}

// interner numbers identifiers and terms. Identifiers are told apart by 64
// bits of hash.
type interner struct {
	keys  []uint64
	vals  []uint32
	words []word
	pool  []uint32 // terms, by their number

	ids     []uint32 // by number
	numbers map[terms.ID]uint32
	common  map[terms.ID]bool
	buf     []terms.ID
}

func newInterner(size int) *interner {
	return &interner{keys: make([]uint64, size), vals: make([]uint32, size), numbers: make(map[terms.ID]uint32, size/4), common: terms.Common()}
}

func (t *interner) reset() {
	clear(t.keys)
	clear(t.numbers)
	t.words, t.pool, t.ids = t.words[:0], t.pool[:0], t.ids[:0]
}

// number returns the number of a term.
func (t *interner) number(id terms.ID) uint32 {
	n, ok := t.numbers[id]
	if !ok {
		n = uint32(len(t.ids))
		t.numbers[id] = n
		t.ids = append(t.ids, uint32(id))
	}
	return n
}

// word returns the identifier that text is.
func (t *interner) word(text []byte) *word {
	h := Hash(text) | 1
	mask := uint64(len(t.keys) - 1)
	i := h >> 20 & mask
	for ; t.keys[i] != 0; i = (i + 1) & mask {
		if t.keys[i] == h {
			return &t.words[t.vals[i]]
		}
	}
	t.keys[i], t.vals[i] = h, uint32(len(t.words))
	t.add(string(text))
	if len(t.words)*2 > len(t.keys) {
		t.grow()
	}
	return &t.words[len(t.words)-1]
}

func (t *interner) add(text string) {
	w := word{first: uint32(len(t.pool))}
	t.buf, w.sole = terms.Of(text, t.buf[:0])
	for _, id := range t.buf {
		if t.common[id] {
			w.stop = w.stop || len(t.buf) == 1
			if !w.stop && len(t.buf) > 2 {
				continue // the words of a name say little, if they are of the language
			}
		}
		t.pool = append(t.pool, t.number(id))
		w.count++
	}
	t.words = append(t.words, w)
}

func (t *interner) grow() {
	keys, vals := t.keys, t.vals
	t.keys, t.vals = make([]uint64, 2*len(keys)), make([]uint32, 2*len(vals))
	mask := uint64(len(t.keys) - 1)
	for j, h := range keys {
		if h == 0 {
			continue
		}
		i := h >> 20 & mask
		for t.keys[i] != 0 {
			i = (i + 1) & mask
		}
		t.keys[i], t.vals[i] = h, vals[j]
	}
}
