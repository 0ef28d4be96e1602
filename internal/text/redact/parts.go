package redact

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A long text is gone over in parts of so many bytes, as soon as there are so
// many of them that another core helps.
const (
	partBytes = 64 << 10
	fewParts  = 4
)

// short reports whether s is no text to go over in parts.
func (r *Redactor) short(s string) bool { return len(s) <= (fewParts-1)*r.part }

// inParts is scan over all of s, on several cores when s is long. Whatever is
// found is what scan(0, len(s), 0) finds.
//
// scan finds the secrets that begin in s[from:to]; they may reach behind it. It
// is told where the last of those before ends, 0 for none, and returns where its
// own last one does. What it finds must not depend on the secrets before which
// end reach or more bytes before from.
func (r *Redactor) inParts(s string, reach int, scan func(from, to, last int) (found []span, end int)) []span {
	n := (len(s) + r.part - 1) / r.part
	cores := min(runtime.GOMAXPROCS(0), n)
	if n < fewParts || cores == 1 {
		found, _ := scan(0, len(s), 0)
		return found
	}
	type part struct {
		found []span
		end   int
		done  bool
	}
	parts := make([]part, n)
	border := func(k int) int { return min(k*r.part, len(s)) }
	var taken atomic.Int32
	work := func() {
		for k := int(taken.Add(1)) - 1; k < n; k = int(taken.Add(1)) - 1 {
			p := &parts[k]
			p.found, p.end = scan(border(k), border(k+1), 0) // as if nothing came before
			p.done = true
		}
	}
	var others sync.WaitGroup
	for range cores - 1 {
		others.Go(func() {
			defer func() { _ = recover() }() // the part is not done: the caller meets the same
			work()
		})
	}
	work()
	others.Wait()

	var found []span
	last := 0
	for k, p := range parts {
		if !p.done || last > 0 && last > border(k)-reach {
			p.found, p.end = scan(border(k), border(k+1), last)
		}
		found = append(found, p.found...)
		last = p.end
	}
	return found
}
