package world

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// seed puts the output that is held into a copy, the oldest first, that of the session
// last: an overlay has it as layers.
func (s *folderCopy) seed() error {
	o := s.w.out
	if o == nil || s.w.fresh {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	top, err := osfile.OpenDir(s.w.upper())
	if err != nil {
		return err
	}
	defer top.Close()
	list := slices.Clone(o.list)
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b *entry) int { return order(a.Session == s.w.session) - order(b.Session == s.w.session) })
	for _, e := range list {
		for _, rel := range e.Gone {
			_ = removeAll(top.Root, rel)
		}
		tree, err := osfile.OpenDir(e.tree())
		if err != nil {
			continue // it went
		}
		err = errors.Join(s.seedDir(tree, top, "."), tree.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

func order(later bool) int {
	if later {
		return 1
	}
	return 0
}

func (s *folderCopy) seedDir(from, to *osfile.Dir, rel string) error {
	entries, err := from.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(rel, e.Name())
		if err := s.seedEntry(from, to, at); err != nil {
			return err
		}
	}
	return nil
}

func (s *folderCopy) seedEntry(from, to *osfile.Dir, rel string) error {
	name := path.Base(rel)
	info, err := from.Lstat(name)
	switch c := s.find(rel); {
	case err != nil || s.w.held[rel] != nil || s.w.hidden[rel] || workspace.Protected(name) == workspace.Never:
		return nil // it went
	case c != nil && c.state == asReal:
		return nil // commands have the folder's own
	case isWhiteout(info):
		return removeAll(to.Root, name)
	case !info.IsDir():
		if have, err := to.Lstat(name); err == nil && (have.IsDir() || !info.Mode().IsRegular() || !have.Mode().IsRegular() || have.Size() != info.Size() || !have.ModTime().Equal(info.ModTime())) {
			if err := removeAll(to.Root, name); err != nil {
				return err
			}
		} else if err == nil {
			return nil
		}
		return copyTree(from, to, name)
	}
	if have, err := to.Lstat(name); err == nil && !have.IsDir() {
		if err := to.Remove(name); err != nil {
			return err
		}
	}
	dir, err := from.Sub(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if isOpaque(dir) {
		if err := removeAll(to.Root, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	into, err := to.MakeSub(name, info.Mode().Perm()|0o700)
	if err != nil {
		return err
	}
	defer into.Close()
	return s.seedDir(dir, into, rel)
}
