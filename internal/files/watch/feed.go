package watch

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// Feed is one reader of the changes. Nobody else's reading takes anything away
// from it.
type Feed struct {
	w     *Watcher
	ready chan struct{}

	// Guarded by w.mu.
	names map[string]struct{}
	dirs  map[string]struct{}
	lost  bool
}

// Batch is what changed since the batch before. Names are those of the view.
// A name may be there without a change, and ignored files may be, too.
type Batch struct {
	Names []string // what was made, changed, moved or removed, directories too; sorted
	Dirs  []string // new directories, and those with other ignore rules: anything below may be different; sorted
	Lost  bool     // events are missing: anything may be different
}

// maxNames bounds what a feed keeps; after that it is as good as lost.
const maxNames = 1 << 15

// Sync returns what has changed, with every change that was made before the
// call, whoever made it. It fails when ctx ends or the watcher is closed;
// nothing is lost by that.
func (f *Feed) Sync(ctx context.Context) (Batch, error) {
	if err := f.w.sync(ctx); err != nil {
		return Batch{}, err
	}
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	b := Batch{Lost: f.lost || f.w.now == nil}
	if !b.Lost {
		b.Names = slices.Sorted(maps.Keys(f.names))
		b.Dirs = outermost(slices.Sorted(maps.Keys(f.dirs)))
	}
	f.lost = false
	clear(f.names)
	clear(f.dirs)
	return b, nil
}

// State returns how the watcher gets to know of changes.
func (f *Feed) State() State { return f.w.State() }

// Ready receives when there may be something for Sync, for whoever doesn't
// want to wait for a reason to ask.
func (f *Feed) Ready() <-chan struct{} { return f.ready }

// Close ends the feed. The watcher goes on.
func (f *Feed) Close() {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	delete(f.w.feeds, f)
}

func (f *Feed) wake() {
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// add takes a changed name. w.mu is held.
func (f *Feed) add(name string) {
	if f.lost {
		return
	}
	if f.names[name] = struct{}{}; len(f.names) > maxNames {
		f.lost = true
		clear(f.names)
	}
}

// outermost drops the names that lie below another. dirs is sorted.
func outermost(dirs []string) []string {
	if slices.Contains(dirs, ".") {
		return []string{"."}
	}
	var out []string
	for _, dir := range dirs {
		if !slices.ContainsFunc(out, func(up string) bool { return strings.HasPrefix(dir, up+"/") }) {
			out = append(out, dir)
		}
	}
	return out
}
