// Package hunk computes with changes of whole lines: it finds them in a text that has
// changed (locate.go: moves, conflicts), reworks what is proposed (rework.go), and says
// whose lines are (credit.go). It has no side effects.
package hunk

import (
	"bytes"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// State is how a hunk stands to the live text.
type State string

// The states of a hunk.
const (
	Clean    State = "clean"    // the text around it is as it was when it was proposed
	Moved    State = "moved"    // the user's changes shifted it
	Conflict State = "conflict" // the user changed the lines that it changes
)

// Hunk is a change of whole lines of a text.
type Hunk struct {
	ID       string
	Start    int
	Old, New []string
	By       []string // the sessions whose it is, sorted; shared, never changed
}

// End is the line after the old ones.
func (h Hunk) End() int { return h.Start + len(h.Old) }

// Between returns the changes that make want of base.
func Between(base, want []byte) []Hunk {
	changes := diff.HunksOf(base, want)
	hunks := make([]Hunk, len(changes))
	for i, c := range changes {
		hunks[i] = Hunk{Start: c.OldStart, Old: c.Old, New: c.New}
	}
	return hunks
}

// Split returns base as if the hunks for which applied is true had been in it always,
// and those that are left in it when those go for which dropped is true, too.
func Split(base []byte, hunks []Hunk, applied, dropped func(Hunk) bool) (now []byte, left []Hunk) {
	var lines []string
	old, at := diff.SplitLines(string(base)), 0
	for _, h := range hunks {
		lines = append(lines, old[at:h.Start]...)
		at = h.End()
		switch {
		case applied(h):
			lines = append(lines, h.New...)
			continue
		case !dropped(h):
			h.Start = len(lines)
			left = append(left, h)
		}
		lines = append(lines, h.Old...)
	}
	return Join(append(lines, old[at:]...)), left
}

// Apply returns a text with the changes made, which must be in order and exact.
func Apply(text []byte, changes []Hunk) []byte {
	return Join(apply(diff.SplitLines(string(text)), changes))
}

func apply(lines []string, changes []Hunk) []string {
	if len(changes) == 0 {
		return lines
	}
	out, at := make([]string, 0, len(lines)+8), 0
	for _, h := range changes {
		out = append(append(out, lines[at:h.Start]...), h.New...)
		at = h.End()
	}
	return append(out, lines[at:]...)
}

// Join never returns nil: no bytes are not no file.
func Join(lines []string) []byte {
	n := 0
	for _, line := range lines {
		n += len(line)
	}
	b := make([]byte, 0, n)
	for _, line := range lines {
		b = append(b, line...)
	}
	return b
}

// runsOn reports whether putting b after a makes other lines of them: a has no
// line end, or half of one whose other half is in b.
func runsOn(a, b string) bool {
	return !strings.HasSuffix(a, "\n") && (!strings.HasSuffix(a, "\r") || strings.HasPrefix(b, "\n"))
}

// IsText reports whether a file's content has lines that hunks can be made of.
func IsText(data []byte) bool {
	return data != nil && !diff.Binary(string(data[:min(len(data), diff.BinaryWithin)]))
}

// Same compares files: no file is not an empty one.
func Same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// Content tells whether hunks make the same change, wherever it is.
func Content(h Hunk) string {
	return strings.Join(h.Old, "") + "\x00" + strings.Join(h.New, "")
}
