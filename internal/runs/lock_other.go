//go:build !unix

package runs

import (
	"os"
	"path/filepath"
)

// lock keeps a file open: the system's own rules for files that are open are all the
// protection that there is.
func lock(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
}
