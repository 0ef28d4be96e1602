package match

import (
	"sort"
	"strings"
)

// Span is a range of bytes of a text.
type Span struct{ Start, End int }

// Literal returns where s occurs in the text, to the byte, or, when it does
// not, with other line ends. Matches do not overlap, but a second one that
// overlaps the only other is returned too: it makes the first ambiguous.
func (t *Text) Literal(s string) ([]Span, Tier) {
	if spans := occurrences(t.Body, s); len(spans) > 0 {
		return spans, Exact
	}
	norm := Normalize(s)
	if !strings.Contains(norm, "\n") {
		return nil, ""
	}
	body := Normalize(t.Body)
	spans := occurrences(body, norm)
	if cut, ok := strings.CutSuffix(norm, "\n"); ok && len(spans) == 0 && cut != "" && strings.HasSuffix(body, cut) {
		spans = []Span{{len(body) - len(cut), len(body)}}
	}
	if len(body) != len(t.Body) {
		to := t.offsets()
		for i := range spans {
			spans[i] = Span{to(spans[i].Start), to(spans[i].End)}
		}
	}
	return spans, LineEnds
}

// occurrences finds s in body, never beginning or ending inside a \r\n.
func occurrences(body, s string) []Span {
	var spans []Span
	for at := 0; at+len(s) <= len(body); {
		i := strings.Index(body[at:], s)
		if i < 0 {
			break
		}
		p := Span{at + i, at + i + len(s)}
		at = p.End
		if splitsEOL(body, p.Start) || splitsEOL(body, p.End) {
			at = p.Start + 1
			continue
		}
		spans = append(spans, p)
	}
	if len(spans) == 1 {
		from := spans[0].Start + 1
		if i := strings.Index(body[from:], s); i >= 0 && from+i < spans[0].End && !splitsEOL(body, from+i) && !splitsEOL(body, from+i+len(s)) {
			spans = append(spans, Span{from + i, from + i + len(s)})
		}
	}
	return spans
}

func splitsEOL(body string, at int) bool {
	return at > 0 && at < len(body) && body[at-1] == '\r' && body[at] == '\n'
}

// Normalize turns every line end into \n.
func Normalize(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// offsets returns the function from offsets in the normalized body to those in
// the body itself.
func (t *Text) offsets() func(int) int {
	norm, orig := make([]int, len(t.Lines)+1), make([]int, len(t.Lines)+1)
	for i, l := range t.Lines {
		norm[i+1] = norm[i] + len(l.Text) + min(1, len(l.EOL))
		orig[i+1] = orig[i] + len(l.Text) + len(l.EOL)
	}
	return func(at int) int {
		i := sort.SearchInts(norm, at+1) - 1
		return orig[i] + at - norm[i]
	}
}

// LineAt returns the zero-based line that an offset is on.
func (t *Text) LineAt(offset int) int {
	at := 0
	for i, l := range t.Lines {
		at += len(l.Text) + len(l.EOL)
		if offset < at {
			return i
		}
	}
	return max(0, len(t.Lines)-1)
}

// EOLAt returns the line end in use at a span: the first one in it, else the
// next, else the one before, else \n.
func EOLAt(body string, s Span) string {
	if eol := firstEOL(body[s.Start:]); eol != "" {
		return eol
	}
	if i := strings.LastIndexAny(body[:s.Start], "\r\n"); i >= 0 {
		if i > 0 && body[i-1:i+1] == "\r\n" {
			return "\r\n"
		}
		return body[i : i+1]
	}
	return "\n"
}

func firstEOL(s string) string {
	i := strings.IndexAny(s, "\r\n")
	if i < 0 {
		return ""
	}
	if strings.HasPrefix(s[i:], "\r\n") {
		return "\r\n"
	}
	return s[i : i+1]
}

// Aligned returns the place of a span that consists of whole lines, for a
// block of n lines.
func (t *Text) Aligned(s Span, n int, tier Tier) (Match, bool) {
	at, first := 0, -1
	for i, l := range t.Lines {
		if at == s.Start {
			first = i
		}
		if first >= 0 && i == first+n-1 {
			end := at + len(l.Text)
			if s.End != end && s.End != end+len(l.EOL) {
				return Match{}, false
			}
			p := Match{Tier: tier, First: first, Last: i + 1, At: make([]int, n), Score: 1}
			for j := range n {
				p.At[j] = first + j
			}
			return p, true
		}
		at += len(l.Text) + len(l.EOL)
	}
	return Match{}, false
}
