package lsp

import (
	"errors"
	"slices"
	"strings"
)

// Document is a text with an index of its lines. It never changes: Change
// returns another one, so a Document may be read from many goroutines.
type Document struct {
	text   string
	starts []int // offsets of the line starts, the first is 0
}

// NewDocument indexes text. Only \n, \r\n and \r end a line.
func NewDocument(text string) *Document {
	starts := make([]int, 1, 1+strings.Count(text, "\n"))
	return &Document{text: text, starts: appendStarts(starts, text, 0, len(text))}
}

// appendStarts appends the starts of the lines whose line end's last byte is in
// text[from:to].
func appendStarts(starts []int, text string, from, to int) []int {
	for i := from; i < to; i++ {
		switch text[i] {
		case '\n':
			starts = append(starts, i+1)
		case '\r':
			if i+1 == len(text) || text[i+1] != '\n' {
				starts = append(starts, i+1)
			}
		}
	}
	return starts
}

// Text returns the whole text.
func (d *Document) Text() string { return d.text }

// Lines returns the number of lines; an empty text has one.
func (d *Document) Lines() int { return len(d.starts) }

// Line returns line n, counted from 0, without its line end; "" past the end.
func (d *Document) Line(n int) string {
	if n < 0 || n >= len(d.starts) {
		return ""
	}
	end := len(d.text)
	if n+1 < len(d.starts) {
		end = d.starts[n+1]
	}
	return strings.TrimRight(d.text[d.starts[n]:end], "\r\n")
}

// Offset is like the function Offset, in the time that one line takes.
func (d *Document) Offset(p Position, enc Encoding) int {
	if uint64(p.Line) >= uint64(len(d.starts)) {
		return len(d.text)
	}
	return d.starts[p.Line] + offsetInLine(d.Line(int(p.Line)), p.Character, enc)
}

// Position is like the function PositionAt, in the time that one line takes.
func (d *Document) Position(offset int, enc Encoding) Position {
	offset = min(max(offset, 0), len(d.text))
	line := d.lineOf(offset)
	return Position{Line: uint32(line), Character: charactersIn(d.Line(line), offset-d.starts[line], enc)}
}

// lineOf returns the line that holds offset.
func (d *Document) lineOf(offset int) int {
	line, exact := slices.BinarySearch(d.starts, offset)
	if !exact {
		line--
	}
	return line
}

// Change returns the document after one content change. A range that ends
// before it starts is taken the other way round, and one past the end is
// clamped, as editors do.
func (d *Document) Change(change ContentChange, enc Encoding) *Document {
	if change.Range == nil {
		return NewDocument(change.Text)
	}
	start, end := d.Offset(change.Range.Start, enc), d.Offset(change.Range.End, enc)
	return d.Replace(min(start, end), max(start, end), change.Text)
}

// Replace returns the document with text[start:end] replaced. It looks only at
// the lines around the change and moves the starts of the later ones.
func (d *Document) Replace(start, end int, with string) *Document {
	text := d.text[:start] + with + d.text[end:]
	// A \r before the change may gain or lose its \n, so its line is looked at too.
	first := d.lineOf(max(start-1, 0))
	after, exact := slices.BinarySearch(d.starts, end)
	if exact {
		after++
	}
	delta := len(with) - (end - start)
	to := len(text)
	if after < len(d.starts) {
		to = d.starts[after] + delta
	}
	starts := make([]int, first+1, len(d.starts)+strings.Count(with, "\n")+1)
	copy(starts, d.starts)
	starts = appendStarts(starts, text, d.starts[first], to)
	if after < len(d.starts) {
		for _, s := range d.starts[after+1:] { // the one at after was found again
			starts = append(starts, s+delta)
		}
	}
	return &Document{text: text, starts: starts}
}

// ErrOverlap says that two edits of one document touch the same text.
var ErrOverlap = errors.New("edits overlap")

// ApplyEdits returns text with all edits done at once: their ranges all mean the
// text as it was. Inserts at one place keep their order.
func ApplyEdits(text string, edits []TextEdit, enc Encoding) (string, error) {
	doc := NewDocument(text)
	spans := make([]span, len(edits))
	for i, e := range edits {
		a, b := doc.Offset(e.Range.Start, enc), doc.Offset(e.Range.End, enc)
		spans[i] = span{min(a, b), max(a, b), e.NewText}
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.end - b.end
	})
	for i := 1; i < len(spans); i++ {
		if spans[i].start < spans[i-1].end {
			return "", ErrOverlap
		}
	}
	return replaceAll(text, spans), nil
}
