//go:build !unix

package workspace

import (
	"io/fs"
	"os"
)

// keepsExec reports whether files have execute bits.
const keepsExec = false

type fileID struct{}

func idOf(fs.FileInfo) fileID { return fileID{} }

// Linked reports whether a file is known to have further names.
func Linked(fs.FileInfo) bool { return false }

func owner(fs.FileInfo) (uid, gid int) { return -1, -1 }

func mustWriteInPlace(fs.FileInfo) bool { return false }

func chown(*os.File, int, int) error { return nil }

func isRunning(error) bool { return false }
