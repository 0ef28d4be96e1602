package redact

import (
	"strings"
	"unicode/utf8"
)

// A secret can be there for every reader and yet be cut in two in the bytes:
// by colours, by the escaped end of a line, by invisible characters, by percent
// encoding. A view is a piece of text as its reader sees it.
type view struct {
	text string
	at   []int // where the bytes of text, and its end, stand in the whole text
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
	for i := nextBreak(s, 0); i < len(s); {
		start := max(done, i-viewBefore)
		if nl := strings.IndexByte(s[start:i], '\n'); nl >= 0 && start > done {
			start += nl + 1
		}
		v := view{}
		var text []byte
		end := min(len(s), i+viewAfter)
		for at := start; ; {
			stop := min(i, end)
			for ; at < stop; at++ {
				text, v.at = append(text, s[at]), append(v.at, at)
			}
			if i >= end || at-start > viewMost {
				break
			}
			n, c := breakAt(s, i)
			if c != 0 {
				text, v.at = append(text, c), append(v.at, i)
			}
			at = i + n
			end = max(at, min(len(s), i+viewAfter))
			i = nextBreak(s, at)
			done = at
		}
		done = max(done, min(end, len(s)))
		v.text, v.at = string(text), append(v.at, done)
		out = append(out, v)
		if i < done {
			i = nextBreak(s, done)
		}
	}
	return out
}

// nextBreak is the first place at or after i where a reader sees something
// else than the bytes, or the end.
func nextBreak(s string, i int) int {
	for ; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '%' && c != '\\' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
			continue
		}
		if n, _ := breakAt(s, i); n > 0 {
			return i
		}
	}
	return len(s)
}

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
		if j+5 <= len(s) && s[j] == 'u' && s[j+1:j+3] == "00" && hexDigit(lower(s[j+3])) && hexDigit(lower(s[j+4])) {
			if b := unhex(s[j+3])<<4 | unhex(s[j+4]); b >= ' ' && b < 0x7f {
				return j + 5 - i, b
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
			f.start, f.end = v.at[f.start], v.at[f.end-1]+1
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
