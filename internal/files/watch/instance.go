package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unicode/utf8"

	"github.com/fsnotify/fsnotify"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// instance is one queue of events and the directories that are watched.
type instance struct {
	w    *Watcher
	fs   *fsnotify.Watcher
	done chan struct{} // run has ended

	dirs map[string]string // operating system's path → name in the view; guarded by w.mu
	lost bool              // events are missing; guarded by w.mu

	// A file without a name, whose events mark places in the queue.
	mark     *os.File
	markPath string
	turn     chan struct{} // one mark at a time
	reached  atomic.Pointer[chan struct{}]
}

// queued is how many events are taken from the system ahead of their turn.
const queued = 1 << 10

func newInstance(w *Watcher) (*instance, error) {
	q, err := fsnotify.NewBufferedWatcher(queued)
	if err != nil {
		return nil, explain(err)
	}
	x := &instance{w: w, fs: q, done: make(chan struct{}), dirs: map[string]string{}, turn: make(chan struct{}, 1)}
	if err := x.openMark(); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return x, nil
}

// openMark makes the file for marks. It is watched by its descriptor, so that
// nothing is left of it whatever happens.
func (x *instance) openMark() error {
	f, err := os.CreateTemp("", "sidecar-ls-")
	if err != nil {
		return err
	}
	err = os.Remove(f.Name())
	x.mark, x.markPath = f, fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if err == nil {
		err = x.fs.Add(x.markPath)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// close ends run and frees the queue. w.mu is not held.
func (x *instance) close() error {
	err := x.fs.Close()
	<-x.done
	return errors.Join(err, x.mark.Close())
}

// free frees the queue when run was never started.
func (x *instance) free() error { return errors.Join(x.fs.Close(), x.mark.Close()) }

// run takes events until the queue is closed.
func (x *instance) run() {
	defer close(x.done)
	defer x.reach()
	for {
		select {
		case ev, ok := <-x.fs.Events:
			if !ok {
				return
			}
			if ev.Name == x.markPath {
				x.reach()
				continue
			}
			x.event(ev)
		case err, ok := <-x.fs.Errors:
			if ok && loses(err) {
				x.missed()
			}
			if !ok {
				return
			}
		}
	}
}

// loses reports whether an error of the queue means that events are missing.
// That a directory which was moved is gone before its watch could be ended
// (EINVAL) does not.
func loses(err error) bool { return err != nil && !errors.Is(err, syscall.EINVAL) }

// listening calls do, which calls the queue, and takes the queue's errors
// meanwhile: it gives them away with its lock held, for which do would wait
// forever. w.mu is held.
func (x *instance) listening(do func()) {
	over, ended, lost := make(chan struct{}), make(chan struct{}), false
	go func() {
		defer close(ended)
		for {
			select {
			case err, ok := <-x.fs.Errors:
				if !ok {
					return
				}
				lost = lost || loses(err)
			case <-over:
				return
			}
		}
	}()
	do()
	close(over)
	if <-ended; lost {
		x.loses()
	}
}

// missed is called when events were lost. That of a mark may be among them.
func (x *instance) missed() {
	x.w.mu.Lock()
	x.loses()
	x.w.mu.Unlock()
	x.reach()
}

// loses makes everything be watched again before the next batch. w.mu is held.
func (x *instance) loses() {
	x.lost = true
	x.w.lost++
	x.w.notify(func(f *Feed) { f.lost = true })
}

// barrier returns when all events of changes made before the call have been
// taken: the queue keeps their order, so a mark that is put in comes out last.
func (x *instance) barrier(ctx context.Context) error {
	select {
	case x.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-x.done:
		return nil
	}
	reached := make(chan struct{})
	x.reached.Store(&reached)
	if err := x.mark.Chmod(0o600); err != nil {
		x.missed()
	}
	select {
	case <-reached:
		return nil
	case <-x.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reach lets go whoever waits for the mark, and the next one take its turn.
func (x *instance) reach() {
	if r := x.reached.Swap(nil); r != nil {
		close(*r)
		<-x.turn
	}
}

// event takes one event.
func (x *instance) event(ev fsnotify.Event) {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	dir, known := x.dirs[ev.Name]
	gone := ev.Has(fsnotify.Remove | fsnotify.Rename)
	if known && gone {
		x.forget(dir)
	}
	at := strings.LastIndexByte(ev.Name, '/')
	parent, ok := x.dirs[ev.Name[:max(at, 0)]]
	if !ok {
		if known && gone { // a root
			x.loses()
		}
		return
	}
	base := ev.Name[at+1:]
	if utf8.ValidString(base) {
		x.changed(ev, parent, base, known)
	}
}

// changed takes an event of an entry of the directory parent. w.mu is held.
func (x *instance) changed(ev fsnotify.Event, parent, base string, known bool) {
	name := path.Join(parent, base)
	switch {
	case path.Base(parent) == ".git":
		if base == "info" {
			x.w.rulesChanged(path.Dir(parent))
		}
		return
	case strings.HasSuffix("/"+parent, "/.git/info"):
		if base == "exclude" {
			x.w.rulesChanged(path.Dir(path.Dir(parent)))
		}
		return
	case base == ".git" || workspace.IsIgnoreFile(base):
		x.w.rulesChanged(parent)
	case (ev.Has(fsnotify.Create) || ev.Has(fsnotify.Chmod) && !known) && x.isNewDir(ev.Name, name):
		if err := x.add(name); err != nil {
			x.loses()
		}
		x.w.notify(func(f *Feed) { f.dirs[name] = struct{}{} })
	}
	x.w.notify(func(f *Feed) { f.add(name) })
}

// isNewDir reports whether there is a directory at name that a walk enters.
func (x *instance) isNewDir(osPath, name string) bool {
	info, err := os.Lstat(osPath)
	return err == nil && info.IsDir() && path.Base(name) != ".sidecar" && !x.w.disk.Ignored(name, true)
}

// add watches the directories at and below dir. Each is watched before it is
// listed, so that nothing comes in between. w.mu is held.
func (x *instance) add(dir string) error {
	_, err := x.enter(dir)
	return err
}

// enter watches the directories at and below dir and returns their paths.
func (x *instance) enter(dir string) (entered map[string]bool, err error) {
	var mu sync.Mutex
	entered = map[string]bool{}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var failed error
	watch := func(name string, local bool) {
		p := x.w.disk.Abs(name)
		mu.Lock()
		defer mu.Unlock()
		entered[p] = true
		e := x.w.watch(x.fs, p)
		switch {
		case !local:
			e = fmt.Errorf("%s is on a file system where others make changes that are not reported", name)
		case e == nil:
			x.dirs[p] = name
			return
		case errors.Is(e, fs.ErrNotExist) || errors.Is(e, syscall.ENOTDIR) || errors.Is(e, fs.ErrPermission):
			return // then it is not listed either
		}
		failed = explain(e)
		stop()
	}
	x.listening(func() {
		err = x.w.disk.Walk(ctx, workspace.WalkOptions{
			Dir: dir, Hidden: true, DirsOnly: true,
			Keep:  func(name string, _ bool) bool { return path.Base(name) != ".sidecar" },
			Enter: watch,
			Repository: func(name string) {
				for _, dir := range []string{".git", ".git/info"} { // where info/exclude may come to be
					if dir = path.Join(name, dir); isDir(x.w.disk.Abs(dir)) {
						watch(dir, true)
					}
				}
			},
		}, func(*workspace.Entry) error { return nil })
	})
	if failed == nil && err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		failed = err
	}
	return entered, failed
}

func isDir(osPath string) bool {
	info, err := os.Lstat(osPath)
	return err == nil && info.IsDir()
}

// rescan makes up for changed ignore rules below dir. w.mu is held.
func (x *instance) rescan(dir string) {
	entered, err := x.enter(dir)
	if err != nil {
		x.loses()
		return
	}
	x.removeAll(func(p, name string) bool { return isBelow(name, dir) && !entered[p] })
}

// forget ends the watches at and below dir: it was moved or removed. Watches
// go with the directory, not with its name. w.mu is held.
func (x *instance) forget(dir string) {
	x.removeAll(func(_, name string) bool { return isBelow(name, dir) })
}

// removeAll ends the watches of the directories that which chooses.
func (x *instance) removeAll(which func(path, name string) bool) {
	x.listening(func() {
		for p, name := range x.dirs {
			if which(p, name) {
				delete(x.dirs, p)
				x.unwatch(p)
			}
		}
	})
}

// unwatch ends one watch, which may have ended already. fsnotify loses account
// of one whose directory was exchanged for another that is watched, and panics
// at the nil it finds then; so all is watched again. w.mu is held.
func (x *instance) unwatch(p string) {
	defer func() {
		if recover() != nil {
			x.loses()
		}
	}()
	_ = x.fs.Remove(p)
}

// isBelow reports whether name is dir or lies below it.
func isBelow(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// explain says which limit of the system was met.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("there are more directories than the system lets be watched (fs.inotify.max_user_watches): %w", err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("the system lets no more programs watch (fs.inotify.max_user_instances): %w", err)
	}
	return err
}
