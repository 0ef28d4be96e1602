//go:build !unix && !windows

package osfile

import (
	"errors"
	"io/fs"
	"os"
)

func open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

// SyncRoot does nothing: directories can't be synced here.
func SyncRoot(*os.Root) error { return nil }

// IsInUse knows no errors of such systems.
func IsInUse(error) bool { return false }

// LinkDir makes a link to a directory.
func LinkDir(target, path string) error { return os.Symlink(target, path) }

// IsFull and IsOtherDisk know no errors of such systems.
func IsFull(error) bool { return false }

func IsOtherDisk(error) bool { return false }

// Free knows of no disk.
func Free(string) (int64, error) { return 0, errors.ErrUnsupported }

func (d *Dir) move(name string, to *Dir, as string) error {
	return os.Rename(d.Name()+"/"+name, to.Name()+"/"+as)
}
