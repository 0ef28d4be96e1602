package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
)

// Others hold a lock for moments, as a server does that starts and looks
// whether all is in order, but for those who make, fill or discard the shadow.
const (
	briefly   = 2 * time.Second
	lockPause = 5 * time.Millisecond
)

// lock takes a shadow for this call, and waits for it as long as most. It
// fails with ErrBusy.
func (m *Manager) lock(ctx context.Context, id string, most time.Duration) (unlock func(), err error) {
	for end := time.Now().Add(most); ; {
		if unlock, err = m.tryLock(id); !errors.Is(err, ErrBusy) || time.Now().After(end) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// A shadow's lock has its id for a name, and that of a directory which is being
// retired, and has no id any more, begins with oldPrefix.

// tryLock takes a shadow if nobody else has it; else it fails with ErrBusy. The
// lock ends with the process at the latest, so what is not locked and half made
// belongs to nobody.
func (m *Manager) tryLock(id string) (unlock func(), err error) {
	path := filepath.Join(m.locks(), id+".lock")
	f, err := filelock.Open(path)
	switch {
	case errors.Is(err, filelock.ErrLocked):
		return nil, fmt.Errorf("%w: %s; try again when that is over", ErrBusy, id)
	case err != nil:
		return nil, err
	}
	return func() {
		_ = os.Remove(path) // one that stays is locked again by the next
		f.Close()
	}, nil
}
