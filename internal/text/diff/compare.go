package diff

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

const (
	// timeout bounds one comparison. What is not compared by then becomes one
	// hunk: longer than needed, but right.
	timeout = 2 * time.Second

	// go-diff compares runes, so every distinct line becomes a rune of its own;
	// surrogates are not among them.
	firstSurrogate, surrogates = 0xD800, 0x800
	maxLines                   = 0x10FFFF - surrogates
)

// changed tells, for what is between the common first lines (of which there
// are prefix) and the common last lines, which lines are not in the other text.
func changed(old, new []string) (changedOld, changedNew []bool, prefix int) {
	for prefix < len(old) && prefix < len(new) && old[prefix] == new[prefix] {
		prefix++
	}
	old, new = old[prefix:], new[prefix:]
	for len(old) > 0 && len(new) > 0 && old[len(old)-1] == new[len(new)-1] {
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	changedOld, changedNew = filled(len(old)), filled(len(new))
	if len(old) == 0 || len(new) == 0 {
		return changedOld, changedNew, prefix
	}

	// Lines that only one side has are changed whatever the rest: leaving them
	// out makes rewritten files cheap, and costs no minimality.
	ids := make(map[string]rune, len(old))
	for _, line := range old {
		if _, ok := ids[line]; !ok {
			ids[line] = runeOf(len(ids))
		}
	}
	if len(ids) > maxLines {
		return changedOld, changedNew, prefix
	}
	newRunes, newLines := common(new, ids)
	both := make(map[rune]bool, len(newRunes))
	for _, r := range newRunes {
		both[r] = true
	}
	for line, r := range ids {
		if !both[r] {
			delete(ids, line)
		}
	}
	oldRunes, oldLines := common(old, ids)

	i, j := 0, 0
	for _, d := range compare(oldRunes, newRunes) {
		n := utf8.RuneCountInString(d.Text)
		switch d.Type {
		case diffmatchpatch.DiffEqual:
			for k := range n {
				changedOld[oldLines[i+k]], changedNew[newLines[j+k]] = false, false
			}
			i, j = i+n, j+n
		case diffmatchpatch.DiffDelete:
			i += n
		case diffmatchpatch.DiffInsert:
			j += n
		}
	}
	return changedOld, changedNew, prefix
}

// compare returns a shortest edit from old to new, or a longer one when the
// time is over.
func compare(old, new []rune) []diffmatchpatch.Diff {
	// With a timeout of its own go-diff would look for half matches, which is
	// quadratic and gives longer diffs; the deadline alone bounds it.
	switch {
	case len(old) == 0 || len(new) == 0:
		return nil
	case slices.Equal(old, new):
		return []diffmatchpatch.Diff{{Type: diffmatchpatch.DiffEqual, Text: string(old)}}
	case len(old) == 1:
		return single(old[0], new, diffmatchpatch.DiffInsert)
	case len(new) == 1:
		return single(new[0], old, diffmatchpatch.DiffDelete)
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0
	return d.DiffBisect(string(old), string(new), time.Now().Add(timeout))
}

// single compares with one line, for which DiffBisect has no room.
func single(line rune, long []rune, op diffmatchpatch.Operation) []diffmatchpatch.Diff {
	at := slices.Index(long, line)
	if at < 0 {
		return nil
	}
	return []diffmatchpatch.Diff{
		{Type: op, Text: string(long[:at])},
		{Type: diffmatchpatch.DiffEqual, Text: string(line)},
		{Type: op, Text: string(long[at+1:])},
	}
}

// common returns those lines that have an id, as runes and as indices.
func common(lines []string, ids map[string]rune) (runes []rune, indices []int) {
	for i, line := range lines {
		if r, ok := ids[line]; ok {
			runes, indices = append(runes, r), append(indices, i)
		}
	}
	return runes, indices
}

func runeOf(n int) rune {
	if n >= firstSurrogate {
		n += surrogates
	}
	return rune(n)
}

func filled(n int) []bool {
	b := make([]bool, n)
	for i := range b {
		b[i] = true
	}
	return b
}
