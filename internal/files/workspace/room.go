package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// A file may become a directory, or a directory a file, in one batch. The two have one
// name, so what is there goes first, and what comes below it, or over it, is written when
// there is room.

// NoFile reports whether an error of reading a file says that there is none of that name:
// nothing at all, a directory, or only a file that would have to be a directory.
func NoFile(err error) bool { return isAbsent(err) || errors.Is(err, syscall.EISDIR) }

// relate finds out which entries of a plan are below others.
func (p *plan) relate() {
	at := make(map[rootedName]*entry, len(p.entries))
	for _, e := range p.entries {
		at[rootedName{e.folder, e.name}] = e
	}
	for _, e := range p.entries {
		e.over = e.over || e.isDir
		for dir := e.dir(); dir != "."; dir = path.Dir(dir) {
			if other := at[rootedName{e.folder, dir}]; other != nil {
				other.over, e.below = true, true
			}
		}
	}
}

// room reports what stays in the way of a file that comes: one with the name of one of its
// directories, or a directory with its name that keeps something.
func (p *plan) room(keeps func(dir string) bool) error {
	at := make(map[rootedName]*entry, len(p.entries))
	for _, e := range p.entries {
		at[rootedName{e.folder, e.name}] = e
	}
	for _, e := range p.entries {
		if !e.new.Exists {
			continue
		}
		goes := false
		for dir := e.dir(); dir != "."; dir = path.Dir(dir) {
			other := at[rootedName{e.folder, dir}]
			if other != nil && other.new.Exists {
				return pathError("apply", e.view, fmt.Errorf("%w: %s is a file", syscall.ENOTDIR, other.view))
			}
			goes = goes || other != nil
		}
		if e.noDir && !goes {
			return pathError("apply", e.view, fmt.Errorf("%w: the file there would have to go, too", syscall.ENOTDIR))
		}
		if !e.isDir {
			continue
		}
		if keeps != nil && keeps(e.name) {
			return pathError("apply", e.view, syscall.EISDIR)
		}
		err := fs.WalkDir(e.folder.root.FS(), e.name, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if other := at[rootedName{e.folder, name}]; other == nil || other.new.Exists {
				return fmt.Errorf("%w: %s would have to go, too", syscall.EISDIR, name)
			}
			return nil
		})
		if err != nil {
			return pathError("apply", e.view, err)
		}
	}
	return nil
}

// unhinder removes temporary files that would keep a directory from giving way.
func (p *plan) unhinder(dirs *dirCache) {
	for _, e := range p.entries {
		if !e.below {
			continue
		}
		if root, err := dirs.open(rootedName{e.folder, e.dir()}); err == nil {
			_ = root.Remove(e.temp) // it may not be there
		}
	}
}

// makeRoom makes the directories of an entry that is below one which gave way.
func makeRoom(d *Disk, e *entry) error {
	var dirs []string
	for dir := e.dir(); dir != "."; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	var cache dirCache
	defer cache.close()
	for i := len(dirs) - 1; i >= 0; i-- {
		if err := d.makeDir(&cache, rootedName{e.folder, dirs[i]}); err != nil {
			return err
		}
	}
	return nil
}

// giveWay removes a directory that has nothing but directories in it.
func giveWay(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil
	}
	if err != nil {
		return err
	}
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err = closeAfter(dir, err); err != nil {
		return err
	}
	for _, base := range names {
		if info, err := root.Lstat(name + "/" + base); err != nil || !info.IsDir() {
			return errors.Join(err, syscall.EISDIR)
		}
		if err := giveWay(root, name+"/"+base); err != nil {
			return err
		}
	}
	return root.Remove(name)
}
