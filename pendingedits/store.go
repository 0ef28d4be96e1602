package pendingedits

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// ErrLocked says that another process has the store open.
var ErrLocked = fmt.Errorf("the pending edits are %w", workspace.ErrInUse)

// Options are what a store may be told; the zero value works.
type Options struct {
	// Observer hears of the queue; nil: nobody does.
	Observer Observer

	// Names says how the log calls the files; nil: as the view does.
	Names Names

	// Commits makes the commits that wait for a batch; nil leaves them waiting.
	Commits Committer

	// Prepare is called before the directory of the store is made, and may
	// refuse that.
	Prepare func() error

	// Wait is how long what changes the queue waits while another process uses
	// the directory. Until that one gives it free the queue is empty. 0: Open
	// fails then.
	Wait time.Duration

	// Room is called before waiting: it may ask the other process to leave.
	Room func(context.Context)

	// Undo says how much can be undone; nil: 64 MB.
	Undo UndoLimits

	// Fail is called at the points where a process may die. What it returns is
	// the failure of the step that would follow. Tests set it.
	Fail func(point string) error

	Now func() time.Time // nil means time.Now
}

// Observer hears of a queue.
type Observer interface {
	// Notify gets what a person did with the edits of a session, in a sentence
	// for the agent.
	Notify(session, text string)

	// Decided gets what a person decided, after it was done, with the store locked
	// for other decisions.
	Decided(Decision)

	// Changed is called after the queue changed, from a goroutine of the store:
	// once for several changes that come together.
	Changed()

	// Report gets what was wrong with the log, in a sentence for the user.
	Report(text string)
}

// Nobody is an Observer that hears nothing.
type Nobody struct{}

// Notify implements Observer, as do its neighbours.
func (Nobody) Notify(string, string) {}

// Decided hears nothing.
func (Nobody) Decided(Decision) {}

// Changed hears nothing.
func (Nobody) Changed() {}

// Report hears nothing.
func (Nobody) Report(string) {}

// Store is the queue. It is safe for concurrent use. It reads base with a lock
// held, so base must not call it from inside a read; it applies to base with
// none held.
type Store struct {
	guarded
	files     workspace.Files // base under the queue
	reviewing sync.Mutex      // one person's decision at a time
	done      chan struct{}   // closed when the goroutine that calls Changed has ended

	owned   atomic.Bool    // no other process can have the directory
	ended   chan struct{}  // closed by Close
	polling sync.WaitGroup // see poll
}

// decide begins a person's decision: it waits for the one before, and ends the doubt about an
// interrupted batch. Others wait until release.
func (s *Store) decide(ctx context.Context) (release func(), err error) {
	if err := s.own(ctx, true); err != nil {
		return nil, err
	}
	s.reviewing.Lock()
	if s.inDoubt() {
		over := s.hold()
		err = s.finishIntent(ctx, true)
		over()
	}
	if err != nil {
		s.reviewing.Unlock()
		return nil, err
	}
	return s.reviewing.Unlock, nil
}
