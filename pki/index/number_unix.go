//go:build unix

package index

import (
	"io/fs"
	"syscall"
)

// fileNumber is the number of a file in its file system.
func fileNumber(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
