package lsp

import (
	"slices"
	"strings"
)

// manyChanges is the number of changes from which on it pays to look which of
// them can be made at once.
const manyChanges = 16

// span is a replacement of text[start:end].
type span struct {
	start, end int
	with       string
}

// ChangeAll returns the document after changes that follow each other. Editors
// report an edit of many places in one direction through the text: such changes
// are made at once, in the time that the text takes and not the text times the
// changes. made is told the document after each step, in which one change or
// several were made.
func (d *Document) ChangeAll(changes []ContentChange, enc Encoding, made func(*Document)) *Document {
	for len(changes) > 0 {
		spans := d.run(changes, enc)
		if len(spans) < 2 {
			d, changes = d.Change(changes[0], enc), changes[1:]
		} else {
			changes = changes[len(spans):]
			d = NewDocument(replaceAll(d.text, spans))
		}
		made(d)
	}
	return d
}

// run returns the changes that can be made at once, as they mean the text that
// is there now.
func (d *Document) run(changes []ContentChange, enc Encoding) []span {
	if len(changes) < manyChanges || strings.IndexByte(d.text, '\r') >= 0 {
		return nil
	}
	up, down := d.upwards(changes, enc), d.downwards(changes, enc)
	if len(up) > len(down) {
		return up
	}
	return down
}

// upwards are the changes that each lie before all earlier ones.
func (d *Document) upwards(changes []ContentChange, enc Encoding) (spans []span) {
	limit := len(d.text)
	for _, c := range changes {
		s, ok := d.exact(c, 0, enc)
		if !ok || s.end > limit {
			break
		}
		limit = s.start
		spans = append(spans, s)
	}
	slices.Reverse(spans) // two at one place stand as they were made: the later one in front
	return spans
}

// downwards are the changes that each begin in a line behind all earlier ones.
func (d *Document) downwards(changes []ContentChange, enc Encoding) (spans []span) {
	next, shift := 0, 0 // the first line that is as it was, and how many lines came before it
	for _, c := range changes {
		s, ok := d.exact(c, shift, enc)
		if !ok || int(c.Range.Start.Line) < next {
			break
		}
		added := strings.Count(c.Text, "\n")
		next = int(c.Range.Start.Line) + added + 1
		shift += added - int(c.Range.End.Line-c.Range.Start.Line)
		spans = append(spans, s)
	}
	return spans
}

// exact is a change by the offsets that its range means, shift lines further
// up. It is not ok if the range has no such place, or lines could end
// otherwise than by \n.
func (d *Document) exact(c ContentChange, shift int, enc Encoding) (s span, ok bool) {
	if c.Range == nil || strings.IndexByte(c.Text, '\r') >= 0 {
		return s, false
	}
	at := func(p Position) (int, bool) {
		p.Line -= uint32(shift)
		offset := d.Offset(p, enc)
		return offset, d.Position(offset, enc) == p
	}
	start, ok1 := at(c.Range.Start)
	end, ok2 := at(c.Range.End)
	return span{start, end, c.Text}, ok1 && ok2 && start <= end
}

// replaceAll makes replacements that are in order and don't overlap.
func replaceAll(text string, spans []span) string {
	size := len(text)
	for _, s := range spans {
		size += len(s.with) - (s.end - s.start)
	}
	var out strings.Builder
	out.Grow(size)
	at := 0
	for _, s := range spans {
		out.WriteString(text[at:s.start])
		out.WriteString(s.with)
		at = s.end
	}
	out.WriteString(text[at:])
	return out.String()
}
