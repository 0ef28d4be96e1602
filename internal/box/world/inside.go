package world

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// What commands have is looked at and changed through an os.Root: a program of theirs may
// run, also one that nobody knows of where there are no namespaces, and make a link of a
// directory on the way. It leads nowhere but into the layer.

// inside opens what commands have.
func (w *world) inside() (*os.Root, error) { return os.OpenRoot(w.upper()) }

// list lists a directory of it, sorted. One that a command locked is opened.
func list(top *os.Root, rel string) ([]fs.DirEntry, error) {
	read := func() ([]fs.DirEntry, error) {
		dir, err := top.Open(filepath.FromSlash(rel))
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		return dir.ReadDir(-1)
	}
	entries, err := read()
	if errors.Is(err, fs.ErrPermission) {
		_ = top.Chmod(filepath.FromSlash(rel), 0o700)
		entries, err = read()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// files are those below a directory, or of the disk.
type files interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	ReadFile(name string) ([]byte, error)
}

// regular are the files below an open directory. A pipe that a program puts in the place of
// a file is not waited for.
type regular struct{ *os.Root }

func (r regular) ReadFile(name string) ([]byte, error) {
	f, err := r.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errSpecial)
	}
	data, err := io.ReadAll(io.LimitReader(f, workspace.MaxFileSize+1))
	if len(data) > workspace.MaxFileSize {
		return nil, workspace.ErrTooLarge
	}
	return data, err
}

// onDisk are the files of the disk, by their paths.
type onDisk struct{}

func (onDisk) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (onDisk) Readlink(name string) (string, error)   { return os.Readlink(name) }
func (onDisk) ReadFile(name string) ([]byte, error)   { return os.ReadFile(name) }

// readNode reads what is at a path, no link followed. A directory is nothing.
func readNode(path string) (n node, text []byte, err error) { return readNodeOf(onDisk{}, path) }

// removeAll is osfile.RemoveAll below a directory. Windows confines no command that could
// lead it elsewhere.
func removeAll(top *os.Root, name string) error {
	if runtime.GOOS == "windows" {
		return osfile.RemoveAll(filepath.Join(top.Name(), name))
	}
	return (&osfile.Dir{Root: top}).RemoveTree(name)
}

// removeUpper removes what commands have at a name.
func (w *world) removeUpper(rel string) error {
	top, err := w.inside()
	if err != nil {
		return err
	}
	return errors.Join(removeAll(top, filepath.FromSlash(rel)), top.Close())
}
