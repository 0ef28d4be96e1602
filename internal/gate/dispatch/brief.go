package dispatch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Bounds of what is said in brief. Some programs show a person three lines of a
// question, and nothing of the rest.
const (
	briefLines = 3  // places, or two and how many there are more
	briefSide  = 2  // lines that go or come in one place
	briefRunes = 60 // of one of these
)

// brief says what changes would do, each place in a line: where it is, what
// goes and what comes. whole reports whether that is all of them.
func brief(changes []workspace.Change) (text string, whole bool) {
	var all []string
	for _, ch := range changes {
		all = append(all, changedLines(ch)...)
	}
	whole = len(all) > 0 && len(all) <= briefLines && !slices.ContainsFunc(all, func(line string) bool { return strings.Contains(line, "…") }) && !slices.ContainsFunc(changes, indented)
	if len(all) > briefLines {
		left := len(all) - (briefLines - 1)
		all = append(all[:briefLines-1], fmt.Sprintf("… and %d more places", left))
	}
	return strings.Join(all, "\n"), whole
}

// indented reports whether a change has lines of which a brief leaves out the white space.
func indented(ch workspace.Change) bool {
	before, errBefore := workspace.DecodeText(ch.Before)
	after, errAfter := workspace.DecodeText(ch.After)
	if errBefore != nil || errAfter != nil {
		return false
	}
	trimmed := func(line string) bool { return strings.TrimRight(line, "\r\n") != strings.TrimSpace(line) }
	return slices.ContainsFunc(diff.Hunks(before.Body, after.Body), func(h diff.Hunk) bool {
		return slices.ContainsFunc(h.Old, trimmed) || slices.ContainsFunc(h.New, trimmed)
	})
}

// changedLines is a line for each place that a change touches.
func changedLines(ch workspace.Change) []string {
	name := strings.ReplaceAll(ch.Path, "\n", `\n`)
	before, errBefore := workspace.DecodeText(ch.Before)
	after, errAfter := workspace.DecodeText(ch.After)
	var out []string
	if ch.From != "" {
		out = append(out, strings.ReplaceAll(ch.From, "\n", `\n`)+" → "+name)
	}
	switch {
	case errBefore != nil || errAfter != nil:
		return append(out, fmt.Sprintf("%s: %s, not text: %d and %d bytes", name, ch.Kind(), len(ch.Before), len(ch.After)))
	case ch.After == nil:
		return append(out, name+": deleted: "+side('-', diff.SplitLines(before.Body)))
	case ch.Before == nil:
		return append(out, name+": new: "+side('+', diff.SplitLines(after.Body)))
	}
	for _, h := range diff.Hunks(before.Body, after.Body) {
		var parts []string
		if len(h.Old) > 0 {
			parts = append(parts, side('-', h.Old))
		}
		if len(h.New) > 0 {
			parts = append(parts, side('+', h.New))
		}
		out = append(out, fmt.Sprintf("%s:%d: %s", name, h.OldStart+1, strings.Join(parts, " / ")))
	}
	if out == nil {
		out = append(out, name+": "+ch.Kind())
	}
	return out
}

// side is the beginning of the lines that go or come, and how many follow.
func side(sign byte, lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteString(" / ")
		}
		if left := len(lines) - i; i == briefSide {
			fmt.Fprintf(&b, "… %d more lines", left)
			break
		}
		line = strings.TrimSpace(line)
		if runes := []rune(line); len(runes) > briefRunes {
			line = string(runes[:briefRunes]) + "…"
		}
		b.WriteByte(sign)
		b.WriteString(line)
	}
	return b.String()
}
