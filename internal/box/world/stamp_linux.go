package world

import (
	"io/fs"
	"syscall"
)

// identity is the number of a file, and when it was changed in any way, in nanoseconds.
func identity(info fs.FileInfo) (ino uint64, ctime int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino, st.Ctim.Nano()
	}
	return 0, 0
}

// names is how many names a file has.
func names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // it differs by system
	}
	return 1
}
