package gitguard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/inventory"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// Options are what a Watch is made of.
type Options struct {
	Areas        []Area
	Repositories []string // that are there, and that the command can't change
	Look         Look
	Tidy         Tidy
	Dir          string       // where the record is kept; "" keeps none
	Told         func(string) // hears of what is set aside while the command runs; nil: nobody
}

// Watch looks after what one command makes.
type Watch struct {
	o      Options
	state  state
	record *os.File // nil: there is none

	stop context.CancelFunc
	gone chan struct{}
	once sync.Once

	mu   sync.Mutex
	said []string
}

// How often is looked while a command runs: first after firstLook, then every
// nextLook, and so that looking takes one part in lookShare of the time at most.
const (
	firstLook = time.Second
	nextLook  = 2 * time.Second
	lookShare = 100
)

// Begin begins to look after a command that is about to start.
func Begin(o Options) (*Watch, error) {
	known, err := belongings(context.Background(), o)
	if err != nil {
		return nil, err
	}
	o.Repositories = slices.Concat(o.Repositories, known)
	w := &Watch{o: o, state: state{Areas: o.Areas, Known: knownOf(o.Repositories), Links: linksOf(o.Repositories, o.Areas)}, gone: make(chan struct{})}
	if o.Dir != "" {
		if err := w.save(); err != nil {
			return nil, err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	go w.run(ctx)
	return w, nil
}

// belongings are the repositories in areas that are git directories themselves: those of
// submodules and of linked working trees. No command can write the directories that they
// are in, so they are known like those of the workspace.
func belongings(ctx context.Context, o Options) (known []string, err error) {
	for _, a := range o.Areas {
		if a.Private || !gitfile.Exists(filepath.Join(a.Dir, "HEAD")) || !slices.Contains(o.Repositories, a.Dir) {
			continue
		}
		items, err := o.Look(ctx, a)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the repositories in %s can't be listed: %w", a.Dir, err)
		}
		for _, item := range items {
			if item.Kind == inventory.Repository && (within(item.Path, filepath.Join(a.Dir, "modules")) || within(item.Path, filepath.Join(a.Dir, "worktrees")) && !gitfile.Exists(filepath.Join(a.Dir, "commondir"))) {
				known = append(known, item.Path)
			}
		}
	}
	return known, nil
}

// save writes the record.
func (w *Watch) save() error {
	data, err := json.Marshal(w.state)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.o.Dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(w.o.Dir, "*.json")
	if err != nil {
		return err
	}
	lock(f, false)
	if _, err := f.Write(data); err != nil {
		f.Close()
		return errors.Join(err, os.Remove(f.Name()))
	}
	w.record = f
	return nil
}

// Record is the file for whoever comes after a server that is killed; "" is
// none.
func (w *Watch) Record() string {
	if w.record == nil {
		return ""
	}
	return w.record.Name()
}

func (w *Watch) run(ctx context.Context) {
	defer close(w.gone)
	wait := time.NewTimer(firstLook)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		began := time.Now()
		w.report(w.state.check(context.Background(), w.o.Look, nil)) // one that is begun is ended: what it says counts
		wait.Reset(max(nextLook, lookShare*time.Since(began)))
	}
}

// report keeps what is new, for the command's result.
func (w *Watch) report(said []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range said {
		if slices.Contains(w.said, text) {
			continue
		}
		w.said = append(w.said, text)
		if w.o.Told != nil {
			w.o.Told(text)
		}
	}
}

// End looks for the last time, and returns all that was set aside. Called
// again it returns the same.
func (w *Watch) End() []string {
	w.once.Do(func() {
		w.stop()
		<-w.gone
		w.report(w.state.check(context.Background(), w.o.Look, w.o.Tidy))
		if w.record != nil {
			_ = os.Remove(w.record.Name())
			w.record.Close()
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said)
}

// After does what the server of a record would have done. What is
// to be said stays in the record, for Leftovers.
func After(record string, tidy Tidy, look Look) {
	s, err := read(record)
	if err != nil {
		return
	}
	if said := s.finish(tidy, look); len(said) == 0 {
		_ = os.Remove(record)
	} else if data, err := json.Marshal(state{Settled: true, Said: said}); err == nil {
		if f, err := os.OpenFile(record, os.O_WRONLY|os.O_TRUNC, 0); err == nil {
			_, _ = f.Write(data)
			f.Close()
		}
	}
}

// Leftovers does so for all records of servers and commands that are gone, and
// returns what was set aside.
func Leftovers(dir string, tidy Tidy, look Look) (said []string) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		if lock(f, true) {
			if s, err := read(name); err == nil {
				said = append(said, s.finish(tidy, look)...)
			}
			_ = os.Remove(name)
		}
		f.Close()
	}
	return said
}

// maxRecord bounds a record, in bytes.
const maxRecord = 64 << 20

func read(record string) (s state, err error) {
	f, err := os.Open(record)
	if err != nil {
		return s, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

func (s *state) finish(tidy Tidy, look Look) []string {
	if s.Settled {
		return s.Said
	}
	for _, a := range s.Areas {
		var in []string
		for _, k := range s.Known {
			if within(k.Path, a.Dir) {
				in = append(in, k.Path)
			}
		}
		tidy(a.Dir, in)
	}
	return s.check(context.Background(), look, tidy)
}
