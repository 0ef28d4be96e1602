// Package match finds where in a text a block of lines is meant to be, and
// puts an edit script on that place. It is strict: a place that is not unique,
// or not clearly ahead of the next best, is not a place. It knows neither
// files nor tools.
package match

import (
	"context"
	"fmt"
	"strings"
)

// Tier says how exactly a block matched, from Exact to Similar.
type Tier string

// The tiers, in the order in which they are tried.
const (
	Exact    Tier = "exact"
	LineEnds Tier = "line-endings"
	Trailing Tier = "trailing-whitespace"
	Indented Tier = "indentation"
	Escaped  Tier = "escapes"
	Alike    Tier = "look-alikes"
	Similar  Tier = "similarity"
)

// Line is one line of a text. EOL is its line end: "\n", "\r\n", "\r", or ""
// for a last line without one.
type Line struct{ Text, EOL string }

// Text is a text and its lines.
type Text struct {
	Body  string
	Lines []Line

	keys []uint64 // made by lineKeys on first use
}

// New splits body into lines.
func New(body string) *Text { return &Text{Body: body, Lines: Split(body)} }

// Split splits s into lines. Only \n, \r\n and \r end a line.
func Split(s string) []Line {
	lines := make([]Line, 0, strings.Count(s, "\n")+1)
	if strings.IndexByte(s, '\r') < 0 {
		for s != "" {
			i := strings.IndexByte(s, '\n')
			if i < 0 {
				return append(lines, Line{Text: s})
			}
			lines = append(lines, Line{s[:i], s[i : i+1]})
			s = s[i+1:]
		}
		return lines
	}
	for s != "" {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			return append(lines, Line{Text: s})
		}
		n := 1
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		lines = append(lines, Line{s[:i], s[i : i+n]})
		s = s[i+n:]
	}
	return lines
}

// Texts returns the lines without their line ends.
func Texts(lines []Line) []string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	return texts
}

// Match is where a block was found.
type Match struct {
	Tier        Tier
	First, Last int   // the lines [First, Last) of the text
	At          []int // for each line of the block its line of the text, or -1
	Score       float64
}

// Ambiguous is the error of a block that matches at several places.
type Ambiguous struct {
	Tier  Tier
	Count int
	Lines []int // zero-based first lines, at most MaxListed
}

// MaxListed bounds the places that an Ambiguous names.
const MaxListed = 20

func (a *Ambiguous) Error() string {
	return fmt.Sprintf("matches at %d places", a.Count)
}

// Missing is the error of a block that is not in the text.
type Missing struct {
	Reason  string // why the nearest region was not taken, or ""
	Nearest *Near  // nil: nothing is similar
}

func (m *Missing) Error() string { return "no match" }

// Near is the region of a text that is most like a block.
type Near struct {
	First, Last int // the lines [First, Last)
	Score       float64
}

// Options narrow a search.
type Options struct {
	Hint int // one-based line where the block is expected to begin; 0 means unknown. It decides between equal matches only when it is exactly right.
	From int // zero-based first line to look at
	End  bool
	// First takes the first of several exact matches, for a search that an
	// anchor has already narrowed.
	First bool
}

// Find locates the lines of old (without line ends) in t. A failure is an
// *Ambiguous, a *Missing, or ctx.Err().
func Find(ctx context.Context, t *Text, old []string, o Options) (Match, error) {
	looks := sights{}
	for _, tier := range [...]struct {
		name Tier
		eq   func(a, b string) bool
		ok   func(old []string) bool
	}{
		{Exact, func(a, b string) bool { return a == b }, func([]string) bool { return true }},
		{Trailing, func(a, b string) bool { return trimRight(a) == trimRight(b) }, hasContent},
		{Indented, func(a, b string) bool { return trim(a) == trim(b) }, distinctive},
		{Alike, func(a, b string) bool { return looks.same(trimRight(a), trimRight(b)) }, hasContent},
	} {
		if !tier.ok(old) {
			continue
		}
		starts, err := blocks(ctx, t.Lines, old, o, tier.eq)
		if err != nil {
			return Match{}, err
		}
		if tier.name == Indented {
			starts = filter(starts, func(s int) bool {
				_, err := indentation(t.Lines[s:s+len(old)], old, false)
				return err == nil
			})
		}
		switch at, ok := pick(starts, o, tier.name); {
		case ok:
			p := Match{Tier: tier.name, First: at, Last: at + len(old), At: make([]int, len(old)), Score: 1}
			for i := range old {
				p.At[i] = at + i
			}
			return p, nil
		case len(starts) > 1:
			return Match{}, &Ambiguous{tier.name, len(starts), starts[:min(len(starts), MaxListed)]}
		}
	}
	if o.End {
		return Match{}, missing(ctx, t, old, "")
	}
	return similar(ctx, t, old, o)
}

// blocks returns every line at which old begins, compared with eq.
func blocks(ctx context.Context, lines []Line, old []string, o Options, eq func(a, b string) bool) ([]int, error) {
	var starts []int
	if len(old) == 0 {
		return nil, nil
	}
	anchor := longest(old)
	first := o.From
	if o.End {
		first = max(first, len(lines)-len(old))
	}
next:
	for i := first; i+len(old) <= len(lines); i++ {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !eq(lines[i+anchor].Text, old[anchor]) {
			continue
		}
		for j, want := range old {
			if !eq(lines[i+j].Text, want) {
				continue next
			}
		}
		starts = append(starts, i)
	}
	return starts, nil
}

// pick chooses among equal matches: the only one, or the one that is exactly
// where it was expected.
func pick(starts []int, o Options, tier Tier) (int, bool) {
	if len(starts) == 1 {
		return starts[0], true
	}
	for _, s := range starts {
		if o.Hint > 0 && s == o.Hint-1 {
			return s, true
		}
	}
	if o.First && tier == Exact && len(starts) > 0 {
		return starts[0], true
	}
	return 0, false
}

func filter(xs []int, ok func(int) bool) []int {
	out := xs[:0]
	for _, x := range xs {
		if ok(x) {
			out = append(out, x)
		}
	}
	return out
}

func longest(lines []string) int {
	best := 0
	for i, l := range lines {
		if len(l) > len(lines[best]) {
			best = i
		}
	}
	return best
}

const blanks = " \t"

func trim(s string) string      { return strings.Trim(s, blanks) }
func trimRight(s string) string { return strings.TrimRight(s, blanks) }

// Indent returns the white space that s begins with.
func Indent(s string) string { return s[:len(s)-len(strings.TrimLeft(s, blanks))] }

// hasContent reports whether one line is not blank.
func hasContent(lines []string) bool {
	for _, l := range lines {
		if trim(l) != "" {
			return true
		}
	}
	return false
}

// distinctive reports whether lines say enough to be found without their
// indentation: two lines, or a long one.
func distinctive(lines []string) bool {
	n, size := 0, 0
	for _, l := range lines {
		if l = trim(l); l != "" {
			n++
			size += len(l)
		}
	}
	return n >= 2 && size >= 8 || size >= 12
}
