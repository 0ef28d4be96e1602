package osfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Dir is an open directory below which no link is followed: what was checked there is
// what is changed, whatever another program makes of the names meanwhile. Its Root follows
// links that stay inside, so use it for the names in the directory itself.
type Dir struct {
	*os.Root
	file *os.File // opened by the first Move
}

// ErrSwapped says that a directory on the way is a link, or became another one.
var ErrSwapped = errors.New("a directory on the way is a link, or was replaced")

// OpenDir opens a directory by its path, which no other program can change.
func OpenDir(path string) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{Root: root}, nil
}

// Close closes the directory.
func (d *Dir) Close() error {
	var err error
	if d.file != nil {
		err = d.file.Close()
	}
	return errors.Join(err, d.Root.Close())
}

// Sub opens a directory below d, by its name with slashes. "." opens d once more.
func (d *Dir) Sub(rel string) (*Dir, error) {
	at, err := d.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	if rel == "." {
		return &Dir{Root: at}, nil
	}
	for name := range strings.SplitSeq(rel, "/") {
		next, err := enter(at, name)
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return &Dir{Root: at}, nil
}

// MakeSub is Sub that makes the directories which are missing.
func (d *Dir) MakeSub(rel string, mode fs.FileMode) (*Dir, error) {
	at, err := d.Sub(".")
	if err != nil || rel == "." {
		return at, err
	}
	for name := range strings.SplitSeq(rel, "/") {
		err := at.Mkdir(name, mode)
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		var next *os.Root
		if err == nil {
			next, err = enter(at.Root, name)
		}
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = &Dir{Root: next}
	}
	return at, nil
}

// enter opens the directory of a name in another one, and no link to one.
func enter(at *os.Root, name string) (*os.Root, error) {
	info, err := at.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: %w", name, ErrSwapped)
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%s: %w", name, ErrSwapped)
	}
	if err != nil {
		_ = next.Close()
		return nil, err
	}
	return next, nil
}

// List lists the directory, sorted by name.
func (d *Dir) List() ([]fs.DirEntry, error) {
	f, err := d.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Move renames a name in d to one in another directory, as rename does: a file there is
// replaced. It fails with an error for which IsOtherDisk holds where that is on another disk.
func (d *Dir) Move(name string, to *Dir, as string) error {
	for _, n := range []string{name, as} {
		if n == "" || n == "." || n == ".." || strings.ContainsRune(n, os.PathSeparator) {
			return &os.LinkError{Op: "rename", Old: name, New: as, Err: fs.ErrInvalid}
		}
	}
	return d.move(name, to, as)
}

// RemoveTree is RemoveAll for a name in the directory.
func (d *Dir) RemoveTree(name string) error {
	err := d.RemoveAll(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	d.unlock(name)
	return d.RemoveAll(name)
}

// unlock has all directories below a name be read and written.
func (d *Dir) unlock(name string) {
	if info, err := d.Lstat(name); err != nil || !info.IsDir() {
		return
	}
	_ = d.Chmod(name, 0o700)
	sub, err := d.Sub(name)
	if err != nil {
		return
	}
	defer sub.Close()
	entries, _ := sub.List()
	for _, e := range entries {
		sub.unlock(e.Name())
	}
}
