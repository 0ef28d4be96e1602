// Package ownfile changes files of a test's own directory, and nothing outside of it. It has the functions of
// package os by the same names: a fixture may have made any part of a path a link, and a test that runs as root
// would write through it wherever it leads. TestNoLinkIsFollowedOut keeps to it.
package ownfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Where a test's directories are: a test may name another place for those of programs, after it has made its own;
// sockets need short paths, whatever TMPDIR is; thousands of crashes are tried in memory; and another user may reach what
// a private directory hides.
var atStart, short, memory, lasting = os.TempDir(), "/tmp", "/dev/shm", "/var/tmp"

// place is a path: the system's directory for temporary files, the test's own directory in it, and the rest.
// testing makes a directory for each test, os.MkdirTemp one for others.
type place struct{ temp, own, rest string }

func find(op, path string) (place, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return place{}, err
	}
	for _, dir := range []string{os.TempDir(), atStart, short, memory, lasting} {
		real, err := filepath.EvalSymlinks(dir) // tests resolve it where it is a link, as on macOS
		if err != nil {
			continue
		}
		for _, temp := range []string{filepath.Clean(dir), real} {
			if rel, err := filepath.Rel(temp, abs); err == nil && filepath.IsLocal(rel) && rel != "." {
				own, rest, _ := strings.Cut(rel, string(filepath.Separator))
				return place{temp, own, rest}, nil
			}
		}
	}
	return place{}, &fs.PathError{Op: op, Path: path, Err: fmt.Errorf("it is not in a test's own directory (below %s): use t.TempDir", os.TempDir())}
}

// in does something below the test's own directory.
func in(op, path string, do func(root *os.Root, name string) error) error {
	p, err := find(op, path)
	if err != nil {
		return err
	}
	dir, name := filepath.Join(p.temp, p.own), p.rest
	if name == "" { // that directory itself
		dir, name = p.temp, p.own
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root, name)
}

// two does something with two names. One test may have several directories of the system's.
func two(op, from, to string, do func(root *os.Root, from, to string) error) error {
	p, err := find(op, from)
	if err != nil {
		return err
	}
	q, err := find(op, to)
	if err != nil {
		return err
	}
	if p.own == q.own && p.rest != "" && q.rest != "" {
		return in(op, from, func(root *os.Root, _ string) error { return do(root, p.rest, q.rest) })
	}
	root, err := os.OpenRoot(p.temp)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root, filepath.Join(p.own, p.rest), filepath.Join(q.own, q.rest))
}

// WriteFile is os.WriteFile.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return in("write", path, func(root *os.Root, name string) error { return root.WriteFile(name, data, perm) })
}

// OpenFile is os.OpenFile.
func OpenFile(path string, flag int, perm fs.FileMode) (f *os.File, err error) {
	err = in("open", path, func(root *os.Root, name string) error { f, err = root.OpenFile(name, flag, perm); return err })
	return f, err
}

// Create is os.Create.
func Create(path string) (*os.File, error) {
	return OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Truncate is os.Truncate.
func Truncate(path string, size int64) error {
	f, err := OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}

// Mkdir is os.Mkdir.
func Mkdir(path string, perm fs.FileMode) error {
	return in("mkdir", path, func(root *os.Root, name string) error { return root.Mkdir(name, perm) })
}

// MkdirAll is os.MkdirAll.
func MkdirAll(path string, perm fs.FileMode) error {
	return in("mkdir", path, func(root *os.Root, name string) error { return root.MkdirAll(name, perm) })
}

// Chmod is os.Chmod.
func Chmod(path string, mode fs.FileMode) error {
	return in("chmod", path, func(root *os.Root, name string) error { return root.Chmod(name, mode) })
}

// Chown is os.Chown.
func Chown(path string, uid, gid int) error {
	return in("chown", path, func(root *os.Root, name string) error { return root.Chown(name, uid, gid) })
}

// Lchown is os.Lchown.
func Lchown(path string, uid, gid int) error {
	return in("lchown", path, func(root *os.Root, name string) error { return root.Lchown(name, uid, gid) })
}

// Chtimes is os.Chtimes.
func Chtimes(path string, read, written time.Time) error {
	return in("chtimes", path, func(root *os.Root, name string) error { return root.Chtimes(name, read, written) })
}

// Remove is os.Remove.
func Remove(path string) error {
	return in("remove", path, func(root *os.Root, name string) error { return root.Remove(name) })
}

// RemoveAll is os.RemoveAll.
func RemoveAll(path string) error {
	return in("removeall", path, func(root *os.Root, name string) error { return root.RemoveAll(name) })
}

// Symlink is os.Symlink. A link that leads out leads to a decoy: what a test starts, or the code that it tests, may
// write through it.
func Symlink(target, path string) error {
	if real, err := filepath.EvalSymlinks(target); filepath.IsAbs(target) && err == nil && !strings.HasPrefix(real, "/proc/") {
		if _, err := find("symlink", real); err != nil {
			return err
		}
	}
	return in("symlink", path, func(root *os.Root, name string) error { return root.Symlink(target, name) })
}

// Program makes a link to a program of the system, which a test starts and never writes.
func Program(target, path string) error {
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	if dir := filepath.Dir(target); !info.Mode().IsRegular() || info.Mode()&0o111 == 0 || dir != "/usr/bin" && dir != "/bin" {
		return &os.LinkError{Op: "program", Old: target, New: path, Err: errors.New("it is no program of the system")}
	}
	return in("program", path, func(root *os.Root, name string) error { return root.Symlink(target, name) })
}

// Device opens a device, such as a terminal.
func Device(path string, flag int) (*os.File, error) {
	if rel, err := filepath.Rel("/dev", path); err != nil || !filepath.IsLocal(rel) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is no device")}
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeDevice == 0 {
		return nil, errors.Join(err, f.Close(), &fs.PathError{Op: "open", Path: path, Err: errors.New("it is no device")})
	}
	return f, nil
}

// Rename is os.Rename.
func Rename(from, to string) error { return two("rename", from, to, (*os.Root).Rename) }

// Link is os.Link.
func Link(from, to string) error { return two("link", from, to, (*os.Root).Link) }

// Update writes a file of this module that is made from the code, such as what a test compares its results with.
func Update(path string, data []byte) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, "go.mod")); err == nil {
			root, err := os.OpenRoot(dir)
			if err != nil {
				return err
			}
			defer root.Close()
			rel, err := filepath.Rel(dir, abs)
			if err != nil {
				return err
			}
			return errors.Join(root.MkdirAll(filepath.Dir(rel), 0o755), root.WriteFile(rel, data, 0o644))
		}
		if dir == filepath.Dir(dir) {
			return &fs.PathError{Op: "update", Path: path, Err: errors.New("it is in no module")}
		}
	}
}
