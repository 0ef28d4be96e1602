// Package shadow gives agents working trees of their own: linked worktrees
// below .sidecar/shadows, made from the main tree, compared with it and merged
// back. It knows neither sessions nor the review queue: a merge is changes as
// data.
package shadow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// Errors that callers branch on. They come wrapped in what helps.
var (
	ErrInvalid  = errors.New("invalid argument")
	ErrUnknown  = errors.New("there is no such shadow workspace")
	ErrExists   = errors.New("the name is taken")
	ErrBusy     = errors.New("the shadow workspace is being made, set up or discarded")
	ErrTooMuch  = errors.New("that is too much for a shadow workspace")
	ErrUnusable = errors.New("there can be no shadow workspace here")
	ErrStrange  = errors.New("the shadow workspace is not as it was made")
)

// Limits bound what shadows may take.
type Limits struct {
	Shadows int   // how many there may be at a time
	Files   int   // of one; 0: as many as there usually are in Bytes
	Bytes   int64 // of one
	Pool    int   // discarded directories that are kept to be used again; -1: none
}

// usualSize is of a file of a large repository.
const usualSize = 32 << 10

var defaults = Limits{Shadows: 32, Files: 1 << 20, Bytes: 32 << 30, Pool: 2}

// Options are what a Manager needs. Dir is needed; the rest may be left out.
type Options struct {
	Dir      string       // the folder that is worked in: the top of a working tree, or below it
	StateDir string       // for locks; "" is .sidecar/state in Dir
	Prepare  func() error // called before .sidecar is made, and may refuse that

	Settings Settings       // asked each time; nil: the defaults
	Git      string         // see gitrepo.Options
	Programs *lookup.Finder // likewise
	Log      *slog.Logger

	// Fail is called at the points where a process may die. What it returns is
	// the failure of the step that would follow. Tests set it.
	Fail func(point string) error
}

// Settings are what the user decided.
type Settings interface {
	// Limits bound the shadows; what is zero has a default.
	Limits() Limits
	// Trusted says that the user trusts the workspace: filters that it names may
	// run.
	Trusted() bool
	// Hidden reports whether a file's content is not shown.
	Hidden(name string) bool
	// Setup are the steps that make a new shadow usable.
	Setup() []Step
}

// byDefault are the Settings of who has none.
type byDefault struct{}

func (byDefault) Limits() Limits          { return Limits{} }
func (byDefault) Trusted() bool           { return false }
func (byDefault) Hidden(name string) bool { return workspace.Sensitive(name) }
func (byDefault) Setup() []Step           { return nil }

// Manager makes, lists, compares, merges and discards the shadows of one
// folder. It is safe for concurrent use, also by several processes.
type Manager struct {
	o     Options
	dir   string // Options.Dir, links resolved
	swept chan struct{}

	snapshots snapshots
	setups    settingUp
	work      sync.WaitGroup // what is tidied up in the background
}

// Shadow is one shadow workspace. The types with member names are those of
// docs/protocol.md.
type Shadow struct {
	ID        string    `json:"id"`
	Path      string    `json:"path"` // its directory
	Root      string    `json:"-"`    // what in it stands for the folder: Path, or a directory below it
	Exclude   string    `json:"-"`    // the repository's own file of ignore rules
	Base      string    `json:"base"` // the commit that it began with
	CreatedAt time.Time `json:"createdAt"`
	Changed   int       `json:"changed"`         // files that differ from how it began; set by List
	Setup     *Setup    `json:"setup,omitempty"` // nil: the settings have none; set by List
	Damage    error     `json:"-"`               // why it can't be used; set by List
}

// New returns the Manager of a folder and begins to clean up after processes
// that died. Other methods wait for that. Relative directories are meant from
// where the process is now.
func New(o Options) (*Manager, error) {
	dir, err := o.locate()
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Fail == nil {
		o.Fail = func(string) error { return nil }
	}
	if o.Settings == nil {
		o.Settings = byDefault{}
	}
	m := &Manager{o: o, dir: dir, swept: make(chan struct{})}
	m.work.Go(func() {
		defer close(m.swept)
		if err := m.sweep(); err != nil {
			o.Log.Warn("shadow workspaces were not tidied up", "error", err)
		}
	})
	return m, nil
}

// locate makes the directories absolute, and returns Dir with its links
// resolved. It fails with ErrInvalid for what is not a directory.
func (o *Options) locate() (dir string, err error) {
	if o.Dir == "" {
		return "", fmt.Errorf("%w: name the folder that is worked in", ErrInvalid)
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(o.Dir); err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%w: %s is not a directory", ErrInvalid, o.Dir)
	}
	o.StateDir, err = filepath.Abs(cmp.Or(o.StateDir, filepath.Join(dir, ".sidecar", "state")))
	return dir, err
}

// limits are those that hold now.
func (m *Manager) limits() Limits {
	l := m.o.Settings.Limits()
	bytes := cmp.Or(l.Bytes, defaults.Bytes)
	return Limits{
		Shadows: cmp.Or(l.Shadows, defaults.Shadows),
		Files:   cmp.Or(l.Files, max(defaults.Files, int(bytes/usualSize))),
		Bytes:   bytes,
		Pool:    max(cmp.Or(l.Pool, defaults.Pool), 0),
	}
}

// Close waits for what is being tidied up.
func (m *Manager) Close() { m.work.Wait() }

// wait waits until the sweep is over.
func (m *Manager) wait(ctx context.Context) error {
	select {
	case <-m.swept:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// repo opens the repository of the folder.
func (m *Manager) repo() (*gitrepo.Repo, error) {
	r, err := gitrepo.Open(m.dir, gitrepo.Options{Git: m.o.Git, Programs: m.o.Programs, Trusted: m.o.Settings.Trusted})
	if errors.Is(err, gitrepo.ErrNoRepository) {
		return nil, fmt.Errorf("%w: %s is in no git repository; run git init and make a first commit", ErrUnusable, m.dir)
	}
	if errors.Is(err, gitrepo.ErrRefused) {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return r, err
}

// Directories of shadows.
func (m *Manager) home() string              { return filepath.Join(m.dir, ".sidecar", "shadows") }
func (m *Manager) path(id string) string     { return filepath.Join(m.home(), id) }
func (m *Manager) locks() string             { return filepath.Join(m.o.StateDir, "shadows") }
func (m *Manager) log(text string, a ...any) { m.o.Log.Info(text, a...) }

// checkHome fails when a link or a file stands where the shadows' directories
// should be. A project can bring one along, and would choose where is written.
func (m *Manager) checkHome() error {
	for _, name := range [...]string{".sidecar", ".sidecar/shadows", ".sidecar/state", ".sidecar/state/shadows"} {
		path := filepath.Join(m.dir, filepath.FromSlash(name))
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%w: %s is a link; shadow workspaces are kept only in the workspace itself, so remove the link", ErrUnusable, path)
		}
		if !info.IsDir() {
			return fmt.Errorf("%w: %s is not a directory; move it away", ErrUnusable, path)
		}
	}
	return nil
}

// makeHome makes the directories of shadows.
func (m *Manager) makeHome() error {
	if err := m.checkHome(); err != nil {
		return err
	}
	if m.o.Prepare != nil {
		if err := m.o.Prepare(); err != nil {
			return err
		}
	}
	for _, dir := range [...]string{m.home(), m.locks()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return m.checkHome()
}
