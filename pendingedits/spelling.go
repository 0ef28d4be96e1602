package pendingedits

import (
	"io/fs"
	"path"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// real is the name by which the queue knows a file: where the base has it, with no
// link on its way, and spelled as the queue does that has it already. A link that is
// proposed is followed, and one that is to go is not.
func (s *queue) real(name string) (string, error) {
	for range maxLinks {
		if name == "" || !fs.ValidPath(name) {
			return name, nil
		}
		at, err := s.itself(name)
		if err != nil {
			return at, err
		}
		e := s.entries[at]
		switch {
		case e == nil || !e.isLink():
			real, err := s.base.RealName(name)
			if err != nil {
				return real, err
			}
			return s.spelled(real), nil
		case !e.afterLink:
			return at, nil
		}
		if name, err = workspace.LinkTo(at, string(e.after)); err != nil {
			return at, refuse(at, err)
		}
	}
	return name, refuse(name, workspace.ErrOutside)
}

// maxLinks bounds the proposed links on the way to a file.
const maxLinks = 40

// itself is real of what a name has in its directory: a link at its end is not followed.
func (s *queue) itself(name string) (string, error) {
	if name == "" || name == "." || !fs.ValidPath(name) {
		return name, nil
	}
	dir, err := s.base.RealName(path.Dir(name))
	if err != nil {
		return name, err
	}
	return s.spelled(path.Join(dir, path.Base(name))), nil
}

// spelled is a name as the queue writes it that has it already.
func (s *queue) spelled(name string) string {
	f := s.base.Folding(path.Dir(name))
	if f.Exact() {
		return name
	}
	return workspace.Spelled(name, slices.Clone(s.queued()), func(name string) bool {
		_, deleted, ok := s.lookup(name)
		return deleted || !ok
	}, f)
}

// named is a change under the queue's names. Where it deletes or moves a link, as several:
// of the link itself, and of the file that it leads to if the text changes too.
func (g *stage) named(c workspace.Change) ([]workspace.Change, error) {
	var err error
	if c.Link() {
		c.Path, err = g.s.itself(c.Path)
		return []workspace.Change{c}, err
	}
	source := c.Path
	if c.From != "" {
		source = c.From
	}
	if c.After == nil || c.From != "" {
		target, err := g.target(source)
		if err != nil {
			return nil, err
		}
		if target != "" {
			return g.ofLink(c, source, target)
		}
	}
	c.Path, c.From, err = g.reals(c)
	return []workspace.Change{c}, err
}

// target is where a link of that name leads in the queue's view; "" is no link.
func (g *stage) target(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", nil
	}
	at, err := g.s.itself(name)
	if err != nil {
		return "", err
	}
	e := g.s.entries[at]
	switch {
	case e != nil && e.afterLink:
		return string(e.after), nil
	case e != nil || g.s.from[at] != nil:
		return "", nil
	}
	if _, staged := g.want[at]; staged {
		return "", nil
	}
	n, err := workspace.NodeOf(g.s.base, at)
	return n.Link, err
}

// ofLink is what deleting or moving a link of that name and target comes to.
func (g *stage) ofLink(c workspace.Change, name, target string) ([]workspace.Change, error) {
	real, err := g.s.real(name)
	if err != nil {
		return nil, err
	}
	if now, err := g.current(real); err != nil {
		return nil, err
	} else if !hunk.Same(now, c.Before) {
		return nil, refuse(name, workspace.ErrConflict)
	}
	at, err := g.s.itself(name)
	if err != nil {
		return nil, err
	}
	list := []workspace.Change{{Path: at, Before: []byte(target), BeforeLink: true}}
	if c.From == "" {
		return list, nil
	}
	to, err := g.s.itself(c.Path)
	if err != nil {
		return nil, err
	}
	list = append(list, workspace.Change{Path: to, After: []byte(target), AfterLink: true})
	if !hunk.Same(c.Before, c.After) {
		list = append(list, workspace.Change{Path: real, Before: c.Before, After: c.After, Mode: c.Mode})
	}
	return list, nil
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

// respell gives edits that were kept under another spelling the name that their file
// has in the base: an earlier version kept them as they were given, and a user may
// have changed it meanwhile. Of two for one file, one stays as it is.
func (s *queue) respell() {
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
