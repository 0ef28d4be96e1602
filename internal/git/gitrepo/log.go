package gitrepo

import (
	"container/heap"
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// Commit is one commit of a log.
type Commit struct {
	Hash    plumbing.Hash
	Parents []plumbing.Hash
	Author  gitobject.Signature
	Subject string
	Refs    []string // that lead to it, as git log decorates it
}

// LogOptions has a useful zero value.
type LogOptions struct {
	Count int    // most commits; 0 means 10
	Path  string // only commits that change this file or directory, relative to the top; "" is all
}

// Log returns the newest commits of HEAD first. With a path it follows history
// as git log does: of a merge that took the path from one of its parents as it
// was there, only that parent is followed. It fails with ErrNoSuchRev when
// there is no commit yet.
func (r *Repo) Log(ctx context.Context, o LogOptions) ([]Commit, error) {
	if _, err := r.Readable(); err != nil {
		return nil, err
	}
	if o.Count == 0 {
		o.Count = 10
	}
	h, err := r.head()
	if err != nil {
		return nil, err
	}
	if h.hash.IsZero() {
		return nil, fmt.Errorf("%w: the branch %s has no commit yet", ErrNoSuchRev, h.branch)
	}
	refs, err := r.decorations()
	if err != nil {
		return nil, err
	}
	var list []Commit
	w := logWalk{r: r, path: o.Path, seen: map[plumbing.Hash]bool{}}
	if err := w.add(h.hash); err != nil {
		return nil, err
	}
	for len(list) < o.Count && len(w.queue.list) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, shown, err := w.next()
		if err != nil {
			return nil, err
		}
		if shown {
			list = append(list, Commit{c.Hash, c.Parents, c.Author(), c.Subject(), refs[c.Hash]})
		}
	}
	return list, nil
}

// logWalk goes through history, the youngest commits first.
type logWalk struct {
	r     *Repo
	path  string
	queue commitQueue
	seen  map[plumbing.Hash]bool
	read  map[plumbing.Hash]*object.Commit // parents that were compared and are yet to be queued
}

func (w *logWalk) commit(hash plumbing.Hash) (*object.Commit, error) {
	if c := w.read[hash]; c != nil {
		return c, nil
	}
	c, err := w.r.Objects.Commit(hash)
	if err == nil && w.path != "" {
		if w.read == nil {
			w.read = map[plumbing.Hash]*object.Commit{}
		}
		w.read[hash] = c
	}
	return c, err
}

func (w *logWalk) add(hash plumbing.Hash) error {
	if w.seen[hash] {
		return nil
	}
	w.seen[hash] = true
	c, err := w.commit(hash)
	if err != nil {
		return err
	}
	heap.Push(&w.queue, c)
	return nil
}

// next takes a commit and queues those of its parents that are to be followed.
func (w *logWalk) next() (c *object.Commit, shown bool, err error) {
	c = heap.Pop(&w.queue).(*object.Commit)
	delete(w.read, c.Hash)
	follow := c.Parents
	shown = true
	if w.path != "" {
		if shown, follow, err = w.simplify(c); err != nil {
			return nil, false, err
		}
	}
	for _, p := range follow {
		if err := w.add(p); err != nil {
			return nil, false, err
		}
	}
	return c, shown, nil
}

// simplify reports whether a commit changes the path, and which parents matter
// for it.
func (w *logWalk) simplify(c *object.Commit) (bool, []plumbing.Hash, error) {
	if len(c.Parents) == 0 {
		same, err := samePath(w.r.Objects, plumbing.ZeroHash, c.Tree, w.path)
		return !same, nil, err
	}
	for i, hash := range c.Parents {
		p, err := w.commit(hash)
		if err != nil {
			return false, nil, err
		}
		same, err := samePath(w.r.Objects, p.Tree, c.Tree, w.path)
		if err != nil {
			return false, nil, err
		}
		if same {
			return false, c.Parents[i : i+1], nil
		}
	}
	return true, c.Parents, nil
}

// samePath reports whether a path is the same below two trees.
func samePath(objects *object.Store, a, b plumbing.Hash, path string) (bool, error) {
	x, y := gitobject.TreeEntry{Mode: filemode.Dir, Hash: a}, gitobject.TreeEntry{Mode: filemode.Dir, Hash: b}
	inX, inY := !a.IsZero(), !b.IsZero()
	rest := path
	if path == "." {
		rest = ""
	}
	for {
		switch {
		case !inX || !inY:
			return absent(objects, x, inX, rest, y, inY)
		case x.Hash == y.Hash && x.Mode == y.Mode:
			return true, nil
		case rest == "":
			return false, nil
		}
		var elem string
		elem, rest, _ = strings.Cut(rest, "/")
		var err error
		if x, inX, err = childOf(objects, x, elem); err != nil {
			return false, err
		}
		if y, inY, err = childOf(objects, y, elem); err != nil {
			return false, err
		}
	}
}

// childOf is child for what may be a file.
func childOf(objects *object.Store, e gitobject.TreeEntry, name string) (gitobject.TreeEntry, bool, error) {
	if e.Mode != filemode.Dir {
		return gitobject.TreeEntry{}, false, nil
	}
	return objects.Child(e.Hash, name)
}

// absent is samePath once one side has come to an end.
func absent(objects *object.Store, x gitobject.TreeEntry, inX bool, rest string, y gitobject.TreeEntry, inY bool) (bool, error) {
	if !inX && !inY {
		return true, nil
	}
	e := x
	if inY {
		e = y
	}
	for elem := range strings.SplitSeq(rest, "/") {
		if elem == "" {
			break
		}
		var ok bool
		var err error
		if e, ok, err = childOf(objects, e, elem); err != nil || !ok {
			return !ok, err
		}
	}
	// An empty tree, which only other programs than git write, holds nothing.
	return e.Mode == filemode.Dir && e.Hash.String() == emptyTree, nil
}
