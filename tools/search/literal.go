package search

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
)

// needle is a text that every match contains. With fold, ASCII letters match
// in either case, and text is in lower case. Where no text is known, sets has
// what may be at each place of one.
type needle struct {
	text string
	fold bool
	sets []byteSet
}

// maxNeedles bounds the alternatives that are looked for side by side.
const maxNeedles = 16

// required returns needles one of which is in every match of re, or nil when
// there is nothing so simple to look for.
func required(re *syntax.Regexp) []needle {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeedles(string(re.Rune), re.Flags&syntax.FoldCase != 0)
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

// needed returns the texts that a file must have for re to match: of every
// list one.
func needed(re *syntax.Regexp) textindex.Needed {
	switch re.Op {
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, utf8.RuneError) {
			return nil // it matches what isn't UTF-8, too
		}
		if re.Flags&syntax.FoldCase == 0 {
			return textindex.Needed{{string(re.Rune)}}
		}
		var all textindex.Needed
		for _, part := range asciiParts(string(re.Rune)) {
			all = append(all, neededForms(part)...)
		}
		return all
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		var all textindex.Needed
		for _, sub := range re.Sub {
			all = append(all, needed(sub)...)
		}
		return all
	case syntax.OpAlternate:
		if set := required(re); set != nil {
			var one []string
			for _, n := range set {
				one = append(one, n.text)
			}
			return textindex.Needed{one}
		}
	}
	return nil
}

// asciiParts returns the parts of a literal that are ASCII, in lower case.
func asciiParts(text string) []string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
	for i, part := range parts {
		parts[i] = strings.ToLower(part)
	}
	return parts
}

// thirdForm returns what else a letter matches when case is the same, beside
// its forms in ASCII.
func thirdForm(c byte) string {
	switch c {
	case 'k':
		return "\u212a" // the Kelvin sign
	case 's':
		return "\u017f" // the long s
	}
	return ""
}

// maxThird is how many letters with a third form are looked up in all forms.
const maxThird = 3

// neededForms returns what a file has that has text in any case. Text is ASCII
// in lower case.
func neededForms(text string) textindex.Needed {
	var all textindex.Needed
	forms, third := []string{""}, 0
	for i := range len(text) {
		form := thirdForm(text[i])
		if form != "" {
			third++
		}
		if third > maxThird { // goes on with a text of its own
			all = append(all, forms)
			forms, third = []string{""}, 1
		}
		for j := range forms {
			if form != "" {
				forms = append(forms, forms[j]+form)
			}
			forms[j] += text[i : i+1]
		}
	}
	return append(all, forms)
}

// worth ranks sets of needles: long ones are rare, few are found faster, and
// so are rare bytes.
func worth(set []needle) int {
	if len(set) == 0 {
		return 0
	}
	shortest, common := len(set[0].text), 0
	for _, n := range set {
		shortest = min(shortest, len(n.text))
		common = max(common, n.rarest())
	}
	return (shortest*maxNeedles-len(set)+1)<<8 - common
}

// rarest ranks the needle's rarest byte.
func (n *needle) rarest() int {
	least := frequency(n.text[0])
	for i := range n.text {
		least = min(least, frequency(n.text[i]))
	}
	return least
}

// longNeedle is how long a needle is that need not be longer.
const longNeedle = 4

// literalNeedles returns what is worth looking for of a literal. Where case is
// the same that is its longest part without letters that have a third form, or,
// when none is long, all of it and these forms.
func literalNeedles(text string, fold bool) []needle {
	if text == "" {
		return nil
	}
	if !fold {
		return []needle{{text: text}}
	}
	var best string
	parts := asciiParts(text)
	for _, part := range parts {
		for _, part := range strings.FieldsFunc(part, func(r rune) bool { return thirdForm(byte(r)) != "" }) {
			if len(part) > len(best) {
				best = part
			}
		}
	}
	if len(best) < longNeedle && len(best) < len(text) && len(parts) == 1 && len(parts[0]) == len(text) {
		set := []needle{{text: parts[0], fold: true}}
		for _, c := range [...]byte{'k', 's'} {
			if strings.IndexByte(parts[0], c) >= 0 {
				set = append(set, needle{text: thirdForm(c)})
			}
		}
		return set
	}
	if best == "" {
		return nil
	}
	return []needle{{text: best, fold: strings.ToUpper(best) != best}}
}

// pair are two bytes at a distance, each perhaps in either case: a letter's
// two forms are the same under mask.
type pair struct {
	off        int
	want, mask [2]byte
}

// indexGeneric is index where the processor has no wide registers.
func (p *pair) indexGeneric(data []byte, n int) int {
	for i := 0; i < n; i++ {
		if p.mask[0] == 0 {
			k := bytes.IndexByte(data[i:n], p.want[0])
			if k < 0 {
				return -1
			}
			i += k
		}
		if data[i]|p.mask[0] == p.want[0] && data[i+p.off]|p.mask[1] == p.want[1] {
			return i
		}
	}
	return -1
}

// finder looks for one needle in one text after another. It goes from one
// occurrence to the next of the needle's two rarest bytes, at the distance
// that they have there, and compares.
type finder struct {
	needle
	pair
	size  int // of the needle
	first int // where the pair begins in it
	data  []byte
	at    int // the next place of the needle, or len(data)
}

func newFinder(n needle) *finder {
	f := &finder{needle: n, size: max(len(n.text), len(n.sets))}
	if n.sets != nil {
		a, b, _ := rarestOffsets(n.sets)
		f.first, f.off = a, b-a
		f.want, f.mask = [2]byte{n.sets[a].want, n.sets[b].want}, [2]byte{n.sets[a].mask, n.sets[b].mask}
		return f
	}
	a, b := 0, len(n.text)-1
	for i := range n.text {
		switch {
		case frequency(n.text[i]) < frequency(n.text[a]):
			a, b = i, a
		case i != a && (a == b || frequency(n.text[i]) < frequency(n.text[b])):
			b = i
		}
	}
	a, b = min(a, b), max(a, b)
	f.first, f.off = a, b-a
	for i, c := range [2]byte{n.text[a], n.text[b]} {
		f.want[i] = c
		if n.fold && 'a' <= c && c <= 'z' {
			f.mask[i] = 'a' - 'A'
		}
	}
	return f
}

// reset starts a new text.
func (f *finder) reset(data []byte) { f.data, f.at = data, -1 }

// index returns where the needle begins first at or after from, or len(data).
// The values of from must not decrease.
func (f *finder) index(from int) int {
	if f.at < from {
		f.at = f.search(from)
	}
	return f.at
}

func (f *finder) search(from int) int {
	end := len(f.data) - f.size + 1 // of the places where it can begin
	for pos := from; pos < end; pos++ {
		n := f.pair.index(f.data[pos+f.first:], end-pos)
		if n < 0 {
			break
		}
		pos += n
		if f.is(f.data[pos : pos+f.size]) {
			return pos
		}
	}
	return len(f.data)
}

// is reports whether text is the needle.
func (f *finder) is(text []byte) bool {
	if f.sets != nil {
		for i := range f.sets {
			if !f.sets[i].has(text[i]) {
				return false
			}
		}
		return true
	}
	if f.fold {
		return equalFold(text, f.text)
	}
	return string(text) == f.text
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
func frequency(c byte) int {
	i := strings.IndexByte(byFrequency, c)
	if i < 0 {
		return 0
	}
	return len(byFrequency) - i
}
