package pendingedits

import (
	"context"
	"errors"
	"sync"
)

// guarded is the queue behind its lock, and carries decisions out. Store takes the directory,
// and lets one person decide at a time.
type guarded struct {
	opts Options

	mu       sync.Mutex    // guards the rest
	queue                  // what is pending
	busy     chan struct{} // closed when the change of the base that is under way is over
	verified *verification // the newest; nil: there was none
	doubt    bool          // the intent is of an earlier process, and it is not known whether it was begun
}

// Revision grows with every change of the queue.
func (s *guarded) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// hold makes agents that propose wait until release: between what a person
// chose and the files that have it, nothing may be proposed.
func (s *guarded) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holding()
}

// holding is hold with s.mu held.
func (s *guarded) holding() (release func()) {
	over := make(chan struct{})
	s.busy = over
	return func() {
		s.mu.Lock()
		s.busy = nil
		s.mu.Unlock()
		close(over)
	}
}

// quiet waits while the base is changed: what is half in the queue and half in
// the files can't be built on. s.mu is held, but not while it waits.
func (s *guarded) quiet(ctx context.Context) error {
	for s.busy != nil && ctx.Err() == nil {
		busy := s.busy
		s.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
		}
		s.mu.Lock()
	}
	return ctx.Err()
}

// errNothing says that there is nothing to write down, which is no failure.
var errNothing = errors.New("nothing changes")

// append writes down what build makes of the queue, when nothing can change any more. It
// returns what Sync has to wait for.
func (s *guarded) append(op string, build func() (record, error)) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := build()
	if err != nil {
		if errors.Is(err, errNothing) {
			err = nil
		}
		return 0, err
	}
	return s.commit(op, r)
}

// write is append, and waits until the record is durable.
func (s *guarded) write(op string, build func() (record, error)) error {
	seq, err := s.append(op, build)
	if err != nil {
		return err
	}
	return s.log.Sync(op, seq)
}

// writeQuiet is write, once nothing changes the base.
func (s *guarded) writeQuiet(ctx context.Context, op string, build func() (record, error)) error {
	return s.write(op, func() (record, error) {
		if err := s.quiet(ctx); err != nil {
			return record{}, err
		}
		return build()
	})
}

// only builds a record that is known before.
func only(r record) func() (record, error) { return func() (record, error) { return r, nil } }
