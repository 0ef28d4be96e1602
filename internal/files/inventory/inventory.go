// Package inventory finds, by their names alone, the entries of a directory
// tree that matter to whoever confines commands in it: files that may hold
// secrets, what git takes for a repository, and sockets. It is complete or
// fails: there is no depth, number or time at which it stops.
//
// A Tree remembers the listing of each directory while that is unchanged, so
// that looking again costs a stat per directory.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Kind is why an entry matters.
type Kind uint8

// The kinds.
const (
	Secret     Kind = iota // a regular file that may hold secrets, by its name
	Repository             // an entry named .git, or a directory of the form of a git directory
	Socket
	Closed // a directory that this process may not list
	Bundle // a regular file that may be a bundle of git's: objects with their history
)

// Item is an entry that was found.
type Item struct {
	Path string // absolute
	Kind Kind
	Type fs.FileMode // its type bits
}

// Tree is a directory tree that is looked at again and again. It is safe for
// concurrent use.
type Tree struct {
	dir  string
	skip []string

	mu   sync.Mutex
	root node
}

// New returns the tree of an absolute directory without the directories of
// skip, which are relative to it and slash-separated.
func New(dir string, skip ...string) *Tree { return &Tree{dir: filepath.Clean(dir), skip: skip} }

// node is a directory as it was listed.
type node struct {
	stamp stamp
	sure  bool // it was listed long enough after its last change for the stamp to tell of the next one
	found []found
	dirs  []child // sorted by name
}

type child struct {
	name string
	*node
}

type found struct {
	name string // "" is the directory itself
	kind Kind
	typ  fs.FileMode
}

// settled is the age from which on a directory's times tell of every further
// change: those of some file systems are of seconds.
const settled = 2500 * time.Millisecond

// maxPath bounds a path that can be given to the system (PATH_MAX).
const maxPath = 4095

// Look returns all that matters, in the order of the paths.
func (t *Tree) Look(ctx context.Context) ([]Item, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &walk{tree: t, ctx: ctx}
	w.more.L = &w.mu
	w.stack = []visit{{&t.root, t.dir}}
	if err := w.run(); err != nil {
		return nil, fmt.Errorf("not all of %s could be looked through: %w", t.dir, err)
	}
	slices.SortFunc(w.items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return w.items, nil
}

// visit is a directory to look at.
type visit struct {
	*node
	path string // absolute
}

// rel is the path in the tree, slash-separated; "" is its root.
func (t *Tree) rel(path string) string {
	return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, t.dir), string(filepath.Separator)))
}

// scan returns what is in a directory, and lists it if it must.
func (w *walk) scan(v visit) (items []Item, below []visit, err error) {
	if len(v.path) > maxPath {
		return nil, nil, fmt.Errorf("the path %s… is longer than programs can be given; shorten or remove it", v.path[:80])
	}
	now := time.Now()
	at, err := stampAt(v.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoDirectory):
		*v.node = node{}
		return nil, nil, nil // it was removed, or replaced, meanwhile
	case err != nil:
		return nil, nil, err
	}
	if !v.sure || v.stamp != at {
		fresh, err := w.list(v)
		if errors.Is(err, fs.ErrPermission) {
			*v.node = node{}
			return []Item{{v.path, Closed, fs.ModeDir}}, nil, nil
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoDirectory) {
			*v.node = node{}
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		fresh.stamp, fresh.sure = at, at.before(now.Add(-settled))
		*v.node = fresh
	}
	if len(v.dirs) > 0 {
		below = make([]visit, 0, len(v.dirs))
	}
	for _, f := range v.found {
		items = append(items, Item{filepath.Join(v.path, f.name), f.kind, f.typ})
	}
	for _, c := range v.dirs {
		below = append(below, visit{c.node, v.path + string(filepath.Separator) + c.name})
	}
	return items, below, nil
}

// list reads a directory. What is known of those in it is kept.
func (w *walk) list(v visit) (node, error) {
	f, err := openDir(v.path)
	if err != nil {
		return node{}, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err == nil {
		_, err = os.Lstat(v.path + "/.") // what can be listed need not let anybody in
	}
	if err != nil {
		return node{}, err
	}
	n, at := node{}, w.tree.rel(v.path)
	form := map[string]bool{} // of a git directory
	for _, e := range entries {
		name, typ := e.Name(), e.Type()
		rel := path.Join(at, name)
		git := strings.EqualFold(name, ".git")
		switch {
		case git:
			n.found = append(n.found, found{name, Repository, typ})
		case typ&fs.ModeSocket != 0:
			n.found = append(n.found, found{name, Socket, typ})
		case typ.IsRegular() && workspace.Sensitive(rel) && !isRef(v.path, rel):
			n.found = append(n.found, found{name, Secret, typ})
		case typ.IsRegular() && strings.EqualFold(path.Ext(name), ".bundle"):
			n.found = append(n.found, found{name, Bundle, typ})
		}
		for _, part := range gitForm {
			form[part] = form[part] || strings.EqualFold(name, part)
		}
		if typ.IsDir() && !slices.Contains(w.tree.skip, rel) {
			n.dirs = append(n.dirs, child{name: name})
		}
	}
	if form["HEAD"] && (form["commondir"] || form["objects"] && form["refs"]) && !strings.EqualFold(path.Base(at), ".git") {
		n.found = append(n.found, found{"", Repository, fs.ModeDir})
	}
	slices.SortFunc(n.dirs, func(a, b child) int { return strings.Compare(a.name, b.name) })
	for i := range n.dirs {
		c := &n.dirs[i]
		if at, ok := slices.BinarySearchFunc(v.dirs, c.name, func(old child, name string) int { return strings.Compare(old.name, name) }); ok {
			c.node = v.dirs[at].node
		} else {
			c.node = &node{}
		}
	}
	return n, nil
}

// gitForm are the names by which git knows a git directory.
var gitForm = []string{"HEAD", "commondir", "objects", "refs"}

// isRef reports whether a file is a reference of git or the log of one, whose
// name is that of a branch or tag: it begins with the name of an object, or of
// another reference. Hidden, it would be lost to git.
func isRef(dir, rel string) bool {
	if !strings.Contains(rel, "refs/") && !strings.Contains(rel, "logs/") {
		return false
	}
	f, err := os.Open(filepath.Join(dir, path.Base(rel)))
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 41)
	n, _ := f.Read(head)
	if strings.HasPrefix(string(head[:n]), "ref: refs/") {
		return true
	}
	return n > 40 && strings.Trim(string(head[:40]), "0123456789abcdef") == "" && strings.IndexByte("0123456789abcdef \n", head[40]) >= 0
}
