package pendingedits

import (
	"context"
	"errors"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/wal"
)

// Open returns the queue that is kept in dir, which is made by the first edit,
// over the files of base. It fails with ErrLocked when another process uses
// dir, unless Options.Wait says otherwise. Damage in the log is reported, set
// aside, and never becomes an edit.
func Open(dir string, base workspace.View, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Observer == nil {
		opts.Observer = Nobody{}
	}
	if opts.Fail == nil {
		opts.Fail = func(string) error { return nil }
	}
	s := &Store{done: make(chan struct{}), ended: make(chan struct{})}
	s.opts = opts
	s.queue = queue{
		state: state{limits: opts.Undo, now: opts.Now, called: opts.Names},
		base:  base, log: wal.New(dir, opts.Prepare, opts.Fail), kick: make(chan struct{}, 1),
	}
	s.clear()
	s.files = workspace.NewOverlay(base, layer{&s.guarded, s.called})
	if err := s.acquire(context.Background()); err != nil && (opts.Wait == 0 || !errors.Is(err, ErrLocked)) {
		return nil, err
	}
	s.revision = max(s.revision, opts.Now().UnixMilli())
	go func() {
		defer close(s.done)
		for range s.kick {
			opts.Observer.Changed()
		}
	}()
	if opts.Wait > 0 {
		s.polling.Go(s.poll)
	}
	return s, nil
}

// Close waits for the last call of Changed and gives the directory free. What
// was acknowledged is durable already.
func (s *Store) Close() error {
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.kick)
	close(s.ended)
	s.mu.Unlock()
	<-s.done
	s.polling.Wait()
	return s.log.Close()
}

// BaseChanged says that the base's text of these files changed. Their
// hunks move, come into conflict, or are done.
func (s *Store) BaseChanged(names ...string) {
	s.resume()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if e, err := s.find(name); err == nil {
			s.look(e, true)
		}
	}
}
