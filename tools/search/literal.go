package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// needle is a text that every match contains. With fold, ASCII letters match
// in either case, and text is in lower case.
type needle struct {
	text string
	fold bool
}

// maxNeedles bounds the alternatives that are looked for side by side.
const maxNeedles = 16

// required returns needles one of which is in every match of re, or nil when
// there is nothing so simple to look for.
func required(re *syntax.Regexp) []needle {
	switch re.Op {
	case syntax.OpLiteral:
		if n := literalNeedle(string(re.Rune), re.Flags&syntax.FoldCase != 0); n.text != "" {
			return []needle{n}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []needle
		for _, sub := range re.Sub {
			if n := required(sub); worth(n) > worth(best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []needle
		for _, sub := range re.Sub {
			n := required(sub)
			if n == nil || len(all)+len(n) > maxNeedles {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

// worth ranks sets of needles: long ones are rare, and few are found faster.
func worth(set []needle) int {
	if len(set) == 0 {
		return 0
	}
	shortest := len(set[0].text)
	for _, n := range set {
		shortest = min(shortest, len(n.text))
	}
	return shortest*maxNeedles - len(set) + 1
}

// literalNeedle returns what is worth looking for of a literal. When case is
// folded that is the longest part which only ASCII letters can match: k and s
// have further forms (the Kelvin sign, the long s).
func literalNeedle(text string, fold bool) needle {
	if !fold {
		return needle{text: text}
	}
	var best string
	for _, part := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r >= utf8.RuneSelf || r == 'k' || r == 's'
	}) {
		if len(part) > len(best) {
			best = part
		}
	}
	return needle{best, strings.ToUpper(best) != best}
}

// finder looks for one needle in one text after another. It goes from one
// occurrence of the needle's rarest byte to the next, which IndexByte does at
// the speed of memory, and compares there.
type finder struct {
	needle
	rare  int     // where the rarest byte is in text
	forms [2]byte // that byte, in both cases
	count int     // of forms

	data []byte
	next [2]int // the next place of each form, -1 when it is unknown
	at   int    // the next place of the needle, or len(data)
}

func newFinder(n needle) *finder {
	f := &finder{needle: n, count: 1}
	for i := range n.text {
		if frequency(n.text[i], n.fold) < frequency(n.text[f.rare], n.fold) {
			f.rare = i
		}
	}
	c := n.text[f.rare]
	f.forms[0] = c
	if n.fold && 'a' <= c && c <= 'z' {
		f.forms[1] = c - 'a' + 'A'
		f.count = 2
	}
	return f
}

// reset starts a new text.
func (f *finder) reset(data []byte) {
	f.data, f.at = data, -1
	f.next = [2]int{-1, -1}
}

// index returns where the needle begins first at or after from, or len(data).
// The values of from must not decrease.
func (f *finder) index(from int) int {
	if f.at < from {
		f.at = f.search(from)
	}
	return f.at
}

func (f *finder) search(from int) int {
	if !f.fold {
		if i := f.searchExact(from); i >= 0 {
			return i
		}
		return len(f.data)
	}
	for pos := from + f.rare; pos < len(f.data); pos++ {
		pos = f.nextForm(pos)
		start := pos - f.rare
		if start+len(f.text) > len(f.data) {
			break
		}
		if equalFold(f.data[start:start+len(f.text)], f.text) {
			return start
		}
	}
	return len(f.data)
}

// nextForm returns the first place at or after pos of the rare byte in any
// case, or len(data).
func (f *finder) nextForm(pos int) int {
	best := len(f.data)
	for i := range f.count {
		if f.next[i] < pos {
			f.next[i] = len(f.data)
			if n := bytes.IndexByte(f.data[pos:], f.forms[i]); n >= 0 {
				f.next[i] = pos + n
			}
		}
		best = min(best, f.next[i])
	}
	return best
}

// searchExact looks for the rare byte as long as that is not too common in
// this text, then for the text as a whole.
func (f *finder) searchExact(from int) int {
	end := len(f.data) - len(f.text)
	misses := 0
	for pos := from; pos <= end; pos++ {
		n := bytes.IndexByte(f.data[pos+f.rare:end+f.rare+1], f.forms[0])
		if n < 0 {
			return -1
		}
		pos += n
		if string(f.data[pos:pos+len(f.text)]) == f.text {
			return pos
		}
		if misses++; misses > 8+(pos-from)>>5 {
			if n := bytes.Index(f.data[pos+1:], []byte(f.text)); n >= 0 {
				return pos + 1 + n
			}
			return -1
		}
	}
	return -1
}

// equalFold compares with a text in lower case.
func equalFold(data []byte, lower string) bool {
	for i, c := range data {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// byFrequency are the bytes of source text from common to rare; all others are
// rarer still.
const byFrequency = " etnirsaoldcu\tpm\nfgh_x(,)0;b.vy*w=/\"-1{}k:>'SETRAC2NI[]<DPOLM&3F4U#BG86V5HjX+7q9z!W$@%K|Y\\?JQZ`~^"

// frequency ranks a byte; higher is more common.
func frequency(c byte, fold bool) int {
	i := strings.IndexByte(byFrequency, c)
	if i < 0 {
		return 0
	}
	if fold && 'a' <= c && c <= 'z' {
		i -= 4 // two forms to look for
	}
	return len(byFrequency) - i
}
