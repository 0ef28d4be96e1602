//go:build unix

package auditlog

import (
	"os"
	"syscall"
)

// A FIFO must not block who opens it.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lock waits until no other process appends.
func lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}

func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
