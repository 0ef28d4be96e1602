package conversation

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/linelog"
)

// Options of a Store. Dir is required.
type Options struct {
	Dir      string // of the journals; only its owner may read it
	MaxOpen  int    // runs that have not ended, default 32
	MaxKept  int    // runs that have, default 200; the oldest are deleted
	MaxBytes int64  // of a journal, default 8 MiB
	Log      *slog.Logger
	Now      func() time.Time

	// Wait is how long a process is waited for that has the directory and may be about
	// to end; the default is not at all.
	Wait time.Duration
}

// lockName is the file of a directory that says whose it is.
const lockName = ".lock"

// lookAgain is how often a directory is tried that another process has.
const lookAgain = 20 * time.Millisecond

// Store holds the runs of a directory, which no other process has meanwhile.
type Store struct {
	opts    Options
	lock    *os.File
	log     *slog.Logger
	working sync.WaitGroup // what drivers do
	syncing sync.WaitGroup

	mu     sync.Mutex // taken before that of a run
	runs   map[string]*Run
	closed bool

	syncMu sync.Mutex // taken after that of a run
	dirty  map[*Run]bool
	wake   chan struct{} // nil after Close
}

const (
	suffixOpen  = ".jsonl"
	suffixEnded = ".ended.jsonl"

	suffixDriver = ".driver"
	suffixBefore = ".before"
)

// Open reads the runs of a directory. A run whose agent worked when the process
// ended is told to have been interrupted; questions stay open, prompts that wait
// do so until Resume, and nothing goes on before Attach. It fails with ErrTaken while
// another process has the directory, which may be driving the agents.
func Open(opts Options) (*Store, error) {
	opts.MaxOpen = cmp.Or(opts.MaxOpen, 32)
	opts.MaxKept = cmp.Or(opts.MaxKept, 200)
	opts.MaxBytes = cmp.Or(opts.MaxBytes, 8<<20)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Store{opts: opts, log: opts.Log, runs: map[string]*Run{}, dirty: map[*Run]bool{}, wake: make(chan struct{}, 1)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("the directory of the runs: %w", err)
	}
	var err error
	if s.lock, err = take(opts.Dir, opts.Wait); err != nil {
		return nil, err
	}
	names, err := os.ReadDir(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("the directory of the runs: %w", errors.Join(err, s.lock.Close()))
	}
	wake := s.wake
	s.syncing.Add(1)
	go func() {
		defer s.syncing.Done()
		s.syncLoop(wake)
	}()
	for _, name := range names {
		if err := s.openFile(name.Name()); err != nil {
			s.log.Error("a run can't be read and is left out", "file", name.Name(), "error", err)
		}
	}
	s.prune()
	return s, nil
}

// take locks a directory, and waits for whoever has it.
func take(dir string, wait time.Duration) (*os.File, error) {
	late := time.Now().Add(wait)
	for {
		f, err := lock(dir)
		if !errors.Is(err, ErrTaken) || time.Now().After(late) {
			return f, err
		}
		time.Sleep(lookAgain)
	}
}

// lock holds a directory for this process until the file is closed, at its death at
// the latest. The file says whose it is. It fails with ErrTaken.
func lock(dir string) (*os.File, error) {
	f, err := filelock.Open(filepath.Join(dir, lockName))
	if held, ok := errors.AsType[*filelock.HeldError](err); ok {
		return nil, fmt.Errorf("%w (process %s): go on in its window, or close that", ErrTaken, held.Process)
	}
	return f, err
}

func (s *Store) openFile(name string) error {
	path := filepath.Join(s.opts.Dir, name)
	if strings.HasPrefix(name, linelog.NewPrefix) { // written when the process ended
		return os.Remove(path)
	}
	if id, ok := strings.CutSuffix(name, suffixEnded); ok {
		return s.openEnded(id, path)
	}
	if id, ok := strings.CutSuffix(name, suffixOpen); ok {
		return s.openOpen(id, path)
	}
	return nil
}

// openEnded reads only what the run is.
func (s *Store) openEnded(id, path string) error {
	for line, err := range linelog.Lines(path) {
		if err != nil {
			return err
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		r := s.newRun(id)
		r.log.about.start(id, e)
		r.state = Ended
		s.runs[id] = r
		return nil
	}
	return io.EOF
}

func (s *Store) openOpen(id, path string) error {
	events, good, skipped, err := readJournal(path)
	if err != nil {
		return err
	}
	if len(events) == 0 || events[0].Kind != RunStart {
		return errors.New("it doesn't begin with the start of a run")
	}
	if skipped > 0 {
		s.log.Warn("events of a run can't be read and are left out", "run", id, "events", skipped)
	}
	r := s.newRun(id)
	r.replay(events)
	if r.state == Ended { // the process ended between the two
		s.runs[id] = r
		r.log.events, r.log.tail = nil, nil
		return os.Rename(path, s.path(id, true))
	}
	if r.log.journal, err = linelog.Open(path, good); err != nil {
		return err
	}
	r.recover()
	s.runs[id] = r
	return nil
}

func (s *Store) path(id string, ended bool) string {
	if ended {
		return filepath.Join(s.opts.Dir, id+suffixEnded)
	}
	return filepath.Join(s.opts.Dir, id+suffixOpen)
}

// Spec is what a run begins with.
type Spec struct {
	Agent, Title, Session, Parent string

	ForkOf string // the run whose conversation it begins with

	Shadow, Mode string // of the session, to open it again as it was
	Once         bool   // it is not opened again: the run ends with its process
}

// Start begins a run, which waits for Attach and a prompt.
func (s *Store) Start(spec Spec) (*Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	open := 0
	for _, r := range s.runs {
		if r.Info().State != Ended {
			open++
		}
	}
	if open >= s.opts.MaxOpen {
		return nil, fmt.Errorf("%w (there are %d)", ErrTooMany, open)
	}
	r := s.newRun("run-" + strings.ToLower(rand.Text()[:12]))
	var err error
	if r.log.journal, err = linelog.Open(s.path(r.id, false), 0); err != nil {
		return nil, fmt.Errorf("the journal of the run: %w", err)
	}
	start := Event{Kind: RunStart, Agent: spec.Agent, Title: spec.Title, Session: spec.Session, Parent: spec.Parent, ForkOf: spec.ForkOf, Shadow: spec.Shadow, Mode: spec.Mode, Once: spec.Once}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say(start)
	r.setState("")
	s.runs[r.id] = r
	return r, nil
}

// Get returns a run.
func (s *Store) Get(id string) (*Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	if r == nil {
		return nil, fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	return r, nil
}

// List returns the runs, with all those too that have ended, the oldest first.
func (s *Store) List(all bool) []Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Info
	for _, r := range s.runs {
		if i := r.Info(); all || i.State != Ended {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b Info) int {
		return cmp.Or(a.OpenedAt.Compare(b.OpenedAt), strings.Compare(a.Run, b.Run))
	})
	return list
}

// Beside is a path for what the driver of a run keeps; it is deleted with the run.
func (s *Store) Beside(run string) string { return filepath.Join(s.opts.Dir, run+suffixDriver) }

// Before is a path for what the files were before the agent of a run changed them; it is
// deleted with the run, too.
func (s *Store) Before(run string) string { return filepath.Join(s.opts.Dir, run+suffixBefore) }

// prune deletes the oldest runs that have ended, when there are too many.
func (s *Store) prune() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ended []*Run
	for _, r := range s.runs {
		if r.Info().State == Ended {
			ended = append(ended, r)
		}
	}
	slices.SortFunc(ended, func(a, b *Run) int { return a.log.about.OpenedAt.Compare(b.log.about.OpenedAt) })
	for len(ended) > s.opts.MaxKept {
		delete(s.runs, ended[0].id)
		if err := os.Remove(s.path(ended[0].id, true)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.log.Warn("an old run can't be deleted", "error", err)
		}
		if err := os.RemoveAll(s.images(ended[0].id)); err != nil {
			s.log.Warn("the images of an old run can't be deleted", "error", err)
		}
		if err := errors.Join(os.RemoveAll(s.Beside(ended[0].id)), os.RemoveAll(s.Before(ended[0].id))); err != nil {
			s.log.Warn("what the agent of an old run has kept can't be deleted", "error", err)
		}
		ended = ended[1:]
	}
}

// sync brings a run's journal to the disk soon, without making anybody wait.
func (s *Store) sync(r *Run) {
	s.syncMu.Lock()
	defer s.syncMu.Unlock()
	if s.wake == nil {
		return
	}
	s.dirty[r] = true
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Store) syncLoop(wake <-chan struct{}) {
	for range wake {
		s.syncMu.Lock()
		dirty := s.dirty
		s.dirty = map[*Run]bool{}
		s.syncMu.Unlock()
		for r := range dirty {
			r.mu.Lock()
			journal := r.log.journal
			r.mu.Unlock()
			_ = journal.Sync() // of one that was replaced or closed it fails, and isn't needed
		}
	}
}

// cancel has an agent stop, without waiting.
func (s *Store) cancel(run string, d Driver) {
	s.working.Add(1)
	go func() {
		defer s.working.Done()
		ctx, done := context.WithTimeout(context.Background(), driverGrace)
		defer done()
		if err := d.Cancel(ctx); err != nil {
			s.log.Warn("cancelling", "run", run, "error", err)
		}
	}()
}

// await waits for the drivers, but not for ever for one that doesn't stop.
func (s *Store) await() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.working.Wait()
	}()
	timer := time.NewTimer(driverGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		s.log.Warn("an agent has not stopped and is left alone", "after", driverGrace)
	}
}

// Close ends the drivers and closes the journals. Runs go on with the next Open.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	var all []*Run
	for _, r := range s.runs {
		all = append(all, r)
	}
	s.mu.Unlock()
	var errs []error
	for _, r := range all {
		errs = append(errs, r.suspend())
	}
	s.await()
	s.syncMu.Lock()
	close(s.wake)
	s.wake = nil
	s.syncMu.Unlock()
	s.syncing.Wait()
	for _, r := range all {
		r.mu.Lock()
		if r.log.journal != nil && r.state != Ended {
			errs = append(errs, r.log.close())
		}
		r.mu.Unlock()
	}
	errs = append(errs, s.lock.Close())
	return errors.Join(errs...)
}
