package search

import (
	"container/heap"
	"math"
	"sync"
	"sync/atomic"
)

// collector gathers the files of all workers and keeps those that come first
// in the order of paths, as many as the limit needs. Which ones it keeps does
// not depend on the order in which they come.
type collector struct {
	limit int  // lines, or files with units; 0: no limit
	units bool // a file counts as one

	context int // lines after a match

	mu    sync.Mutex
	files byPath // the last path on top
	kept  int    // lines or files in files
	lines int    // found in all
	found int    // files

	cutoff atomic.Pointer[string] // no path from here on is kept
}

// room returns how many lines of the file at path may be wanted.
func (c *collector) room(path string) int {
	if c.limit == 0 {
		return math.MaxInt
	}
	if cut := c.cutoff.Load(); cut != nil && path >= *cut {
		return 0
	}
	return c.limit
}

// add takes a file with at least one matching line.
func (c *collector) add(f *FileMatches) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines += f.Count
	c.found++
	if cut := c.cutoff.Load(); cut != nil && f.Path >= *cut {
		return
	}
	if c.limit == 0 {
		c.files = append(c.files, f)
		return
	}
	heap.Push(&c.files, f)
	c.kept += c.size(f)
	for c.kept-c.size(c.files[0]) >= c.limit {
		last := heap.Pop(&c.files).(*FileMatches)
		c.kept -= c.size(last)
		c.cutoff.Store(&last.Path)
	}
}

func (c *collector) size(f *FileMatches) int {
	if c.units {
		return 1
	}
	return f.kept
}

// result sorts what was kept, and cuts the last file to the limit.
func (c *collector) result() *Matches {
	sortFiles(c.files)
	m := &Matches{Files: c.files, Lines: c.lines, Found: c.found, kept: c.kept}
	if over := c.kept - c.limit; c.limit > 0 && over > 0 && !c.units {
		last := c.files[len(c.files)-1]
		last.cut(last.kept-over, c.context)
		m.kept = c.limit
	}
	return m
}

// cut drops the matching lines after the first n > 0, and the context that
// only they have.
func (f *FileMatches) cut(n, context int) {
	f.kept = n
	for i := range f.Lines {
		switch l := &f.Lines[i]; {
		case l.Match && n > 0:
			n--
		case n == 0 && (l.Match || l.Number > f.Lines[i-1].Number+1 || context == 0):
			f.Lines = f.Lines[:i]
			return
		case n == 0:
			context--
		}
	}
}

// byPath is a heap with the last path on top.
type byPath []*FileMatches

func (h byPath) Len() int           { return len(h) }
func (h byPath) Less(i, j int) bool { return h[i].Path > h[j].Path }
func (h byPath) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byPath) Push(x any)        { *h = append(*h, x.(*FileMatches)) }
func (h *byPath) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
