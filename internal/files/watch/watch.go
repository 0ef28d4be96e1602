// Package watch tells what changes in the directories of a workspace, by
// anybody, as the operating system reports it. It looks at no file's content.
package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Watcher watches the directories that a walk of a disk comes to, hidden ones
// included. What the ignore rules leave out is not watched, nor are .git
// (except for its info/exclude) and .sidecar.
//
// Some changes nobody reports: what is written through a shared memory
// mapping, or through a hard link in a directory that isn't watched, or one that
// is made, written through and removed again before anybody asks (the link's
// name is reported then, but not whose it was).
type Watcher struct {
	disk  *workspace.Disk
	roots []string // their names in the view
	watch func(q *fsnotify.Watcher, dir string) error

	mu     sync.Mutex
	now    *instance // nil: why says why nothing is watched
	why    string
	feeds  map[*Feed]struct{}
	rules  string // stamps of the user's own ignore file
	lost   int
	closed bool
}

// State says how a Watcher gets to know of changes.
type State struct {
	Watching bool
	Why      string // nothing is watched; "" while Watching
	Dirs     int    // directories watched
	Lost     int    // how often events were lost
}

// ErrClosed is the error of what was closed.
var ErrClosed = errors.New("the watcher is closed")

// New starts to watch. It always returns a Watcher: when watching is not
// possible, State says why, and every batch of every feed is Lost.
func New(disk *workspace.Disk) *Watcher { return start(disk, (*fsnotify.Watcher).Add) }

func start(disk *workspace.Disk, watch func(*fsnotify.Watcher, string) error) *Watcher {
	w := &Watcher{disk: disk, roots: []string{"."}, watch: watch, feeds: map[*Feed]struct{}{}, rules: stampRules(disk)}
	if folders := disk.Folders(); len(folders) > 1 {
		w.roots = nil
		for _, f := range folders {
			w.roots = append(w.roots, f.Name)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start()
	return w
}

// start makes an instance that watches everything. w.mu is held.
func (w *Watcher) start() {
	x, err := w.newInstance()
	if err != nil {
		w.now, w.why = nil, err.Error()
		return
	}
	w.now, w.why = x, ""
	go x.run()
}

func (w *Watcher) newInstance() (*instance, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("changes of a whole tree are not reported in their order on " + runtime.GOOS)
	}
	if err := w.nested(); err != nil {
		return nil, err
	}
	x, err := newInstance(w)
	if err != nil {
		return nil, err
	}
	err = x.add(".")
	for _, root := range w.roots {
		if err == nil && x.dirs[w.disk.Abs(root)] == "" {
			err = fmt.Errorf("the folder %s can't be listed", root)
		}
	}
	if err != nil {
		return nil, errors.Join(err, x.free())
	}
	return x, nil
}

// nested refuses roots inside of others: a directory is watched under one name.
func (w *Watcher) nested() error {
	var reals []string
	for _, root := range w.roots {
		real, err := filepath.EvalSymlinks(w.disk.Abs(root))
		if err != nil {
			return err
		}
		for _, other := range reals {
			if strings.HasPrefix(real+"/", other+"/") || strings.HasPrefix(other+"/", real+"/") {
				return errors.New("one of the folders lies in another")
			}
		}
		reals = append(reals, real)
	}
	return nil
}

// State returns how things are.
func (w *Watcher) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := State{Watching: w.now != nil, Why: w.why, Lost: w.lost}
	if w.now != nil {
		s.Dirs = len(w.now.dirs)
	}
	return s
}

// Close ends watching.
func (w *Watcher) Close() error {
	w.mu.Lock()
	x := w.now
	w.now, w.why, w.closed = nil, ErrClosed.Error(), true
	for f := range w.feeds {
		f.wake()
	}
	w.mu.Unlock()
	if x == nil {
		return nil
	}
	return x.close()
}

// Subscribe returns a feed of the changes from now on.
func (w *Watcher) Subscribe() *Feed {
	f := &Feed{w: w, ready: make(chan struct{}, 1), names: map[string]struct{}{}, dirs: map[string]struct{}{}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.feeds[f] = struct{}{}
	return f
}

// sync returns when every change that was made before the call is in the
// feeds.
func (w *Watcher) sync(ctx context.Context) error {
	w.mu.Lock()
	x, closed := w.now, w.closed
	if s := stampRules(w.disk); s != w.rules {
		w.rules = s
		w.rulesChanged(".")
	}
	w.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if x == nil {
		return ctx.Err()
	}
	if err := x.barrier(ctx); err != nil {
		return err
	}
	return w.restartLost(x)
}

// restartLost watches everything again when x has lost events: directories may
// have been moved or made meanwhile.
func (w *Watcher) restartLost(x *instance) error {
	w.mu.Lock()
	if w.now != x || !x.lost {
		w.mu.Unlock()
		return nil
	}
	w.now = nil
	w.mu.Unlock()
	err := x.close() // waits for the goroutine, which may wait for w.mu
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	w.start()
	w.notify(func(f *Feed) { f.lost = true })
	return err
}

// notify changes all feeds. w.mu is held.
func (w *Watcher) notify(change func(*Feed)) {
	for f := range w.feeds {
		change(f)
		f.wake()
	}
}

// rulesChanged is called when the ignore rules below dir may be others. w.mu
// is held.
func (w *Watcher) rulesChanged(dir string) {
	if w.now != nil {
		w.now.rescan(dir)
	}
	w.notify(func(f *Feed) { f.dirs[dir] = struct{}{} })
}

// stampRules tells whether the user's own ignore files are still the same.
func stampRules(disk *workspace.Disk) string {
	var b strings.Builder
	for _, name := range workspace.UserIgnores(disk) {
		b.WriteString(name)
		if info, err := os.Stat(name); err == nil {
			fmt.Fprint(&b, " ", info.Size(), " ", info.ModTime().UnixNano())
		}
		b.WriteByte(0)
	}
	return b.String()
}
