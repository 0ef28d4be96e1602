package world

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// How large a folder may be for a copy, and what git ignores in it.

// fits reports whether there is room for all that is in a directory.
func (c *renewal) fits(rel string) bool {
	return c.within(rel, c.s.output, c.s.w.o.Output)
}

// within reports whether a sum with all that is in a directory is below a limit.
func (c *renewal) within(rel string, sum, limit Limits) bool {
	_ = filepath.WalkDir(c.from(rel), func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // nor is it copied
		case d.IsDir():
			if name := filepath.ToSlash(strings.TrimPrefix(at, c.s.w.root+string(filepath.Separator))); c.s.separate() && dependencyDirs[d.Name()] && c.mayBeReal(name) {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil {
			sum = sum.and(Limits{1, info.Size()})
		}
		if sum.over(limit) {
			return fs.SkipAll
		}
		return nil
	})
	return !sum.over(limit)
}

// Fits finds out whether a folder is small enough for a copy.
func (m *Manager) Fits(root string) error {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	w := &world{o: m.o, root: real}
	c := &renewal{s: &folderCopy{w: w}, tracked: m.o.Tracked(real)}
	return c.measure(".", m.o.rulesIn(real), false, &Limits{})
}

// measure finds out whether the folder is small enough, before anything is copied.
func (c *renewal) measure(rel string, r rules, ignored bool, sum *Limits) error {
	entries, err := os.ReadDir(c.from(rel))
	if err != nil {
		return nil //nolint:nilerr // nor is it copied
	}
	r = r.at(ignoreFile(entries, c.from(rel)))
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		skip := ignored || r.ignored(e.Name(), e.IsDir())
		switch {
		case workspace.Protected(name) == workspace.Never || dependencyDirs[e.Name()] && e.IsDir() && c.mayBeReal(name):
		case e.IsDir():
			if skip && !c.tracked(name+"/") {
				continue
			}
			if err := c.measure(name, r.enter(e.Name()), skip, sum); err != nil {
				return err
			}
		case e.Type()&^fs.ModeSymlink == 0 && (!skip || c.tracked(name)):
			if info, err := e.Info(); err == nil {
				*sum = sum.and(Limits{1, info.Size()})
			}
			if sum.over(c.s.w.o.Copied) {
				return &NoCopyError{fmt.Sprintf("the workspace is too large for a copy: it has more than %d files or %d MiB that git does not ignore", c.s.w.o.Copied.Files, c.s.w.o.Copied.Bytes>>20)}
			}
		}
	}
	return nil
}
