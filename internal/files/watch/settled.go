package watch

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Settled calls changed each time that something was written in a directory, or
// below it, and then nothing for the time quiet, or something for as long as most; and
// once at the beginning, for what was written before it looked. It ends with ctx. What is written in the directory without is not looked at. Where the
// kernel watches no more directories, changed is called now and then.
func Settled(ctx context.Context, dir, without string, quiet, most time.Duration, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	w := &settling{watcher: watcher, without: without}
	w.add(dir)
	go func() {
		defer func() { _ = watcher.Close() }()
		w.follow(ctx, quiet, most, changed)
	}()
	return nil
}

// settling is a Settled.
type settling struct {
	watcher *fsnotify.Watcher
	without string
	blind   bool // not all is watched
}

// add watches a directory and those in it.
func (w *settling) add(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil //nolint:nilerr // it is gone again, or nobody may look into it
		case path == w.without:
			return fs.SkipDir
		}
		w.blind = w.watcher.Add(path) != nil || w.blind
		return nil //nolint:nilerr // what is not watched is looked at now and then
	})
}

// blindly is how often changed is called when not all is watched.
const blindly = 2 * time.Second

func (w *settling) follow(ctx context.Context, quiet, most time.Duration, changed func()) {
	settle, late, tick := time.NewTimer(quiet), time.NewTimer(most), time.NewTicker(blindly)
	defer tick.Stop()
	waiting := true
	done := func() {
		waiting = false
		settle.Stop()
		late.Stop()
		changed()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.watcher.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Create) && !strings.HasPrefix(e.Name, w.without) {
				w.add(e.Name)
			}
			settle.Reset(quiet)
			if !waiting {
				waiting = true
				late.Reset(most)
			}
		case <-settle.C:
			done()
		case <-late.C:
			done()
		case <-w.watcher.Errors: // events were lost
			done()
		case <-tick.C:
			if w.blind {
				done()
			}
		}
	}
}
