//go:build unix

package osfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
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

// IsInUse reports nothing: no program keeps others from a file.
func IsInUse(error) bool { return false }

// LinkDir makes a link to a directory.
func LinkDir(target, path string) error { return os.Symlink(target, path) }

// IsFull reports that there was no room on a disk.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// IsOtherDisk reports that a name can't be changed to one on another disk.
func IsOtherDisk(err error) bool { return errors.Is(err, syscall.EXDEV) }

// Free is how many bytes an ordinary user can still write on the disk of a path.
func Free(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:gosec,unconvert // both fit, and differ by system
}
