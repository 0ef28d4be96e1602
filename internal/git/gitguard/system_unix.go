//go:build unix

package gitguard

import (
	"io/fs"
	"os"
	"syscall"
)

// identity tells a file from all others as long as it exists.
func identity(info fs.FileInfo) (dev, ino uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), uint64(st.Ino) //nolint:unconvert // not everywhere of this type
	}
	return 0, 0
}

// lock takes a lock that goes with the file's descriptor. alone does not wait,
// and fails when somebody else has it.
func lock(f *os.File, alone bool) bool {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX | syscall.LOCK_NB
	}
	err := syscall.Flock(int(f.Fd()), how)
	return err != syscall.EWOULDBLOCK // a file system may have no locks
}
