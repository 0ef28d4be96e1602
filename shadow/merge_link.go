package shadow

import (
	"bytes"
	"io/fs"
	"path"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// state is a file or a link in one of the three states; the zero state is
// nothing.
type state struct {
	data []byte // of a link, its target
	link bool
}

func (s state) equal(o state) bool {
	return (s.data == nil) == (o.data == nil) && s.link == o.link && bytes.Equal(s.data, o.data)
}

func stateOf(data []byte, s side) state {
	if !s.exists() {
		return state{}
	}
	return state{nonNil(data), s.mode == filemode.Symlink}
}

// link merges a change of a link: that it came, went, leads elsewhere, took the
// place of a file, or gave it back. There is nothing to be merged in a target,
// so the main tree has it as the shadow began, or there is a conflict. A link
// is not followed over a renaming: it goes here and comes there.
func (g *merging) link(ch change, name string) {
	if ch.renamed() {
		if from, ok := g.resolve(ch.old.path); ok {
			g.link(change{old: ch.old}, from)
		}
		g.link(change{new: ch.new}, name)
		return
	}
	if real, err := g.main.RealName(path.Dir(name)); err != nil || real != path.Dir(name) {
		g.skip(name, "in the main tree it lies behind a symbolic link")
		return
	}
	base, err := g.c.old(g.ctx, ch.old)
	var theirs []byte
	if err == nil {
		theirs, err = g.c.new(ch.new)
	}
	if err != nil {
		g.skip(name, "it can't be read: %v", err)
		return
	}
	t := triple{base: base, theirs: theirs}
	ours, ok := g.oursNode(name, t)
	if !ok {
		return
	}
	t.ours = ours.data
	was, want := stateOf(base, ch.old), stateOf(theirs, ch.new)
	switch {
	case ours.equal(want):
	case !ours.equal(was):
		g.conflict(name, t, "it is a symbolic link in one of the states, and both trees changed it")
	default:
		c := workspace.Change{Path: name, Before: ours.data, BeforeLink: ours.link, After: want.data, AfterLink: want.link}
		if ch.new.mode == filemode.Executable {
			c.Mode = 0o755
		} else if !want.link {
			c.Mode = fs.FileMode(ch.new.mode & 0o777)
		}
		g.change(c)
	}
}

// oursNode is ours for what may be a link.
func (g *merging) oursNode(name string, t triple) (state, bool) {
	n, err := workspace.NodeOf(g.main, name)
	switch {
	case err != nil:
		g.skip(name, "it can't be looked at in the main tree: %v", err)
		return state{}, false
	case n.Link != "":
		return state{[]byte(n.Link), true}, true
	case !n.Exists && t.base != nil:
		return state{}, true
	}
	data, ok := g.ours(name, t)
	return state{data: data}, ok
}
