package rank

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// maxUses is how many units may use a name: of what more of them use, only those
// in the same directory count.
const maxUses = 400

// user is a unit that has a name, and where.
type user struct {
	Ref
	where byte
	near  bool // it is in the directory of the unit that is meant
}

// users returns the units that use the name of r, which is read from the index
// alone: an identifier that is spelled alike is taken for the same.
func (m *meanings) users(r Ref) []Edge {
	seg := m.parts[r.Part]
	unit := &seg.Units[r.Unit]
	name := seg.Name(r.Unit)
	if len(name) < 3 || unit.Kind() == segment.FileKind || unit.Kind() == pki.Heading {
		return nil
	}
	id, home := terms.Whole(name), dir(seg.Files[unit.File].Path)
	found, bearers, all := m.everywhere(r, id, home)
	if !all {
		found = m.nearby(r, id, home)
	}
	isType := !callable(unit.Kind())
	out := make([]Edge, 0, len(found))
	for _, u := range found {
		p := m.parts[u.Part]
		to := &p.Units[u.Unit]
		e := Edge{To: u.Ref, Relation: CalledBy, Weight: 1 / float32(max(1, min(bearers, 4)))}
		switch {
		case p.Files[to.File].Flags&segment.Test != 0:
			e.Relation = TestedBy
			e.Weight *= 0.7
		case isType && u.where&segment.InHeader != 0 && !callable(to.Kind()):
			e.Relation = ImplementedBy
		case isType && !segment.HasBody(u.where):
			e.Weight *= 0.8
		}
		if !u.near {
			e.Weight *= 0.8
		}
		out = append(out, e)
	}
	return out
}

// everywhere returns all units that use the name of r, and how many bear it: one
// more than maxMeaning if they are more. Where these or the users are too many, all
// is false.
func (m *meanings) everywhere(r Ref, id terms.ID, home string) (found []user, bearers int, all bool) {
	all = true
	var places [64]segment.Posting
	for i, p := range m.parts {
		postings, _ := p.Postings(id)
		cursor := postings.Cursor()
		for n := cursor.Read(places[:]); n > 0; n = cursor.Read(places[:]) {
			for _, at := range places[:n] {
				if at.Where()&segment.AsWhole == 0 {
					continue
				}
				if at.Where()&segment.InName != 0 {
					if bearers++; bearers > maxMeaning {
						return nil, bearers, false
					}
				}
				if u := (user{Ref{uint32(i), at.Unit()}, at.Where(), false}); all && m.uses(u) && u.Ref != r {
					u.near = dir(p.Files[p.Units[u.Unit].File].Path) == home
					found = append(found, u)
					all = len(found) <= maxUses
				}
			}
		}
	}
	return found, bearers, all
}

// nearby returns the units of a directory that use the name of r.
func (m *meanings) nearby(r Ref, id terms.ID, home string) (found []user) {
	var places [64]segment.Posting
	for i, spans := range once(&m.mu, m.homes, home, m.unitsIn) {
		if len(spans) == 0 {
			continue
		}
		postings, _ := m.parts[i].Postings(id)
		inside := postings.Inside(spans)
		for n := inside.Read(places[:]); n > 0; n = inside.Read(places[:]) {
			for _, at := range places[:n] {
				u := user{Ref{uint32(i), at.Unit()}, at.Where(), true}
				if u.where&segment.AsWhole != 0 && m.uses(u) && u.Ref != r && len(found) < 4*maxUses {
					found = append(found, u)
				}
			}
		}
	}
	return found
}

// uses reports whether a unit that has a name uses it, too.
func (m *meanings) uses(u user) bool {
	if u.where&segment.InHeader == 0 && !segment.HasBody(u.where) {
		return false
	}
	p := m.parts[u.Part]
	unit := &p.Units[u.Unit]
	return unit.Kind() != segment.FileKind && (p.Dead == nil || !p.Dead(unit.File))
}

// unitsIn returns the units of the files that are in a directory itself, of each part.
func (m *meanings) unitsIn(home string) [][]segment.Span {
	out := make([][]segment.Span, len(m.parts))
	for i, p := range m.parts {
		for file := range p.Files {
			if f := &p.Files[file]; isIn(f.Path, home) {
				out[i] = appendSpan(out[i], f)
			}
		}
	}
	return out
}

// isIn reports whether a file is in a directory itself: dir(file) == home, at
// less than the price of finding out what its directory is.
func isIn(file, home string) bool {
	if home == "" {
		return strings.IndexByte(file, '/') < 0
	}
	return len(file) > len(home) && file[len(home)] == '/' && file[:len(home)] == home && strings.IndexByte(file[len(home)+1:], '/') < 0
}
