package osfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// open goes by an os.Root, because only that shares the file's deletion.
func open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	base := filepath.Base(name)
	if info, err := root.Lstat(base); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return root.OpenFile(base, flag, perm)
}

// SyncRoot does nothing: see SyncDir.
func SyncRoot(*os.Root) error { return nil }

// IsInUse reports that another program has a file open and does not share it.
func IsInUse(err error) bool {
	for _, e := range [...]windows.Errno{windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, windows.ERROR_USER_MAPPED_FILE,
		windows.ERROR_ACCESS_DENIED /* of a name that is replaced */, windows.ERROR_DELETE_PENDING} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// IsFull reports that there was no room on a disk.
func IsFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// IsOtherDisk reports that a name can't be changed to one on another disk.
func IsOtherDisk(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

// Free is how many bytes the user can still write on the disk of a path.
func Free(path string) (int64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(min(free, 1<<62)), err //nolint:gosec // it fits
}
