//go:build !unix

package gitguard

import (
	"io/fs"
	"os"
)

// identity is not known here, where nothing is confined.
func identity(fs.FileInfo) (dev, ino uint64) { return 0, 0 }

func lock(*os.File, bool) bool { return true }
