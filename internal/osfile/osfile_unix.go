//go:build unix

package osfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, perm)
}

// SyncRoot is SyncDir for a directory that is open.
func SyncRoot(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	err = dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil // a file system without it
	}
	return err
}

func inUse(error) bool { return false }
