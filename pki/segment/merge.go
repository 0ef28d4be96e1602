package segment

import (
	"slices"
	"strings"
)

// Source is a segment as far as it holds.
type Source struct {
	*Segment
	Dead func(file uint32) bool // nil: all of it holds
}

// Merge makes one segment of several, without the files that hold no more, in
// the order in which they come. Together they must fit into one, see Fits.
func Merge(sources []Source) *Segment {
	s := &Segment{}
	var text strings.Builder
	var imported modules
	moved := make([][]uint32, len(sources)) // new numbers of units; gone: none
	for i, from := range sources {
		moved[i] = from.move(s, &text, &imported)
		s.source += from.source
	}
	s.text = text.String()
	imported.finish(s)
	s.Files, s.Units = slices.Clip(s.Files), slices.Clip(s.Units)
	s.join(sources, moved)
	s.mark()
	s.arrange()
	return s
}

// Fits reports whether so many files and units go into one segment.
func Fits(files, units int) bool { return files < maxFiles && units < maxUnits/2 }

const gone = ^uint32(0)

// move appends what holds of a source to s and its text, and returns the new
// numbers of its units.
func (from Source) move(s *Segment, text *strings.Builder, imported *modules) []uint32 {
	moved := make([]uint32, len(from.Units))
	for u := range moved {
		moved[u] = gone
	}
	for i := range from.Files {
		if from.Dead != nil && from.Dead(uint32(i)) {
			continue
		}
		f := from.Files[i]
		first, file := f.First, uint32(len(s.Files))
		f.First, f.Path = uint32(len(s.Units)), strings.Clone(f.Path)
		s.Files = append(s.Files, f)
		for _, id := range from.importsOf(uint32(i)) {
			s.imports = append(s.imports, imported.number(from.module(id)))
		}
		s.importEnds = append(s.importEnds, uint32(len(s.imports)))
		for u := first; u < first+f.Count; u++ {
			unit := from.Units[u]
			words := from.text[unit.text : unit.text+uint32(unit.owner)+uint32(unit.name)]
			unit.File, unit.text = file, uint32(text.Len())
			text.WriteString(words)
			moved[u] = uint32(len(s.Units))
			s.Units = append(s.Units, unit)
		}
	}
	return moved
}

// join writes the postings of all sources down, in the order of the hashes.
func (s *Segment) join(sources []Source, moved [][]uint32) {
	next := make([]int, len(sources)) // hash of each that is not yet written
	var list []uint32                 // unit and where, as in Builder.order
	for {
		hash, any := uint32(0), false
		for i, from := range sources {
			if next[i] < len(from.hashes) && (!any || from.hashes[next[i]] < hash) {
				hash, any = from.hashes[next[i]], true
			}
		}
		if !any {
			break
		}
		list = list[:0]
		for i, from := range sources {
			if next[i] == len(from.hashes) || from.hashes[next[i]] != hash {
				continue
			}
			for c := from.postings(next[i]).Cursor(); c.Next(); {
				if to := moved[i][c.Unit]; to != gone {
					list = append(list, to<<8|uint32(c.Where))
				}
			}
			next[i]++
		}
		if len(list) > 0 {
			s.hashes, s.starts = append(s.hashes, hash), append(s.starts, uint32(len(s.posts)))
			s.posts = s.appendPostings(s.posts, list)
		}
	}
	s.starts = append(s.starts, uint32(len(s.posts)))
	s.hashes, s.starts, s.posts = slices.Clone(s.hashes), slices.Clone(s.starts), slices.Clone(s.posts)
}

// appendPostings writes the places of one term, in the order of the units: each
// is a unit's number and, in the lowest byte, where the term is in it.
func (s *Segment) appendPostings(out []byte, list []uint32) []byte {
	files, last := uint32(0), ^uint32(0)
	for _, p := range list {
		if f := s.Units[p>>8].File; f != last {
			files, last = files+1, f
		}
	}
	out = varint(varint(out, uint32(len(list))), files)
	before := uint32(0)
	for _, p := range list {
		out = append(varint(out, p>>8-before), byte(p))
		before = p >> 8
	}
	return out
}
