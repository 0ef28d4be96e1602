package rank

import (
	"runtime"
	"slices"
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
	for i := range s.units {
		c := &s.units[i]
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
	s.relateNames()
}

// use is a candidate that has the name of another one.
type use struct{ of, by *Candidate }

// relateNames lets candidates speak for those whose names they use.
func (s *second) relateNames() {
	type name struct {
		of *Candidate
		id terms.ID
	}
	var names []name
	for i := range s.units[:min(len(s.units), relatedUnits)] {
		c := &s.units[i]
		if p := s.parts[c.Part]; len(p.Name(c.ID)) >= 4 && p.Units[c.ID].Kind() != segment.FileKind {
			names = append(names, name{c, terms.Whole(p.Name(c.ID))})
		}
	}
	sideBySide(runtime.GOMAXPROCS(0), len(names), func(_, n int) {
		all := uint32(0)
		for i := range s.parts {
			places, _ := s.parts[i].Postings(names[n].id)
			if all += places.Units; all > relatedUses {
				names[n].of = nil
				break
			}
		}
	})
	names = slices.DeleteFunc(names, func(n name) bool { return n.of == nil })
	byPart := make([][]*Candidate, len(s.parts))
	for i := range s.units {
		byPart[s.units[i].Part] = append(byPart[s.units[i].Part], &s.units[i])
	}
	uses := make([][]use, len(s.parts))
	sideBySide(runtime.GOMAXPROCS(0), len(s.parts), func(_, part int) {
		users := byPart[part]
		if len(users) == 0 {
			return
		}
		slices.SortFunc(users, func(a, b *Candidate) int { return int(a.ID) - int(b.ID) })
		for _, n := range names {
			if places, ok := s.parts[part].Postings(n.id); ok {
				uses[part] = appendUses(uses[part], n.of, users, places)
			}
		}
	})
	used := map[*Candidate]float32{}
	for _, list := range uses {
		for _, u := range list {
			used[u.of] += u.by.Features[UnitWords]
			u.by.Features[UnitUses] += u.of.Features[UnitWords]
		}
	}
	for i := range s.units {
		c := &s.units[i]
		c.Features[UnitUsed], c.Features[UnitUses] = log(used[c]), log(c.Features[UnitUses])
	}
}

// appendUses appends the users in whose bodies a candidate's name is. Users and
// places are both in order.
func appendUses(uses []use, of *Candidate, users []*Candidate, places segment.Postings) []use {
	k := 0
	for at := places.Cursor(); at.Next(); {
		for k < len(users) && users[k].ID < at.Unit {
			k++
		}
		if k == len(users) {
			break
		}
		if users[k].ID == at.Unit && users[k] != of && at.Where&segment.AsWhole != 0 && segment.HasBody(at.Where) {
			uses = append(uses, use{of, users[k]})
		}
	}
	return uses
}
