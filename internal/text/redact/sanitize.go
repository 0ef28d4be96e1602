package redact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize takes out of text what is not meant to be read: the escape
// sequences of terminals with all that they carry, control characters except
// tab and line feed, characters that change the direction of text, and
// invisible ones. A carriage return ends a line, so that what it would have
// covered is seen; broken UTF-8 becomes U+FFFD. Doing it again changes nothing.
func Sanitize(s string) string {
	i := cleanPrefix(s)
	if i == len(s) {
		return s
	}
	out := make([]byte, i, len(s))
	copy(out, s)
	last := rune(-1) // what was put out last
	if i > 0 {
		last, _ = utf8.DecodeLastRuneInString(s[:i])
	}
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r == '\r':
			if i < len(s) && s[i] == '\n' {
				continue
			}
			r = '\n'
		case r == '\t' || r == '\n':
		case r == 0x1b:
			i = escapeEnd(s, i)
			continue
		case r == 0x9b:
			i = csiEnd(s, i)
			continue
		case r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f:
			i = stringEnd(s, i)
			continue
		case r < 0x20, 0x7f <= r && r < 0xa0:
			continue
		case r == zwnj || r == zwj:
			// Scripts and emoji need them; between other characters they hide.
			if next, _ := utf8.DecodeRuneInString(s[i:]); !joins(last) || !joins(next) {
				continue
			}
		case selector(r):
			if selector(last) || last < 0 || r >= 0xe0100 && last < 0x80 {
				continue
			}
		case hidden(r):
			continue
		}
		out = utf8.AppendRune(out, r)
		last = r
	}
	return string(out)
}

// cleanPrefix is the length of the longest beginning of s that Sanitize and
// Visible leave as it is, as far as that can be seen quickly.
func cleanPrefix(s string) int {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return i
		}
	}
	return len(s)
}

// escapeEnd is where the sequence ends whose ESC is before i.
func escapeEnd(s string, i int) int {
	if i == len(s) {
		return i
	}
	switch c := s[i]; {
	case c == '[':
		return csiEnd(s, i+1)
	case strings.IndexByte("]PX^_", c) >= 0:
		return stringEnd(s, i+1)
	case 0x20 <= c && c <= 0x2f:
		for i < len(s) && 0x20 <= s[i] && s[i] <= 0x2f {
			i++
		}
		if i < len(s) && 0x30 <= s[i] && s[i] <= 0x7e {
			i++
		}
		return i
	case 0x30 <= c && c <= 0x7e:
		return i + 1
	}
	return i
}

// csiEnd is where a control sequence ends whose parameters begin at i.
func csiEnd(s string, i int) int {
	for i < len(s) && 0x20 <= s[i] && s[i] <= 0x3f {
		i++
	}
	if i < len(s) && 0x40 <= s[i] && s[i] <= 0x7e {
		i++
	}
	return i
}

// stringEnd is where a control string ends (a title, a link, a clipboard
// text) whose payload begins at i: behind its terminator or, where that is
// missing, with the line.
func stringEnd(s string, i int) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case 0x07:
			return i + 1
		case '\n', '\r':
			return i
		case 0x1b:
			if i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			return i
		case 0xc2:
			if i+1 < len(s) && s[i+1] == 0x9c {
				return i + 2
			}
		}
	}
	return i
}

const (
	zwnj = 0x200c
	zwj  = 0x200d
)

// joins reports whether a joiner may stand beside r.
func joins(r rune) bool {
	return r >= 0x80 && r != utf8.RuneError && !hidden(r) && r != zwnj && r != zwj && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r))
}

// selector reports whether r chooses a variant of the character before it.
func selector(r rune) bool { return 0xfe00 <= r && r <= 0xfe0f || 0xe0100 <= r && r <= 0xe01ef }

// hidden reports whether r can't be seen, or moves what can.
func hidden(r rune) bool {
	switch {
	case 0x200b <= r && r <= 0x200f && r != zwnj && r != zwj, 0x202a <= r && r <= 0x202e, 0x2060 <= r && r <= 0x206f,
		r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff, 0xfff9 <= r && r <= 0xfffb, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0,
		0xe0000 <= r && r <= 0xe007f, 0x1d173 <= r && r <= 0x1d17a:
		return true
	}
	return false
}

// Visible shows every character of text to a person who has to judge it: what
// can't be seen or would change how the rest looks is written as <U+202E>, a
// byte that is no UTF-8 as <0xFF>. Line feeds and tabs stay.
func Visible(s string) string {
	i := cleanPrefix(s)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case r == '\n' || r == '\t' || r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) && !hidden(r) && !selector(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
		i += size
	}
	return b.String()
}

// Sanitize is the function of that name, for those who take a redactor by
// interface.
func (*Redactor) Sanitize(s string) string { return Sanitize(s) }

// Shown makes a text of a model harmless where a person reads it: without
// secrets, and with what can't be seen made visible.
func (r *Redactor) Shown(s string) string { return Visible(r.Text(s)) }

// Visible is the function of that name.
func (*Redactor) Visible(s string) string { return Visible(s) }
