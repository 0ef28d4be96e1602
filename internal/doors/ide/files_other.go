//go:build !unix

package ide

import "io/fs"

// ours is true: temporary directories belong to one user here.
func ours(fs.FileInfo) bool { return true }

// alive is true: whether somebody listens says it.
func alive(int) bool { return true }
