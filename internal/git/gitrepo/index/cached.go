package index

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"
)

// CachedTree says which trees are as the index has them.
type CachedTree struct {
	Name    string // of the directory in its parent; "" at the root
	Entries int    // files of the index below it; -1: not valid, and Hash is not set
	Hash    plumbing.Hash
	Subs    []CachedTree
}

// maxTreeDepth bounds how deep directories are nested.
const maxTreeDepth = 2048

// parseCacheTree reads one tree of the extension TREE and those below it.
func parseCacheTree(b []byte, depth int) (rest []byte, t CachedTree, ok bool) {
	name, b, ok := bytes.Cut(b, []byte{0})
	if !ok || depth > maxTreeDepth {
		return nil, t, false
	}
	line, b, ok := bytes.Cut(b, []byte{'\n'})
	if !ok {
		return nil, t, false
	}
	count, subs, ok := strings.Cut(string(line), " ")
	if !ok {
		return nil, t, false
	}
	entries, err := strconv.Atoi(count)
	if err != nil {
		return nil, t, false
	}
	n, err := strconv.Atoi(subs)
	if err != nil || n < 0 || n > len(b) {
		return nil, t, false
	}
	t = CachedTree{Name: string(name), Entries: entries}
	if entries >= 0 {
		if len(b) < len(t.Hash) {
			return nil, t, false
		}
		t.Hash, b = plumbing.Hash(b), b[len(t.Hash):]
	}
	if n > 0 {
		t.Subs = make([]CachedTree, n)
	}
	for i := range t.Subs {
		if b, t.Subs[i], ok = parseCacheTree(b, depth+1); !ok {
			return nil, t, false
		}
	}
	return b, t, true
}

// Flat is t as go-git has it: each directory before those in it, which are
// sorted by length and then by bytes.
func (t *CachedTree) Flat() *gitindex.Tree {
	var list []gitindex.TreeEntry
	var add func(t *CachedTree)
	add = func(t *CachedTree) {
		list = append(list, gitindex.TreeEntry{Path: t.Name, Entries: t.Entries, Trees: len(t.Subs), Hash: t.Hash})
		subs := slices.Clone(t.Subs)
		slices.SortFunc(subs, func(a, z CachedTree) int {
			return cmp.Or(len(a.Name)-len(z.Name), strings.Compare(a.Name, z.Name))
		})
		for i := range subs {
			add(&subs[i])
		}
	}
	add(t)
	return &gitindex.Tree{Entries: list}
}

// appendTree appends t in the form of the TREE extension.
func appendTree(b []byte, t *gitindex.Tree) []byte {
	for _, e := range t.Entries {
		b = fmt.Appendf(b, "%s\x00%d %d\n", e.Path, e.Entries, e.Trees)
		if e.Entries >= 0 {
			b = append(b, e.Hash[:]...)
		}
	}
	return b
}

// Sub returns what is known of a subdirectory, or nil.
func (t *CachedTree) Sub(name string) *CachedTree {
	if t == nil {
		return nil
	}
	for i := range t.Subs {
		if t.Subs[i].Name == name {
			return &t.Subs[i]
		}
	}
	return nil
}
