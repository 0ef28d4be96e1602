package gitrepo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/rename"
)

// side is a file on one side of a comparison. The zero value is no file.
type side struct {
	mode filemode.FileMode
	hash plumbing.Hash
	disk bool    // it is in the working tree, and its content perhaps no object
	over *[]byte // its content, when it is laid over the working tree and another than the other side's
}

// pair is a file that two sides have differently, or only one has.
type pair struct {
	path     string
	from     string // of a rename: the old path
	score    int    // of a rename: how much is the same, of rename.MaxScore
	old, new side
}

// comparer compares two trees, or a tree with the index.
type comparer struct {
	r     *Repo
	ctx   context.Context //nolint:containedctx // of one comparison
	pairs []pair
	seen  int // directories
}

// Bounds of what is compared. A few small objects can make a tree of more directories than
// anybody can walk through, and one under a wrong name can be in itself.
const (
	maxTrees     = 1 << 17
	maxTreeDepth = 2048 // as git has it
)

// bounded fails for a directory that is too deep, or one too many.
func bounded(path string, seen, most int) error {
	if seen > most || strings.Count(path, "/") > maxTreeDepth {
		return fmt.Errorf("%w: a commit has more than %d directories that differ, or more than %d in one another", gitfile.ErrCorrupt, most, maxTreeDepth)
	}
	return nil
}

// treeSide is the files below a directory: of a tree, or of the index.
type treeSide interface {
	// list returns the entries of the directory in git's order.
	list(r *Repo) ([]treeItem, error)
	// Hash is the tree's name, if it is known.
	known() (plumbing.Hash, bool)
}

// treeItem is a file, or a directory with what is below it.
type treeItem struct {
	gitobject.TreeEntry
	dir treeSide // nil: a file
}

// inTree is a directory of a tree.
type inTree plumbing.Hash

func (t inTree) known() (plumbing.Hash, bool) { return plumbing.Hash(t), true }

func (t inTree) list(r *Repo) ([]treeItem, error) {
	entries, err := r.Objects.Tree(plumbing.Hash(t))
	if err != nil {
		return nil, err
	}
	items := make([]treeItem, len(entries))
	for i, e := range entries {
		items[i] = treeItem{TreeEntry: e}
		if e.Mode == filemode.Dir {
			items[i].dir = inTree(e.Hash)
		}
	}
	return items, nil
}

// inIndex is a directory of the index: its entries from lo to hi, whose paths
// begin with skip bytes that name it.
type inIndex struct {
	x      *index.Raw
	cached *index.CachedTree // nil: not known
	lo, hi int
	skip   int
}

func indexRoot(x *index.Raw) inIndex { return inIndex{x, x.Tree, 0, x.Count, 0} }

func (d inIndex) known() (plumbing.Hash, bool) {
	if d.cached == nil || d.cached.Entries != d.hi-d.lo {
		return plumbing.ZeroHash, false
	}
	return d.cached.Hash, true
}

// list leaves out what is staged for nobody: conflicts, and files that are
// only meant to be added.
func (d inIndex) list(*Repo) ([]treeItem, error) {
	var items []treeItem
	for i := d.lo; i < d.hi; {
		e := d.x.At(i)
		name := e.Name[d.skip:]
		slash := strings.IndexByte(name, '/')
		if slash < 0 {
			if e.Stage() == 0 && e.Extended()&index.FlagIntentToAdd == 0 {
				items = append(items, treeItem{TreeEntry: gitobject.TreeEntry{Name: name, Mode: e.Mode(), Hash: e.Hash()}})
			}
			i++
			continue
		}
		prefix := e.Name[:d.skip+slash+1]
		sub := inIndex{x: d.x, cached: d.cached.Sub(name[:slash]), lo: i, skip: len(prefix)}
		if c := sub.cached; c != nil && c.Entries > 0 && c.Entries <= d.hi-i && strings.HasPrefix(d.x.NameAt(i+c.Entries-1), prefix) {
			i += c.Entries - 1
		}
		for i++; i < d.hi && strings.HasPrefix(d.x.NameAt(i), prefix); {
			i++
		}
		sub.hi = i
		items = append(items, treeItem{gitobject.TreeEntry{Name: name[:slash], Mode: filemode.Dir}, sub})
	}
	return items, nil
}

// compare adds what differs below a directory, given with a slash at its end.
// Directories that are known to be equal are not entered.
func (c *comparer) compare(path string, old, new treeSide) error {
	if a, ok := old.known(); ok {
		if b, ok := new.known(); ok && a == b {
			return nil
		}
	}
	c.seen++
	if err := cmp.Or(c.ctx.Err(), bounded(path, c.seen, maxTrees)); err != nil {
		return err
	}
	a, err := old.list(c.r)
	if err != nil {
		return err
	}
	b, err := new.list(c.r)
	if err != nil {
		return err
	}
	for len(a) > 0 || len(b) > 0 {
		var order int
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = compareItems(a[0], b[0])
		}
		var x, y treeItem
		if order <= 0 {
			x, a = a[0], a[1:]
		}
		if order >= 0 {
			y, b = b[0], b[1:]
		}
		if err := c.item(path, x, y); err != nil {
			return err
		}
	}
	return nil
}

// compareItems orders items as git does, so that a file and a directory of one
// name are two things.
func compareItems(a, b treeItem) int {
	if a.Name == b.Name && (a.Mode == filemode.Dir) == (b.Mode == filemode.Dir) {
		return 0
	}
	return strings.Compare(object.Order(a.TreeEntry), object.Order(b.TreeEntry))
}

// item adds what differs in one item, which only one side may have.
func (c *comparer) item(path string, x, y treeItem) error {
	name := x.Name
	if name == "" {
		name = y.Name
	}
	if x.dir != nil || y.dir != nil {
		old, new := x.dir, y.dir
		if old == nil {
			old = inTree{}
		}
		if new == nil {
			new = inTree{}
		}
		return c.compare(path+name+"/", old, new)
	}
	p := pair{path: path + name, old: side{mode: x.Mode, hash: x.Hash}, new: side{mode: y.Mode, hash: y.Hash}}
	if p.old != p.new {
		c.pairs = append(c.pairs, p)
	}
	return nil
}

// renames joins pairs that are renames. The list stays in the order of paths.
func (r *Repo) renames(pairs []pair) ([]pair, error) {
	var gone, added []rename.File
	var goneAt, addedAt []int
	for i, p := range pairs {
		switch {
		case p.new.mode == 0:
			gone, goneAt = append(gone, rename.File{Path: p.path, Mode: p.old.mode, Hash: p.old.hash}), append(goneAt, i)
		case p.old.mode == 0:
			added, addedAt = append(added, rename.File{Path: p.path, Mode: p.new.mode, Hash: p.new.hash}), append(addedAt, i)
		}
	}
	found, err := rename.Find(gone, added, func(i int, gone bool) ([]byte, error) {
		if gone {
			return r.content(pairs[goneAt[i]].path, pairs[goneAt[i]].old)
		}
		return r.content(pairs[addedAt[i]].path, pairs[addedAt[i]].new)
	})
	if err != nil || len(found) == 0 {
		return pairs, err
	}
	out := slices.Clone(pairs)
	for _, f := range found {
		from, to := &out[goneAt[f.Old]], &out[addedAt[f.New]]
		to.from, to.old, to.score = from.path, from.old, f.Score
		from.path = ""
	}
	return slices.DeleteFunc(out, func(p pair) bool { return p.path == "" }), nil
}
