package pendingedits

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/diff"
)

// rework makes the hunks that turn live into want, for an entry that had old's
// hunks where r says. Hunks that are the same as before keep their ids.
// Conflicts stay, unless want changes what the user made of their lines: then
// the proposer has seen it and decided. The base returned is live, but with
// the lines that the conflicts are about as they were.
func rework(old *entry, r *resolution, live, want []byte, newID func() string, whose credit) (base []byte, hunks []hunk) {
	changes := hunksOf(diff.Hunks(string(live), string(want)))
	if old == nil || !isText(r.live) {
		changes = named(changes, nil, newID)
		whose.give(changes, nil)
		return live, changes
	}

	// Where things were, in live.
	moves := hunksOf(diff.Hunks(string(r.live), string(live)))
	var known []hunk
	var parts []owned
	for _, h := range r.ready {
		parts = append(parts, owned{h.start, h.end(), h.by}.moved(moves))
		h.start = follow(moves, h.start, true)
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
	for _, k := range clashes {
		k.liveFrom, k.liveTo = follow(moves, k.liveFrom, true), follow(moves, k.liveTo, false)
		k.liveTo = max(k.liveFrom, k.liveTo)
		if !slices.ContainsFunc(changes, func(h hunk) bool { return meets(k, h) }) {
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

// meets reports whether h changes live lines of k or inserts between them.
func meets(k clash, h hunk) bool {
	c := diff.Hunk{OldStart: k.liveFrom, OldLines: k.liveTo - k.liveFrom}
	return touches(c, h)
}

// follow returns where a line is after the moves. The end of what was inserted
// before it counts when after is set, else what was inserted there is left out.
func follow(moves []hunk, line int, after bool) int {
	shift := 0
	for _, m := range moves {
		switch {
		case m.end() < line || m.end() == line && (after || len(m.old) > 0):
			shift += len(m.new) - len(m.old)
		case m.start < line: // in the middle of what is gone
			if after {
				return m.start + shift
			}
			return m.start + shift + len(m.new)
		}
	}
	return line + shift
}

// named gives each change the id of the known hunk that makes the same change:
// first of the one in the same place, then of any other.
func named(changes, known []hunk, newID func() string) []hunk {
	byContent := map[string][]hunk{}
	for _, h := range known {
		byContent[content(h)] = append(byContent[content(h)], h)
	}
	take := func(c *hunk, fits func(hunk) bool) {
		key := content(*c)
		if i := slices.IndexFunc(byContent[key], fits); i >= 0 && c.id == "" {
			c.id, c.by = byContent[key][i].id, byContent[key][i].by
			byContent[key] = slices.Delete(byContent[key], i, i+1)
		}
	}
	for i := range changes {
		take(&changes[i], func(h hunk) bool { return h.start == changes[i].start })
	}
	for i := range changes {
		take(&changes[i], func(hunk) bool { return true })
	}
	for i := range changes {
		if changes[i].id == "" {
			changes[i].id = newID()
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
