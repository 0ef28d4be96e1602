// Package terms turns text into the terms of an index: the words that
// identifiers are made of, stemmed, and identifiers as a whole. A term is
// known by a number alone, so that an index holds no words.
package terms

import "math/bits"

// ID is a term: a hash of its text. That two of the few terms of a question and
// the millions of a project share one is so rare that it only costs a place in
// an order.
type ID uint32

// Class of a byte in source text.
const (
	Other = iota
	Lower // also every byte of a character beyond ASCII
	Upper
	Digit
	Underscore
)

// Classes says what each byte is. $ stands between words.
var Classes = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z', c >= 0x80:
			t[c] = Lower
		case c >= 'A' && c <= 'Z':
			t[c] = Upper
		case c >= '0' && c <= '9':
			t[c] = Digit
		case c == '_':
			t[c] = Underscore
		}
	}
	return t
}()

const (
	// MaxIdent bounds an identifier, in bytes; what is longer is data.
	MaxIdent = 64
	maxParts = 12
)

// Whole returns the term of an identifier as a whole. Its words are joined to
// one, so that fileWriters, FILE_WRITER and filewriter are alike, and "file
// writer" in a question can be. That of a single word is the word's.
func Whole(ident string) ID {
	var buf [MaxIdent]byte
	all := buf[:0]
	Parts(ident, func(word string) { all = append(all, word...) })
	return folded(all)
}

// Word returns the term of one word, stemmed.
func Word(word string) ID {
	var buf [MaxIdent]byte
	return folded(append(buf[:0], word...))
}

// folded returns the term of a word, which it changes.
func folded(word []byte) ID {
	for i, c := range word {
		if c >= 'A' && c <= 'Z' {
			word[i] = c + 'a' - 'A'
		}
	}
	return hash(Stem(word))
}

func hash(text []byte) ID {
	h := 0xc2b2ae3d27d4eb4f ^ uint64(len(text))
	for _, c := range text {
		h = (h ^ uint64(c)) * 0x100000001b3
		h ^= h >> 29
	}
	hi, lo := bits.Mul64(h, 0xff51afd7ed558ccd)
	if id := ID(hi ^ lo ^ lo>>32); id != 0 {
		return id
	}
	return 1
}

// Parts calls yield with every word of an identifier: split at underscores and
// digits' ends, where a small letter is followed by a capital, and before the
// last of several capitals.
func Parts(ident string, yield func(word string)) {
	start := 0
	n := 0
	end := func(i int) {
		if i > start && n < maxParts {
			n++
			yield(ident[start:i])
		}
	}
	for i := range len(ident) {
		c := Classes[ident[i]]
		var before uint8 = Other
		if i > start {
			before = Classes[ident[i-1]]
		}
		switch {
		case c == Underscore || c == Other:
			end(i)
			start = i + 1
		case i == start:
		case c == Upper && before == Lower, c == Upper && before == Digit,
			c == Upper && before == Upper && i+1 < len(ident) && Classes[ident[i+1]] == Lower && !plural(ident, i):
			end(i)
			start = i
		case c == Digit && before != Digit && i-start >= 3:
			end(i) // sha256 is two words, x86 is one
			start = i
		case c == Lower && before == Digit && start > 0 && Classes[ident[start]] == Digit && i-start >= 2:
			end(i)
			start = i
		}
	}
	end(len(ident))
}

// plural tells the s of URLs from the beginning of a word.
func plural(ident string, i int) bool {
	return ident[i+1] == 's' && (i+2 == len(ident) || Classes[ident[i+2]] != Lower)
}

// Of appends the terms of an identifier to ids: its words and, if there are
// several, itself; sole reports that the identifier is one word. Words that say
// nothing have no term.
func Of(ident string, ids []ID) (all []ID, sole bool) {
	from := len(ids)
	parts := 0
	Parts(ident, func(word string) {
		parts++
		if !wanted(word) {
			return
		}
		id := Word(word)
		for _, have := range ids[from:] {
			if have == id {
				return
			}
		}
		ids = append(ids, id)
	})
	if parts > 1 {
		return append(ids, Whole(ident)), false
	}
	return ids, true
}

// wanted leaves out single letters, and numbers but for such as have a meaning:
// status codes, ports, the names of standards.
func wanted(word string) bool {
	if len(word) < 2 || len(word) > MaxIdent {
		return false
	}
	if Classes[word[0]] == Digit {
		for i := range len(word) {
			if Classes[word[i]] != Digit {
				return len(word) <= 6 && i > 0
			}
		}
		return len(word) <= 5
	}
	return true
}

// Ident returns the end of the identifier that begins at i, which must not be
// of the class Other.
func Ident(text []byte, i int) int {
	for i < len(text) && Classes[text[i]] != Other {
		i++
	}
	return i
}

// Module returns the term of the last word of an import, as it is written. No
// word of a text has it.
func Module(word string) ID {
	var buf [MaxIdent + 1]byte
	return hash(append(append(buf[:0], 0), word...))
}
