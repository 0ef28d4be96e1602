package object

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// Order is the name as trees and the index sort it: a directory as if a slash
// stood at its end.
func Order(e gitobject.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// Tree reads a tree object. The zero hash is the empty tree.
func (s *Store) Tree(hash plumbing.Hash) ([]gitobject.TreeEntry, error) {
	if hash.IsZero() {
		return nil, nil
	}
	data, err := s.ReadType(plumbing.TreeObject, hash)
	if err != nil {
		return nil, err
	}
	entries := make([]gitobject.TreeEntry, 0, len(data)/36)
	for len(data) > 0 {
		e, rest, ok := cutEntry(data)
		if !ok || !gitfile.ValidName(e.Name) || strings.Contains(e.Name, "/") {
			return nil, fmt.Errorf("object %s: %w: malformed tree", hash, gitfile.ErrCorrupt)
		}
		entries, data = append(entries, e), rest
	}
	return entries, nil
}

// cutEntry reads the first entry of a tree.
func cutEntry(b []byte) (gitobject.TreeEntry, []byte, bool) {
	mode, b, ok := bytes.Cut(b, []byte{' '})
	if !ok {
		return gitobject.TreeEntry{}, nil, false
	}
	name, b, ok := bytes.Cut(b, []byte{0})
	if !ok || len(b) < 20 {
		return gitobject.TreeEntry{}, nil, false
	}
	n, err := strconv.ParseUint(string(mode), 8, 32)
	return gitobject.TreeEntry{Name: string(name), Mode: canonicalMode(filemode.FileMode(n)), Hash: plumbing.Hash(b)}, b[20:], err == nil
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

// Child finds one entry of a tree without reading the others.
func (s *Store) Child(tree plumbing.Hash, name string) (gitobject.TreeEntry, bool, error) {
	if tree.IsZero() {
		return gitobject.TreeEntry{}, false, nil
	}
	data, err := s.ReadType(plumbing.TreeObject, tree)
	if err != nil {
		return gitobject.TreeEntry{}, false, err
	}
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		zero := bytes.IndexByte(data, 0)
		if space < 0 || zero < space || len(data) < zero+21 {
			return gitobject.TreeEntry{}, false, fmt.Errorf("object %s: %w: malformed tree", tree, gitfile.ErrCorrupt)
		}
		if string(data[space+1:zero]) == name {
			e, _, ok := cutEntry(data)
			return e, ok, nil
		}
		data = data[zero+21:]
	}
	return gitobject.TreeEntry{}, false, nil
}
