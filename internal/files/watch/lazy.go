package watch

import (
	"context"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Lazy is the watcher of a disk, which is started for the first one who wants
// to know what changes.
type Lazy struct {
	disk *workspace.Disk

	mu     sync.Mutex
	w      *Watcher
	closed bool
}

// NewLazy returns one for disk. Nothing is watched yet.
func NewLazy(disk *workspace.Disk) *Lazy { return &Lazy{disk: disk} }

// Disk is what is watched.
func (l *Lazy) Disk() *workspace.Disk { return l.disk }

// Subscribe returns a feed of the changes from now on, nil once l is closed.
func (l *Lazy) Subscribe() *Feed {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	if l.w == nil {
		l.w = New(l.disk)
	}
	return l.w.Subscribe()
}

// Changes returns a function that returns what changed since its last call. The
// first call starts the watcher: from then on nothing is missed.
func (l *Lazy) Changes() func(context.Context) (names, dirs []string, lost bool, err error) {
	var mu sync.Mutex
	var feed *Feed
	return func(ctx context.Context) (names, dirs []string, lost bool, err error) {
		mu.Lock()
		if feed == nil {
			feed = l.Subscribe()
		}
		f := feed
		mu.Unlock()
		if f == nil {
			return nil, nil, true, ErrClosed
		}
		b, err := f.Sync(ctx)
		return b.Names, b.Dirs, b.Lost, err
	}
}

// Close ends the watching.
func (l *Lazy) Close() error {
	l.mu.Lock()
	w := l.w
	l.closed = true
	l.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.Close()
}
