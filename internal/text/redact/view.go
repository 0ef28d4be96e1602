package redact

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A secret can be there for every reader and yet be cut in two in the bytes:
// by colours, by the escaped end of a line, by invisible characters, by percent
// encoding. A view is a piece of text as its reader sees it.
type view struct {
	text   string
	pieces []piece // in order, the first at the beginning of text
}

// piece is a part of a view that stands in the whole text as it is, or one
// character that stands for others.
type piece struct{ in, at int }

// source is where the byte at i of the view stands in the whole text.
func (v *view) source(i int) int {
	n, found := slices.BinarySearchFunc(v.pieces, i, func(p piece, i int) int { return p.in - i })
	if !found {
		n--
	}
	return v.pieces[n].at + i - v.pieces[n].in
}

// How far around what is cut a view reaches, in bytes: to the name that stands
// before a secret, and to the secret's end. most bounds a view.
const (
	viewBefore = 300
	viewAfter  = 4096
	viewMost   = 256 << 10
)

// views are the pieces of s that read differently from their bytes.
func views(s string) []view {
	var out []view
	done := 0
	cuts := newBreaks(s)
	for i := cuts.next(0); i < len(s); {
		start := max(done, i-viewBefore)
		if nl := strings.IndexByte(s[start:i], '\n'); nl >= 0 && start > done {
			start += nl + 1
		}
		v := view{}
		text := make([]byte, 0, i-start+viewAfter)
		end := min(len(s), i+viewAfter)
		for at := start; ; {
			if stop := min(i, end); at < stop {
				v.pieces = append(v.pieces, piece{len(text), at})
				text = append(text, s[at:stop]...)
				at = stop
			}
			if i >= end || at-start > viewMost {
				break
			}
			n, c := breakAt(s, i)
			if c != 0 {
				v.pieces = append(v.pieces, piece{len(text), i})
				text = append(text, c)
			}
			at = i + n
			end = max(at, min(len(s), i+viewAfter))
			i = cuts.next(at)
			done = at
		}
		done = max(done, min(end, len(s)))
		v.text = string(text)
		out = append(out, v)
		if i < done {
			i = cuts.next(done)
		}
	}
	return out
}

// breaks finds the places where a reader sees something else than the bytes.
// The next one of each kind is kept, so that however they are mixed the text is
// gone over once for each.
type breaks struct {
	s     string
	bytes [len(breakBytes)]int // the next such byte, as far as was looked
	high  int                  // the next one that is not ASCII and may begin what is hidden
}

// breakBytes are the ASCII bytes at which breakAt may find something.
const breakBytes = "\x00\x1b%\\^["

func newBreaks(s string) *breaks {
	b := &breaks{s: s, high: -1}
	for k := range b.bytes {
		b.bytes[k] = -1
	}
	return b
}

// next is the first place at or after i, or the end. The questions must go
// forward.
func (b *breaks) next(i int) int {
	for ; i < len(b.s); i++ {
		first := len(b.s)
		for k := range b.bytes {
			if b.bytes[k] < i {
				b.bytes[k] = indexFrom(b.s, i, breakBytes[k])
			}
			first = min(first, b.bytes[k])
		}
		if b.high < i {
			b.high = highFrom(b.s, i)
		}
		if i = min(first, b.high); i == len(b.s) {
			return i
		}
		if n, _ := breakAt(b.s, i); n > 0 {
			return i
		}
	}
	return len(b.s)
}

// indexFrom is the first c at or after i, or the end.
func indexFrom(s string, i int, c byte) int {
	if n := strings.IndexByte(s[i:], c); n >= 0 {
		return i + n
	}
	return len(s)
}

// highFrom is the first byte at or after i with which a character begins that
// may be hidden, or the end. It looks at 32 bytes at a time.
func highFrom(s string, i int) int {
	const high = 0x8080808080808080
	for i < len(s) {
		if len(s)-i >= 32 {
			t := s[i : i+32]
			if (word(t[0:8])|word(t[8:16])|word(t[16:24])|word(t[24:32]))&high == 0 {
				i += 32
				continue
			}
		}
		for end := min(len(s), i+32); i < end; i++ {
			switch s[i] {
			case 0xc2, 0xd8, 0xe1, 0xe2, 0xe3, 0xef, 0xf0, 0xf3:
				return i
			}
		}
	}
	return len(s)
}

// word is eight bytes as one number.
func word(s string) uint64 { return binary.LittleEndian.Uint64([]byte(s)) }

// breakAt is how many bytes at i don't read as they are, and the character
// that they stand for, or 0 for none.
func breakAt(s string, i int) (n int, stands byte) {
	switch c := s[i]; {
	case c == 0x1b:
		return escapeEnd(s, i+1) - i, 0
	case c == 0:
		return 1, 0
	case c == '\\':
		j := i + 1
		for j < len(s) && j < i+8 && s[j] == '\\' {
			j++
		}
		if n, b, ok := written(s[j:]); ok {
			switch {
			case b == 0x1b:
				return j + n + colour(s[j+n:]) - i, 0
			case b == '\n' || b == '\r' || b == '\t' || b >= ' ' && b < 0x7f:
				return j + n - i, b
			case b < ' ':
				return j + n - i, 0
			}
		}
		j = i + 1
		if j < len(s) && s[j] == '\r' {
			j++
		}
		if j >= len(s) || s[j] != '\n' {
			return 0, 0
		}
		for j++; j < len(s) && (s[j] == ' ' || s[j] == '\t'); j++ {
		}
		return j - i, 0
	case c == '^':
		if n := colour(s[i+1:]); n > 0 && strings.HasPrefix(s[i+1:], "[[") {
			return 1 + n, 0
		}
	case c == '[':
		if n := colour(s[i:]); n > 0 && s[i+n-1] == 'm' { // its escape was taken away, or is not shown
			return n, 0
		}
	case c == '%':
		if i+2 >= len(s) || !hexDigit(lower(s[i+1])) || !hexDigit(lower(s[i+2])) {
			return 0, 0
		}
		b := unhex(s[i+1])<<4 | unhex(s[i+2])
		if b == '\n' || b == '\r' || b >= ' ' && b < 0x7f {
			return 3, b
		}
	case c >= 0x80:
		r, size := utf8.DecodeRuneInString(s[i:])
		if hidden(r) || r == zwj || r == zwnj || selector(r) {
			return size, 0
		}
	}
	return 0, 0
}

// written reads a character that is written as text behind a backslash, in the
// ways of JSON, C and shells: how many bytes it takes.
func written(s string) (n int, b byte, ok bool) {
	digits := func(from, to, base int) (int, byte, bool) {
		if len(s) < to {
			return 0, 0, false
		}
		v, err := strconv.ParseUint(s[from:to], base, 8)
		return to, byte(v), err == nil
	}
	switch {
	case strings.HasPrefix(s, "u00"):
		return digits(3, 5, 16)
	case strings.HasPrefix(s, "x"):
		return digits(1, 3, 16)
	case strings.HasPrefix(s, "0") || strings.HasPrefix(s, "1"):
		return digits(0, 3, 8)
	case strings.HasPrefix(s, "e[") || strings.HasPrefix(s, "E["):
		return 1, 0x1b, true
	}
	return 0, 0, false
}

// colour is how many bytes at the beginning of s are an escape sequence without
// its escape, such as [1;32m, or 0. As carets show it, the escape is a bracket
// itself.
func colour(s string) int {
	i := 0
	if strings.HasPrefix(s, "[[") {
		i++
	}
	if i >= len(s) || s[i] != '[' {
		return 0
	}
	for i++; i < len(s) && i < 24 && (digit(s[i]) || s[i] == ';'); i++ {
	}
	if i < len(s) && (lower(s[i]) >= 'a' && lower(s[i]) <= 'z') {
		return i + 1
	}
	return 0
}

func unhex(c byte) byte {
	if digit(c) {
		return c - '0'
	}
	return lower(c) - 'a' + 10
}

// seenThrough hides the secrets that are cut in the bytes of s.
func (r *Redactor) seenThrough(s string) string {
	var found []span
	for _, v := range views(s) {
		for _, f := range r.spans(v.text) {
			f.start, f.end = v.source(f.start), v.source(f.end-1)+1
			if n, _ := breakAt(s, f.end-1); n > 0 {
				f.end += n - 1 // its last character is an encoded one
			}
			if (len(found) == 0 || found[len(found)-1].end <= f.start) && !strings.Contains(s[f.start:f.end], Marker) {
				found = append(found, f)
			}
		}
	}
	return mask(s, found)
}
