package pendingedits

import (
	"context"
	"errors"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
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
	s := &Store{
		base: base, opts: opts, called: opts.Names, log: newLog(dir, opts),
		entries: map[string]*entry{}, away: map[string]*entry{}, from: map[string]*entry{}, resolved: map[string]*resolution{},
		kick: make(chan struct{}, 1), done: make(chan struct{}), ended: make(chan struct{}),
	}
	s.files = workspace.NewOverlay(base, layer{s, s.called})
	if err := s.acquire(context.Background()); err != nil && (opts.Wait == 0 || !errors.Is(err, ErrLocked)) {
		return nil, err
	}
	s.revision = max(s.revision, opts.Now().UnixMilli())
	go s.notifyChanges()
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
	return s.log.close()
}

// BaseChanged says that the base's text of these files changed. Their
// hunks move, come into conflict, or are done.
func (s *Store) BaseChanged(names ...string) {
	s.resume()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if e, err := s.find(name); err == nil {
			s.resolve(e, true)
		}
	}
}

// notifyChanges calls Changed until the store is closed.
func (s *Store) notifyChanges() {
	defer close(s.done)
	for range s.kick {
		s.opts.Observer.Changed()
	}
}
