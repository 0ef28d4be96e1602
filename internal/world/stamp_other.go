//go:build !linux && !darwin && !windows

package world

import "io/fs"

// identity has nothing more to say.
func identity(fs.FileInfo) (ino uint64, ctime int64) { return 0, 0 }
