package gitrepo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Blob returns the bytes of a blob as the repository has them.
func (r *Repo) Blob(id plumbing.Hash) ([]byte, error) { return r.objectOf(plumbing.BlobObject, id) }

// TreeOf returns the name of a commit's tree.
func (r *Repo) TreeOf(commit plumbing.Hash) (plumbing.Hash, error) {
	c, err := r.commit(commit)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.tree, nil
}

// TreeIndex returns the files of a tree as an index without stat data. Where
// now, an index that may be nil, is of that very tree, its stat data come along.
func (r *Repo) TreeIndex(ctx context.Context, tree plumbing.Hash, now *Index) (*Index, error) {
	if now != nil && now.Tree != nil && now.Tree.valid() && now.Tree.Hash == tree && now.Tree.Entries == len(now.Entries) {
		x := &Index{Version: 2, Entries: slices.Clone(now.Entries), Tree: now.Tree}
		for i := range x.Entries {
			x.Entries[i].AssumeValid = false
		}
		return x, nil
	}
	x := &Index{Version: 2}
	root, err := r.readTree(ctx, x, tree, "", "")
	if err != nil {
		return nil, err
	}
	x.Tree = &root
	slices.SortFunc(x.Entries, func(a, b IndexEntry) int { return strings.Compare(a.Path, b.Path) })
	return x, nil
}

// valid reports whether all of t is known.
func (t *CacheTree) valid() bool {
	return t.Entries >= 0 && !slices.ContainsFunc(t.Subs, func(s CacheTree) bool { return !s.valid() })
}

// maxDepth bounds how deep directories may lie: far more than a path can say.
const maxDepth = 1000

// readTree appends the files of a tree to x.
func (r *Repo) readTree(ctx context.Context, x *Index, id plumbing.Hash, prefix, name string) (CacheTree, error) {
	t := CacheTree{Name: name, Hash: id}
	if err := ctx.Err(); err != nil {
		return t, err
	}
	if strings.Count(prefix, "/") > maxDepth {
		return t, fmt.Errorf("object %s: %w: its directories are too deep", id, ErrCorrupt)
	}
	entries, err := r.tree(id)
	if err != nil {
		return t, err
	}
	before := len(x.Entries)
	for _, e := range entries {
		if e.isTree() {
			sub, err := r.readTree(ctx, x, e.hash, prefix+e.name+"/", e.name)
			if err != nil {
				return t, err
			}
			t.Subs = append(t.Subs, sub)
			continue
		}
		x.Entries = append(x.Entries, IndexEntry{Path: prefix + e.name, Mode: e.mode, Hash: e.hash})
	}
	t.Entries = len(x.Entries) - before
	return t, nil
}

// Unreferenced lists the commits that only a HEAD without a branch holds, as
// hash and subject, newest first: those after base that no ref leads to. At
// most limit are looked at.
func (r *Repo) Unreferenced(base plumbing.Hash, limit int) ([]string, error) {
	h, err := r.head()
	if err != nil || h.branch != "" {
		return nil, err
	}
	names, err := r.decorations()
	if err != nil {
		return nil, err
	}
	var list []string
	seen := map[plumbing.Hash]bool{base: true}
	for todo := []plumbing.Hash{h.hash}; len(todo) > 0 && len(list) < limit; {
		hash := todo[0]
		todo = todo[1:]
		if seen[hash] || slices.ContainsFunc(names[hash], func(name string) bool { return name != "HEAD" }) {
			continue
		}
		seen[hash] = true
		c, err := r.commit(hash)
		if err != nil {
			return list, err
		}
		list = append(list, hash.String()[:10]+" "+c.subject())
		todo = append(todo, c.parents...)
	}
	return list, nil
}

// ParseHash reads the 40 digits of an object's name.
func ParseHash(text string) (plumbing.Hash, bool) { return parseHash(text) }

// HasDir reports whether a commit has a directory of that name; "." always.
func (r *Repo) HasDir(commit plumbing.Hash, name string) (bool, error) {
	at, err := r.TreeOf(commit)
	if err != nil || name == "." {
		return true, err
	}
	for elem := range strings.SplitSeq(name, "/") {
		e, ok, err := r.child(at, elem)
		if err != nil || !ok || !e.isTree() {
			return false, err
		}
		at = e.hash
	}
	return true, nil
}
