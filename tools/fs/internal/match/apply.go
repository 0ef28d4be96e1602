package match

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Op is one line of an edit script: kept (' '), removed ('-') or added ('+').
// The lines kept and removed are the block that is looked for.
type Op struct {
	Kind byte
	Text string
}

// Script returns the edit script that turns the lines old into new.
func Script(old, new []string) []Op {
	var ops []Op
	at := 0
	for _, h := range diff.Lines(old, new) {
		for ; at < h.OldStart; at++ {
			ops = append(ops, Op{' ', old[at]})
		}
		for _, l := range h.Old {
			ops = append(ops, Op{'-', l})
		}
		for _, l := range h.New {
			ops = append(ops, Op{'+', l})
		}
		at += h.OldLines
	}
	for ; at < len(old); at++ {
		ops = append(ops, Op{' ', old[at]})
	}
	return ops
}

// Old returns the block that ops are to be applied to.
func Old(ops []Op) []string {
	var old []string
	for _, o := range ops {
		if o.Kind != '+' {
			old = append(old, o.Text)
		}
	}
	return old
}

// FinalEOL says what is known about the line end of a text's last line.
type FinalEOL int

// How a text ends after a change.
const (
	KeepFinal FinalEOL = iota // as before
	WithFinal
	WithoutFinal
)

// Change is what a script makes of a place: Lines instead of the lines
// [First, Last). Dropped are the zero-based lines that went although the
// script's block does not have them.
type Change struct {
	First, Last int
	Lines       []Line
	Dropped     []int
}

var errBetween = errors.New("the file has lines there that the edit does not know of")

// Apply puts ops on a place. What ops keep stays as the text has it, to the
// byte; what they add gets the text's line ends and, at a place found by
// indentation or similarity, its indentation. It fails when lines that the
// script does not know stand where it makes changes.
func Apply(t *Text, p Match, ops []Op, final FinalEOL) (Change, error) {
	if p.Tier == Alike {
		ops = asKept(t, p, ops)
	}
	a := applier{t: t, c: Change{First: p.First, Last: p.Last}, at: p.First, eol: t.eolBefore(p.First)}
	if p.Tier == Indented || p.Tier == Similar {
		file, old := pairs(t, p, Old(ops))
		in, err := indentation(file, old, p.Tier == Similar)
		if err != nil {
			return Change{}, err
		}
		a.in = &in
	}
	whole := len(p.At) >= longBlock && !strings.ContainsRune(kinds(ops), ' ')
	j := 0
	for i := 0; i < len(ops); {
		if ops[i].Kind == ' ' {
			if at := p.At[j]; at >= 0 {
				a.copyTo(at + 1)
			}
			i, j = i+1, j+1
			continue
		}
		end := i
		for end < len(ops) && ops[end].Kind != ' ' {
			end++
		}
		n, err := a.run(ops[i:end], p.At[j:], whole)
		if err != nil {
			return Change{}, err
		}
		if n == 0 && j > 0 && j < len(p.At) && (p.At[j-1] < 0 || p.At[j] != p.At[j-1]+1) {
			return Change{}, errBetween
		}
		i, j = end, j+n
	}
	a.copyTo(p.Last)
	if len(a.c.Dropped) > len(p.At)/longBlock {
		return Change{}, errBetween
	}
	a.finish(final)
	return a.c, nil
}

func kinds(ops []Op) string {
	var b strings.Builder
	for _, o := range ops {
		b.WriteByte(o.Kind)
	}
	return b.String()
}

func pairs(t *Text, p Match, old []string) (file []Line, block []string) {
	for j, i := range p.At {
		if i >= 0 {
			file, block = append(file, t.Lines[i]), append(block, old[j])
		}
	}
	return file, block
}

type applier struct {
	t   *Text
	c   Change
	at  int    // next line of the text
	eol string // of the last line passed
	in  *indents
}

// copyTo keeps the lines of the text up to end.
func (a *applier) copyTo(end int) {
	for ; a.at < end; a.at++ {
		a.c.Lines = append(a.c.Lines, a.t.Lines[a.at])
		a.pass(a.at)
	}
}

func (a *applier) pass(line int) {
	if eol := a.t.Lines[line].EOL; eol != "" {
		a.eol = eol
	}
}

// run applies changes that adjoin and returns how many lines of the block they
// remove.
func (a *applier) run(ops []Op, at []int, whole bool) (removed int, err error) {
	met := 0
	for _, o := range ops {
		if o.Kind == '+' {
			continue
		}
		line := at[removed]
		removed++
		if line < 0 {
			continue
		}
		if met == 0 {
			a.copyTo(line)
		}
		for ; a.at < line; a.at++ {
			if !whole {
				return 0, errBetween
			}
			a.c.Dropped = append(a.c.Dropped, a.at)
		}
		a.pass(line)
		a.at = line + 1
		met++
	}
	if removed > 0 && met == 0 {
		return 0, errors.New("the lines to change are not there")
	}
	for _, o := range ops {
		if o.Kind != '+' {
			continue
		}
		text := o.Text
		if a.in != nil {
			if text, err = a.in.line(text); err != nil {
				return 0, err
			}
		}
		a.c.Lines = append(a.c.Lines, Line{text, a.eol})
	}
	return removed, nil
}

// finish gives every line but a text's last one a line end.
func (a *applier) finish(final FinalEOL) {
	lines := a.c.Lines
	if len(lines) == 0 {
		return
	}
	for i := range lines {
		if lines[i].EOL == "" {
			lines[i].EOL = a.eol
		}
	}
	if a.c.Last < len(a.t.Lines) {
		return
	}
	bare := len(a.t.Lines) > 0 && a.t.Lines[len(a.t.Lines)-1].EOL == ""
	if final == WithoutFinal || final == KeepFinal && bare {
		lines[len(lines)-1].EOL = ""
	}
}

// eolBefore is the line end that is in use at a line.
func (t *Text) eolBefore(line int) string {
	for i := min(line, len(t.Lines)-1); i >= 0; i-- {
		if t.Lines[i].EOL != "" {
			return t.Lines[i].EOL
		}
	}
	return "\n"
}

// With returns the text after changes, which must be in order and apart.
func (t *Text) With(changes []Change) (string, error) {
	var b strings.Builder
	b.Grow(len(t.Body) + 256)
	at := 0
	write := func(lines []Line) {
		for _, l := range lines {
			b.WriteString(l.Text)
			b.WriteString(l.EOL)
		}
	}
	for _, c := range changes {
		if c.First < at {
			return "", fmt.Errorf("two changes overlap at line %d", c.First+1)
		}
		write(t.Lines[at:c.First])
		if n := len(t.Lines); c.First == n && n > 0 && t.Lines[n-1].EOL == "" && len(c.Lines) > 0 {
			b.WriteString(t.eolBefore(n))
		}
		write(c.Lines)
		at = c.Last
	}
	write(t.Lines[at:])
	return b.String(), nil
}

// Trim leaves the lines at both ends out of a change that stay as they are.
func (c Change) Trim(t *Text) Change {
	for len(c.Lines) > 0 && c.First < c.Last && c.Lines[0] == t.Lines[c.First] {
		c.Lines, c.First = c.Lines[1:], c.First+1
	}
	for n := len(c.Lines); n > 0 && c.First < c.Last && c.Lines[n-1] == t.Lines[c.Last-1]; n-- {
		c.Lines, c.Last = c.Lines[:n-1], c.Last-1
	}
	return c
}
