package pendingedits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/wal"
)

// A directory belongs to one store at a time. Until it is there, it is
// nobody's: another process may make it, and put edits into it. So a store that
// does not have the directory looks again whenever it is used, and a while
// after.

const (
	lookAgain = time.Second           // between two looks of a store that is not used
	lookSoon  = 20 * time.Millisecond // and of one that is waited for
)

// own takes the directory if it is there and the store does not have it yet.
// With wait it waits for another process that has it.
func (s *Store) own(ctx context.Context, wait bool) error {
	if s.owned.Load() {
		return nil
	}
	if !wait {
		if !s.reviewing.TryLock() {
			return nil // somebody is at it
		}
		defer s.reviewing.Unlock()
		return s.acquire(ctx)
	}
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	err := s.acquire(ctx)
	if !errors.Is(err, ErrLocked) || s.opts.Wait == 0 {
		return err
	}
	if s.opts.Room != nil {
		s.opts.Room(ctx)
	}
	late := time.After(s.opts.Wait)
	for errors.Is(err, ErrLocked) {
		select {
		case <-time.After(lookSoon):
			err = s.acquire(ctx)
		case <-late:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// Locked fails with ErrLocked while another process has the directory: what is
// pending is not known here then.
func (s *Store) Locked() error {
	if err := s.own(context.Background(), false); err != nil && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}

// owning makes a change of the queue once the directory is ours. It is made again when another
// process made the directory meanwhile: that one's edits are part of the queue then.
func (s *Store) owning(ctx context.Context, change func() error) error {
	for {
		if err := s.own(ctx, true); err != nil {
			return err
		}
		err := change()
		if err == nil || s.owned.Load() || !errors.Is(err, wal.ErrOthers) && !errors.Is(err, ErrLocked) {
			return err
		}
	}
}

// poll takes the directory when another process has made it, or gives it free.
func (s *Store) poll() {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for !s.owned.Load() {
		select {
		case <-tick.C:
			_ = s.own(context.Background(), false) // whoever needs it is told
		case <-s.ended:
			return
		}
	}
}

// load makes true in memory what is in the log, and makes agents that propose
// wait until release. There is nothing to release if there is no log, or if it
// is open already.
func (s *Store) load() (reports []string, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, fs.ErrClosed
	}
	var records []record
	found, err := s.log.Open(func(b []byte) error {
		r, err := decode(b)
		records = append(records, r)
		return err
	})
	if err != nil || !found.Began {
		s.owned.Store(s.log.IsOpen())
		return nil, nil, lockedBy(err)
	}
	for _, r := range records {
		s.replay(s.fromLog(r))
	}
	if found.Damaged {
		if err := s.compact(); err != nil {
			return nil, nil, errors.Join(err, s.log.Close())
		}
	}
	return found.Reports, s.holding(), nil
}

// lockedBy is err as an ErrLocked, if another process holds the directory.
func lockedBy(err error) error {
	if held, ok := errors.AsType[*filelock.HeldError](err); ok {
		return &elsewhereError{held.Process, err}
	}
	return err
}

// inQueue is err with where it happened; an ErrLocked says whose the queue is.
func inQueue(err error) error {
	if errors.Is(err, ErrLocked) {
		return err
	}
	return fmt.Errorf("pending edits: %w", err)
}

// elsewhereError is an ErrLocked for the person whose editor or shell this is: who has
// the review, and what to do.
type elsewhereError struct {
	process string
	err     error // with the directory, for who looks closer
}

func (e *elsewhereError) Error() string {
	who := "another editor or shell"
	if e.process != "" {
		who += " (process " + e.process + ")"
	}
	return who + " has this project's review: decide there, or close it; then this one takes over"
}

func (e *elsewhereError) Unwrap() []error { return []error{e.err, ErrLocked} }

// acquire reads the log, if there is one and no other process has it, and finishes
// what was interrupted. s.reviewing is held, or s is not shared yet.
func (s *Store) acquire(ctx context.Context) error {
	reports, release, err := s.load()
	if err != nil {
		return inQueue(err)
	}
	if release == nil {
		return nil
	}
	err = s.finishIntent(context.WithoutCancel(ctx), false)
	if err != nil {
		release()
		return fmt.Errorf("pending edits: %w", errors.Join(err, s.log.Close()))
	}
	s.mu.Lock()
	commits := slices.Clone(s.commits)
	s.mu.Unlock()
	for _, q := range commits { // in whose making the process died
		if made := s.opts.Commits; q.begun && made != nil {
			if id, err := made.Made(context.WithoutCancel(ctx), q.head, q.request()); err == nil && id != "" {
				_ = s.recordCommit(q, id, nil, true)
			}
		}
	}
	release()
	s.mu.Lock()
	// Revisions that were only shown are not in the log; the clock keeps new
	// ones above them.
	s.revision = max(s.revision+1, s.opts.Now().UnixMilli())
	for _, e := range s.entries {
		e.revision = s.revision
	}
	s.owned.Store(true)
	s.respell()
	if len(s.entries) > 0 || len(s.commits) > 0 {
		s.changed()
	}
	s.mu.Unlock()
	for _, text := range reports {
		s.opts.Observer.Report(text)
	}
	return nil
}
