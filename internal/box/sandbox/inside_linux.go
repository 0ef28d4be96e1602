package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
)

// Inside reports whether this process runs in a sandbox of bubblewrap's, by what nobody
// outside of one can make without the administrator: our program in a directory of the
// system that can't be written.
func Inside() bool {
	info, err := os.Lstat(mask.HelperPath)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	var fs unix.Statfs_t
	return unix.Statfs(filepath.Dir(mask.HelperPath), &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
}
