//go:build unix

package attach

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
)

// mine reports whether a file belongs to this user.
func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// lockFile holds a file until it is closed, at the death of the process at the
// latest. The holder may remove it before he closes it.
func lockFile(name string) (*os.File, error) {
	f, err := filelock.Open(name)
	if errors.Is(err, filelock.ErrLocked) {
		err = fmt.Errorf("%s: %w", name, ErrTaken)
	}
	return f, err
}

// lockDir keeps other processes that do the same waiting until it is released.
func lockDir(dir string) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := filelock.Lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}
