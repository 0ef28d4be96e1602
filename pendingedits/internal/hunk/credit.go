package hunk

import (
	"cmp"
	"math"
	"slices"
)

// Union merges two sorted lists.
func Union(a, b []string) []string {
	switch {
	case Includes(a, b):
		return a
	case Includes(b, a):
		return b
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Includes reports whether all of some are among all.
func Includes(all, some []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}

// Owned is a part of a text, in lines, that sessions have a change of.
type Owned struct {
	Start, End int
	By         []string
}

// Everywhere is all of a text.
func Everywhere(by ...string) []Owned { return []Owned{{0, math.MaxInt32, by}} }

// meets reports whether a hunk changes lines of the part, or beside it.
func (o Owned) meets(h Hunk) bool {
	if o.Start == o.End || len(h.Old) == 0 {
		return o.Start <= h.End() && h.Start <= o.End
	}
	return o.Start < h.End() && h.Start < o.End
}

// follow is the part after the moves, with what was put at its ends.
func (o Owned) follow(m moves) Owned {
	o.Start = min(m.follow(o.Start, true), m.follow(o.Start, false))
	o.End = max(m.follow(o.End, true), m.follow(o.End, false))
	return o
}

// FollowAll are parts of then in the text that it is now.
func FollowAll(parts []Owned, then, now []byte) []Owned {
	if parts == nil || Same(then, now) || !IsText(then) || !IsText(now) {
		return parts
	}
	m, out := movesOf(then, now), slices.Clone(parts)
	for i, o := range out {
		if o.End != math.MaxInt32 {
			out[i] = o.follow(m)
		}
	}
	return out
}

// Credit says whose the hunks are that somebody makes.
type Credit struct {
	By    []string
	User  bool    // by made only what is beside the hunks of others
	Again []Owned // of the live text, whose changes come back
}

// Give gives the changes that have no owner theirs: of the parts that they
// meet, and whoever makes them.
func (c Credit) Give(changes []Hunk, parts []Owned) {
	parts = slices.Concat(parts, c.Again)
	var all []string // who has a change of everything
	parts = slices.DeleteFunc(parts, func(p Owned) bool {
		if p.End == math.MaxInt32 {
			all = Union(all, p.By)
		}
		return p.End == math.MaxInt32
	})
	slices.SortStableFunc(parts, func(a, b Owned) int { return cmp.Compare(a.Start, b.Start) })
	for i := range changes {
		h := &changes[i]
		for len(parts) > 0 && parts[0].End < h.Start {
			parts = parts[1:]
		}
		if h.By != nil {
			continue
		}
		h.By = all
		for _, p := range parts {
			if p.Start > h.End() {
				break
			}
			if p.meets(*h) {
				h.By = Union(h.By, p.By)
			}
		}
		if !c.User || h.By == nil {
			h.By = Union(h.By, c.By)
		}
	}
}
