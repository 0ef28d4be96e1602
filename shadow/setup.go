package shadow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/worktree"
)

// Step is a command that makes a new shadow usable.
type Step struct {
	Run     string        // a line for the shell
	When    []string      // files, relative to the folder: it runs again when one of them changed
	Timeout time.Duration // it is ended then
}

// SetupState is how it is with the setup of a shadow.
type SetupState string

// The states.
const (
	SetupRunning     SetupState = "running"
	SetupDone        SetupState = "done"
	SetupFailed      SetupState = "failed"
	SetupNeeded      SetupState = "needed"      // it has not run, or not since a file or the setting changed
	SetupInterrupted SetupState = "interrupted" // it was stopped, or its process died
	SetupOffered     SetupState = "offered"     // of a new one: the settings have none, and another program has
)

// Setup describes the setup of a shadow.
type Setup struct {
	State    SetupState `json:"state"`
	Why      string     `json:"why,omitempty"`      // what is wrong, or has changed
	Command  string     `json:"command,omitempty"`  // that runs, failed or was interrupted
	ExitCode *int       `json:"exitCode,omitempty"` // of the command that failed
	Output   string     `json:"output,omitempty"`   // its last lines
	Next     string     `json:"next,omitempty"`     // how to go on

	// Offers are the names of setups for other programs that a person may take; with
	// SetupOffered alone.
	Offers []string `json:"offers,omitempty"`
}

// Ran is how a step ended.
type Ran struct {
	OK       bool
	Why      string // it was not OK
	ExitCode *int   // nil: it did not run
	Output   string
}

// setupRecord is kept of a setup beside the record of its shadow. Commands of the shadow can
// write it, as all that git keeps of a working tree: nothing in it is run.
type setupRecord struct {
	Setup
	Done []doneStep `json:"done,omitempty"`
}

// doneStep is a step that went well, with its files as they were then.
type doneStep struct {
	Run  string            `json:"run"`
	When map[string]string `json:"when,omitempty"`
}

const (
	setupFile   = "setup.json"
	maxRecord   = 1 << 20
	maxTail     = 4 << 10  // bytes of the last lines of a command
	maxTailLine = 20       // of them
	maxDigested = 64 << 20 // bytes of a file; a larger one is known by its size and time
)

// setupLock is the name of the lock that is held while a shadow is set up. No id has it.
func setupLock(id string) string { return ".setup-" + id }

// settingUp are the setups that run in this process.
type settingUp struct {
	mu  sync.Mutex
	now map[string]*oneSetup // by the shadow's id
}

type oneSetup struct {
	stop context.CancelCauseFunc
	over chan struct{}
}

var errDiscarded = errors.New("the shadow workspace is being discarded")

// SetUp runs the steps of the settings in a shadow that have not run, or whose files have
// changed; after a setup that is done, all of them. The steps after one that fails wait. nil
// is that the settings have none. It fails with ErrUnknown, and with ErrBusy while another
// call or process is at it.
func SetUp(ctx context.Context, m *Manager, id string, run func(context.Context, Step) Ran) (*Setup, error) {
	steps := m.o.Settings.Setup()
	if err := m.wait(ctx); err != nil {
		return nil, err
	}
	t, err := m.find(id)
	if err != nil || len(steps) == 0 {
		return nil, err
	}
	unlock, err := m.lock(ctx, setupLock(id), briefly)
	if errors.Is(err, ErrBusy) {
		return nil, fmt.Errorf("%w: the setup of %s is running; shadow list shows how far it is", ErrBusy, id)
	} else if err != nil {
		return nil, err
	}
	defer unlock()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer m.setups.begin(id, stop)()
	if err := m.same(t); err != nil {
		return nil, err
	}
	rec := readSetup(t.linked)
	todo := rec.missing(t.Root, steps)
	if len(todo) == 0 {
		todo, rec.Done = steps, nil
	}
	rec.Done = slices.DeleteFunc(rec.Done, func(d doneStep) bool {
		return !hasStep(steps, d.Run) || hasStep(todo, d.Run)
	})
	for _, step := range todo {
		rec.Setup = Setup{State: SetupRunning, Command: step.Run}
		if err := rec.write(t.linked); err != nil {
			return nil, err
		}
		if err := m.o.Fail("setup.begun"); err != nil {
			return nil, err
		}
		ran := run(ctx, step)
		if errors.Is(context.Cause(ctx), errDiscarded) {
			return nil, fmt.Errorf("%w: %s; it was discarded while it was set up", ErrUnknown, id)
		}
		switch {
		case ran.OK:
			rec.Done = append(rec.Done, doneStep{step.Run, digests(t.Root, step.When)})
			continue
		case ctx.Err() != nil:
			rec.Setup = Setup{State: SetupInterrupted, Command: step.Run}
		default:
			rec.Setup = Setup{State: SetupFailed, Command: step.Run, Why: plain(ran.Why), ExitCode: ran.ExitCode, Output: tail(ran.Output)}
		}
		err := rec.write(t.linked)
		return rec.state(m, t, steps), err
	}
	rec.Setup = Setup{State: SetupDone}
	m.log("shadow set up", "id", id, "steps", len(todo))
	err = rec.write(t.linked)
	return rec.state(m, t, steps), err
}

// begin notes that a setup runs, until over is called.
func (s *settingUp) begin(id string, stop context.CancelCauseFunc) (over func()) {
	one := &oneSetup{stop, make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = map[string]*oneSetup{}
	}
	s.now[id] = one
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.now, id)
		close(one.over)
	}
}

// end stops the setup of a shadow that is to be discarded, and keeps others from beginning
// one until free is called. It fails with ErrBusy while another process is at it.
func (s *settingUp) end(ctx context.Context, m *Manager, id string) (free func(), err error) {
	s.mu.Lock()
	one := s.now[id]
	s.mu.Unlock()
	if one != nil {
		one.stop(errDiscarded)
		select {
		case <-one.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	free, err = m.lock(ctx, setupLock(id), briefly)
	if errors.Is(err, ErrBusy) {
		err = fmt.Errorf("%w: another process sets %s up; wait for its end, or end it there", ErrBusy, id)
	}
	return free, err
}

// SetupOf is how it is with the setup of a shadow; nil: the settings have none. It fails with
// ErrUnknown.
func SetupOf(ctx context.Context, m *Manager, id string) (*Setup, error) {
	if err := m.wait(ctx); err != nil {
		return nil, err
	}
	t, err := m.find(id)
	if err != nil {
		return nil, err
	}
	return setupOf(m, t), nil
}

func setupOf(m *Manager, t *tree) *Setup {
	steps := m.o.Settings.Setup()
	if len(steps) == 0 {
		return nil
	}
	return readSetup(t.linked).state(m, t, steps)
}

// state is how it is now, by what was recorded.
func (r setupRecord) state(m *Manager, t *tree, steps []Step) *Setup {
	s := r.Setup
	again := "run `sidecar-ls shadow setup " + t.ID + "`"
	if s.State == SetupRunning {
		unlock, err := m.tryLock(setupLock(t.ID))
		if errors.Is(err, ErrBusy) {
			return &s
		}
		if err == nil {
			unlock()
		}
		s.State = SetupInterrupted
	}
	switch {
	case s.State == SetupInterrupted && hasStep(steps, s.Command):
		s.Why, s.Next = "setup was interrupted", again
	case s.State == SetupFailed && hasStep(steps, s.Command):
		s.Next = "the shadow workspace is kept; mend it, or the setting sidecar.shadow.setup, then " + again
	default:
		why := r.changed(t.Root, steps)
		if s = (Setup{State: SetupDone, Why: strings.Join(unfollowed(t.Root, steps), "; ")}); len(why) > 0 {
			s = Setup{State: SetupNeeded, Why: strings.Join(why, "; "), Next: again}
		}
	}
	return &s
}

// missing are the steps that are to run.
func (r setupRecord) missing(root string, steps []Step) (todo []Step) {
	for _, step := range steps {
		if r.why(root, step) != "" {
			todo = append(todo, step)
		}
	}
	return todo
}

// changed says why steps are to run.
func (r setupRecord) changed(root string, steps []Step) (all []string) {
	for _, step := range steps {
		if why := r.why(root, step); why != "" && !slices.Contains(all, why) {
			all = append(all, why)
		}
	}
	return all
}

// why says why a step is to run; "" is that it need not.
func (r setupRecord) why(root string, step Step) string {
	i := slices.IndexFunc(r.Done, func(d doneStep) bool { return d.Run == step.Run })
	switch {
	case i < 0 && len(r.Done) == 0:
		return "it has not run"
	case i < 0:
		return "a step has not run"
	}
	for name, now := range digests(root, step.When) {
		switch before := r.Done[i].When[name]; {
		case before == now:
		case now == noFile:
			return name + " is gone"
		default:
			return name + " changed"
		}
	}
	return ""
}

func hasStep(steps []Step, line string) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Run == line })
}

// unfollowed says which files can't be seen to change.
func unfollowed(root string, steps []Step) (all []string) {
	for _, step := range steps {
		for name, d := range digests(root, step.When) {
			if text := name + " is a link, which is not followed, so that its changes are not seen"; (d == noRead || strings.HasPrefix(d, linked)) && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Digests of what is no file that is read.
const (
	noFile = "none"
	noRead = "unreadable" // a link on the way leads out of the tree
	linked = "link "
)

// digests are of files in a directory, by name. No link is followed out of it.
func digests(dir string, names []string) map[string]string {
	if len(names) == 0 {
		return nil
	}
	got := map[string]string{}
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer root.Close()
	}
	for _, name := range names {
		got[name] = noRead
		if err == nil {
			got[name] = digest(root, filepath.FromSlash(name))
		}
	}
	return got
}

func digest(root *os.Root, name string) string {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noFile
	case err != nil:
		return noRead
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := root.Readlink(name)
		return linked + target
	case !info.Mode().IsRegular() || info.Size() > maxDigested:
		return fmt.Sprint(info.Mode().Type(), info.Size(), info.ModTime().UnixNano())
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return noRead
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxDigested)); err != nil {
		return noRead
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// readSetup reads what is kept of a setup: nothing, if it can't be read.
func readSetup(l worktree.Linked) setupRecord {
	var r setupRecord
	root, err := os.OpenRoot(l.GitDir)
	if err != nil {
		return r
	}
	defer root.Close()
	f, err := root.OpenFile(ownName(l, setupFile), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return r
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil || json.Unmarshal(data, &r) != nil {
		return setupRecord{}
	}
	r.Why, r.Command, r.Output, r.Next = plain(r.Why), plain(r.Command), tail(r.Output), ""
	return r
}

// write replaces what is kept. The setup's own commands may have put links there, which are
// not followed.
func (r setupRecord) write(l worktree.Linked) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(l.GitDir)
	if err != nil {
		return err
	}
	defer root.Close()
	file := ownName(l, setupFile)
	fresh := file + "." + random()
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(fresh, file)
	}
	if err != nil {
		return errors.Join(err, root.Remove(fresh))
	}
	return nil
}

// ownName is a file of ours in what git keeps of a working tree, seen from there.
func ownName(l worktree.Linked, name string) string {
	return filepath.Join(filepath.Base(l.Own()), name)
}

// tail is the end of what a command printed.
func tail(text string) string {
	text = strings.TrimRight(plain(text), "\n")
	lines := strings.Split(text, "\n")
	text = strings.Join(lines[max(0, len(lines)-maxTailLine):], "\n")
	return strings.ToValidUTF8(text[max(0, len(text)-maxTail):], "")
}

// plain is a text without what a terminal would obey.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
