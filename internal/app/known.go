package app

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// known tells a redactor the secrets that the files of the workspace hold for
// the programs in it, .env and its kind, as they are now.
type known struct {
	disk    *workspace.Disk
	hide    *redact.Redactor
	allowed func(name string) bool // what tools may read is no secret

	ready  chan struct{} // closed by the first search
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu        sync.Mutex
	searched  time.Time
	searching bool
	roots     map[string]root     // directories of the disk: a change says that there may be new files
	files     map[string]*envFile // by name
}

type envFile struct {
	info   fs.FileInfo
	young  bool // it was read when it had just been written, perhaps before that was over
	values []string
}

type root struct {
	info  fs.FileInfo
	young bool // as of an envFile
}

func lookAtRoot(dir string) root {
	now := look(dir)
	return root{now, now != nil && time.Since(now.ModTime()) < young}
}

// young is the age up to which a file may be changed again without that its
// time shows it.
const young = 100 * time.Millisecond

// look describes a file or directory; nil is one that isn't there.
func look(name string) fs.FileInfo {
	info, err := os.Stat(name)
	if err != nil {
		return nil
	}
	return info
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// Bounds of the search: what lies deeper, or is found later, is not known.
const (
	envDepth  = 5
	envFiles  = 100
	envBytes  = 1 << 20
	envSearch = 2 * time.Second  // for all of them
	envWait   = 5 * time.Second  // of the first call for the first search, which can take longer under load
	envAgain  = 30 * time.Second // below the roots, where nothing tells of a new file
	envSoon   = 10 * time.Second // likewise, after a search that ran out of time
)

// newKnown begins to look for the files.
func newKnown(disk *workspace.Disk, hide *redact.Redactor, allowed func(string) bool) *known {
	k := &known{disk: disk, hide: hide, allowed: allowed, ready: make(chan struct{}), roots: map[string]root{}, files: map[string]*envFile{}}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	k.search()
	return k
}

func (k *known) close() {
	k.mu.Lock() // no search begins after this
	k.cancel()
	k.mu.Unlock()
	k.all.Wait()
}

// refresh makes what is hidden what the files say now. It costs a call a few
// microseconds when nothing has changed.
func (k *known) refresh() {
	select {
	case <-k.ready:
	default:
		select {
		case <-k.ready:
		case <-time.After(envWait):
		case <-k.ctx.Done():
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	changed := false
	for dir, before := range k.roots {
		if now := lookAtRoot(dir); before.young || !same(now.info, before.info) {
			k.roots[dir] = now
			changed = k.list(dir) || changed
		}
	}
	for name, f := range k.files {
		if now := look(k.disk.Abs(name)); f.young || !same(now, f.info) {
			k.read(name, now)
			changed = true
		}
	}
	if changed {
		k.tell()
	}
	if time.Since(k.searched) > envAgain {
		k.search()
	}
}

// list adds the files that are in a root itself.
func (k *known) list(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	added := false
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".env") {
			continue
		}
		if name, err := k.disk.Resolve(path.Join(dir, e.Name())); err == nil && k.wanted(name) {
			added = k.add(name) || added
		}
	}
	return added
}

// add reads a file that is new.
func (k *known) add(name string) bool {
	if k.files[name] != nil || len(k.files) >= envFiles {
		return false
	}
	k.read(name, look(k.disk.Abs(name)))
	return true
}

// wanted reports whether a file is one of those that hold secrets by name.
func (k *known) wanted(name string) bool {
	return strings.HasPrefix(path.Base(name), ".env") && workspace.Sensitive(name) && !k.allowed(name)
}

// read takes over the values of a file; one that is gone has none.
func (k *known) read(name string, now fs.FileInfo) {
	if now == nil {
		delete(k.files, name)
		return
	}
	f := &envFile{info: now, young: time.Since(now.ModTime()) < young}
	k.files[name] = f
	if now.Size() > envBytes {
		return
	}
	if data, err := k.disk.ReadFile(name); err == nil {
		f.values = redact.EnvValues(string(data))
	}
}

// tell hides all values that are known.
func (k *known) tell() {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(k.files)) {
		values = append(values, k.files[name].values...)
	}
	k.hide.Know("files", values)
}

// search looks for files in the background. The caller holds the lock, or is
// the only one there is.
func (k *known) search() {
	if k.searching || k.ctx.Err() != nil {
		return
	}
	k.searching = true
	k.all.Go(func() {
		roots := map[string]root{}
		for _, f := range k.disk.Folders() {
			roots[f.Dir] = lookAtRoot(f.Dir)
		}
		ctx, cancel := context.WithTimeout(k.ctx, envSearch)
		defer cancel()
		var mu sync.Mutex
		var names []string
		_ = k.disk.Walk(ctx, workspace.WalkOptions{
			IncludeIgnored: true, Hidden: true,
			Keep: func(name string, dir bool) bool {
				if dir {
					base := path.Base(name)
					return strings.Count(name, "/") < envDepth && base != "node_modules" && base != ".git" && base != ".sidecar"
				}
				return k.wanted(name)
			},
		}, func(e *workspace.Entry) error {
			mu.Lock()
			defer mu.Unlock()
			if names = append(names, e.Path); len(names) == envFiles {
				return fs.SkipAll
			}
			return nil
		})
		k.mu.Lock()
		defer k.mu.Unlock()
		added := false
		for dir := range roots { // those in the roots are known, however little time there was
			added = k.list(dir) || added
		}
		for _, name := range names {
			added = k.add(name) || added
		}
		if added {
			k.tell()
		}
		k.roots, k.searched, k.searching = roots, time.Now(), false
		if ctx.Err() != nil {
			k.searched = k.searched.Add(envSoon - envAgain) // it was not all
		}
		select {
		case <-k.ready:
		default:
			close(k.ready)
		}
	})
}
