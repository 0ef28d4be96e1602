// Package gitguard keeps what a command makes of repositories from making the
// user's git run a program: git obeys every repository that it meets, and
// editors ask it about those in a folder by themselves. What a command made is
// looked at while it runs and when it has ended, and what is a hazard is given
// a name under which no git takes it for a repository. Nothing is deleted.
package gitguard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/inventory"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// Area is a directory that commands write to.
type Area struct {
	Dir     string // absolute, links resolved
	Private bool   // nothing in it is the user's

	// Without are directories of it, relative and slash-separated, that commands
	// can't write to, or that are areas of their own.
	Without []string
}

// Known is an entry that was there before the command, and that the command
// can't change. It is known again wherever it is moved to.
type Known struct {
	Path     string
	Dev, Ino uint64
	Text     string // of a .git file
}

// Look returns what there is in an area.
type Look func(ctx context.Context, a Area) ([]inventory.Item, error)

// state is what is known of a command's repositories. It is a file as long as
// the command runs, for whoever comes after a server that is killed.
type state struct {
	Areas   []Area
	Known   []Known
	Links   map[string]string // in those that are known: where each leads
	Settled bool              // nothing is left to do but to say Said
	Said    []string          // what was set aside
}

// knownOf is what there is before a command.
func knownOf(repositories []string) (list []Known) {
	for _, path := range repositories {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		k := Known{Path: path, Text: textOf(path, info)}
		k.Dev, k.Ino = identity(info)
		list = append(list, k)
	}
	return list
}

// textOf is what a .git file says.
func textOf(path string, info fs.FileInfo) string {
	if !info.Mode().IsRegular() {
		return ""
	}
	target, err := gitcmd.Pointer(path)
	if err != nil {
		return "unreadable"
	}
	return target
}

// has reports whether an entry is known, and whether it was moved.
func (s *state) has(path string, info fs.FileInfo) (known, moved bool) {
	dev, ino := identity(info)
	for _, k := range s.Known {
		if k.Dev == dev && k.Ino == ino && (dev != 0 || k.Path == path) {
			// A path in it that is relative leads elsewhere when it was moved.
			return !info.Mode().IsRegular() || k.Text == textOf(path, info), k.Path != path
		}
	}
	return false, false
}

// moved are the repositories that were known in a directory and are elsewhere
// in it now.
func (s *state) moved(items []inventory.Item) (paths []string) {
	for _, item := range items {
		if item.Kind != inventory.Repository {
			continue
		}
		if info, err := os.Lstat(item.Path); err == nil {
			if known, moved := s.has(item.Path, info); known && moved {
				paths = append(paths, item.Path)
			}
		}
	}
	return paths
}

// Tidy removes what stood in for missing names in a directory and in
// repositories of it.
type Tidy func(dir string, repositories []string)

// check looks at all that is new, sets aside what is a hazard, and says so.
// tidy is for what was moved, when the command has ended; nil before.
func (s *state) check(ctx context.Context, look Look, tidy Tidy) (said []string) {
	for _, a := range s.Areas {
		items, err := look(ctx, a)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			said = append(said, fmt.Sprintf("nothing, but look for repositories that the command made in %s before git does: %v", a.Dir, err))
			continue
		}
		if tidy != nil {
			if moved := s.moved(items); len(moved) > 0 {
				tidy(a.Dir, moved)
			}
		}
		for _, item := range items {
			if item.Kind != inventory.Repository {
				continue
			}
			info, err := os.Lstat(item.Path)
			if err != nil {
				continue // it is gone
			}
			if h := s.hazard(a, item.Path, info); h != nil {
				said = append(said, h.setAside(a))
			} else if info.IsDir() && !a.Private {
				said = append(said, s.unlink(item.Path)...)
			}
		}
		if dir := a.partOf(); dir != "" {
			said = append(said, s.unlink(dir)...)
		}
	}
	return said
}

// hazard is something that makes git run a program.
type hazard struct {
	path string // of the repository
	name string // of what is renamed in it; "" is all of it
	info fs.FileInfo
	why  string
}

// hazard looks at one entry.
func (s *state) hazard(a Area, path string, info fs.FileInfo) *hazard {
	known, _ := s.has(path, info)
	switch {
	case info.IsDir() && known:
		// Its settings and hooks could not be changed, and this can't be kept from being made.
		if why := gitcmd.StrangeCommon(path); why != "" {
			return &hazard{path, "commondir", info, why}
		}
		return nil
	case known:
		return nil
	case info.IsDir():
		if why := s.why(a, path); why != "" {
			return &hazard{path, "", info, why}
		}
		return nil
	case a.Private:
		return nil // where it leads is looked at itself, or is the user's own
	}
	// Where a file or a link leads is looked at itself, if commands write there.
	target := path
	if info.Mode().IsRegular() {
		var err error
		if target, err = gitcmd.Pointer(path); err != nil {
			return nil // git stops at it
		}
	}
	real, err := filepath.EvalSymlinks(target)
	if errors.Is(err, fs.ErrNotExist) {
		real, err = target, nil
	}
	if err != nil || !within(real, a.Dir) || within(real, filepath.Join(a.Dir, ".sidecar")) {
		return &hazard{path, "", info, "it leads to " + target + ", out of the workspace"}
	}
	return nil
}

// why says what is hazardous in a git directory, or in the one whose settings
// hold for it.
func (s *state) why(a Area, path string) string {
	if why := gitcmd.Hazard(path, a.Dir); why != "" {
		return why
	}
	common := gitcmd.CommonDir(path)
	info, err := os.Stat(common)
	if common == path || err != nil {
		return ""
	}
	if known, _ := s.has(common, info); known {
		return ""
	}
	return gitcmd.Hazard(common, a.Dir)
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// setAside renames a hazard, and returns what is said of it. Commands may run
// and move directories: only what was looked at is renamed.
func (h *hazard) setAside(a Area) string {
	rel, err := filepath.Rel(a.Dir, h.path)
	if err != nil {
		return h.failed(err)
	}
	root, err := os.OpenRoot(a.Dir)
	if err != nil {
		return h.failed(err)
	}
	defer root.Close()
	parent, err := root.OpenRoot(filepath.Dir(rel))
	if err != nil {
		return h.failed(err)
	}
	defer parent.Close()
	base := filepath.Base(rel)
	if now, err := parent.Lstat(base); err != nil || !os.SameFile(now, h.info) {
		return h.failed(errors.New("it was moved meanwhile"))
	}
	now := rel
	if h.info.IsDir() {
		dir, err := parent.OpenRoot(base)
		if err != nil {
			return h.failed(err)
		}
		defer dir.Close()
		if is, err := dir.Stat("."); err != nil || !os.SameFile(is, h.info) {
			return h.failed(errors.New("it was moved meanwhile"))
		}
		name := h.name
		if name == "" {
			name = "HEAD" // without which no directory is a repository
		}
		to, err := rename(dir, name)
		if err != nil && (!errors.Is(err, fs.ErrNotExist) || !strings.EqualFold(base, ".git")) {
			return h.failed(err)
		}
		now = filepath.Join(rel, to)
	}
	if h.name == "" && strings.EqualFold(base, ".git") {
		to, err := rename(parent, base)
		if err != nil {
			return h.failed(err)
		}
		now = filepath.Join(filepath.Dir(rel), to)
	}
	return fmt.Sprintf("%s (%s; renamed to %s, look at it before you undo that)", rel, h.why, now)
}

func (h *hazard) failed(err error) string {
	return fmt.Sprintf("nothing, but git would obey %s (%s), which can't be renamed: %v; look at it before git does", h.path, h.why, err)
}

// rename gives a name that is free.
func rename(dir *os.Root, name string) (to string, err error) {
	for n := 1; ; n++ {
		if to = name + ".set-aside"; n > 1 {
			to = fmt.Sprintf("%s.set-aside-%d", name, n)
		}
		if _, err := dir.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, dir.Rename(name, to)
		} else if err != nil {
			return to, err
		}
	}
}
