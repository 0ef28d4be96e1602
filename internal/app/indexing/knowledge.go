// Package indexing keeps the project index of a workspace up to date with its
// files, its commits and its shadows, and answers questions from it.
package indexing

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/worker"
	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Options are what a project index is made of.
type Options struct {
	Watch    *watch.Lazy // of the disk with the files
	Parsers  *worker.Parsers
	Repos    gitrepo.Options // of the repositories whose commits are read
	Home     statedir.Dir    // where it is kept between runs
	Settings Settings
	Hide     *redact.Redactor
	Log      *slog.Logger

	// Resident says that the process stays: what changes is watched, and files
	// are parsed.
	Resident bool

	Changed func() // is called when the status has changed; may be nil
}

// Settings are those that hold now: *live.Settings.
type Settings interface {
	Now() *config.Settings
	SensitiveOK(name string) bool
}

// Knowledge is the project index of a workspace. It is made by the first
// question, and so is the watcher that keeps it up to date.
type Knowledge struct {
	o Options

	mu     sync.Mutex
	index  *index.Index
	forks  []fork // of other trees, the last used one last
	closed bool
}

// New returns a project index. It reads nothing yet.
func New(o Options) *Knowledge { return &Knowledge{o: o} }

// share is how much of one processor, in percent, parses files that no answer has named
// yet, and as much again reads which functions commits changed.
const share = 25

// maxMemory is how much the index may take; further files are known by their paths.
const maxMemory = 1 << 30

// guarded is what of a tree may be in an index.
func (k *Knowledge) guarded(files workspace.Files) workspace.Files {
	return workspace.Guard(files, k.o.Settings.SensitiveOK)
}

var errClosing = tools.Errorf(tools.Unavailable, "the server is closing")

// ErrOff says that the settings want no project index.
var ErrOff = tools.Errorf(tools.Unavailable, "the project index is switched off (sidecar.knowledge.enabled); use grep and search_files")

// open returns the index, or why there is none.
func (k *Knowledge) open() (*index.Index, error) {
	if !k.o.Settings.Now().Bool("knowledge.enabled") {
		return nil, ErrOff
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return nil, errClosing
	case k.index == nil:
		o := index.Options{
			Files:   k.guarded(k.o.Watch.Disk()),
			Sources: index.Sources{Language: treesitter.Language},
			Hide:    k.o.Hide.Text,
			Store:   StoreIn(k.o.Home),
			Bounds:  index.Bounds{Bytes: func() int64 { return maxMemory }},
			Report:  index.Report{Problem: func(err error) { k.o.Log.Warn("knowledge", "problem", err) }},
		}
		if k.o.Resident {
			o.Changes, o.Sources.Parse, o.Report.Changed, o.Meaning = k.o.Watch.Changes(), k.parse, k.o.Changed, embeddings(k.o.Settings.Now(), k.o.Hide)
			o.Bounds.Share = func() int {
				if k.o.Settings.Now().Bool("knowledge.enabled") {
					return share
				}
				return 0
			}
			o.History = (&commits{folders: k.o.Watch.Disk().Folders(), options: k.o.Repos, rest: 30 * time.Second, share: o.Bounds.Share, atOnce: unitsAtOnce, store: o.Store, problem: o.Report.Problem}).read
		}
		k.index = index.New(o)
	}
	return k.index, nil
}

// parse is what a parser says about a source.
func (k *Knowledge) parse(ctx context.Context, lang string, src []byte) ([]pki.Symbol, error) {
	f, err := k.o.Parsers.Parse(ctx, lang, src, false)
	return f.Symbols, err
}

// Status says what is in the index, and begins to read.
func (k *Knowledge) Status() (index.Status, error) {
	x, err := k.open()
	if err != nil {
		return index.Status{}, err
	}
	x.Start()
	return x.Status(), nil
}

// Rebuild forgets the index and reads all again.
func (k *Knowledge) Rebuild() error {
	x, err := k.open()
	if err == nil {
		x.Rebuild()
	}
	return err
}

// Close ends the reading.
func (k *Knowledge) Close() error {
	k.mu.Lock()
	x, forks := k.index, k.forks
	k.closed = true
	k.mu.Unlock()
	var err error
	for _, f := range forks {
		err = errors.Join(err, f.close())
	}
	if x != nil {
		err = errors.Join(err, x.Close())
	}
	return err
}

// Wait waits until every file was looked at.
func (k *Knowledge) Wait(ctx context.Context) error {
	x, err := k.open()
	if err != nil {
		return err
	}
	x.Start()
	select {
	case <-x.Ready():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// StoreIn keeps an index in the workspace, if links allow that.
func StoreIn(home statedir.Dir) *index.Store {
	return &index.Store{Open: func(create bool) (*os.Root, error) {
		if create {
			if err := home.Prepare(); err != nil {
				return nil, err
			}
		}
		return home.Open(create, "cache")
	}}
}
