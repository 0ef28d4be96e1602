package workspace

import (
	"errors"
	"io/fs"
	"path"
	"sort"
	"strings"
	"syscall"
	"time"
)

// layers are the two layers of a CopyOnWrite at one moment. Names have no
// links on their way.
type layers struct {
	upper  *Disk
	folder *folder // of upper
	lower  Lower
	taken  map[string]bool
}

// from returns the first file of lower whose name is not before name.
func (l *layers) from(name string) int {
	return sort.Search(l.lower.Len(), func(i int) bool { return l.lower.Name(i) >= name })
}

// file finds a file or link of lower that was not taken over.
func (l *layers) file(name string) (int, bool) {
	i := l.from(name)
	ok := i < l.lower.Len() && l.lower.Name(i) == name && !l.lower.Mode(i).IsDir() && !l.taken[name]
	return i, ok
}

// below returns the range of lower's files below a directory, taken over or
// not.
func (l *layers) below(dir string) (lo, hi int) {
	if dir == "." {
		return 0, l.lower.Len()
	}
	return l.from(dir + "/"), l.from(dir + "0") // what follows the slash
}

// in returns how a name is written in a directory, which has no links on its way.
func (l *layers) in(dir, base string) (string, bool) {
	if l.has(child(dir, base)) {
		return base, true
	}
	if f := l.folder.spelled.at(dir); !f.Exact() {
		found := ""
		l.each(dir, func(other string, _ int, _ bool) {
			if found == "" && f.Same(other, base) {
				found = other
			}
		})
		if found != "" {
			return found, true
		}
	}
	return l.folder.spelled.in(dir, base)
}

// isDir reports whether lower has a directory of that name.
func (l *layers) isDir(name string) bool {
	if lo, hi := l.below(name); lo < hi || name == "." {
		return true
	}
	i := l.from(name)
	return i < l.lower.Len() && l.lower.Name(i) == name && l.lower.Mode(i).IsDir()
}

// has reports whether name is lower's, so that the upper layer doesn't count.
func (l *layers) has(name string) bool {
	_, ok := l.file(name)
	return ok || l.isDir(name)
}

// checkParents fails when name is below a file of lower.
func (l *layers) checkParents(name string) error {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if _, ok := l.file(at); ok {
			return syscall.ENOTDIR
		}
		if l.isDir(at) {
			return nil
		}
	}
	return nil
}

// kind implements linked.
func (l *layers) kind(name string) (fs.FileMode, error) {
	if i, ok := l.file(name); ok {
		return l.lower.Mode(i).Type(), nil
	}
	if l.isDir(name) {
		return fs.ModeDir, nil
	}
	if err := l.checkParents(name); err != nil {
		return 0, err
	}
	return rootLinks{l.folder.root}.kind(name)
}

// Readlink implements linked.
func (l *layers) Readlink(name string) (string, error) {
	if i, ok := l.file(name); ok {
		return l.lower.Readlink(i)
	}
	return l.folder.root.Readlink(name)
}

// resolve resolves the links in a name.
func (l *layers) resolve(name string) (string, error) {
	if i, ok := l.file(name); ok && l.lower.Mode(i).IsRegular() {
		return name, nil
	}
	return followLinks(name, l)
}

// read reads a file of lower.
func (l *layers) read(i int) ([]byte, error) {
	if !l.lower.Mode(i).IsRegular() {
		return nil, ErrSpecial
	}
	r := l.lower.Reader()
	defer r.Close()
	return r.Read(i, nil)
}

// readFile reads a file of either layer.
func (l *layers) readFile(name string) ([]byte, error) {
	if i, ok := l.file(name); ok {
		return l.read(i)
	}
	if l.isDir(name) {
		return nil, syscall.EISDIR
	}
	if err := l.checkParents(name); err != nil {
		return nil, err
	}
	return l.upper.ReadFile(name)
}

// readLinked reads a file, maybe through links.
func (l *layers) readLinked(name string) ([]byte, error) {
	real, err := l.resolve(name)
	if err != nil {
		return nil, err
	}
	return l.readFile(real)
}

// info describes a file of lower.
func (l *layers) info(i int) (fs.FileInfo, error) {
	size, mtime, err := l.lower.Info(i)
	return layered{path.Base(l.lower.Name(i)), size, l.lower.Mode(i), mtime}, err
}

// list lists what lower has in a directory, but for what was taken over.
func (l *layers) list(dir string) []fs.DirEntry {
	var out []fs.DirEntry
	l.each(dir, func(base string, i int, isDir bool) {
		if isDir {
			out = append(out, fs.FileInfoToDirEntry(virtualDir(base)))
		} else {
			out = append(out, lowerEntry{l, i, base})
		}
	})
	return out
}

// each goes through the entries that lower has in a directory. For a directory
// i is the first file in it.
func (l *layers) each(dir string, do func(base string, i int, isDir bool)) {
	lo, hi := l.below(dir)
	skip := len(dir) + 1
	if dir == "." {
		skip = 0
	}
	for i := lo; i < hi; {
		name := l.lower.Name(i)
		base, _, deeper := strings.Cut(name[skip:], "/")
		switch {
		case deeper:
			do(base, i, true)
			next := name[:skip+len(base)] + "0"
			i += sort.Search(hi-i, func(k int) bool { return l.lower.Name(i+k) >= next })
			continue
		case l.lower.Mode(i).IsDir():
			do(base, i, true)
		case !l.taken[name]:
			do(base, i, false)
		}
		i++
	}
}

// lowerEntry is a file or link of lower in a list.
type lowerEntry struct {
	l    *layers
	i    int
	name string
}

func (e lowerEntry) Name() string      { return e.name }
func (e lowerEntry) IsDir() bool       { return false }
func (e lowerEntry) Type() fs.FileMode { return e.l.lower.Mode(e.i).Type() }

func (e lowerEntry) Info() (fs.FileInfo, error) {
	if e.Type() == 0 {
		return e.l.info(e.i)
	}
	target, err := e.l.lower.Readlink(e.i)
	return layered{e.name, int64(len(target)), e.l.lower.Mode(e.i), time.Time{}}, err
}

func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
