package pendingedits

import (
	"cmp"
	"math"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// A hunk belongs to the session that proposed it, or to several: to those whose
// lines are in it, or were before somebody edited over them.

// union merges two sorted lists.
func union(a, b []string) []string {
	switch {
	case includes(a, b):
		return a
	case includes(b, a):
		return b
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func includes(all, some []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}

// owned is a part of a text, in lines, that sessions have a change of.
type owned struct {
	start, end int
	by         []string
}

// everywhere is all of a text.
func everywhere(by ...string) []owned { return []owned{{0, math.MaxInt32, by}} }

// meets reports whether a hunk changes lines of the part, or beside it.
func (o owned) meets(h hunk) bool {
	if o.start == o.end || len(h.old) == 0 {
		return o.start <= h.end() && h.start <= o.end
	}
	return o.start < h.end() && h.start < o.end
}

// moved is the part after the moves, with what was put at its ends.
func (o owned) moved(m moves) owned {
	o.start = min(m.follow(o.start, true), m.follow(o.start, false))
	o.end = max(m.follow(o.end, true), m.follow(o.end, false))
	return o
}

// credit says whose the hunks are that somebody makes.
type credit struct {
	by    []string
	user  bool    // by made only what is beside the hunks of others
	again []owned // of the live text, whose changes come back
}

// give gives the changes that have no owner theirs: of the parts that they
// meet, and whoever makes them.
func (c credit) give(changes []hunk, parts []owned) {
	parts = slices.Concat(parts, c.again)
	var all []string // who has a change of everything
	parts = slices.DeleteFunc(parts, func(p owned) bool {
		if p.end == math.MaxInt32 {
			all = union(all, p.by)
		}
		return p.end == math.MaxInt32
	})
	slices.SortStableFunc(parts, func(a, b owned) int { return cmp.Compare(a.start, b.start) })
	for i := range changes {
		h := &changes[i]
		for len(parts) > 0 && parts[0].end < h.start {
			parts = parts[1:]
		}
		if h.by != nil {
			continue
		}
		h.by = all
		for _, p := range parts {
			if p.start > h.end() {
				break
			}
			if p.meets(*h) {
				h.by = union(h.by, p.by)
			}
		}
		if !c.user || h.by == nil {
			h.by = union(h.by, c.by)
		}
	}
}

// owners are all who have a part in e, sorted; e may be nil.
func (e *entry) owners() (all []string) {
	if e == nil {
		return nil
	}
	for _, h := range e.parts() {
		all = union(all, h.by)
	}
	return all
}

// isOf reports whether a hunk is a session's.
func isOf(session string) func(hunk) bool {
	return func(h hunk) bool { return slices.Contains(h.by, session) }
}

// signed is e, which may have lost hunks, with a session that has a part in it.
func (e *entry) signed() *entry {
	if !slices.ContainsFunc(e.parts(), isOf(e.session)) {
		e.session = e.owners()[0]
	}
	return e
}

// sessions are those who had proposed the change, sorted.
func (d decided) sessions() (all []string) {
	if d.owners == nil {
		return []string{d.session}
	}
	for _, o := range d.owners {
		all = union(all, o.by)
	}
	return all
}

// without is the text that d, or what d takes back, was made of.
func (d decided) without(undone bool) []byte {
	if undone {
		return d.After
	}
	return d.Before
}

// following returns the owners of d for the text that it is made of now.
func (d decided) following(undone bool, now []byte) []owned {
	then := d.without(undone)
	if d.owners == nil || same(then, now) || !isText(then) || !isText(now) {
		return d.owners
	}
	m := movesOf(diff.HunksOf(then, now))
	out := slices.Clone(d.owners)
	for i, o := range out {
		if o.end != math.MaxInt32 {
			out[i] = o.moved(m)
		}
	}
	return out
}

// credits is whose a change is that comes back, in the text that is there now.
func (d decided) credits(now []byte) []owned {
	if d.owners == nil {
		return everywhere(d.session)
	}
	return d.following(false, now)
}
