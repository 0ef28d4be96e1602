//go:build !windows

package world

import (
	"errors"
	"os"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
)

// dirLock is the lock on a world's directory, which goes with this process.
type dirLock struct{ dir *os.File }

// lockDir locks a directory. It fails with filelock.ErrLocked while somebody has it.
func lockDir(path string) (dirLock, error) {
	f, err := os.Open(path)
	if err != nil {
		return dirLock{}, err
	}
	if err := filelock.TryLock(f); err != nil {
		return dirLock{}, errors.Join(err, f.Close())
	}
	return dirLock{f}, nil
}

func (l dirLock) release() {
	if l.dir != nil {
		l.dir.Close()
	}
}

// removeLock has nothing to do: the lock is the directory.
func removeLock(string) {}

// isPrivate reports whether a directory is ours, and nobody else can write in it.
func isPrivate(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// nonBlock keeps an open from waiting for the other end of a pipe.
const nonBlock = syscall.O_NONBLOCK
