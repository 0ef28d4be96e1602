package gitrepo

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Blob returns the bytes of a blob as the repository has them.
func (r *Repo) Blob(id OID) ([]byte, error) { return r.objectOf(blobObject, id) }

// TreeOf returns the name of a commit's tree.
func (r *Repo) TreeOf(commit OID) (OID, error) {
	c, err := r.commit(commit)
	if err != nil {
		return OID{}, err
	}
	return c.tree, nil
}

// TreeIndex returns the files of a tree as an index without stat data. Where
// now, an index that may be nil, is of that very tree, its stat data come along.
func (r *Repo) TreeIndex(ctx context.Context, tree OID, now *Index) (*Index, error) {
	if now != nil && now.Tree != nil && now.Tree.valid() && now.Tree.OID == tree && now.Tree.Entries == len(now.Entries) {
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
func (r *Repo) readTree(ctx context.Context, x *Index, id OID, prefix, name string) (CacheTree, error) {
	t := CacheTree{Name: name, OID: id}
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
			sub, err := r.readTree(ctx, x, e.oid, prefix+e.name+"/", e.name)
			if err != nil {
				return t, err
			}
			t.Subs = append(t.Subs, sub)
			continue
		}
		x.Entries = append(x.Entries, IndexEntry{Path: prefix + e.name, Mode: e.mode, OID: e.oid})
	}
	t.Entries = len(x.Entries) - before
	return t, nil
}

// Unreferenced lists the commits that only a HEAD without a branch holds, as
// hash and subject, newest first: those after base that no ref leads to. At
// most limit are looked at.
func (r *Repo) Unreferenced(base OID, limit int) ([]string, error) {
	h, err := r.head()
	if err != nil || h.branch != "" {
		return nil, err
	}
	names, err := r.decorations()
	if err != nil {
		return nil, err
	}
	var list []string
	seen := map[OID]bool{base: true}
	for todo := []OID{h.oid}; len(todo) > 0 && len(list) < limit; {
		oid := todo[0]
		todo = todo[1:]
		if seen[oid] || slices.ContainsFunc(names[oid], func(name string) bool { return name != "HEAD" }) {
			continue
		}
		seen[oid] = true
		c, err := r.commit(oid)
		if err != nil {
			return list, err
		}
		list = append(list, oid.String()[:10]+" "+c.subject())
		todo = append(todo, c.parents...)
	}
	return list, nil
}

// ParseOID reads the 40 digits of an object's name.
func ParseOID(text string) (OID, bool) { return parseOID(text) }

// HasDir reports whether a commit has a directory of that name; "." always.
func (r *Repo) HasDir(commit OID, name string) (bool, error) {
	at, err := r.TreeOf(commit)
	if err != nil || name == "." {
		return true, err
	}
	for elem := range strings.SplitSeq(name, "/") {
		e, ok, err := r.child(at, elem)
		if err != nil || !ok || !e.isTree() {
			return false, err
		}
		at = e.oid
	}
	return true, nil
}
