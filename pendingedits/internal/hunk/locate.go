package hunk

import (
	"cmp"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Located is where one hunk is in the live text.
type Located struct {
	State State
	Done  bool // the live text has this change already
	Start int  // its first live line; of a conflict, that of what the user changed
}

// clash is where the user's changes and hunks meet: the lines from, to of the
// base became the live lines liveFrom, liveTo.
type clash struct {
	from, to         int
	liveFrom, liveTo int
	hunks            []int // indices
}

// locate finds the hunks, which are exact in base, again in live. Changes beside
// a hunk move it; a change of its old lines is a conflict, unless the outcome
// is what the hunk wanted. It doesn't depend on what happened in between, so a
// conflict is over when the lines are as they were.
func locate(base []string, hunks []Hunk, live []string) ([]Located, []clash) {
	changes := diff.Lines(base, live)
	at := make([]Located, len(hunks))
	var clashes []clash
	c, shift := 0, 0 // changes[:c] are before the hunk and shift it
	for i := 0; i < len(hunks); i++ {
		h := hunks[i]
		for c < len(changes) && before(changes[c], h) && !equals(changes[c], h) {
			shift = changes[c].NewStart + changes[c].NewLines - changes[c].OldStart - changes[c].OldLines
			c++
		}
		if c < len(changes) && equals(changes[c], h) {
			at[i] = Located{Done: true, Start: h.Start + shift}
			continue
		}
		if c == len(changes) || !touches(changes[c], h) {
			at[i] = Located{State: Clean, Start: h.Start + shift}
			if shift != 0 {
				at[i].State = Moved
			}
			continue
		}
		k := clash{from: min(h.Start, changes[c].OldStart)}
		k.liveFrom = k.from + shift
		k.to = h.End()
		last := c
		for {
			for last < len(changes) && (touches(changes[last], h)) {
				k.to = max(k.to, changes[last].OldStart+changes[last].OldLines)
				last++
			}
			k.hunks = append(k.hunks, i)
			if i+1 == len(hunks) || !touches(changes[last-1], hunks[i+1]) {
				break
			}
			i++
			h = hunks[i]
			k.to = max(k.to, h.End())
		}
		end := changes[last-1]
		k.liveTo = k.to + end.NewStart + end.NewLines - end.OldStart - end.OldLines
		done := slices.Equal(live[k.liveFrom:k.liveTo], wanted(base, hunks, k))
		for _, j := range k.hunks {
			at[j] = Located{State: Conflict, Done: done, Start: k.liveFrom}
		}
		if !done {
			clashes = append(clashes, k)
		}
		// The last change may reach beyond the hunks; the next hunk's loop takes it.
		c = last - 1
	}
	return at, clashes
}

// before reports whether c is over when h begins. An insertion where h begins
// is: what the user put there stays in front.
func before(c diff.Hunk, h Hunk) bool {
	return c.OldStart+c.OldLines <= h.Start
}

// touches reports whether c changes old lines of h, or inserts between them.
// Lines beside each other don't touch.
func touches(c diff.Hunk, h Hunk) bool {
	if c.OldLines > 0 && len(h.Old) > 0 {
		return c.OldStart < h.End() && h.Start < c.OldStart+c.OldLines
	}
	if c.OldLines == 0 {
		return h.Start < c.OldStart && c.OldStart < h.End()
	}
	return c.OldStart < h.Start && h.Start < c.OldStart+c.OldLines
}

// equals reports whether c is the very change that h is.
func equals(c diff.Hunk, h Hunk) bool {
	return c.OldStart == h.Start && c.OldLines == len(h.Old) && slices.Equal(c.New, h.New)
}

// wanted is what the hunks of k would have made of its lines.
func wanted(base []string, hunks []Hunk, k clash) []string {
	var out []string
	at := k.from
	for _, i := range k.hunks {
		out = append(append(out, base[at:hunks[i].Start]...), hunks[i].New...)
		at = hunks[i].End()
	}
	return append(out, base[at:k.to]...)
}

// fit makes hunks conflicts that would run together with lines that the
// user left without a line end, and returns those that can be applied, exact
// in live.
func fit(hunks []Hunk, live []string, at []Located, clashes []clash) (ready []Hunk, all []clash) {
	end, last := 0, "" // of what is written so far
	for i, h := range hunks {
		if at[i].Done || at[i].State == Conflict {
			continue
		}
		h.Start = at[i].Start
		before, bad := last, false
		if h.Start > end {
			last = live[h.Start-1]
		}
		if len(h.New) > 0 {
			bad = last != "" && runsOn(last, h.New[0])
			last = h.New[len(h.New)-1]
		}
		if bad = bad || last != "" && h.End() < len(live) && runsOn(last, live[h.End()]); bad {
			last = before
			at[i].State = Conflict
			clashes = append(clashes, clash{hunks[i].Start, hunks[i].End(), h.Start, h.End(), []int{i}})
			continue
		}
		end = h.End()
		ready = append(ready, h)
	}
	slices.SortStableFunc(clashes, func(a, b clash) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return ready, clashes
}

// Placed are hunks in a text that their base became.
type Placed struct {
	At    []Located // of each hunk
	Ready []Hunk    // those that can be applied, exact in live
	Text  []byte    // live with them

	base    []byte
	hunks   []Hunk
	live    []byte
	clashes []clash
	over    func(Hunk) bool // see Taken
}

// Place finds hunks, which are exact in base, in a text. One that has no lines is in
// conflict with all of them.
func Place(base []byte, hunks []Hunk, live []byte) Placed {
	p := Placed{base: base, hunks: hunks, live: live, Text: live}
	if !IsText(live) {
		p.At = slices.Repeat([]Located{{State: Conflict}}, len(hunks))
		return p
	}
	lines := diff.SplitLines(string(live))
	if Same(live, base) {
		// What they were made for, almost always.
		p.At = make([]Located, len(hunks))
		for i, h := range hunks {
			p.At[i] = Located{State: Clean, Start: h.Start}
		}
	} else {
		p.At, p.clashes = locate(diff.SplitLines(string(base)), hunks, lines)
	}
	p.Ready, p.clashes = fit(hunks, lines, p.At, p.clashes)
	p.Text = Join(apply(lines, p.Ready))
	return p
}

// Taken is the live text with what can be applied, and with the hunks in conflict for which
// chosen is true in the place of what the user made of their lines. Hunks of one clash are taken
// together. The Placed returned is p without these conflicts; ok is false when there is none.
func (p Placed) Taken(chosen func(Hunk) bool) (now Placed, text []byte, ok bool) {
	live, base := diff.SplitLines(string(p.live)), diff.SplitLines(string(p.base))
	over := map[string]bool{}
	changes := slices.Clone(p.Ready)
	for _, k := range p.clashes {
		if !slices.ContainsFunc(k.hunks, func(i int) bool { return chosen(p.hunks[i]) }) || k.glues(live, base, p.hunks) {
			continue
		}
		for _, i := range k.hunks {
			over[p.hunks[i].ID] = true
		}
		changes = append(changes, Hunk{Start: k.liveFrom, Old: live[k.liveFrom:k.liveTo], New: wanted(base, p.hunks, k)})
	}
	slices.SortStableFunc(changes, func(a, b Hunk) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End(), b.End())) })
	p.over = func(h Hunk) bool { return over[h.ID] }
	return p, Join(apply(live, changes)), len(over) > 0
}

// TakenStarts are the lines at which the hunks begin in the text of Taken with all that are in
// conflict.
func (p Placed) TakenStarts() []int {
	starts := make([]int, len(p.hunks))
	live, base := diff.SplitLines(string(p.live)), diff.SplitLines(string(p.base))
	of := map[int]clash{} // by hunk
	for _, k := range p.clashes {
		for _, i := range k.hunks {
			of[i] = k
		}
	}
	shift := 0
	for i := 0; i < len(p.hunks); i++ {
		h := p.hunks[i]
		k, clashes := of[i]
		switch {
		case !clashes:
			starts[i] = p.At[i].Start + shift
			if !p.At[i].Done && p.At[i].State != Conflict {
				shift += len(h.New) - len(h.Old)
			}
		case k.glues(live, base, p.hunks):
			starts[i] = k.liveFrom + shift
		default:
			at := k.liveFrom + shift
			for _, j := range k.hunks {
				starts[j] = at + p.hunks[j].Start - k.from
				at += len(p.hunks[j].New) - len(p.hunks[j].Old)
			}
			shift = at + k.to - k.from - k.liveTo
			i = k.hunks[len(k.hunks)-1]
		}
	}
	return starts
}

// glues reports whether taking k would make other lines of those beside it.
func (k clash) glues(live, base []string, hunks []Hunk) bool {
	lines := wanted(base, hunks, k)
	if k.liveFrom > 0 {
		lines = append([]string{live[k.liveFrom-1]}, lines...)
	}
	if k.liveTo < len(live) {
		lines = append(lines, live[k.liveTo])
	}
	for i := 1; i < len(lines); i++ {
		if runsOn(lines[i-1], lines[i]) {
			return true
		}
	}
	return false
}

// Merge is a three-way merge by lines: live with what turns base into want.
func Merge(base, live, want []byte) ([]byte, bool) {
	if Same(live, base) {
		return want, true
	}
	if !IsText(base) || !IsText(live) || !IsText(want) {
		return nil, false
	}
	p := Place(base, Between(base, want), live)
	return p.Text, len(p.clashes) == 0
}
