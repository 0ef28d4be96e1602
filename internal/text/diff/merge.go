package diff

import "strings"

// Merge makes the changes that ours and theirs made to base, line by line. It
// reports false when both changed the same lines, or lines without an
// unchanged one between them, in different ways: then nothing is merged, as
// with git.
//
// Merging what came out with theirs once more changes nothing.
func Merge(base, ours, theirs string) (string, bool) {
	switch {
	case ours == theirs, base == theirs:
		return ours, true
	case base == ours:
		return theirs, true
	}
	merged, ok := merge(base, ours, theirs)
	if !ok {
		return "", false
	}
	// Where lines repeat, the outcome may compare with the base in another way
	// than its parts did. What can't be recognised again is not merged.
	again, ok := merge(base, merged, theirs)
	return merged, ok && again == merged
}

// sideHunk is a hunk of one of two sides.
type sideHunk struct {
	Hunk
	theirs bool
}

func merge(base, ours, theirs string) (string, bool) {
	lines := SplitLines(base)
	hunks := interleave(Hunks(base, ours), Hunks(base, theirs))
	var b strings.Builder
	b.Grow(max(len(ours), len(theirs)))
	at := 0
	for len(hunks) > 0 {
		// Those that overlap or touch are one region.
		lo, hi, n := hunks[0].OldStart, hunks[0].OldStart+hunks[0].OldLines, 1
		for n < len(hunks) && hunks[n].OldStart <= hi {
			hi = max(hi, hunks[n].OldStart+hunks[n].OldLines)
			n++
		}
		write(&b, lines[at:lo])
		mine, other := region(lines, hunks[:n], lo, hi, false), region(lines, hunks[:n], lo, hi, true)
		old := strings.Join(lines[lo:hi], "")
		switch {
		case mine == other, other == old && !changes(hunks[:n], true):
			b.WriteString(mine)
		case mine == old && !changes(hunks[:n], false):
			b.WriteString(other)
		default:
			return "", false
		}
		at, hunks = hi, hunks[n:]
	}
	write(&b, lines[at:])
	return b.String(), true
}

func write(b *strings.Builder, lines []string) {
	for _, line := range lines {
		b.WriteString(line)
	}
}

func changes(hunks []sideHunk, theirs bool) bool {
	for _, h := range hunks {
		if h.theirs == theirs {
			return true
		}
	}
	return false
}

// region is what one side makes of the base lines from lo to hi.
func region(lines []string, hunks []sideHunk, lo, hi int, theirs bool) string {
	var b strings.Builder
	for _, h := range hunks {
		if h.theirs != theirs {
			continue
		}
		write(&b, lines[lo:h.OldStart])
		write(&b, h.New)
		lo = h.OldStart + h.OldLines
	}
	write(&b, lines[lo:hi])
	return b.String()
}

// interleave sorts the hunks of two sides by where they begin in the base.
func interleave(ours, theirs []Hunk) []sideHunk {
	var out []sideHunk
	for len(ours) > 0 || len(theirs) > 0 {
		if len(theirs) == 0 || len(ours) > 0 && ours[0].OldStart <= theirs[0].OldStart {
			out, ours = append(out, sideHunk{ours[0], false}), ours[1:]
		} else {
			out, theirs = append(out, sideHunk{theirs[0], true}), theirs[1:]
		}
	}
	return out
}
