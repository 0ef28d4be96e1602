// Package filelock locks files exclusively, against other processes and against
// other holders in this one. A lock goes with the open file: it ends when that is
// closed, at the death of the process at the latest.
//
// It is flock(2) on Unix and LockFileEx on Windows. Other systems have neither:
// every lock fails there, because two servers that both took themselves for the
// only one would spoil each other's state.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/osfile"
)

// ErrLocked says that somebody else has the lock.
var ErrLocked = errors.New("the file is locked")

// HeldError is an ErrLocked that knows who has the lock.
type HeldError struct {
	Process string // its id, as the file says; empty if it doesn't yet
}

func (e *HeldError) Error() string { return fmt.Sprintf("held by process %s", e.Process) }

// Is makes it an ErrLocked.
func (e *HeldError) Is(target error) bool { return target == ErrLocked }

// Open opens a lock file, which is made if it isn't there, locks it, and writes into
// it whose it is. It fails with a *HeldError. The holder may remove the file before
// he closes it.
func Open(name string) (*os.File, error) {
	for {
		f, err := open(name)
		if err != nil {
			return nil, err
		}
		if err := TryLock(f); err != nil {
			if errors.Is(err, ErrLocked) {
				holder, _ := io.ReadAll(io.LimitReader(f, 32))
				err = &HeldError{strings.TrimSpace(string(holder))}
			}
			return nil, errors.Join(err, f.Close())
		}
		// Whoever had it before may have removed the name since it was opened.
		have, err1 := f.Stat()
		there, err2 := os.Lstat(name)
		if err1 != nil || err2 != nil || !os.SameFile(have, there) {
			if err := errors.Join(err1, f.Close()); err != nil {
				return nil, err
			}
			continue
		}
		if err := sign(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
}

// open is patient: on Windows a file that its holder has removed and not closed yet is
// neither there nor gone.
func open(name string) (f *os.File, err error) {
	err = osfile.Retry(context.Background(), name, func() error {
		f, err = osfile.Open(name, os.O_RDWR|os.O_CREATE, 0o600)
		return err
	})
	return f, err
}

// sign writes into the file whose it is.
func sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	return err
}

// TryLock locks an open file. It fails with ErrLocked while somebody else has it.
func TryLock(f *os.File) error { return lock(f, false) }

// Lock locks an open file, and waits for whoever has it.
func Lock(f *os.File) error { return lock(f, true) }

// Unlock gives the file free without closing it.
func Unlock(f *os.File) error { return unlock(f) }
