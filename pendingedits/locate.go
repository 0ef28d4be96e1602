package pendingedits

import (
	"cmp"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// located is where one hunk is in the live text.
type located struct {
	state State
	done  bool // the live text has this change already
	start int  // its first live line; of a conflict, that of what the user changed
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
func locate(base []string, hunks []hunk, live []string) ([]located, []clash) {
	changes := diff.Lines(base, live)
	at := make([]located, len(hunks))
	var clashes []clash
	c, shift := 0, 0 // changes[:c] are before the hunk and shift it
	for i := 0; i < len(hunks); i++ {
		h := hunks[i]
		for c < len(changes) && before(changes[c], h) && !equals(changes[c], h) {
			shift = changes[c].NewStart + changes[c].NewLines - changes[c].OldStart - changes[c].OldLines
			c++
		}
		if c < len(changes) && equals(changes[c], h) {
			at[i] = located{done: true, start: h.start + shift}
			continue
		}
		if c == len(changes) || !touches(changes[c], h) {
			at[i] = located{state: Clean, start: h.start + shift}
			if shift != 0 {
				at[i].state = Moved
			}
			continue
		}
		k := clash{from: min(h.start, changes[c].OldStart)}
		k.liveFrom = k.from + shift
		k.to = h.end()
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
			k.to = max(k.to, h.end())
		}
		end := changes[last-1]
		k.liveTo = k.to + end.NewStart + end.NewLines - end.OldStart - end.OldLines
		done := slices.Equal(live[k.liveFrom:k.liveTo], wanted(base, hunks, k))
		for _, j := range k.hunks {
			at[j] = located{state: Conflict, done: done, start: k.liveFrom}
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
func before(c diff.Hunk, h hunk) bool {
	return c.OldStart+c.OldLines <= h.start
}

// touches reports whether c changes old lines of h, or inserts between them.
// Lines beside each other don't touch.
func touches(c diff.Hunk, h hunk) bool {
	if c.OldLines > 0 && len(h.old) > 0 {
		return c.OldStart < h.end() && h.start < c.OldStart+c.OldLines
	}
	if c.OldLines == 0 {
		return h.start < c.OldStart && c.OldStart < h.end()
	}
	return c.OldStart < h.start && h.start < c.OldStart+c.OldLines
}

// equals reports whether c is the very change that h is.
func equals(c diff.Hunk, h hunk) bool {
	return c.OldStart == h.start && c.OldLines == len(h.old) && slices.Equal(c.New, h.new)
}

// wanted is what the hunks of k would have made of its lines.
func wanted(base []string, hunks []hunk, k clash) []string {
	var out []string
	at := k.from
	for _, i := range k.hunks {
		out = append(append(out, base[at:hunks[i].start]...), hunks[i].new...)
		at = hunks[i].end()
	}
	return append(out, base[at:k.to]...)
}

// settle makes hunks conflicts that would run together with lines that the
// user left without a line end, and returns those that can be applied, exact
// in live.
func settle(hunks []hunk, live []string, at []located, clashes []clash) (ready []hunk, all []clash) {
	end, last := 0, "" // of what is written so far
	for i, h := range hunks {
		if at[i].done || at[i].state == Conflict {
			continue
		}
		h.start = at[i].start
		before, bad := last, false
		if h.start > end {
			last = live[h.start-1]
		}
		if len(h.new) > 0 {
			bad = last != "" && runsOn(last, h.new[0])
			last = h.new[len(h.new)-1]
		}
		if bad = bad || last != "" && h.end() < len(live) && runsOn(last, live[h.end()]); bad {
			last = before
			at[i].state = Conflict
			clashes = append(clashes, clash{hunks[i].start, hunks[i].end(), h.start, h.end(), []int{i}})
			continue
		}
		end = h.end()
		ready = append(ready, h)
	}
	slices.SortStableFunc(clashes, func(a, b clash) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return ready, clashes
}

// merge is a three-way merge by lines: live with what turns base into want.
func merge(base, live, want []byte) ([]byte, bool) {
	if same(live, base) {
		return want, true
	}
	if !isText(base) || !isText(live) || !isText(want) {
		return nil, false
	}
	liveLines := diff.SplitLines(string(live))
	hunks := hunksOf(diff.HunksOf(base, want))
	at, clashes := locate(diff.SplitLines(string(base)), hunks, liveLines)
	ready, clashes := settle(hunks, liveLines, at, clashes)
	if len(clashes) > 0 {
		return nil, false
	}
	return join(apply(liveLines, ready)), true
}

func hunksOf(changes []diff.Hunk) []hunk {
	hunks := make([]hunk, len(changes))
	for i, c := range changes {
		hunks[i] = hunk{start: c.OldStart, old: c.Old, new: c.New}
	}
	return hunks
}
