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

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
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

// rounds bound how often a name may be removed by its holder while it is opened.
const rounds = 1000

// Open opens a lock file, which is made if it isn't there, locks it, and writes into
// it whose it is. It fails with a *HeldError. The holder may remove the file before
// he closes it.
func Open(name string) (*os.File, error) {
	for range rounds {
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
		if errors.Is(err2, os.ErrNotExist) {
			err2 = nil
			there = nil
		}
		if err := errors.Join(err1, err2); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if there == nil || !os.SameFile(have, there) {
			if err := f.Close(); err != nil {
				return nil, err
			}
			continue
		}
		sign(f)
		return f, nil
	}
	return nil, fmt.Errorf("%s is replaced again and again", name)
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

// sign writes into the file whose it is. That is for people: on a disk that is full
// there is a lock all the same.
func sign(f *os.File) {
	if f.Truncate(0) == nil {
		_, _ = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	}
}

// TryLock locks an open file. It fails with ErrLocked while somebody else has it.
func TryLock(f *os.File) error { return lock(f, false) }

// Lock locks an open file, and waits for whoever has it.
func Lock(f *os.File) error { return lock(f, true) }

// Unlock gives the file free without closing it.
func Unlock(f *os.File) error { return unlock(f) }
