//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package pendingedits

import (
	"os"
	"path/filepath"
)

const noFollow = 0

// lockDir keeps the lock file open; the system's own rules for files that are
// open are all the protection that there is.
func lockDir(dir string) (*os.File, error) {
	return openFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE)
}
