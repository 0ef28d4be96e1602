package pendingedits

import (
	"cmp"
	"sort"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// rework makes the hunks that turn live into want, for an entry that had old's
// hunks where r says. Hunks that are the same as before keep their ids.
// Conflicts stay, unless want changes what the user made of their lines: then
// the proposer has seen it and decided. The base returned is live, but with
// the lines that the conflicts are about as they were.
func rework(old *entry, r *resolution, live, want []byte, newID func(hunk) string, whose credit) (base []byte, hunks []hunk) {
	changes := hunksOf(diff.HunksOf(live, want))
	if old == nil || !isText(r.live) {
		changes = named(changes, nil, newID)
		whose.give(changes, nil)
		return live, changes
	}

	// Where things were, in live.
	moves := movesOf(diff.HunksOf(r.live, live))
	var known []hunk
	var parts []owned
	for _, h := range r.ready {
		parts = append(parts, owned{h.start, h.end(), h.by}.moved(moves))
		h.start = moves.follow(h.start, true)
		known = append(known, h)
	}
	for _, k := range r.clashes {
		for _, i := range k.hunks {
			parts = append(parts, owned{k.liveFrom, k.liveTo, old.hunks[i].by}.moved(moves))
		}
	}
	changes = named(changes, known, newID)
	whose.give(changes, parts)
	clashes := r.clashes
	if whose.user {
		clashes = nil // the user has seen them and decided
	}
	var stay []clash
	next := 0 // the first change that is not over before the clash
	for _, k := range clashes {
		k.liveFrom, k.liveTo = moves.follow(k.liveFrom, true), moves.follow(k.liveTo, false)
		k.liveTo = max(k.liveFrom, k.liveTo)
		for next < len(changes) && changes[next].end() < k.liveFrom {
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
	return join(lines), hunks
}

// weave puts the base's lines of the clashes back, and their hunks among the
// changes.
func weave(live []string, changes []hunk, clashes []clash, base []string, old []hunk) (lines []string, hunks []hunk) {
	at := 0
	for len(changes) > 0 || len(clashes) > 0 {
		if len(clashes) == 0 || len(changes) > 0 && goesFirst(changes[0], clashes[0]) {
			h := changes[0]
			changes = changes[1:]
			lines = append(lines, live[at:h.start]...)
			at = h.end()
			h.start = len(lines)
			lines = append(lines, h.old...)
			hunks = append(hunks, h)
			continue
		}
		k := clashes[0]
		clashes = clashes[1:]
		lines = append(lines, live[at:k.liveFrom]...)
		at = k.liveTo
		for _, i := range k.hunks {
			h := old[i]
			h.start += len(lines) - k.from
			hunks = append(hunks, h)
		}
		lines = append(lines, base[k.from:k.to]...)
	}
	return append(lines, live[at:]...), hunks
}

func goesFirst(h hunk, k clash) bool {
	return cmp.Or(cmp.Compare(h.start, k.liveFrom), cmp.Compare(h.end(), k.liveTo)) <= 0
}

// meetsAny reports whether one of the changes meets k.
func meetsAny(k clash, changes []hunk) bool {
	for _, h := range changes {
		if h.start > k.liveTo {
			return false
		}
		if meets(k, h) {
			return true
		}
	}
	return false
}

// meets reports whether h changes live lines of k or inserts between them.
func meets(k clash, h hunk) bool {
	c := diff.Hunk{OldStart: k.liveFrom, OldLines: k.liveTo - k.liveFrom}
	return touches(c, h)
}

// moves are changes of a text, in order, that other lines follow.
type moves struct {
	changes []hunk
	shifts  []int // of what comes behind as many changes
}

func movesOf(changes []diff.Hunk) moves {
	m := moves{hunksOf(changes), make([]int, 1, len(changes)+1)}
	for i, c := range m.changes {
		m.shifts = append(m.shifts, m.shifts[i]+len(c.new)-len(c.old))
	}
	return m
}

// follow returns where a line is after the moves. The end of what was inserted
// before it counts when after is set, else what was inserted there is left out.
func (m moves) follow(line int, after bool) int {
	n := sort.Search(len(m.changes), func(i int) bool {
		c := m.changes[i]
		return c.end() > line || c.end() == line && !after && len(c.old) == 0
	})
	shift := m.shifts[n]
	if n == len(m.changes) || m.changes[n].start >= line {
		return line + shift
	}
	c := m.changes[n] // in the middle of what is gone
	if after {
		return c.start + shift
	}
	return c.start + shift + len(c.new)
}

// named gives each change the id of the known hunk that makes the same change:
// first of the one in the same place, then of any other.
func named(changes, known []hunk, newID func(hunk) string) []hunk {
	type place struct {
		content string
		start   int
	}
	at := map[place]int{}           // the known hunk there
	byContent := map[string][]int{} // known hunks, in order
	for i, h := range known {
		c := content(h)
		if _, ok := at[place{c, h.start}]; !ok {
			at[place{c, h.start}] = i
		}
		byContent[c] = append(byContent[c], i)
	}
	taken := make([]bool, len(known))
	take := func(c *hunk, i int) {
		taken[i], c.id, c.by = true, known[i].id, known[i].by
	}
	for i := range changes {
		c := &changes[i]
		if k, ok := at[place{content(*c), c.start}]; ok && !taken[k] {
			take(c, k)
		}
	}
	for i := range changes {
		c := &changes[i]
		if c.id != "" {
			continue
		}
		key := content(*c)
		list := byContent[key]
		for len(list) > 0 && taken[list[0]] {
			list = list[1:]
		}
		if byContent[key] = list; len(list) > 0 {
			take(c, list[0])
		} else {
			c.id = newID(*c)
		}
	}
	return changes
}

func content(h hunk) string {
	return strings.Join(h.old, "") + "\x00" + strings.Join(h.new, "")
}

// sound reports whether lines and hunks stay what they are when they are put
// together in any choice: a line without an end, or with half of one, only
// where nothing follows.
func sound(lines []string, hunks []hunk) bool {
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
		for j, line := range h.new {
			if !check(line, i == len(hunks)-1 && j == len(h.new)-1 && h.end() == len(lines)) {
				return false
			}
		}
		if h.start == len(lines) && len(h.new) > 0 && len(lines) > 0 && runsOn(lines[len(lines)-1], h.new[0]) {
			return false
		}
	}
	return !half || !newline
}
