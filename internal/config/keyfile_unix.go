//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// private fails for a file that others than this user may read or have written.
func private(path string, info fs.FileInfo) error {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("the keyFile %s belongs to another user: make a copy of your own, and run chmod 600 on it", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("the keyFile %s may be read by others (mode %04o): run chmod 600 %[1]s", path, mode)
	}
	return nil
}
