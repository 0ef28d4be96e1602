package fs

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"path"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/patch"
)

// tree is the files as the parts of a patch that are done leave them.
type tree struct {
	ctx   context.Context
	c     *tools.Call
	nodes map[string]*node
	order []string
	going []string // names that the patch takes away
}

// node is a file of the tree. nil bytes stand for no file.
type node struct {
	name   string
	from   string // where its text was before, when it was moved
	before []byte // at from, else at name
	after  []byte
	mode   iofs.FileMode
	moved  bool // its text is elsewhere now

	wasLink, isLink bool // before, or after, is the target of a link
}

func newTree(ctx context.Context, c *tools.Call) *tree {
	return &tree{ctx: ctx, c: c, nodes: map[string]*node{}}
}

// resolve turns a name of the patch into one of the view. Of a name that lost
// its prefix on suspicion the form is taken that exists.
func (t *tree) resolve(name, plain string) (string, error) {
	got, err := t.find(name)
	if err != nil || plain == "" || plain == name {
		return got, err
	}
	if t.there(got) {
		return got, nil
	}
	if other, err := t.find(plain); err == nil && t.there(other) {
		return other, nil
	}
	return got, nil
}

// find resolves a path, to the spelling that an earlier part of the patch has used of
// what it makes.
func (t *tree) find(given string) (string, error) {
	name, err := t.c.Files.Resolve(given)
	if err != nil || t.nodes[name] != nil {
		return name, err
	}
	return workspace.Spelled(name, t.order, func(name string) bool { return !t.there(name) }, t.c.Files.Folding(path.Dir(name))), nil
}

func (t *tree) there(name string) bool {
	if n := t.nodes[name]; n != nil {
		return n.after != nil && !n.moved
	}
	_, err := t.c.Files.Stat(name)
	return err == nil
}

// load returns the file of that name, which must exist.
func (t *tree) load(name string) (*node, error) {
	if n := t.nodes[name]; n != nil {
		if n.after == nil || n.moved {
			return nil, tools.Errorf(tools.NotFound, "%s: an earlier part of the patch takes it away", name)
		}
		return n, nil
	}
	data, err := read(t.ctx, t.c, name)
	if err != nil {
		return nil, err
	}
	return t.add(&node{name: name, before: data, after: data}), nil
}

func (t *tree) add(n *node) *node {
	if t.nodes[n.name] == nil {
		t.order = append(t.order, n.name)
	}
	t.nodes[n.name] = n
	return n
}

// create makes a place for a file that must not exist.
func (t *tree) create(name string) (*node, error) {
	if n := t.nodes[name]; n != nil {
		if n.after != nil && !n.moved {
			return nil, tools.Errorf(tools.AlreadyExists, "%s: an earlier part of the patch makes it already", name)
		}
		if n.moved {
			return nil, tools.Errorf(tools.InvalidArguments, "%s is moved away and created in one patch; use two patches", name)
		}
		if n.before != nil && !n.wasLink {
			return n, asRead(t.c, name, n.before)
		}
		return n, nil // deleted above: made again it is a modification
	}
	if err := vacant(t.c, name); err != nil && !t.room(name) {
		return nil, err
	}
	return t.add(&node{name: name}), nil
}

// room reports whether the patch makes room for a file: by taking away the file that one of
// its directories is, or all files of the directory with its name.
func (t *tree) room(name string) bool {
	if info, err := t.c.Files.Stat(name); err == nil {
		return info.IsDir() && vacated(t.c.Files, name, t.goes)
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := t.c.Files.Stat(dir); err == nil {
			return info.IsDir() || t.goes(dir)
		}
	}
	return true
}

// goes reports whether the patch takes a file away, in whichever of its parts.
func (t *tree) goes(name string) bool {
	if n := t.nodes[name]; n != nil {
		return n.after == nil || n.moved
	}
	return slices.Contains(t.going, name)
}

func (t *tree) apply(f patch.File) (PatchedFile, error) {
	name := f.Old
	if f.Kind == patch.Add {
		name = f.New
	}
	name, err := t.resolve(name, f.Plain)
	if err != nil {
		return PatchedFile{}, err
	}
	done := PatchedFile{Path: name, Kind: "modify"}
	switch f.Kind {
	case patch.Add:
		done.Kind = "create"
		n, err := t.create(name)
		if err != nil {
			return done, err
		}
		n.mode = f.Mode
		n.after, err = newFile(name, f)
		done.Hash = hash(n.after)
		return done, err
	case patch.Delete:
		done.Kind = "delete"
		if target, ok := t.link(name); ok {
			return done, t.deleteLink(name, target, f)
		}
		n, err := t.load(name)
		if err != nil {
			return done, err
		}
		if f.Whole {
			err = showsAll(name, n.after, f)
		}
		n.after = nil
		return done, err
	}
	if target, ok := t.link(name); ok && f.New != f.Old && f.New != "" {
		return t.moveLink(name, target, f, done)
	}
	n, err := t.load(name)
	if err != nil {
		return done, err
	}
	after := n.after
	if len(f.Hunks) == 0 && f.New == f.Old {
		return done, modesKept(name, workspace.KeepsExec)
	}
	if len(f.Hunks) > 0 {
		if after, done.Hunks, err = patchFile(t.ctx, name, n.after, f.Hunks); err != nil {
			return done, err
		}
	}
	done.Hash = hash(after)
	n.mode = cmp.Or(f.Mode, n.mode)
	if f.New == f.Old || f.New == "" {
		n.after = after
		return done, nil
	}
	to, err := t.find(f.New)
	if err != nil {
		return done, err
	}
	if to == name {
		other, respelled := workspace.Respelled(t.c.Files, name, f.New)
		if !respelled {
			n.after = after
			return done, nil
		}
		// Its new name is taken, by the file itself.
		to = other
		t.add(&node{name: to})
	}
	return t.move(n, to, after, done)
}

// link is where the link of that name leads, if no earlier part of the patch is about it.
func (t *tree) link(name string) (target string, ok bool) {
	if t.nodes[name] != nil {
		return "", false
	}
	return linkAt(t.c, name)
}

// deleteLink takes a link away; what a patch shows of it is its target, or the text of the
// file.
func (t *tree) deleteLink(name, target string, f patch.File) error {
	t.add(&node{name: name, before: []byte(target), wasLink: true})
	if !f.Whole || showsAll(name, []byte(target), f) == nil {
		return nil
	}
	data, err := read(t.ctx, t.c, name)
	if err == nil {
		err = showsAll(name, data, f)
	}
	return err
}

// moveLink moves a link. The hunks are of the file that it leads to.
func (t *tree) moveLink(name, target string, f patch.File, done PatchedFile) (PatchedFile, error) {
	to, err := t.find(f.New)
	if err == nil {
		err = first(errors.Join(mayLead(name, to, target), free(t.c, to)))
	}
	if err != nil {
		return done, err
	}
	done.Kind, done.From, done.Path = "rename", name, to
	if len(f.Hunks) > 0 {
		real, err := t.c.Files.RealName(name)
		if err != nil {
			return done, err
		}
		n, err := t.load(real)
		if err != nil {
			return done, err
		}
		if n.after, done.Hunks, err = patchFile(t.ctx, name, n.after, f.Hunks); err != nil {
			return done, err
		}
		done.Hash = hash(n.after)
	}
	there, err := t.create(to)
	if err != nil {
		return done, err
	}
	t.add(&node{name: name, before: []byte(target), wasLink: true})
	there.after, there.isLink = []byte(target), true
	return done, nil
}

func (t *tree) move(n *node, to string, after []byte, done PatchedFile) (PatchedFile, error) {
	done.Kind, done.From, done.Path = "rename", n.name, to
	if t.nodes[to] == nil {
		if err := free(t.c, to); err != nil {
			return done, err
		}
	}
	target, err := t.create(to)
	if err != nil {
		return done, err
	}
	if target.before != nil || n.from != "" {
		return done, tools.Errorf(tools.InvalidArguments, "%s is moved over or moved twice in one patch; use two patches", to)
	}
	target.after, target.mode = after, n.mode
	if n.before != nil { // else n was made by this very patch
		target.from, target.before = n.name, n.before
	}
	n.moved = true
	return done, nil
}

// changes are the differences between the tree and the view.
func (t *tree) changes() []workspace.Change {
	var out []workspace.Change
	for _, name := range t.order {
		n := t.nodes[name]
		switch {
		case n.moved, n.before == nil && n.after == nil:
		case n.from == "" && n.before != nil && n.after != nil && string(n.before) == string(n.after) && n.wasLink == n.isLink:
		case n.from != "" && n.after == nil: // moved, then deleted
			out = append(out, workspace.Change{Path: n.from, Before: n.before})
		default:
			out = append(out, workspace.Change{Path: name, From: n.from, Before: n.before, After: n.after, Mode: n.mode, BeforeLink: n.wasLink, AfterLink: n.isLink})
		}
	}
	return out
}
