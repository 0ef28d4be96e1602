package pendingedits

import (
	"io/fs"
	"path"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
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
	for other, data := range g.want {
		if other != name && data != nil && f.Same(other, name) {
			return other
		}
	}
	return name
}

// elsewhere reports whether the base has the file of that name under another
// spelling that is spoken of too: by the queue or as one of others. Under name there
// is nothing then, although it can be read by it. s.mu is held, if others are none.
func (s *Store) elsewhere(name string, others ...string) bool {
	if s.base.Folding(path.Dir(name)).Exact() {
		return false
	}
	real, err := s.base.RealName(name)
	return err == nil && real != name && (slices.Contains(others, real) || len(others) == 0 && (s.entries[real] != nil || s.from[real] != nil))
}
