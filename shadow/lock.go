package shadow

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errHeld says that a lock is held, by this process or another one.
var errHeld = errors.New("held")

// lock takes a shadow for this call. The lock ends with the process at the
// latest, so what is not locked and half made belongs to nobody. It fails with
// ErrBusy.
func (m *Manager) lock(id string) (unlock func(), err error) {
	path := filepath.Join(m.locks(), id+".lock")
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
		if err != nil {
			return nil, err
		}
		err = take(f)
		if errors.Is(err, errHeld) {
			f.Close()
			return nil, fmt.Errorf("%w: %s; try again when that is over", ErrBusy, id)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		// Whoever had it before may have removed the name since it was opened.
		have, err1 := f.Stat()
		there, err2 := os.Lstat(path)
		if err1 == nil && err2 == nil && os.SameFile(have, there) {
			fmt.Fprintln(f, os.Getpid()) // for people
			return func() {
				_ = os.Remove(path) // one that stays is locked again by the next
				f.Close()
			}, nil
		}
		f.Close()
	}
}
