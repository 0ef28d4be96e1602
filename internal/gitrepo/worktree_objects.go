package gitrepo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/index"

	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/gitfile"
)

// Blob returns the bytes of a blob as the repository has them.
func (r *Repo) Blob(id plumbing.Hash) ([]byte, error) {
	return r.objects.ReadType(plumbing.BlobObject, id)
}

// TreeOf returns the name of a commit's tree.
func (r *Repo) TreeOf(commit plumbing.Hash) (plumbing.Hash, error) {
	c, err := r.objects.Commit(commit)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.Tree, nil
}

// TreeIndex returns the files of a tree as an index without stat data. Where
// now, an index that may be nil, is of that very tree, its stat data come along.
func (r *Repo) TreeIndex(ctx context.Context, tree plumbing.Hash, now *index.Index) (*index.Index, error) {
	if now != nil && now.TreeIs(tree) {
		x := index.New()
		x.Cache = now.Cache
		entries := make([]gitindex.Entry, len(now.Entries)) // one piece of memory
		x.Entries = make([]*gitindex.Entry, len(now.Entries))
		for i, e := range now.Entries {
			entries[i] = *e
			x.Entries[i] = &entries[i]
		}
		return x, nil
	}
	x := index.New()
	root, err := r.readTree(ctx, x, tree, "", "")
	if err != nil {
		return nil, err
	}
	x.Cache = root.Flat()
	slices.SortFunc(x.Entries, func(a, b *gitindex.Entry) int { return strings.Compare(a.Name, b.Name) })
	return x, nil
}

// maxDepth bounds how deep directories may lie: far more than a path can say.
const maxDepth = 1000

// readTree appends the files of a tree to x.
func (r *Repo) readTree(ctx context.Context, x *index.Index, id plumbing.Hash, prefix, name string) (index.CachedTree, error) {
	t := index.CachedTree{Name: name, Hash: id}
	if err := ctx.Err(); err != nil {
		return t, err
	}
	if strings.Count(prefix, "/") > maxDepth {
		return t, fmt.Errorf("object %s: %w: its directories are too deep", id, gitfile.ErrCorrupt)
	}
	entries, err := r.objects.Tree(id)
	if err != nil {
		return t, err
	}
	before := len(x.Entries)
	for _, e := range entries {
		if e.Mode == filemode.Dir {
			sub, err := r.readTree(ctx, x, e.Hash, prefix+e.Name+"/", e.Name)
			if err != nil {
				return t, err
			}
			t.Subs = append(t.Subs, sub)
			continue
		}
		x.Entries = append(x.Entries, &gitindex.Entry{Name: prefix + e.Name, Mode: e.Mode, Hash: e.Hash})
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
		c, err := r.objects.Commit(hash)
		if err != nil {
			return list, err
		}
		list = append(list, hash.String()[:10]+" "+c.Subject())
		todo = append(todo, c.Parents...)
	}
	return list, nil
}

// HasDir reports whether a commit has a directory of that name; "." always.
func (r *Repo) HasDir(commit plumbing.Hash, name string) (bool, error) {
	at, err := r.TreeOf(commit)
	if err != nil || name == "." {
		return true, err
	}
	for elem := range strings.SplitSeq(name, "/") {
		e, ok, err := r.objects.Child(at, elem)
		if err != nil || !ok || e.Mode != filemode.Dir {
			return false, err
		}
		at = e.Hash
	}
	return true, nil
}
