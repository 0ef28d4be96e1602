// Package textindex answers which files of a disk may contain a text, from
// memory. It is made of what searches read anyway, kept up to date by file
// events, and always errs on the side of a file too many: whoever asks reads
// the files, through the view, and compares.
package textindex

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Index is what is known of one disk. It is safe for concurrent use.
type Index struct {
	disk      *workspace.Disk
	subscribe func() *watch.Feed
	o         Options
	seed      maphash.Seed

	lock   chan struct{} // held by whoever uses what follows
	feed   *watch.Feed   // nil: nothing is known yet
	tree   tree
	store  store
	linked map[string]fs.FileInfo // names that were seen to be those of files which have others
	behind bool                   // a change was not taken to the end
	swept  string                 // why files were looked at one by one the last time; "": events told
}

// Options has a useful zero value.
type Options struct {
	MaxBytes int              // memory for signatures; files beyond it are read by every search; 0 means 1 GiB
	Now      func() time.Time // nil means time.Now
}

// New returns an index that knows nothing yet: the first question subscribes
// to the changes, and searches make it know. A nil feed says that there will
// be no more.
func New(disk *workspace.Disk, subscribe func() *watch.Feed, o Options) *Index {
	if o.MaxBytes == 0 {
		o.MaxBytes = 1 << 30
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Index{disk: disk, subscribe: subscribe, o: o, seed: maphash.MakeSeed(), lock: make(chan struct{}, 1), linked: map[string]fs.FileInfo{}}
}

// Close ends the index and forgets what it knows. The watcher goes on.
func (x *Index) Close() {
	x.lock <- struct{}{}
	defer x.unlock()
	if x.feed != nil {
		x.feed.Close()
		x.feed = nil
	}
	x.tree, x.store = tree{}, store{}
}

// Stats say how large an index is.
type Stats struct {
	Files  int    // that a walk meets
	Known  int    // that need not be read to be left out
	Bytes  int    // of memory, about
	Source string // why files were looked at one by one the last time, "" when events told what changed
}

// Stats returns how things are.
func (x *Index) Stats() Stats {
	x.lock <- struct{}{}
	defer x.unlock()
	t := &x.tree
	s := Stats{Files: len(t.names) - t.gone, Known: t.texts + t.binary, Source: x.swept}
	s.Bytes = x.store.bytes() + cap(t.files)*int(unsafe.Sizeof(file{})) + cap(t.names)*int(unsafe.Sizeof("")) + 8*cap(t.loose)
	for _, name := range t.names {
		s.Bytes += len(name)
	}
	return s
}

func (x *Index) acquire(ctx context.Context) error {
	select {
	case x.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *Index) unlock() { <-x.lock }

// worthwhile reports whether to ask for what is needed to know everything: a
// question about one directory is answered sooner without.
func (x *Index) worthwhile(opts *workspace.WalkOptions) bool {
	return x.feed != nil || opts.Dir == "" || opts.Dir == "."
}

// refresh brings the tree up to what the disk is when it is called.
func (x *Index) refresh(ctx context.Context) error {
	first := x.feed == nil
	if first {
		if x.feed = x.subscribe(); x.feed == nil {
			return watch.ErrClosed
		}
	}
	b, err := x.feed.Sync(ctx)
	if err == nil {
		switch {
		case b.Lost || x.behind && !first:
			x.swept = "events were lost"
			if s := x.feed.State(); !s.Watching {
				x.swept = s.Why
			}
			err = x.rewalk(ctx, ".")
		case first || x.behind:
			x.swept = ""
			err = x.rewalk(ctx, ".")
		default:
			x.swept = ""
			err = x.apply(ctx, b)
		}
		x.behind = err != nil
	}
	if err != nil && first {
		x.feed.Close()
		x.feed = nil
	}
	x.tree.compact(&x.store)
	return err
}

// manyNames is how many names are looked at one by one; more are found faster
// by a walk of everything.
const manyNames = 200

// apply takes what has changed.
func (x *Index) apply(ctx context.Context, b watch.Batch) error {
	t := &x.tree
	dirs, linked := b.Dirs, x.relinked(b.Names)
	var unknown []string
	for _, name := range b.Names {
		i := t.number(name)
		if _, ok := t.dirs[name]; ok {
			dirs = append(dirs, name) // its mode was changed, or it is gone
		} else if i < 0 || t.files[i].state == isGone {
			unknown = append(unknown, name)
		} else if info, err := x.disk.Lstat(name); err == nil && info.Mode().IsRegular() {
			t.set(&x.store, i, isLoose)
		} else {
			t.set(&x.store, i, isGone)
		}
	}
	if linked || len(unknown) > manyNames || len(dirs) > manyNames {
		return x.rewalk(ctx, ".")
	}
	for _, name := range unknown {
		if kind, ok := x.disk.Walked(name); ok && kind == 0 {
			t.add(&x.store, name)
		}
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if err := x.rewalk(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

// relinked reports whether one of the names is that of a file which has others,
// and of which that was not known: what is written through one name is told of
// no other. Once it is known, nothing is kept of any of them.
func (x *Index) relinked(names []string) (found bool) {
	for _, name := range names {
		info, err := x.disk.Lstat(name)
		if err != nil || !workspace.Linked(x.disk.Abs(name), info) {
			delete(x.linked, name)
			continue
		}
		if old := x.linked[name]; old == nil || !os.SameFile(old, info) {
			x.linked[name], found = info, true
		}
	}
	return found
}

// rewalk lists what is at or below dir again. Of files that have another stamp
// nothing is known any more: the directory may be another one than it was.
func (x *Index) rewalk(ctx context.Context, dir string) error {
	kind, ok := x.disk.Walked(dir)
	if !ok || kind != fs.ModeDir {
		x.tree.removeBelow(&x.store, dir)
		if ok {
			x.tree.add(&x.store, dir)
		}
		return nil
	}
	var stamp func(workspace.Stamp) uint64
	if len(x.tree.names) > 0 {
		stamp = x.fingerprint
	}
	l, err := list(ctx, x.disk, dir, stamp)
	if errors.Is(err, fs.ErrNotExist) && dir != "." {
		l, err = &listing{dirs: map[string]struct{}{}}, nil
	}
	if err != nil {
		return err
	}
	t := &x.tree
	t.replace(&x.store, dir, l)
	for i, name := range t.names {
		if f := &t.files[i]; inside(name, dir) && f.state != isLoose && (f.stamp == 0 || f.stamp != l.stamps[name]) {
			t.set(&x.store, int32(i), isLoose)
		}
	}
	return nil
}

// clockTick is more than what lies between two times that a file system tells
// apart.
const clockTick = 50 * time.Millisecond

// trusted returns the fingerprint of a stamp that the next change will
// certainly change, else 0.
func (x *Index) trusted(st workspace.Stamp, now time.Time) uint64 {
	if last := max(st.Mtime, st.Ctime); st.Ctime == 0 || now.UnixNano()-last < int64(clockTick) {
		return 0
	}
	return x.fingerprint(st)
}

// fingerprint is a stamp in little room.
func (x *Index) fingerprint(st workspace.Stamp) uint64 { return maphash.Comparable(x.seed, st) | 1 }

// Needed is what a file must have to be of interest: of each list one text, in
// whatever letter case.
type Needed [][]string

// clauses returns what can be looked up. An empty result says nothing about
// any file.
func (n Needed) clauses() clauses {
	var out clauses
	for _, texts := range n {
		var clause []alternative
		for _, text := range texts {
			g := hashesOf([]byte(text))
			if len(g) == 0 {
				clause = nil
				break
			}
			slices.Sort(g)
			clause = append(clause, slices.Compact(g))
		}
		if clause != nil {
			out = append(out, clause)
		}
	}
	return out
}

// covers reports whether the index can know what a walk of files with opts
// meets. Elsewhere than on Linux there are neither events nor stamps to rely on.
func (x *Index) covers(opts *workspace.WalkOptions, disk *workspace.Disk) bool {
	return runtime.GOOS == "linux" && disk == x.disk && !opts.Hidden && !opts.IncludeIgnored && opts.Names == nil && !opts.DirsOnly
}

// scope are the files that a walk with some options meets.
type scope struct {
	opts   *workspace.WalkOptions
	prefix string
	last   string          // the directory that was asked for last
	lastOK bool            // and the answer
	dirs   map[string]bool // all answers
}

// scope returns false when opts.Dir is no directory of the tree.
func (x *Index) scope(opts *workspace.WalkOptions) (*scope, bool) {
	s := &scope{opts: opts, dirs: map[string]bool{}, last: "?"}
	if opts.Dir == "" || opts.Dir == "." {
		s.dirs["."] = true
		return s, true
	}
	_, ok := x.tree.dirs[opts.Dir]
	s.prefix = opts.Dir + "/"
	s.dirs[opts.Dir] = true
	return s, ok
}

// all reports whether every file is in the scope.
func (s *scope) all() bool { return s.prefix == "" && s.opts.Keep == nil }

func (s *scope) has(name string) bool {
	if !strings.HasPrefix(name, s.prefix) {
		return false
	}
	if s.opts.Keep == nil {
		return true
	}
	dir := "."
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		dir = name[:at]
	}
	if dir != s.last {
		s.last, s.lastOK = dir, s.enters(dir)
	}
	return s.lastOK && s.opts.Keep(name, false)
}

// enters reports whether a walk gets into dir.
func (s *scope) enters(dir string) bool {
	if ok, known := s.dirs[dir]; known {
		return ok
	}
	up := "."
	if at := strings.LastIndexByte(dir, '/'); at >= 0 {
		up = dir[:at]
	}
	ok := s.enters(up) && s.opts.Keep(dir, true)
	s.dirs[dir] = ok
	return ok
}
