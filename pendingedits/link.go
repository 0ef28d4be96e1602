package pendingedits

import (
	"fmt"
	"io/fs"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// proposedMode is the mode that a file which stays is to have, 0 when it is to
// keep its own.
func (g *stage) proposedMode(name string, live, want []byte) fs.FileMode {
	mode, ok := g.mode[name]
	if e := g.s.entries[name]; !ok && e != nil {
		mode = e.mode
	}
	now, ok := g.baseMode[name]
	if !ok {
		now = g.s.mode(name)
	}
	if mode == 0 || live == nil || want == nil || workspace.IsExec(mode) == workspace.IsExec(now) {
		return 0
	}
	return mode
}

// modeID is the id of a proposed mode, and whose it is: those which it had.
func (g *stage) modeID(name string, mode fs.FileMode) (id string, by []string) {
	if e := g.s.entries[name]; e != nil && e.modeID != "" && workspace.IsExec(e.mode) == workspace.IsExec(mode) {
		return e.modeID, e.modeBy
	}
	for _, o := range g.again[name] {
		by = union(by, o.by)
	}
	if by == nil {
		by = []string{g.by.Session}
	}
	return g.s.newID(), by
}

// link proposes a change of a link. It goes with no other edit of the name.
func (g *stage) link(c workspace.Change) error {
	switch {
	case c.From != "", c.Before == nil && c.After == nil, c.AfterLink && len(c.After) == 0:
		return refuse(c.Path, fs.ErrInvalid)
	}
	now, err := g.s.readNode(c.Path)
	if err != nil {
		return err
	}
	old := g.s.entries[c.Path]
	_, staged := g.want[c.Path]
	if staged || g.s.from[c.Path] != nil || old != nil && !old.isLink() {
		return refuse(c.Path, fmt.Errorf("%w: another edit of it waits for the user", workspace.ErrConflict))
	}
	if !now.is(c.Before, c.BeforeLink) {
		return refuse(c.Path, workspace.ErrConflict)
	}
	if c.Before == nil {
		if err := g.roomFor(c.Path); err != nil {
			return err
		}
	}
	e := g.made(c.Path)
	e.whole, e.base, e.baseLink, e.after, e.afterLink, e.mode = true, c.Before, c.BeforeLink, c.After, c.AfterLink, c.Mode
	one := hunk{by: []string{g.by.Session}}
	if old != nil {
		one.by = union(one.by, old.hunks[0].by)
	}
	if old != nil && same(old.base, e.base) && same(old.after, e.after) && old.baseLink == e.baseLink && old.afterLink == e.afterLink {
		one.id, one.by = old.hunks[0].id, old.hunks[0].by
	}
	if one.id == "" {
		one.id = g.s.newID()
	}
	e.hunks = []hunk{one}
	g.links = append(g.links, e)
	return nil
}

// backwardLink is backward for a change of a link.
func (s *Store) backwardLink(b backward) (backward, error) {
	d := b.of
	now, err := s.readNode(d.Path)
	if err != nil {
		return b, err
	}
	b.change = workspace.Change{Path: d.Path, Before: d.After, BeforeLink: d.AfterLink, After: d.Before, AfterLink: d.BeforeLink, Mode: d.Mode}
	switch {
	case s.entries[d.Path] != nil && !s.entries[d.Path].isLink():
		return b, fmt.Errorf("another edit of it waits; accept or reject that first: %w", workspace.ErrConflict)
	case now.is(d.Before, d.BeforeLink):
	case now.is(d.After, d.AfterLink):
		b.needed = true
	default:
		return b, fmt.Errorf("the link was changed since: %w", workspace.ErrConflict)
	}
	return b, nil
}

// linkAgain makes what was taken back pending, and what was accepted again not.
func (s *Store) linkAgain(b backward, undone bool, r *record) {
	d := b.of
	if undone {
		if s.entries[d.Path] != nil {
			r.drops = append(r.drops, d.Path)
		}
		return
	}
	g := s.stage(Proposer{Session: d.session, Tool: d.tool, Batch: b.batch})
	e := g.made(d.Path)
	e.whole, e.base, e.baseLink, e.after, e.afterLink, e.mode = true, d.Before, d.BeforeLink, d.After, d.AfterLink, d.Mode
	e.hunks = []hunk{{id: s.newID(), by: d.sessions()}}
	r.puts = append(r.puts, e)
}

// modeAgain makes the mode of what was taken back pending, or, when it was
// accepted again, not: b.of is what had been done.
func (g *stage) modeAgain(b backward, undone bool) {
	name := b.of.Path
	if b.needed && b.change.Mode != 0 {
		g.baseMode[b.change.Path] = b.change.Mode
	}
	g.mode[name] = b.of.Mode
	if undone {
		if b.change.From != "" {
			name = b.change.Path
		}
		g.mode[name] = 0
	}
}
