package hunk

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Rework makes the hunks that turn live into want where those of old were; the zero
// old has none. Hunks that are the same as before keep their ids.
// Conflicts stay, unless want changes what the user made of their lines: then
// the proposer has seen it and decided. The base returned is live, but with
// the lines that the conflicts are about as they were.
func Rework(old Placed, live, want []byte, newID func(Hunk) string, whose Credit) (base []byte, hunks []Hunk) {
	changes := Between(live, want)
	if !IsText(old.live) {
		changes = named(changes, nil, newID)
		whose.Give(changes, nil)
		return live, changes
	}

	// Where things were, in live.
	moves := movesOf(old.live, live)
	var known []Hunk
	var parts []Owned
	for _, h := range old.Ready {
		parts = append(parts, Owned{h.Start, h.End(), h.By}.follow(moves))
		h.Start = moves.follow(h.Start, true)
		known = append(known, h)
	}
	for _, k := range old.clashes {
		for _, i := range k.hunks {
			parts = append(parts, Owned{k.liveFrom, k.liveTo, old.hunks[i].By}.follow(moves))
		}
	}
	changes = named(changes, known, newID)
	whose.Give(changes, parts)
	clashes := old.clashes
	if whose.User {
		clashes = nil // the user has seen them and decided
	}
	if old.over != nil {
		clashes = slices.DeleteFunc(slices.Clone(clashes), func(k clash) bool { return old.over(old.hunks[k.hunks[0]]) })
	}
	var stay []clash
	next := 0 // the first change that is not over before the clash
	for _, k := range clashes {
		k.liveFrom, k.liveTo = moves.follow(k.liveFrom, true), moves.follow(k.liveTo, false)
		k.liveTo = max(k.liveFrom, k.liveTo)
		for next < len(changes) && changes[next].End() < k.liveFrom {
			next++
		}
		if !meetsAny(k, changes[next:]) {
			stay = append(stay, k)
		}
	}
	if len(stay) == 0 {
		return live, changes
	}
	lines, hunks := weave(diff.SplitLines(string(live)), changes, stay, diff.SplitLines(string(old.base)), old.hunks)
	if !sound(lines, hunks) {
		return live, changes
	}
	return Join(lines), hunks
}

// weave puts the base's lines of the clashes back, and their hunks among the
// changes.
func weave(live []string, changes []Hunk, clashes []clash, base []string, old []Hunk) (lines []string, hunks []Hunk) {
	at := 0
	for len(changes) > 0 || len(clashes) > 0 {
		if len(clashes) == 0 || len(changes) > 0 && goesFirst(changes[0], clashes[0]) {
			h := changes[0]
			changes = changes[1:]
			lines = append(lines, live[at:h.Start]...)
			at = h.End()
			h.Start = len(lines)
			lines = append(lines, h.Old...)
			hunks = append(hunks, h)
			continue
		}
		k := clashes[0]
		clashes = clashes[1:]
		lines = append(lines, live[at:k.liveFrom]...)
		at = k.liveTo
		for _, i := range k.hunks {
			h := old[i]
			h.Start += len(lines) - k.from
			hunks = append(hunks, h)
		}
		lines = append(lines, base[k.from:k.to]...)
	}
	return append(lines, live[at:]...), hunks
}

func goesFirst(h Hunk, k clash) bool {
	return cmp.Or(cmp.Compare(h.Start, k.liveFrom), cmp.Compare(h.End(), k.liveTo)) <= 0
}

// meetsAny reports whether one of the changes meets k.
func meetsAny(k clash, changes []Hunk) bool {
	for _, h := range changes {
		if h.Start > k.liveTo {
			return false
		}
		if meets(k, h) {
			return true
		}
	}
	return false
}

// meets reports whether h changes live lines of k or inserts between them.
func meets(k clash, h Hunk) bool {
	c := diff.Hunk{OldStart: k.liveFrom, OldLines: k.liveTo - k.liveFrom}
	return touches(c, h)
}

// moves are changes of a text, in order, that other lines follow.
type moves struct {
	changes []Hunk
	shifts  []int // of what comes behind as many changes
}

func movesOf(then, now []byte) moves {
	m := moves{changes: Between(then, now), shifts: []int{0}}
	for i, c := range m.changes {
		m.shifts = append(m.shifts, m.shifts[i]+len(c.New)-len(c.Old))
	}
	return m
}

// follow returns where a line is after the moves. The end of what was inserted
// before it counts when after is set, else what was inserted there is left out.
func (m moves) follow(line int, after bool) int {
	n := sort.Search(len(m.changes), func(i int) bool {
		c := m.changes[i]
		return c.End() > line || c.End() == line && !after && len(c.Old) == 0
	})
	shift := m.shifts[n]
	if n == len(m.changes) || m.changes[n].Start >= line {
		return line + shift
	}
	c := m.changes[n] // in the middle of what is gone
	if after {
		return c.Start + shift
	}
	return c.Start + shift + len(c.New)
}

// named gives each change the id of the known hunk that makes the same change:
// first of the one in the same place, then of any other.
func named(changes, known []Hunk, newID func(Hunk) string) []Hunk {
	type place struct {
		content string
		start   int
	}
	at := map[place]int{}           // the known hunk there
	byContent := map[string][]int{} // known hunks, in order
	for i, h := range known {
		c := Content(h)
		if _, ok := at[place{c, h.Start}]; !ok {
			at[place{c, h.Start}] = i
		}
		byContent[c] = append(byContent[c], i)
	}
	taken := make([]bool, len(known))
	take := func(c *Hunk, i int) {
		taken[i], c.ID, c.By = true, known[i].ID, known[i].By
	}
	for i := range changes {
		c := &changes[i]
		if k, ok := at[place{Content(*c), c.Start}]; ok && !taken[k] {
			take(c, k)
		}
	}
	for i := range changes {
		c := &changes[i]
		if c.ID != "" {
			continue
		}
		key := Content(*c)
		list := byContent[key]
		for len(list) > 0 && taken[list[0]] {
			list = list[1:]
		}
		if byContent[key] = list; len(list) > 0 {
			take(c, list[0])
		} else {
			c.ID = newID(*c)
		}
	}
	return changes
}

// sound reports whether lines and hunks stay what they are when they are put
// together in any choice: a line without an end, or with half of one, only
// where nothing follows.
func sound(lines []string, hunks []Hunk) bool {
	half, newline := false, false
	check := func(line string, last bool) bool {
		half = half || line[len(line)-1] == '\r'
		newline = newline || line == "\n"
		return last || strings.HasSuffix(line, "\n") || strings.HasSuffix(line, "\r")
	}
	for i, line := range lines {
		if !check(line, i == len(lines)-1) {
			return false
		}
	}
	for i, h := range hunks {
		for j, line := range h.New {
			if !check(line, i == len(hunks)-1 && j == len(h.New)-1 && h.End() == len(lines)) {
				return false
			}
		}
		if h.Start == len(lines) && len(h.New) > 0 && len(lines) > 0 && runsOn(lines[len(lines)-1], h.New[0]) {
			return false
		}
	}
	return !half || !newline
}
