package world

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
)

// dirLock is the lock on a world's directory, which goes with this process. It is a
// file beside the directory: one that is open in it would keep it from being renamed.
type dirLock struct{ file *os.File }

const lockSuffix = ".lock"

// lockDir locks a directory. It fails with filelock.ErrLocked while somebody has it.
func lockDir(path string) (dirLock, error) {
	name := strings.TrimPrefix(filepath.Base(path), fresh)
	f, err := filelock.Open(filepath.Join(filepath.Dir(path), name+lockSuffix))
	return dirLock{f}, err
}

func (l dirLock) release() {
	if l.file != nil {
		_ = os.Remove(l.file.Name()) // before it is closed, so that nobody takes it over
		l.file.Close()
	}
}

// removeLock removes the lock of a directory that is gone: who removed it died before he
// came to that.
func removeLock(path string) {
	dir, ok := strings.CutSuffix(path, lockSuffix)
	if !ok {
		return
	}
	if l, err := lockDir(dir); err == nil {
		if _, err := os.Lstat(dir); err != nil {
			l.release()
			return
		}
		l.file.Close()
	}
}

// isPrivate reports true: the user's own directories are the user's alone there.
func isPrivate(string) bool { return true }

// nonBlock has no meaning there.
const nonBlock = 0
