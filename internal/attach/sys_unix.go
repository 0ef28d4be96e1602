//go:build unix

package attach

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const supported = true

// mine reports whether a file belongs to this user.
func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// lockFile holds a file until it is closed, at the death of the process at the
// latest. The holder removes it before it closes it, so the file must still be
// the one of that name when it is held.
func lockFile(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				err = fmt.Errorf("%s: %w", name, ErrTaken)
			}
			return nil, err
		}
		held, err1 := f.Stat()
		there, err2 := os.Lstat(name)
		if err1 == nil && err2 == nil && os.SameFile(held, there) {
			return f, nil
		}
		f.Close()
		if err1 != nil {
			return nil, err1
		}
	}
}

// lockDir keeps other processes that do the same waiting until it is released.
func lockDir(dir string) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
