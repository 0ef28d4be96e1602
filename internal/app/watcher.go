package app

import (
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// watching is the watcher of the disk, which is started for the first one who
// wants to know what changes.
type watching struct {
	mu     sync.Mutex
	disk   *workspace.Disk
	w      *watch.Watcher
	closed bool
}

// subscribe returns a feed of the changes from now on, nil when the core is
// closing.
func (s *watching) subscribe() *watch.Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if s.w == nil {
		s.w = watch.New(s.disk)
	}
	return s.w.Subscribe()
}

func (s *watching) close() error {
	s.mu.Lock()
	w := s.w
	s.closed = true
	s.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.Close()
}
