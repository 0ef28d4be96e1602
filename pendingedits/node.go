package pendingedits

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/diff"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// Modes and links. That a file is to be executable, or not, is a hunk of its
// entry; that a link comes, goes or leads elsewhere is an entry of its own,
// which is taken or left as one. In the queue's view a mode is as the base has
// it, and a new link is not there, until they are accepted; Node tells what is
// proposed.

// node is what a name has in the base, no link followed.
type node struct {
	data []byte // text, or the target of a link; nil: nothing
	link bool
}

func (n node) is(data []byte, link bool) bool {
	return same(n.data, data) && (n.data == nil || n.link == link)
}

func (s *Store) readNode(name string) (node, error) {
	n, err := workspace.NodeOf(s.base, name)
	if err != nil || !n.Exists {
		return node{}, err
	}
	if n.Link != "" {
		return node{[]byte(n.Link), true}, nil
	}
	data, err := s.read(name)
	return node{data: data}, err
}

// mode is that of a file of the base; 0 when it has none.
func (s *Store) mode(name string) fs.FileMode {
	if info, err := s.base.Stat(name); err == nil {
		return info.Mode().Perm()
	}
	return 0
}

// changesMode reports whether c makes a file that stays executable, or not.
func (d decided) changesMode() bool {
	return d.Mode != 0 && d.Before != nil && d.After != nil && !d.Link()
}

func (e *entry) isLink() bool { return e.baseLink || e.afterLink }

// changesMode reports whether a whole changes the mode of a file that stays.
func (e *entry) changesMode(r *resolution) bool {
	return e.mode != 0 && e.base != nil && e.after != nil && r.live != nil && workspace.IsExec(e.mode) != workspace.IsExec(r.liveMode)
}

// meetLink is meet for a link.
func (e *entry) meetLink(r *resolution) {
	live := node{r.live, r.liveLink}
	r.done = live.is(e.after, e.afterLink)
	r.text = r.live
	switch {
	case !live.is(e.base, e.baseLink):
		r.state = Conflict
	case !e.afterLink: // no link is there then, which the view can show
		r.text, r.shown = e.after, true
	}
}

// Modes as git writes them.
const (
	gitFile = 0o100644
	gitExec = 0o100755
	gitLink = 0o120000
)

func gitMode(m fs.FileMode) uint32 {
	if workspace.IsExec(m) {
		return gitExec
	}
	return gitFile
}

func (e *entry) modeLines() string {
	return fmt.Sprintf("old mode %o\nnew mode %o\n", gitFile+gitExec-gitMode(e.mode), gitMode(e.mode))
}

func (e *entry) modeSays() string {
	if workspace.IsExec(e.mode) {
		return "make it executable"
	}
	return "make it not executable"
}

func (e *entry) linkSays() string {
	switch {
	case !e.afterLink && e.after == nil:
		return "delete this link"
	case !e.afterLink:
		return "put a file in place of this link"
	case !e.baseLink && e.base != nil:
		return fmt.Sprintf("put a link to %q in place of this file", e.after)
	}
	return fmt.Sprintf("link to %q", e.after)
}

// linkLines says which side is a link, and warns of one that leads away.
func (e *entry) linkLines() string {
	var b strings.Builder
	if e.baseLink {
		fmt.Fprintf(&b, "old mode %o\n", gitLink)
	}
	if e.afterLink {
		fmt.Fprintf(&b, "new mode %o\n", gitLink)
		if workspace.LeadsOut(e.name, string(e.after)) {
			b.WriteString("# the link leads out of the workspace, or to a file that may hold secrets or is protected\n")
		}
	}
	return b.String()
}

// patch is what would be accepted of e, in git's format.
func patch(e *entry, r *resolution) string {
	p := diff.FilePatch{OldName: e.source(), NewName: e.name, OldMode: gitMode(r.liveMode), NewMode: gitMode(r.liveMode), Old: string(r.live), New: string(r.text)}
	if e.mode != 0 {
		p.NewMode = gitMode(e.mode)
	}
	text := r.text
	if e.isLink() {
		text, p.New = e.after, string(e.after)
		if r.liveLink {
			p.OldMode = gitLink
		}
		if e.afterLink {
			p.NewMode = gitLink
		}
	}
	if r.live == nil {
		p.OldName = ""
	}
	if text == nil {
		p.NewName = ""
	}
	if p.OldName == "" || p.NewName == "" || p.OldMode&0o170000 == p.NewMode&0o170000 {
		return p.String()
	}
	// As git shows it: one goes, another comes.
	gone, added := p, p
	gone.NewName, gone.New, added.OldName, added.Old = "", "", "", ""
	return gone.String() + added.String()
}

// Node implements what workspace.NodeOf asks for: what the name has when all
// that is pending is accepted.
func (v *view) Node(name string) (workspace.Node, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	n, err := workspace.NodeOf(v.s.base, name)
	if e := v.s.from[name]; e != nil {
		if e, r := v.s.resolve(e, false); e != nil && r.shown {
			n = workspace.Node{}
		}
	}
	e := v.s.entries[name]
	if e == nil {
		return n, err
	}
	e, r := v.s.resolve(e, false)
	if e == nil || !r.offered {
		return n, err
	}
	switch {
	case e.afterLink:
		return workspace.Node{Exists: true, Link: string(e.after)}, nil
	case e.whole && e.after == nil:
		return workspace.Node{}, nil
	case e.mode != 0:
		return workspace.Node{Exists: true, Exec: workspace.IsExec(e.mode)}, nil
	}
	return workspace.Node{Exists: true, Exec: workspace.IsExec(r.liveMode)}, nil
}

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
	g := s.stage(Proposer{d.session, d.tool, b.batch})
	e := g.made(d.Path)
	e.whole, e.base, e.baseLink, e.after, e.afterLink, e.mode = true, d.Before, d.BeforeLink, d.After, d.AfterLink, d.Mode
	e.hunks = []hunk{{id: s.newID(), by: d.sessions()}}
	r.puts = append(r.puts, e)
}

// errLink says that a link has no text that could be edited.
var errLink = errors.New("it is about a link, which has no text; accept or reject it")

// opposite is a mode with the execute bits of which it has none, or without.
func opposite(m fs.FileMode) fs.FileMode {
	if workspace.IsExec(m) {
		return 0o644
	}
	return 0o755
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
