package lsp

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"
)

// LongText is a result that is mostly one text. Rest is the result with the
// empty string for it, which must be the first member of that name. The text
// comes in pieces that end with whole characters; they are quoted at its place
// when it is the reply's turn to be written, so that one that waits holds no
// more than they do.
type LongText interface {
	LongText() (rest any, member string, text []string)
}

// longText is the text of a frame that is not in its buffer.
type longText struct {
	at     int // where in the buffer it belongs, between two quotes
	pieces []string
	size   int // of the pieces, in bytes
}

// longFrom is the size from which on a text is left out of the buffer.
const longFrom = 32 << 10

// marshalLongText encodes v into f.
func (f *frame) marshalLongText(v LongText) error {
	rest, member, pieces := v.LongText()
	start := f.buf.Len()
	if err := marshalTo(&f.buf, rest); err != nil {
		return err
	}
	// No string can look like this: its quotes would have backslashes.
	key := []byte(`"` + member + `":""`)
	at := bytes.Index(f.buf.Bytes()[start:], key)
	if at < 0 {
		return nil
	}
	f.text = longText{at: start + at + len(key) - 1, pieces: pieces}
	for _, p := range pieces {
		f.text.size += len(p)
	}
	if f.text.size < longFrom {
		if n := f.text.quotedLen(); n < longFrom {
			f.put(n)
		}
	}
	return nil
}

// quotedLen is how many bytes the text takes when it is quoted.
func (t longText) quotedLen() (n int) {
	for _, p := range t.pieces {
		n += quotedLen(p)
	}
	return n
}

// put puts the text where it belongs; quoted it takes size bytes.
func (f *frame) put(size int) {
	t := f.text
	f.text = longText{}
	tail := bytes.Clone(f.buf.Bytes()[t.at:])
	f.buf.Truncate(t.at)
	f.buf.Grow(size + len(tail))
	// Quoted in place, the buffer would have room for the worst that can become of
	// the text, and thousands of replies may wait for a slow peer.
	room := quoting.Get().(*[]byte)
	for part := range t.parts() {
		*room = appendQuoted((*room)[:0], part)
		f.buf.Write(*room)
	}
	quoting.Put(room)
	f.buf.Write(tail)
}

// whole is what is in the buffer with the text at its place, in pieces for one
// write each, and how many bytes they have. They come from quoting: whoever has
// written one puts it back.
func (f *frame) whole() (pieces []*[]byte, size int) {
	buf := f.buf.Bytes()
	last := quoting.Get().(*[]byte)
	*last = append((*last)[:0], buf[:f.text.at]...)
	pieces = append(pieces, last)
	for part := range f.text.parts() {
		if len(*last) >= coalesceBytes {
			size += len(*last)
			last = quoting.Get().(*[]byte)
			*last = (*last)[:0]
			pieces = append(pieces, last)
		}
		*last = appendQuoted(slices.Grow(*last, maxQuoted*len(part)), part)
	}
	*last = append(*last, buf[f.text.at:]...)
	return pieces, size + len(*last)
}

const (
	quoteBytes = 8 << 10 // of a text are quoted at once
	maxQuoted  = 6       // bytes may come of one: \u0000
)

// quoting has room for what is written at once, and one more part.
var quoting = sync.Pool{New: func() any {
	room := make([]byte, 0, coalesceBytes+maxQuoted*quoteBytes)
	return &room
}}

// wholePart is the longest beginning of s of at most quoteBytes that cuts no
// character in two.
func wholePart(s string) string {
	if len(s) <= quoteBytes {
		return s
	}
	for n := quoteBytes; n > quoteBytes-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return s[:n]
		}
	}
	return s[:quoteBytes] // it isn't UTF-8 here
}

// parts are what is quoted at once.
func (t longText) parts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range t.pieces {
			for len(p) > 0 {
				part := wholePart(p)
				if p = p[len(part):]; !yield(part) {
					return
				}
			}
		}
	}
}

// appendQuoted appends s as it stands inside of a JSON string, with U+FFFD for
// what isn't UTF-8. dst must have room for maxQuoted times s.
func appendQuoted(dst []byte, s string) []byte {
	n := len(dst)
	dst = dst[:n+maxQuoted*len(s)]
	for i := 0; i < len(s); {
		if len(s)-i >= 8 {
			x := word(s[i:])
			binary.LittleEndian.PutUint64(dst[n:], x)
			odd := notPlain(x)
			if odd == 0 {
				i, n = i+8, n+8
				continue
			}
			plain := bits.TrailingZeros64(odd) / 8
			i, n = i+plain, n+plain
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			n += utf8.EncodeRune(dst[n:n+utf8.UTFMax], r)
			i += size
			continue
		}
		n += escape(dst[n:], c)
		i++
	}
	return dst[:n]
}

// shortEscapes are what stands behind the backslash for an ASCII character that has a
// short form.
var shortEscapes = [utf8.RuneSelf]byte{'"': '"', '\\': '\\', '\n': 'n', '\t': 't', '\r': 'r', '\b': 'b', '\f': 'f'}

// escape writes an ASCII character as it stands in a JSON string, and returns
// how many bytes that takes.
func escape(dst []byte, c byte) int {
	const digits = "0123456789abcdef"
	switch {
	case shortEscapes[c] != 0:
		dst[0], dst[1] = '\\', shortEscapes[c]
		return 2
	case c < ' ':
		return copy(dst, []byte{'\\', 'u', '0', '0', digits[c>>4], digits[c&15]})
	}
	dst[0] = c
	return 1
}

// quotedLen is how many bytes appendQuoted appends.
func quotedLen(s string) int {
	n := len(s)
	for i := 0; i < len(s); {
		if len(s)-i >= 8 {
			odd := notPlain(word(s[i:]))
			if odd == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(odd) / 8
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			n += utf8.RuneLen(r) - size
			i += size
			continue
		}
		switch {
		case shortEscapes[c] != 0:
			n++
		case c < ' ':
			n += len(`\u0000`) - 1
		}
		i++
	}
	return n
}

// word is the eight bytes at the beginning of s as one number.
func word(s string) uint64 { return binary.LittleEndian.Uint64([]byte(s[:8])) }

// notPlain has the high bit set in the first byte of x that does not stand for
// itself in a JSON string: what is below a blank, a quote, a backslash or not
// ASCII. A borrow can only go to the bytes behind it, whose bits mean nothing.
func notPlain(x uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	return (x | (x - ' '*ones) | ((x ^ '"'*ones) - ones) | ((x ^ '\\'*ones) - ones)) & high
}
