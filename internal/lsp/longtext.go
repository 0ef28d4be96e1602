package lsp

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// LongText is a result that is mostly one text. Rest is the result with the
// empty string for it, which must be the first member of that name. The text is
// written at its place in a way that is much faster for a megabyte.
type LongText interface {
	LongText() (rest any, member, text string)
}

// marshalLongText encodes v into buf.
func marshalLongText(buf *bytes.Buffer, v LongText) error {
	rest, member, text := v.LongText()
	start := buf.Len()
	if err := marshalTo(buf, rest); err != nil {
		return err
	}
	// No string can look like this: its quotes would have backslashes.
	key := []byte(`"` + member + `":""`)
	at := bytes.Index(buf.Bytes()[start:], key)
	if text == "" || at < 0 {
		return nil
	}
	at += start + len(key) - len(`""`)
	tail := bytes.Clone(buf.Bytes()[at+len(`""`):])
	buf.Truncate(at)
	buf.Grow(len(text) + len(text)/16 + len(tail))
	buf.Write(appendQuote(buf.AvailableBuffer(), text))
	buf.Write(tail)
	return nil
}

// appendQuote appends s as a JSON string, with U+FFFD for what isn't UTF-8.
func appendQuote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0 // s[:done] is in dst
	for i := 0; ; {
		i += plain(s[i:])
		if i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[done:i]...), "\uFFFD"...)
				done = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[done:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			const digits = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		done = i
	}
	return append(append(dst, s[done:]...), '"')
}

// plain is the number of bytes at the beginning of s that stand for themselves
// in a JSON string, as far as they are ASCII. It looks at eight at a time: what
// is below a blank, a quote, a backslash or not ASCII sets the high bit of its
// byte, and a borrow can only go to bytes behind the first of them.
func plain(s string) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	n := 0
	for len(s)-n >= 8 {
		x := binary.LittleEndian.Uint64([]byte(s[n : n+8]))
		odd := (x | (x - ' '*ones) | ((x ^ '"'*ones) - ones) | ((x ^ '\\'*ones) - ones)) & high
		if odd != 0 {
			return n + bits.TrailingZeros64(odd)/8
		}
		n += 8
	}
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' && s[n] < utf8.RuneSelf {
		n++
	}
	return n
}
