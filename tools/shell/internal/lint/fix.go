package lint

import (
	"bytes"
	"cmp"
	"go/format"
	"path"
	"slices"
	"unicode/utf8"
)

// Edit replaces a part of a file.
type Edit struct {
	File       string
	Start, End Position
	New        string
}

// Position is a place in a text: an offset in bytes, or, where Line is not 0, a
// line and a column in characters, which count from one.
type Position struct{ Offset, Line, Column int }

// in is the offset of a place in a text, -1 when it is not in there.
func (p Position) in(text []byte) int {
	if p.Line == 0 {
		if p.Offset < 0 || p.Offset > len(text) {
			return -1
		}
		return p.Offset
	}
	at := 0
	for range p.Line - 1 {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return -1
		}
		at += end + 1
	}
	for range p.Column - 1 {
		if at >= len(text) {
			return -1
		}
		_, n := utf8.DecodeRune(text[at:])
		at += n
	}
	return at
}

// change is an edit whose place in its text is known.
type change struct {
	start, end int
	text       string
}

// Apply makes the fixes of findings in texts, by name. Each is made whole or,
// when it meets another one or a file that is not there, not at all. It returns
// the texts that changed, and the findings that are left.
func Apply(findings []Finding, texts map[string][]byte) (changed map[string][]byte, left []Finding) {
	made := map[string][]change{}
	for _, f := range findings {
		if fix, ok := toChanges(f.Fix, texts, made); ok {
			for name, list := range fix {
				made[name] = append(made[name], list...)
			}
			continue
		}
		left = append(left, f)
	}
	changed = map[string][]byte{}
	for name, list := range made {
		slices.SortStableFunc(list, func(a, b change) int { return cmp.Or(a.start-b.start, a.end-b.end) })
		before, at := texts[name], 0
		var after []byte
		for _, c := range list {
			after = append(append(after, before[at:c.start]...), c.text...)
			at = c.end
		}
		changed[name] = formatted(name, before, append(after, before[at:]...))
	}
	return changed, left
}

// toChanges are the changes of a fix, by file; not ok when it can't be made.
func toChanges(fix []Edit, texts map[string][]byte, made map[string][]change) (by map[string][]change, ok bool) {
	by = map[string][]change{}
	for _, e := range fix {
		text, known := texts[e.File]
		c := change{e.Start.in(text), e.End.in(text), e.New}
		meets := func(o change) bool { return c.start < o.end && o.start < c.end || c.start == o.start || c.end == o.end }
		within := func(o change) bool { return c.start < o.end && o.start < c.end }
		if !known || c.start < 0 || c.end < c.start || slices.ContainsFunc(made[e.File], meets) || slices.ContainsFunc(by[e.File], within) {
			return nil, false
		}
		by[e.File] = append(by[e.File], c)
	}
	return by, len(fix) > 0
}

// formatted is the new text of a file, in the format that it had.
func formatted(name string, before, after []byte) []byte {
	if path.Ext(name) != ".go" {
		return after
	}
	if was, err := format.Source(before); err != nil || !bytes.Equal(was, before) {
		return after
	}
	if now, err := format.Source(after); err == nil {
		return now
	}
	return after
}
