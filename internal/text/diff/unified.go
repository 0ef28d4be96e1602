package diff

import (
	"fmt"
	"strings"
)

const noNewline = "\n\\ No newline at end of file\n"

// Context is how many unchanged lines surround a change in a patch.
const Context = 3

// Unified returns a unified diff with context lines around each change, or ""
// when the texts are equal. git apply takes it: lines end with \n alone, names
// are quoted where they need it, and a missing last line end is marked. The
// names are written as they are ("a/main.go", "/dev/null").
func Unified(oldName, newName, old, new string, context int) string {
	if old == new {
		return ""
	}
	// What both begin with is not worth splitting, but for the context.
	start := sameStart(old, new)
	for range context {
		start = strings.LastIndexByte(old[:max(0, start-1)], '\n') + 1
	}
	first := strings.Count(old[:start], "\n")
	oldLines, newLines := splitNewlines(old[start:]), splitNewlines(new[start:])
	hunks := Lines(oldLines, newLines)
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", nameLine(oldName), nameLine(newName))
	for len(hunks) > 0 {
		n := 1
		for n < len(hunks) && hunks[n].OldStart-hunks[n-1].OldStart-hunks[n-1].OldLines <= 2*context {
			n++
		}
		writeGroup(&b, hunks[:n], oldLines, first, context)
		hunks = hunks[n:]
	}
	return b.String()
}

// writeGroup writes hunks that are near each other under one header. The texts
// begin after skipped lines.
func writeGroup(b *strings.Builder, hunks []Hunk, old []string, skipped, context int) {
	first, last := hunks[0], hunks[len(hunks)-1]
	before := min(context, first.OldStart)
	lastOld, lastNew := last.OldStart+last.OldLines, last.NewStart+last.NewLines
	after := min(context, len(old)-lastOld)
	start := first.OldStart - before
	fmt.Fprintf(b, "@@ -%s +%s @@\n",
		span(skipped+start, lastOld+after-start),
		span(skipped+first.NewStart-before, lastNew+after-(first.NewStart-before)))
	at := start
	for _, h := range hunks {
		writeLines(b, ' ', old[at:h.OldStart])
		writeLines(b, '-', h.Old)
		writeLines(b, '+', h.New)
		at = h.OldStart + h.OldLines
	}
	writeLines(b, ' ', old[at:lastOld+after])
}

func writeLines(b *strings.Builder, sign byte, lines []string) {
	for _, line := range lines {
		b.WriteByte(sign)
		b.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteString(noNewline)
		}
	}
}

// span writes a range of lines, counted from one; an empty one names the line
// before it.
func span(start, lines int) string {
	switch lines {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, lines)
}

// Patch returns one file's change in git's format, which also says what a
// unified diff can't: an oldName of "" is a created file, a newName of "" a
// deleted one, and two different names a rename. Binary content is named only.
// Equal texts under one name give "".
func Patch(oldName, newName, old, new string) string {
	if old == new && oldName == newName {
		return ""
	}
	return FilePatch{OldName: oldName, NewName: newName, OldMode: regular, NewMode: regular, Old: old, New: new}.String()
}

// regular is git's mode of a plain file.
const regular = 0o100644

// BinaryWithin is how much of a text, in bytes, Binary looks at.
const BinaryWithin = 8000

// Binary reports whether git would call s binary: a NUL near its beginning.
func Binary(s string) bool {
	return strings.IndexByte(s[:min(len(s), BinaryWithin)], 0) >= 0
}

// nameLine is a name in a "---" or "+++" line, where a tab ends a name that
// has spaces.
func nameLine(name string) string {
	q := quote(name)
	if strings.ContainsRune(name, ' ') {
		q += "\t"
	}
	return q
}

// quote writes a name as git does: in double quotes with C escapes when it has
// a quote, a backslash or a control character.
func quote(name string) string {
	if !strings.ContainsFunc(name, special) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(name) {
		switch at := strings.IndexByte("\a\b\t\n\v\f\r", c); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[at])
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[c-'\a'])
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func special(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }
