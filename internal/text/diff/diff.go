// Package diff compares texts line by line: hunks to work with, and unified
// diffs to read and to apply. It knows no files.
package diff

import (
	"slices"
	"strings"
	"unsafe"
)

// Hunk is one run of changed lines. Its indices count lines from zero; both
// sides hold whole lines with their line ends and no context.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Old, New           []string
}

// Text returns the hunk as the lines of a unified diff, without a header.
func (h Hunk) Text() string {
	var b strings.Builder
	for _, side := range [...]struct {
		sign  byte
		lines []string
	}{{'-', h.Old}, {'+', h.New}} {
		for _, line := range side.lines {
			b.WriteByte(side.sign)
			b.WriteString(line)
			switch line[len(line)-1] {
			case '\n':
			case '\r':
				b.WriteByte('\n')
			default:
				b.WriteString(noNewline)
			}
		}
	}
	return b.String()
}

// Hunks returns what turns old into new, in order and not adjoining. Bytes that
// are not UTF-8 are compared and kept as they are.
func Hunks(old, new string) []Hunk {
	if old == new {
		return nil
	}
	// What both begin with is not worth splitting, nor is what both end with
	// unless a change could be found further down as well.
	start := sameStart(old, new)
	first := CountLines(old[:start])
	old, new = old[start:], new[start:]
	end := sameEnd(old, new)
	hunks := Lines(SplitLines(old[:len(old)-end]), SplitLines(new[:len(new)-end]))
	if end > 0 && slices.ContainsFunc(hunks, Hunk.slides) {
		hunks = Lines(SplitLines(old), SplitLines(new))
	}
	for i := range hunks {
		hunks[i].OldStart += first
		hunks[i].NewStart += first
	}
	return hunks
}

// HunksOf is Hunks for texts that nobody changes meanwhile: neither is copied, and the
// hunks keep none of them in memory.
func HunksOf(old, new []byte) []Hunk {
	hunks := Hunks(unsafe.String(unsafe.SliceData(old), len(old)), unsafe.String(unsafe.SliceData(new), len(new)))
	for i := range hunks {
		h := &hunks[i]
		h.Old, h.New = apart(h.Old), apart(h.New)
	}
	return hunks
}

// apart are the same lines in a text of their own.
func apart(lines []string) []string {
	if len(lines) == 0 {
		return lines
	}
	text := strings.Join(lines, "")
	own := make([]string, len(lines))
	for i, line := range lines {
		own[i], text = text[:len(line)], text[len(line):]
	}
	return own
}

// sameStart is the length of the whole lines that both texts begin with. It
// stops at a \n only, because what follows a \r may make it half a line end.
func sameStart(a, b string) int {
	const block = 256
	n, least := 0, min(len(a), len(b))
	for n+block <= least && a[n:n+block] == b[n:n+block] {
		n += block
	}
	for n < least && a[n] == b[n] {
		n++
	}
	return strings.LastIndexByte(a[:n], '\n') + 1
}

// sameEnd is the length of some whole lines that both texts end with.
func sameEnd(a, b string) int {
	const block = 256
	n, most := 0, min(len(a), len(b))
	for n+block <= most && a[len(a)-n-block:len(a)-n] == b[len(b)-n-block:len(b)-n] {
		n += block
	}
	for n < most && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	first := strings.IndexByte(a[len(a)-n:], '\n')
	if first < 0 {
		return 0
	}
	return n - (first + 1)
}

// Lines is Hunks for texts that are split already. The hunks share the slices.
func Lines(old, new []string) []Hunk {
	var hunks []Hunk
	changedOld, changedNew, prefix := changed(old, new)
	i, j := prefix, prefix
	endOld, endNew := prefix+len(changedOld), prefix+len(changedNew)
	for i < endOld || j < endNew {
		h := Hunk{OldStart: i, NewStart: j}
		for i < endOld && changedOld[i-prefix] {
			i++
		}
		for j < endNew && changedNew[j-prefix] {
			j++
		}
		if i == h.OldStart && j == h.NewStart {
			i, j = i+1, j+1 // the same line on both sides
			continue
		}
		h.OldLines, h.NewLines = i-h.OldStart, j-h.NewStart
		h.Old, h.New = old[h.OldStart:i:i], new[h.NewStart:j:j]
		hunks = append(hunks, h)
	}
	for k := len(hunks) - 1; k >= 0; k-- {
		limit := len(old)
		if k+1 < len(hunks) {
			limit = hunks[k+1].OldStart - 1
		}
		slide(&hunks[k], old, new, limit)
	}
	return hunks
}

// slide moves an insertion or a deletion as far down as it can be moved
// without another outcome: where lines repeat, there are several places for
// one change, and the same change must always be found in the same place.
func slide(h *Hunk, old, new []string, limit int) {
	if !h.slides() {
		return
	}
	run, n := h.Old, 0
	if h.OldLines == 0 {
		run = h.New
	}
	for h.OldStart+h.OldLines+n < limit && old[h.OldStart+h.OldLines+n] == run[n%len(run)] {
		n++
	}
	h.OldStart, h.NewStart = h.OldStart+n, h.NewStart+n
	h.Old = old[h.OldStart : h.OldStart+h.OldLines : h.OldStart+h.OldLines]
	h.New = new[h.NewStart : h.NewStart+h.NewLines : h.NewStart+h.NewLines]
}

// slides reports whether the hunk is an insertion or a deletion.
func (h Hunk) slides() bool { return h.OldLines == 0 || h.NewLines == 0 }

// SplitLines cuts s after each \n, \r\n and \r: the line ends of LSP. Only the
// last line can be without one; the lines together are s.
func SplitLines(s string) []string {
	if strings.IndexByte(s, '\r') < 0 {
		return splitNewlines(s)
	}
	lines := make([]string, 0, strings.Count(s, "\n")+1)
	for s != "" {
		end := strings.IndexByte(s, '\n') + 1
		if end == 0 {
			end = len(s)
		}
		if cr := strings.IndexByte(s[:end], '\r'); cr >= 0 && (cr != end-2 || s[end-1] != '\n') {
			end = cr + 1
		}
		lines = append(lines, s[:end])
		s = s[end:]
	}
	return lines
}

// CountLines is len(SplitLines(s)).
func CountLines(s string) int {
	if strings.IndexByte(s, '\r') >= 0 {
		return len(SplitLines(s))
	}
	n := strings.Count(s, "\n")
	if s != "" && s[len(s)-1] != '\n' {
		n++
	}
	return n
}

// splitNewlines cuts s after each \n, as git does.
func splitNewlines(s string) []string {
	if s == "" {
		return nil
	}
	lines := make([]string, 0, strings.Count(s, "\n")+1)
	for s != "" {
		end := strings.IndexByte(s, '\n') + 1
		if end == 0 {
			end = len(s)
		}
		lines = append(lines, s[:end])
		s = s[end:]
	}
	return lines
}
