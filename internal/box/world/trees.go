package world

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// tempIn makes a directory of a name of its own in another one.
func tempIn(at *osfile.Dir) (*osfile.Dir, error) {
	for n := range 1000 {
		name := fmt.Sprintf(".sidecar-%d-%d.tmp", os.Getpid(), n)
		err := at.Mkdir(name, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return at.Sub(name)
	}
	return nil, errors.New("there are a thousand directories .sidecar-*.tmp; remove them")
}

// walkDir calls f for all that is in a directory, with the open directory in which each
// name lies. fs.SkipDir leaves a directory out.
func walkDir(dir *osfile.Dir, rel string, f func(in *osfile.Dir, rel string, info fs.FileInfo) error) error {
	if strings.Count(rel, "/") > maxDepth {
		return errTooDeep
	}
	entries, err := dir.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := dir.Lstat(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			name := path.Join(rel, e.Name())
			switch err = f(dir, name, info); {
			case errors.Is(err, fs.SkipDir):
				err = nil
			case err == nil && info.IsDir():
				err = walkInto(dir, name, f)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func walkInto(dir *osfile.Dir, rel string, f func(in *osfile.Dir, rel string, info fs.FileInfo) error) error {
	sub, err := dir.Sub(path.Base(rel))
	if err != nil {
		return err
	}
	defer sub.Close()
	return walkDir(sub, rel, f)
}

// unlink makes of a regular file with several names one of its own: by another name, which
// may stay in the layer, a later command would write what a person has accepted.
func unlink(in *osfile.Dir, name string, info fs.FileInfo) error {
	if names(info) < 2 {
		return nil
	}
	temp, err := tempIn(in)
	if err != nil {
		return err
	}
	defer func() { _, _ = in.RemoveAll(filepath.Base(temp.Name())), temp.Close() }()
	if err := copyTree(in, temp, name); err != nil {
		return err
	}
	return temp.Move(name, in, name)
}

// unlinkAll does that for all files in a directory.
func unlinkAll(dir *osfile.Dir, rel string) error {
	return walkDir(dir, rel, func(in *osfile.Dir, at string, info fs.FileInfo) error {
		if info.Mode().IsRegular() {
			return unlink(in, path.Base(at), info)
		}
		return nil
	})
}

// unset takes the bits from a file that give who runs it other rights.
func unset(dir *osfile.Dir, name string, info fs.FileInfo) {
	if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		_ = dir.Chmod(name, info.Mode().Perm())
	}
}

// transfer moves a file or a directory from one directory to another, also to another
// file system: there it comes by a rename too, once it is whole.
func transfer(from, to *osfile.Dir, name string) error {
	err := from.Move(name, to, name)
	if !osfile.IsOtherDisk(err) {
		return err
	}
	temp, err := tempIn(to)
	if err != nil {
		return err
	}
	defer func() {
		_, _ = to.RemoveAll(filepath.Base(temp.Name())), temp.Close()
	}()
	if err := copyTree(from, temp, name); err != nil {
		return err
	}
	if err := temp.Move(name, to, name); err != nil {
		return err
	}
	return removeAll(from.Root, name)
}

// copyTree copies a file, a link or a directory under the same name, with modes and times.
// Where the disk can, files share their blocks with the original.
func copyTree(from, to *osfile.Dir, name string) error {
	info, err := from.Lstat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		if err := to.Mkdir(name, 0o700); err != nil {
			return err
		}
		dir, err := from.Sub(name)
		if err != nil {
			return err
		}
		defer dir.Close()
		into, err := to.Sub(name)
		if err != nil {
			return err
		}
		defer into.Close()
		entries, err := dir.List()
		for _, e := range entries {
			if err == nil && e.Type()&^(fs.ModeSymlink|fs.ModeDir) == 0 {
				err = copyTree(dir, into, e.Name())
			}
		}
		return errors.Join(err, to.Chmod(name, info.Mode().Perm()), to.Chtimes(name, info.ModTime(), info.ModTime()))
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := from.Readlink(name)
		if err != nil {
			return err
		}
		return to.Symlink(target, name)
	}
	in, err := from.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	if opened, err := in.Stat(); err != nil || !os.SameFile(info, opened) {
		return errors.Join(err, osfile.ErrSwapped)
	}
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), to.Chmod(name, info.Mode().Perm()), to.Chtimes(name, info.ModTime(), info.ModTime()))
}
