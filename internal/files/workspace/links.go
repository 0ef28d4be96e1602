package workspace

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxLinks bounds the links on the way to a file.
const maxLinks = 40

// RealName implements Files.
func (d *Disk) RealName(name string) (string, error) {
	f, rel, err := d.locate(name)
	if err != nil || f == nil {
		return name, err
	}
	real, err := f.follow(rel)
	if err != nil || real == rel {
		return d.inner.most(name), err
	}
	return d.viewName(f, real), nil
}

// viewName returns the name in the view of what lies at rel in f.
func (d *Disk) viewName(f *folder, rel string) string {
	if len(d.folders) == 1 {
		return rel
	}
	return d.inner.most(path.Join(f.Name, rel))
}

// follow resolves the links in rel, and spells it as it is on disk: that is the key
// of a file, whichever of its names is used. The answer is good for judging names; it
// may be outdated at once, so acting on it needs a check of its own.
func (f *folder) follow(rel string) (string, error) {
	if f.spelled.vary() {
		rel = f.spelled.of(rel)
		real, err := followLinks(rel, rootLinks{f.root})
		if err != nil || real == rel {
			return real, err
		}
		return f.spelled.of(real), nil // a link, too, may be written in another way
	}
	if f.plain(rel) {
		return rel, nil
	}
	return followLinks(rel, rootLinks{f.root})
}

// LinkTo is the name to which a link of that name and target leads, if that is inside the
// workspace.
func LinkTo(name, target string) (string, error) {
	to := path.Join(path.Dir(name), filepath.ToSlash(target))
	if filepath.IsAbs(target) || path.IsAbs(target) || !fs.ValidPath(to) {
		return "", ErrOutside
	}
	return to, nil
}

// linked is where names may be links.
type linked interface {
	kind(name string) (fs.FileMode, error) // its type, a link's own
	Readlink(name string) (string, error)
}

// rootLinks are the links below a root.
type rootLinks struct{ *os.Root }

func (r rootLinks) kind(name string) (fs.FileMode, error) {
	info, err := r.Lstat(name)
	if err != nil {
		return 0, err
	}
	return info.Mode().Type(), nil
}

// followLinks resolves the links in rel.
func followLinks(rel string, in linked) (string, error) {
	done, todo := ".", strings.Split(rel, "/")
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return "", ErrOutside
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, part)
		kind, err := in.kind(next)
		if isAbsent(err) {
			rest := path.Join(append([]string{next}, todo...)...)
			if !fs.ValidPath(rest) {
				return "", ErrOutside
			}
			return rest, nil
		}
		if err != nil {
			return "", err
		}
		if kind&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		target, err := in.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) || path.IsAbs(target) {
			return "", ErrOutside
		}
		todo = slices.Concat(strings.Split(filepath.ToSlash(target), "/"), todo)
	}
	return done, nil
}
