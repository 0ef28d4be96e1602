//go:build !unix && !windows

package osfile

import (
	"io/fs"
	"os"
)

func open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

// SyncRoot does nothing: directories can't be synced here.
func SyncRoot(*os.Root) error { return nil }

func inUse(error) bool { return false }
