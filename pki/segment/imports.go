package segment

import (
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// Import is one import of a file.
type Import struct {
	Path string   // as it is written
	Word terms.ID // the unit that stands for the file has it, see terms.Module
}

// Imports calls f with the paths that a file imports, in their order.
func (s *Segment) Imports(file uint32, f func(path string)) {
	for _, id := range s.importsOf(file) {
		f(s.module(id))
	}
}

func (s *Segment) importsOf(file uint32) []uint32 {
	first := uint32(0)
	if file > 0 {
		first = s.importEnds[file-1]
	}
	return s.imports[first:s.importEnds[file]]
}

func (s *Segment) module(id uint32) string {
	first := uint32(0)
	if id > 0 {
		first = s.moduleEnds[id-1]
	}
	return s.modules[first:s.moduleEnds[id]]
}

// modules numbers the paths that the files of a segment import.
type modules struct {
	numbers map[string]uint32
	list    []string
}

func (m *modules) number(path string) uint32 {
	id, known := m.numbers[path]
	if !known {
		if m.numbers == nil {
			m.numbers = map[string]uint32{}
		}
		id, path = uint32(len(m.list)), strings.Clone(path)
		m.numbers[path] = id
		m.list = append(m.list, path)
	}
	return id
}

// finish writes the paths into a segment, and begins again.
func (m *modules) finish(s *Segment) {
	s.modules = strings.Join(m.list, "")
	s.moduleEnds = make([]uint32, len(m.list))
	end := uint32(0)
	for i, path := range m.list {
		end += uint32(len(path))
		s.moduleEnds[i] = end
	}
	s.imports, s.importEnds = slices.Clip(s.imports), slices.Clip(s.importEnds)
	clear(m.numbers)
	clear(m.list)
	m.list = m.list[:0]
}

// soundImports checks what Imports takes for granted.
func (s *Segment) soundImports() bool {
	return len(s.importEnds) == len(s.Files) && ascending(s.importEnds, len(s.imports)) && ascending(s.moduleEnds, len(s.modules)) &&
		!slices.ContainsFunc(s.imports, func(id uint32) bool { return int(id) >= len(s.moduleEnds) })
}

// ascending reports whether these may be the ends of parts that follow each
// other up to the end of something.
func ascending(ends []uint32, end int) bool {
	last := uint32(0)
	for _, e := range ends {
		if e < last {
			return false
		}
		last = e
	}
	return int(last) == end
}
