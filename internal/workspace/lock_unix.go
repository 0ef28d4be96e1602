//go:build unix

package workspace

import (
	"errors"
	"os"
	"syscall"
)

// own marks a file as in use by this process, until it is closed. It reports
// false when another living process, or another Disk of this one, has it.
func own(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
