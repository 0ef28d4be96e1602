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

// word is an identifier as the builder knows it. All of it is in the table, so
// that to find one takes one access to memory that is far.
type word struct {
	key   uint64 // hash; 0: there is none here
	first uint32 // of its terms in pool
	count uint8
	sole  bool // it is one word
	stop  bool // it says nothing in a body
}

// interner numbers identifiers and terms. Identifiers are told apart by 64
// bits of hash.
type interner struct {
	table []word // open addressing, half empty at least
	used  int
	pool  []uint32 // terms of the identifiers, by their number

	ids     []uint32 // of terms, by number
	numbers []uint64 // open addressing: id and, from one, number
	common  map[terms.ID]bool
	buf     []terms.ID
}

func newInterner(size int) *interner {
	return &interner{table: make([]word, size), numbers: make([]uint64, size), common: terms.Common()}
}

func (t *interner) reset() {
	clear(t.table)
	clear(t.numbers)
	t.used, t.pool, t.ids = 0, t.pool[:0], t.ids[:0]
}

// number returns the number of a term.
func (t *interner) number(id terms.ID) uint32 {
	mask := uint32(len(t.numbers) - 1)
	i := uint32(id) & mask
	for ; t.numbers[i] != 0; i = (i + 1) & mask {
		if uint32(t.numbers[i]>>32) == uint32(id) {
			return uint32(t.numbers[i]) - 1
		}
	}
	t.ids = append(t.ids, uint32(id))
	n := uint32(len(t.ids))
	if t.numbers[i] = uint64(id)<<32 | uint64(n); len(t.ids)*2 > len(t.numbers) {
		t.growNumbers()
	}
	return n - 1
}

func (t *interner) growNumbers() {
	t.numbers = make([]uint64, 2*len(t.numbers))
	mask := uint32(len(t.numbers) - 1)
	for n, id := range t.ids {
		i := id & mask
		for t.numbers[i] != 0 {
			i = (i + 1) & mask
		}
		t.numbers[i] = uint64(id)<<32 | uint64(n+1)
	}
}

// word returns the identifier that text is, good until the next one is asked
// for.
func (t *interner) word(text []byte) *word {
	h := Hash(text) | 1
	w := t.slot(h)
	if w.key != 0 {
		return w
	}
	if t.used++; t.used*2 > len(t.table) {
		t.grow()
		w = t.slot(h)
	}
	*w = t.read(string(text))
	w.key = h
	return w
}

// slot is where the identifier of a hash is, or would be.
func (t *interner) slot(h uint64) *word {
	mask := uint64(len(t.table) - 1)
	for i := h >> 20 & mask; ; i = (i + 1) & mask {
		if w := &t.table[i]; w.key == h || w.key == 0 {
			return w
		}
	}
}

// read looks at an identifier for the first time.
func (t *interner) read(text string) word {
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
	return w
}

func (t *interner) grow() {
	old := t.table
	t.table = make([]word, 2*len(old))
	for i := range old {
		if old[i].key != 0 {
			*t.slot(old[i].key) = old[i]
		}
	}
}
