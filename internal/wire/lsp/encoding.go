package lsp

import (
	"unicode/utf8"
)

// Encoding is the unit in which Position.Character counts. The zero value means
// UTF-16, as the protocol has it.
type Encoding string

// The encodings that can be negotiated.
const (
	UTF8  Encoding = "utf-8"
	UTF16 Encoding = "utf-16"
	UTF32 Encoding = "utf-32"
)

// ChooseEncoding picks from what a client offers: UTF-8 when it can, because
// positions are then byte offsets, else the first one that we know.
func ChooseEncoding(offered []Encoding) Encoding {
	first := Encoding("")
	for _, e := range offered {
		switch e {
		case UTF8:
			return UTF8
		case UTF16, UTF32:
			if first == "" {
				first = e
			}
		}
	}
	if first == "" {
		return UTF16
	}
	return first
}

// Offset returns the byte offset of a position in text. A line past the end
// means the end of text, a character past the end of a line means the end of
// that line before its line end, and a position inside a rune means its start.
// Whoever asks more than once about a text should use a Document.
func Offset(text string, p Position, enc Encoding) int {
	start := 0
	for line := uint32(0); line < p.Line; line++ {
		next := nextLine(text, start)
		if next < 0 {
			return len(text)
		}
		start = next
	}
	return start + offsetInLine(lineAt(text, start), p.Character, enc)
}

// PositionAt returns the position of a byte offset in text. An offset outside
// text is taken as its nearest end, one inside a rune as the rune's start, and
// one inside a line end as the end of the line.
func PositionAt(text string, offset int, enc Encoding) Position {
	offset = min(max(offset, 0), len(text))
	line, start := uint32(0), 0
	for {
		next := nextLine(text, start)
		if next < 0 || next > offset {
			break
		}
		line, start = line+1, next
	}
	return Position{Line: line, Character: charactersIn(lineAt(text, start), offset-start, enc)}
}

// nextLine returns where the line after the one that starts at start begins, or
// -1 when it is the last one.
func nextLine(text string, start int) int {
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '\n':
			return i + 1
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				return i + 2
			}
			return i + 1
		}
	}
	return -1
}

// lineAt returns the line that starts at start, without its line end.
func lineAt(text string, start int) string {
	for i := start; i < len(text); i++ {
		if text[i] == '\n' || text[i] == '\r' {
			return text[start:i]
		}
	}
	return text[start:]
}

// offsetInLine returns the byte offset of the character within one line.
func offsetInLine(line string, character uint32, enc Encoding) int {
	if enc == UTF8 {
		if uint64(character) >= uint64(len(line)) {
			return len(line)
		}
		return runeStart(line, int(character))
	}
	units := uint32(0)
	for i := 0; i < len(line); {
		if units >= character {
			return i
		}
		size, n := runeUnits(line[i:], enc)
		if units+n > character {
			return i // in the middle of a surrogate pair
		}
		units += n
		i += size
	}
	return len(line)
}

// charactersIn counts the units of line[:offset].
func charactersIn(line string, offset int, enc Encoding) uint32 {
	if offset >= len(line) {
		offset = len(line)
	} else {
		offset = runeStart(line, offset)
	}
	if enc == UTF8 {
		return uint32(offset)
	}
	units := uint32(0)
	for i := 0; i < offset; {
		size, n := runeUnits(line[i:], enc)
		units += n
		i += size
	}
	return units
}

// runeUnits returns the bytes and the units of the first rune. A byte that is
// not UTF-8 counts as one unit: editors show it as one U+FFFD.
func runeUnits(s string, enc Encoding) (size int, units uint32) {
	if s[0] < utf8.RuneSelf {
		return 1, 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r > 0xFFFF && enc != UTF32 {
		return size, 2
	}
	return size, 1
}

// runeStart moves offset back to the start of the rune that it is inside of.
func runeStart(s string, offset int) int {
	for i := offset; i >= 0 && i > offset-utf8.UTFMax; i-- {
		if !utf8.RuneStart(s[i]) {
			continue
		}
		if _, size := utf8.DecodeRuneInString(s[i:]); i+size > offset {
			return i
		}
		break
	}
	return offset // a byte that belongs to no rune
}
