package gitrepo

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// treeEntry is one entry of a tree object.
type treeEntry struct {
	name string
	mode filemode.FileMode
	hash plumbing.Hash
}

func (e treeEntry) isTree() bool { return e.mode == filemode.Dir }

// order is the name as trees and the index sort it: a directory as if a slash
// stood at its end.
func (e treeEntry) order() string {
	if e.isTree() {
		return e.name + "/"
	}
	return e.name
}

// tree reads a tree object. The zero hash is the empty tree.
func (r *Repo) tree(hash plumbing.Hash) ([]treeEntry, error) {
	if hash.IsZero() {
		return nil, nil
	}
	data, err := r.objectOf(plumbing.TreeObject, hash)
	if err != nil {
		return nil, err
	}
	entries := make([]treeEntry, 0, len(data)/36)
	for len(data) > 0 {
		e, rest, ok := cutEntry(data)
		if !ok || !validName(e.name) || strings.Contains(e.name, "/") {
			return nil, fmt.Errorf("object %s: %w: malformed tree", hash, ErrCorrupt)
		}
		entries, data = append(entries, e), rest
	}
	return entries, nil
}

// cutEntry reads the first entry of a tree.
func cutEntry(b []byte) (treeEntry, []byte, bool) {
	mode, b, ok := bytes.Cut(b, []byte{' '})
	if !ok {
		return treeEntry{}, nil, false
	}
	name, b, ok := bytes.Cut(b, []byte{0})
	if !ok || len(b) < 20 {
		return treeEntry{}, nil, false
	}
	n, err := strconv.ParseUint(string(mode), 8, 32)
	return treeEntry{string(name), canonicalMode(filemode.FileMode(n)), plumbing.Hash(b)}, b[20:], err == nil
}

// canonicalMode is the mode that git takes an entry's for.
func canonicalMode(mode filemode.FileMode) filemode.FileMode {
	switch mode & 0o170000 {
	case 0o100000:
		if mode&0o100 != 0 {
			return filemode.Executable
		}
		return filemode.Regular
	case filemode.Symlink, filemode.Dir:
		return mode & 0o170000
	}
	return filemode.Submodule
}

// child finds one entry of a tree without reading the others.
func (r *Repo) child(tree plumbing.Hash, name string) (treeEntry, bool, error) {
	if tree.IsZero() {
		return treeEntry{}, false, nil
	}
	data, err := r.objectOf(plumbing.TreeObject, tree)
	if err != nil {
		return treeEntry{}, false, err
	}
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		zero := bytes.IndexByte(data, 0)
		if space < 0 || zero < space || len(data) < zero+21 {
			return treeEntry{}, false, fmt.Errorf("object %s: %w: malformed tree", tree, ErrCorrupt)
		}
		if string(data[space+1:zero]) == name {
			e, _, ok := cutEntry(data)
			return e, ok, nil
		}
		data = data[zero+21:]
	}
	return treeEntry{}, false, nil
}
