package index

import (
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

const (
	// maxSmall is how many segments of few files there may be.
	maxSmall = 64
	// small is how many files are few.
	small = 64
)

// tidy makes one segment of many small ones, and a new one of one that mostly
// holds no more. x.follow is held.
func (x *Index) tidy() {
	x.mu.Lock()
	var few []*part
	var groups [][]*part
	files, units := 0, 0
	for _, p := range x.parts {
		switch left := len(p.seg.Files) - p.gone; {
		case left < small && segment.Fits(files+left, units+len(p.seg.Units)):
			few = append(few, p)
			files, units = files+left, units+len(p.seg.Units)
		case p.gone > small && p.gone > left:
			groups = append(groups, []*part{p})
		}
	}
	x.mu.Unlock()
	if len(few) > maxSmall {
		groups = append(groups, few)
	}
	for _, g := range groups {
		x.merge(g)
	}
}

// merge makes one segment of parts.
func (x *Index) merge(parts []*part) {
	sources := make([]segment.Source, len(parts))
	var olds []entry
	x.mu.Lock()
	for i, p := range parts {
		now := part{seg: p.seg, dead: p.dead} // as it is here and now
		sources[i] = segment.Source{Segment: p.seg, Dead: now.isDead}
		for file := range p.seg.Files {
			if !now.isDead(uint32(file)) {
				olds = append(olds, entry{part: p, file: uint32(file)})
			}
		}
	}
	x.mu.Unlock()
	x.replace(segment.Merge(sources), olds)
}
