package match

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// folded is a text in which characters that look alike are one, and where each
// piece of it comes from.
type folded struct {
	text  string
	at    []int // where in text a piece begins, and the end
	piece []int // where in the original it does, and the end
}

// looks are what models write for characters, or the other way round.
var looks = map[rune]string{
	'\u00a0': " ", '\u2000': " ", '\u2001': " ", '\u2002': " ", '\u2003': " ", '\u2004': " ", '\u2005': " ", '\u2006': " ", '\u2007': " ", '\u2008': " ", '\u2009': " ", '\u200a': " ", '\u202f': " ", '\u205f': " ", '\u3000': " ",
	'‘': "'", '’': "'", '‚': "'", '‛': "'", '′': "'", 'ʼ': "'", '“': `"`, '”': `"`, '„': `"`, '‟': `"`, '″': `"`,
	'‐': "-", '\u2011': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-", '…': "...",
	'\u200b': "", '\u2060': "", '\ufeff': "", '\u00ad': "",
}

// entities are HTML's for what models escape.
var entities = map[string]string{"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": `"`, "&#34;": `"`, "&apos;": "'", "&#39;": "'", "&#x27;": "'", "&nbsp;": " "}

// plain reports whether folding leaves a text as it is.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] == '&' || s[i] == '\r' {
			return false
		}
	}
	return true
}

// fold makes characters that look alike, line ends and the forms of accents one.
func fold(s string) folded {
	var b strings.Builder
	f := folded{}
	add := func(text string, from int) {
		f.at, f.piece = append(f.at, b.Len()), append(f.piece, from)
		b.WriteString(text)
	}
	for i := 0; i < len(s); {
		n := boundary(s[i:])
		text := s[i : i+n]
		switch {
		case strings.HasPrefix(s[i:], "\r\n"):
			text, n = "\n", 2
		case text == "\r":
			text = "\n"
		case text == "&":
			if end := strings.IndexByte(s[i:min(len(s), i+8)], ';'); end > 0 && entities[s[i:i+end+1]] != "" {
				text, n = entities[s[i:i+end+1]], end+1
			}
		case n > 1:
			text = norm.NFC.String(text)
			if r, size := utf8.DecodeRuneInString(text); size == len(text) {
				if look, ok := looks[r]; ok {
					text = look
				}
			}
		}
		add(text, i)
		i += n
	}
	add("", len(s))
	f.text = b.String()
	return f
}

// boundary is how many bytes the first character of s has with its accents.
func boundary(s string) int {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1
	}
	return max(1, norm.NFC.NextBoundaryInString(s, true))
}

// sights are lines of a block as fold leaves them.
type sights map[string]string

// same reports whether a line of a text and one of the block are the same but for
// characters that look alike.
func (m sights) same(line, old string) bool {
	if plain(line) && plain(old) {
		return line == old
	}
	want, ok := m[old]
	if !ok {
		want = fold(old).text
		m[old] = want
	}
	return fold(line).text == want
}

// from is where the piece at an offset of the folded text begins in the original;
// ok is false inside of a piece.
func (f *folded) from(offset int) (at int, ok bool) {
	i, ok := slices.BinarySearch(f.at, offset)
	if !ok {
		return 0, false
	}
	return f.piece[i], true
}

// Alike returns where something occurs that looks like s.
func (t *Text) Alike(s string) []Span {
	if plain(t.Body) && plain(s) {
		return nil
	}
	body, want := fold(t.Body), fold(s).text
	if want == "" {
		return nil
	}
	var spans []Span
	for _, p := range occurrences(body.text, want) {
		start, ok := body.from(p.Start)
		end, whole := body.from(p.End)
		if ok && whole {
			spans = append(spans, Span{start, end})
		}
	}
	return spans
}

// Keep makes of region, which looks like old, what turns old into new: only what
// differs between these is changed. ok is false where that would cut a piece.
func Keep(region, old, new string) (_ string, ok bool) {
	here := fold(region)
	before, after := pieces(old), pieces(new)
	at := make([]int, len(before)+1) // of each word in the folded text
	for i, w := range before {
		at[i+1] = at[i] + len(fold(w).text)
	}
	if at[len(before)] != len(here.text) {
		return "", false
	}
	var b strings.Builder
	next := 0
	keep := func(until int) bool {
		start, ok := here.from(at[next])
		end, whole := here.from(at[until])
		if ok && whole {
			b.WriteString(region[start:end])
		}
		return ok && whole
	}
	for _, h := range diff.Lines(before, after) {
		if !keep(h.OldStart) {
			return "", false
		}
		b.WriteString(strings.Join(h.New, ""))
		next = h.OldStart + h.OldLines
	}
	ok = keep(len(before))
	return b.String(), ok
}

// pieces cuts a text into words of letters and digits, and the characters between
// them.
func pieces(s string) (list []string) {
	isWord := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for s != "" {
		n := 0
		for n < len(s) && isWord(s[n]) && boundary(s[n:]) == 1 {
			n++
		}
		switch {
		case n > 0:
		case strings.HasPrefix(s, "\r\n"):
			n = 2
		default:
			n = boundary(s)
			if end := strings.IndexByte(s[:min(len(s), 8)], ';'); s[0] == '&' && end > 0 && entities[s[:end+1]] != "" {
				n = end + 1
			}
		}
		list, s = append(list, s[:n]), s[n:]
	}
	return list
}

// asKept is the script for a place that only looks like its block: what it changes
// keeps the text's characters where it keeps the block's.
func asKept(t *Text, p Match, ops []Op) []Op {
	var out []Op
	j := 0
	for i := 0; i < len(ops); {
		if ops[i].Kind == ' ' {
			out = append(out, ops[i])
			i, j = i+1, j+1
			continue
		}
		var region, old, new []string
		for ; i < len(ops) && ops[i].Kind != ' '; i++ {
			if ops[i].Kind == '+' {
				new = append(new, ops[i].Text)
				continue
			}
			old, region = append(old, ops[i].Text), append(region, trimRight(t.Lines[p.At[j]].Text))
			j++
			out = append(out, ops[i])
		}
		with := new
		if len(old) > 0 && len(new) > 0 {
			for k := range old {
				old[k] = trimRight(old[k])
			}
			if kept, ok := Keep(strings.Join(region, "\n"), strings.Join(old, "\n"), strings.Join(new, "\n")); ok {
				with = strings.Split(kept, "\n")
			}
		}
		for _, w := range with {
			out = append(out, Op{'+', w})
		}
	}
	return out
}
