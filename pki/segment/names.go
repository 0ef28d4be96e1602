package segment

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// names finds units by their names. It is made when it is needed for the first
// time: most segments are never asked.
type names struct {
	once   sync.Once
	seed   maphash.Seed
	starts []uint32 // of the buckets, by the lowest bits of a name's hash, and the end of the last
	units  []uint32 // and eight more bits of the hash below; those of a bucket in order
	common []uint32 // hashes of terms that very many units have
}

// Common is a number of units of a segment that very common terms exceed.
const Common = 20_000

// IsCommon reports whether more than Common units of the segment have a term.
func (s *Segment) IsCommon(id terms.ID) bool {
	s.names.once.Do(s.collect)
	return slices.Contains(s.names.common, uint32(id))
}

// Bearers calls f with the units of that name, letter for letter, in order,
// until f returns false. What stands for a whole file has no name here.
func (s *Segment) Bearers(name string, f func(unit uint32) bool) {
	s.names.once.Do(s.collect)
	n := &s.names
	hash := maphash.String(n.seed, name)
	at := hash & uint64(len(n.starts)-2)
	for _, u := range n.units[n.starts[at]:n.starts[at+1]] {
		if byte(u) == byte(hash>>56) && s.Name(u>>8) == name && !f(u>>8) {
			return
		}
	}
}

// collect sorts the units into buckets, about one for each.
func (s *Segment) collect() {
	n := &s.names
	n.seed = maphash.MakeSeed()
	for i, hash := range s.hashes {
		if s.starts[i+1]-s.starts[i] > 2*Common { // each takes two bytes or more
			if p, _ := s.Postings(terms.ID(hash)); p.Units > Common {
				n.common = append(n.common, hash)
			}
		}
	}
	n.starts = make([]uint32, 1<<bits.Len(uint(len(s.Units)))+1)
	mask := uint64(len(n.starts) - 2)
	hashes := make([]uint64, len(s.Units))
	for u := range s.Units {
		if s.Units[u].Kind() == FileKind {
			continue
		}
		hashes[u] = maphash.String(n.seed, s.Name(uint32(u)))
		n.starts[hashes[u]&mask+1]++
	}
	for i := range n.starts[1:] {
		n.starts[i+1] += n.starts[i]
	}
	n.units = make([]uint32, n.starts[len(n.starts)-1])
	for u := len(hashes) - 1; u >= 0; u-- {
		if s.Units[u].Kind() != FileKind {
			// A bucket fills from its end to its start.
			end := &n.starts[hashes[u]&mask+1]
			*end--
			n.units[*end] = uint32(u)<<8 | uint32(hashes[u]>>56)
		}
	}
	copy(n.starts, n.starts[1:])
	n.starts[len(n.starts)-1] = uint32(len(n.units))
}
