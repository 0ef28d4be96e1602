package pendingedits

import (
	"fmt"
	"io/fs"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
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
		now = modeOf(g.s.base, name)
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
		by = hunk.Union(by, o.By)
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
	now, err := readNode(g.s.base, c.Path)
	if err != nil {
		return err
	}
	old := g.s.entries[c.Path]
	_, staged := g.want[c.Path]
	if staged || g.s.from[c.Path] != nil || old != nil && !old.isLink() {
		return refuse(c.Path, fmt.Errorf("%w: another edit of it waits for the user", workspace.ErrConflict))
	}
	if old != nil && !now.is(c.Before, c.BeforeLink) && (node{old.after, old.afterLink}).is(c.Before, c.BeforeLink) {
		c.Before, c.BeforeLink = old.base, old.baseLink // a change on top of what waits
		if now.is(c.Before, c.BeforeLink) && now.is(c.After, c.AfterLink) {
			g.unlinked = append(g.unlinked, c.Path)
			return nil
		}
	}
	if !now.is(c.Before, c.BeforeLink) {
		return refuse(c.Path, workspace.ErrConflict)
	}
	if c.Before == nil {
		g.created = append(g.created, c.Path)
	}
	e := g.made(c.Path)
	e.whole, e.base, e.baseLink, e.after, e.afterLink, e.mode = true, c.Before, c.BeforeLink, c.After, c.AfterLink, c.Mode
	one := hunk.Hunk{By: []string{g.by.Session}}
	if old != nil {
		one.By = hunk.Union(one.By, old.hunks[0].By)
	}
	if old != nil && hunk.Same(old.base, e.base) && hunk.Same(old.after, e.after) && old.baseLink == e.baseLink && old.afterLink == e.afterLink {
		one.ID, one.By = old.hunks[0].ID, old.hunks[0].By
	}
	if one.ID == "" {
		one.ID = g.s.newID()
	}
	e.hunks = []hunk.Hunk{one}
	g.links = append(g.links, e)
	return nil
}

// planLinkBack is planBack for a change of a link.
func planLinkBack(q *queue, b backward) (backward, error) {
	d := b.of
	now, err := readNode(q.base, d.Path)
	if err != nil {
		return b, err
	}
	b.change = workspace.Change{Path: d.Path, Before: d.After, BeforeLink: d.AfterLink, After: d.Before, AfterLink: d.BeforeLink, Mode: d.Mode}
	switch {
	case q.entries[d.Path] != nil && !q.entries[d.Path].isLink():
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
func (s *queue) linkAgain(b backward, undone bool, r *record) {
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
	e.hunks = []hunk.Hunk{{ID: s.newID(), By: d.sessions()}}
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
