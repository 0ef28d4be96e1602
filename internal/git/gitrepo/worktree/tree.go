package worktree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// TreeIndex returns the files of a tree as an index without stat data. Where
// now, an index that may be nil, is of that very tree, its stat data come along.
func TreeIndex(ctx context.Context, r *gitrepo.Repo, tree plumbing.Hash, now *index.Index) (*index.Index, error) {
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
	root, err := readTree(ctx, r, x, tree, "", "")
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
func readTree(ctx context.Context, r *gitrepo.Repo, x *index.Index, id plumbing.Hash, prefix, name string) (index.CachedTree, error) {
	t := index.CachedTree{Name: name, Hash: id}
	if err := ctx.Err(); err != nil {
		return t, err
	}
	if strings.Count(prefix, "/") > maxDepth {
		return t, fmt.Errorf("object %s: %w: its directories are too deep", id, gitfile.ErrCorrupt)
	}
	entries, err := r.Objects.Tree(id)
	if err != nil {
		return t, err
	}
	before := len(x.Entries)
	for _, e := range entries {
		if e.Mode == filemode.Dir {
			sub, err := readTree(ctx, r, x, e.Hash, prefix+e.Name+"/", e.Name)
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
