package world

import (
	"io/fs"
	"syscall"
)

// identity is when a file was made, in nanoseconds, for both. Its number, and when it was
// renamed or got another time, can be had of no file that is not opened. So what is put
// there with an old time is told from what was there, unless it takes the name of what was
// removed a moment ago, which NTFS takes for the same file.
func identity(info fs.FileInfo) (ino uint64, ctime int64) {
	if at, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		made := at.CreationTime.Nanoseconds()
		return uint64(made), made //nolint:gosec // any number will do
	}
	return 0, 0
}

// names is how many names a file has, which can be had of no file that is not opened: no
// command is confined there.
func names(fs.FileInfo) uint64 { return 1 }
