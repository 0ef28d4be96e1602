//go:build !unix && !windows

package workspace

import (
	"io/fs"
	"os"
)

// keepsExec reports whether files have execute bits.
const keepsExec = false

type fileID struct{}

func identify(*os.File, fs.FileInfo) (id fileID, stays bool) { return fileID{}, false }

// Linked reports whether a file is known to have further names.
func Linked(string, fs.FileInfo) bool { return false }

func lstatLinked(root *os.Root, rel string) (info fs.FileInfo, linked bool, err error) {
	info, err = root.Lstat(rel)
	return info, false, err
}

func owner(fs.FileInfo) (uid, gid int) { return -1, -1 }

func chown(*os.File, int, int) error { return nil }

func isRunning(error) bool { return false }
