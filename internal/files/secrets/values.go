package secrets

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/inventory"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// Values gives a redactor the secrets that the files of the workspace hold for
// the programs in it, .env and its kind, as they are now.
type Values struct {
	disk    *workspace.Disk
	finder  *Finder
	hide    *redact.Redactor
	allowed func(name string) bool // what tools may read is no secret

	ready  chan struct{} // closed by the first search
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu        sync.Mutex
	searched  time.Time
	searching bool
	roots     map[string]root     // folders of the disk: a change says that there may be new files
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

func statRoot(dir string) root {
	now := stat(dir)
	return root{now, now != nil && time.Since(now.ModTime()) < young}
}

// young is the age up to which a file may be changed again without that its
// time shows it.
const young = 100 * time.Millisecond

// stat describes a file or directory; nil is one that isn't there.
func stat(name string) fs.FileInfo {
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

// Bounds: the values of more or larger files are not known, nor those of files
// that are found later.
const (
	maxFiles   = 1000
	maxBytes   = 1 << 20          // of a file
	searchTime = 2 * time.Second  // for one search; the next one goes on where it ended
	firstWait  = 5 * time.Second  // of the first call for the first search, which can take longer under load
	searchRest = 30 * time.Second // between searches below the folders, where nothing reports a new file
	retryRest  = 10 * time.Second // likewise, after a search that ran out of time
)

// NewValues begins to look for the files. allowed reports whether tools may read
// a file although its name is one of a secret.
func NewValues(disk *workspace.Disk, finder *Finder, hide *redact.Redactor, allowed func(name string) bool) *Values {
	v := &Values{disk: disk, finder: finder, hide: hide, allowed: allowed, ready: make(chan struct{}), roots: map[string]root{}, files: map[string]*envFile{}}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	v.search()
	return v
}

// Close ends the searching.
func (v *Values) Close() {
	v.mu.Lock() // no search begins after this
	v.cancel()
	v.mu.Unlock()
	v.all.Wait()
}

// Refresh makes what is hidden what the files say now. It costs a call a few
// microseconds when nothing has changed.
func (v *Values) Refresh() {
	select {
	case <-v.ready:
	default:
		select {
		case <-v.ready:
		case <-time.After(firstWait):
		case <-v.ctx.Done():
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	changed := false
	for dir, before := range v.roots {
		if now := statRoot(dir); before.young || !same(now.info, before.info) {
			v.roots[dir] = now
			changed = v.list(dir) || changed
		}
	}
	for name, f := range v.files {
		if now := stat(v.disk.Abs(name)); f.young || !same(now, f.info) {
			v.read(name, now)
			changed = true
		}
	}
	if changed {
		v.publish()
	}
	if time.Since(v.searched) > searchRest {
		v.search()
	}
}

// list adds the files that are in a folder itself.
func (v *Values) list(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	added := false
	for _, e := range entries {
		added = v.add(filepath.Join(dir, e.Name())) || added
	}
	return added
}

// add reads a file that is new, if it is one of those that hold secrets by name.
func (v *Values) add(path string) bool {
	if !isEnv(path) {
		return false
	}
	name, err := v.disk.Resolve(path)
	if err != nil || v.files[name] != nil || len(v.files) >= maxFiles || !workspace.Sensitive(name) || v.allowed(name) {
		return false
	}
	v.read(name, stat(v.disk.Abs(name)))
	return true
}

func isEnv(name string) bool { return strings.HasPrefix(path.Base(filepath.ToSlash(name)), ".env") }

// read takes over the values of a file; one that is gone has none.
func (v *Values) read(name string, now fs.FileInfo) {
	if now == nil {
		delete(v.files, name)
		return
	}
	f := &envFile{info: now, young: time.Since(now.ModTime()) < young}
	v.files[name] = f
	if now.Size() > maxBytes {
		return
	}
	if data, err := v.disk.ReadFile(name); err == nil {
		f.values = redact.EnvValues(string(data))
	}
}

// publish hides all values that are known.
func (v *Values) publish() {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(v.files)) {
		values = append(values, v.files[name].values...)
	}
	v.hide.Know("files", values)
}

// search looks for files in the background. The caller holds the lock, or is
// the only one there is.
func (v *Values) search() {
	if v.searching || v.ctx.Err() != nil {
		return
	}
	v.searching = true
	v.all.Go(func() {
		ctx, cancel := context.WithTimeout(v.ctx, searchTime)
		defer cancel()
		roots := map[string]root{}
		var found []string
		complete := true
		for _, f := range v.disk.Folders() {
			roots[f.Dir] = statRoot(f.Dir)
			items, err := v.finder.Look(ctx, f.Dir, Apart...)
			complete = complete && err == nil
			for _, item := range items {
				if item.Kind == inventory.Secret && isEnv(item.Path) {
					found = append(found, item.Path)
				}
			}
		}
		// Where there are too many, those that are not deep are the project's own.
		slices.SortStableFunc(found, func(a, b string) int {
			return cmp.Compare(strings.Count(a, string(filepath.Separator)), strings.Count(b, string(filepath.Separator)))
		})
		v.mu.Lock()
		defer v.mu.Unlock()
		added := false
		for dir := range roots { // those in the folders themselves are known, however little time there was
			added = v.list(dir) || added
		}
		for _, path := range found {
			added = v.add(path) || added
		}
		if added {
			v.publish()
		}
		v.roots, v.searched, v.searching = roots, time.Now(), false
		if !complete {
			v.searched = v.searched.Add(retryRest - searchRest)
		}
		select {
		case <-v.ready:
		default:
			close(v.ready)
		}
	})
}
