package pendingedits

import (
	"context"
	"fmt"
	"maps"
	"slices"
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
	base  workspace.View
	files workspace.Files // base under the queue
	opts  Options
	log   *log

	reviewing sync.Mutex // one person's decision at a time
	made      []Decided  // by the decision under way; guarded by reviewing

	mu       sync.Mutex // guards the rest
	called   Names      // of the view in the log
	entries  map[string]*entry
	away     map[string]*entry      // of files whose folders are not part of the view
	from     map[string]*entry      // renames by the old name
	resolved map[string]*resolution // by name, of entries that were looked at
	names    []string               // Layer.Names, nil when it has to be made
	undo     []undoItem             // the last is the newest
	lastItem int64                  // the highest id of an undo item that was used
	ahead    map[string][]byte      // what undos that are only thought of make of files; nil: none are
	busy     chan struct{}          // closed when the change of the base that is under way is over
	commits  []*queued              // that wait, in order
	verified *verification          // the newest; nil: there was none
	intent   *record                // what is being done to the base
	doubt    bool                   // the intent is of an earlier process, and it is not known whether it was begun
	revision int64
	nextID   int64
	former   map[formerly]string // the ids that hunks had
	refused  map[refusal]bool    // what was rejected
	closed   bool

	kick chan struct{} // holds a token when Changed is due
	done chan struct{} // closed when the goroutine that calls it has ended

	owned   atomic.Bool    // no other process can have the directory
	ended   chan struct{}  // closed by Close
	polling sync.WaitGroup // see poll
}

// Revision grows with every change of the queue.
func (s *Store) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// changed makes notifyChanges run. s.mu is held.
func (s *Store) changed() {
	if s.closed {
		return
	}
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// notify tells an agent what was done with its edits. No lock is held.
func (s *Store) notify(notes []note) {
	for _, n := range notes {
		s.opts.Observer.Notify(n.session, n.text)
	}
}

type note struct{ session, text string }

// record is one step of the store, applied as a whole or not at all.
type record struct {
	revision, nextID int64
	puts             []*entry
	drops            []string
	undone           int        // how many of the newest undo items go, in logs from before they had ids
	gone             []int64    // ids of the undo items that go
	undo             []undoItem // and what is put there instead
	quiet            bool       // nothing that is pending changes; not in the log

	commits   []*queued // that begin to wait, or are others now
	unqueued  []string  // ids of those that will not be made
	committed []commitDone

	// An intent is written before the base is changed. It holds if the changes
	// of its last undo item were made; a record that ends it says what was.
	intent, ends bool
}

// commitDone is a queued commit that was made.
type commitDone struct{ id, session, message, made string }

func (s *Store) drop(name string) {
	if e := s.entries[name]; e != nil && s.from[e.from] == e {
		delete(s.from, e.from)
	}
	delete(s.entries, name)
	delete(s.away, name)
	delete(s.resolved, name)
}

// newID returns an id that no hunk had.
func (s *Store) newID() string {
	s.nextID++
	return fmt.Sprintf("h%d", s.nextID)
}

func (s *Store) sorted() []*entry {
	list := make([]*entry, 0, len(s.entries))
	for _, name := range slices.Sorted(maps.Keys(s.entries)) {
		list = append(list, s.entries[name])
	}
	return list
}
