package rank

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

const (
	relatedUnits = 80  // candidates whose uses are looked for
	relatedUses  = 400 // a name that more units have says nothing
)

// relate lets candidates speak for each other: types and their members, and
// what one uses of the other.
func (s *second) relate() {
	type key struct {
		file Ref
		name string
	}
	types := map[key]*Candidate{}
	byUnit := make(map[Ref]*Candidate, len(s.units))
	for i := range s.units {
		c := &s.units[i]
		byUnit[c.ref()] = c
		p := s.parts[c.Part]
		if u := &p.Units[c.ID]; !callable(u.Kind()) && u.Kind() != segment.FileKind {
			types[key{Ref{c.Part, u.File}, p.Name(c.ID)}] = c
		}
	}
	for i := range s.units {
		c := &s.units[i]
		p := s.parts[c.Part]
		owner := p.Owner(c.ID)
		owner = owner[strings.LastIndexByte(owner, '.')+1:]
		if t := types[key{Ref{c.Part, p.Units[c.ID].File}, owner}]; t != nil && t != c {
			c.Features[UnitClass] = t.Features[UnitWords]
			t.Features[UnitMember] = max(t.Features[UnitMember], c.Features[UnitWords])
		}
	}
	for i := range s.units[:min(len(s.units), relatedUnits)] {
		c := &s.units[i]
		p := s.parts[c.Part]
		name := p.Name(c.ID)
		if len(name) < 4 || p.Units[c.ID].Kind() == segment.FileKind {
			continue
		}
		id := terms.Whole(name)
		used := float32(0)
		for part := range s.parts {
			places, ok := s.parts[part].Postings(id)
			if !ok || places.Units > relatedUses {
				continue
			}
			for at := places.Cursor(); at.Next(); {
				if at.Where&segment.AsWhole == 0 || !segment.HasBody(at.Where) {
					continue
				}
				if o := byUnit[Ref{uint32(part), at.Unit}]; o != nil && o != c {
					used += o.Features[UnitWords]
					o.Features[UnitUses] += c.Features[UnitWords]
				}
			}
		}
		c.Features[UnitUsed] = log(used)
	}
	for i := range s.units {
		s.units[i].Features[UnitUses] = log(s.units[i].Features[UnitUses])
	}
}
