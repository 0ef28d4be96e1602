package index

import (
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"
)

// Index is what is staged, as go-git has it, and what that has no room for.
// Entries are sorted by name, then by stage.
type Index struct {
	gitindex.Index

	// AssumeValid are the entries whose files git is told not to look at.
	AssumeValid map[*gitindex.Entry]bool
}

// New is an index without entries.
func New() *Index { return &Index{Index: gitindex.Index{Version: 2}} }

// TreeIs reports whether the index says that all its entries are those of a
// tree.
func (x *Index) TreeIs(tree plumbing.Hash) bool {
	if x.Cache == nil || len(x.Cache.Entries) == 0 || slices.ContainsFunc(x.Cache.Entries, func(t gitindex.TreeEntry) bool { return t.Entries < 0 }) {
		return false
	}
	root := x.Cache.Entries[0]
	return root.Hash == tree && root.Entries == len(x.Entries)
}
