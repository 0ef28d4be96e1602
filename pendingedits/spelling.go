package pendingedits

import (
	"io/fs"
	"path"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// real is the name by which the queue knows a file: where the base has it, with no
// link on its way, and spelled as the queue does that has it already. Only what is
// proposed for a link itself stays as it is.
func (s *Store) real(name string) (string, error) {
	if name == "" || !fs.ValidPath(name) {
		return name, nil
	}
	real, err := s.base.RealName(name)
	if err != nil {
		return real, err
	}
	f := s.base.Folding(path.Dir(real))
	if f.Exact() {
		return real, nil
	}
	return workspace.Spelled(real, slices.Clone(s.queued()), func(name string) bool {
		_, deleted, ok := s.lookup(name)
		return deleted || !ok
	}, f), nil
}

// reals are the real names of a change's files. Two that differ in their spelling
// alone are one file, but a change from the one to the other is a rename.
func (g *stage) reals(c workspace.Change) (path, from string, err error) {
	s := g.s
	if path, err = s.real(c.Path); err != nil {
		return "", "", err
	}
	if from, err = s.real(c.From); err != nil {
		return "", "", err
	}
	if from != "" && from == path {
		if to, ok := workspace.Respelled(s.base, from, c.Path); ok {
			return to, from, nil
		}
	}
	return g.staged(path), from, nil
}

// staged is a name as the same batch of changes has used it before.
func (g *stage) staged(name string) string {
	f := g.s.base.Folding(path.Dir(name))
	if f.Exact() {
		return name
	}
	for other, data := range g.want {
		if other != name && data != nil && f.Same(other, name) {
			return other
		}
	}
	return name
}

// elsewhere reports whether the base has the file of that name under another
// spelling, which is spoken of too; nil: none is. Under name there is nothing then,
// although it can be read by it.
func (s *Store) elsewhere(name string, spoken func(name string) bool) bool {
	if spoken == nil || s.base.Folding(path.Dir(name)).Exact() {
		return false
	}
	real, err := s.base.RealName(name)
	return err == nil && real != name && spoken(real)
}

// moving reports whether a name is the old or the new one of a pending rename, nil if
// there is none: that spares the look at the disk. s.mu is held.
func (s *Store) moving() func(name string) bool {
	if len(s.from) == 0 {
		return nil
	}
	return s.moves
}

func (s *Store) moves(name string) bool {
	e := s.entries[name]
	return e != nil && s.from[e.from] == e || s.from[name] != nil
}

// oneOf reports whether a name is one of those.
func oneOf(names ...string) func(name string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// respell gives edits that were kept under another spelling the name that their file
// has in the base: an earlier version kept them as they were given, and a user may
// have changed it meanwhile. Of two for one file, one stays as it is. s.mu is held.
func (s *Store) respell() {
	if s.intent != nil {
		return // its changes go by the old names
	}
	var r record
	taken := map[string]bool{}
	for _, e := range s.sorted() {
		f := s.base.Folding(path.Dir(e.name))
		if f.Exact() || e.from != "" || e.isLink() || slices.ContainsFunc(s.commits, func(q *queued) bool { return q.claims(e.name) }) {
			continue
		}
		real, err := s.base.RealName(e.name)
		if err != nil || real == e.name || !f.Same(real, e.name) || taken[real] || s.entries[real] != nil || s.from[real] != nil {
			continue
		}
		next := *e
		next.name, taken[real] = real, true
		r.puts, r.drops = append(r.puts, &next), append(r.drops, e.name)
	}
	if len(r.puts) > 0 {
		_, _ = s.commit("respell", r) // if it can't be kept, it is done again
	}
}
