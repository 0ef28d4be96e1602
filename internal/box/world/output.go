package world

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Output is what git ignores and dependencies. Where edits wait for review, what commands
// make of it is kept outside of the folder, in an entry for each session, until a person
// accepts or drops it, or it is 14 days old. All commands of the folder see it, below their
// own layer. What they deleted or overwrote of it stays in the folder as it was.
//
//	output/FOLDER/SESSION/entry.json   what is known of it
//	output/FOLDER/SESSION/tree/        the files, with the overlay's marks for what is gone

// outputs are the entries of one folder.
type outputs struct {
	root, dir string // the folder, and where its entries are

	mu   sync.Mutex
	list []*entry // the newest first
}

// entry is the output of one session.
type entry struct {
	dir string
	record
}

// record is what is written down of an entry.
type record struct {
	Session string           `json:"session"`
	At      time.Time        `json:"at"`    // of the newest command
	Since   map[string]int64 `json:"since"` // by name: when its first command began, in nanoseconds
	Gone    []string         `json:"gone,omitempty"`
	Bytes   int64            `json:"bytes"`

	// Made is the text that was pending while it was built, by name: once one of them is
	// rejected, what was built goes.
	Made map[string]string `json:"made,omitempty"`
}

const (
	treeDir   = "tree"
	entryFile = "entry.json"

	outputAge = 14 * 24 * time.Hour

	// maxListed bounds each list of names of an entry.
	maxListed = 200
)

// openOutputs reads the entries of a folder. Those that are too old go.
func openOutputs(root string) (*outputs, error) {
	at, err := place(root)
	if err != nil {
		return nil, err
	}
	o := &outputs{root: root, dir: filepath.Join(filepath.Dir(at), "output", strings.TrimSuffix(prefix(root), "."))}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, err
	}
	dirs, err := os.ReadDir(o.dir)
	if err != nil {
		return nil, err
	}
	for _, d := range dirs {
		e := &entry{dir: filepath.Join(o.dir, d.Name())}
		if strings.HasPrefix(d.Name(), fresh) || !d.IsDir() {
			_ = osfile.RemoveAll(e.dir)
			continue
		}
		if !e.read() { // its files count all the same
			info, err := d.Info()
			if err != nil {
				continue
			}
			e.record = record{Session: d.Name(), At: info.ModTime(), Since: map[string]int64{}}
			names, err := os.ReadDir(e.tree())
			if err != nil {
				continue
			}
			for _, name := range names {
				e.Since[name.Name()] = e.At.UnixNano()
			}
		}
		if time.Since(e.At) > outputAge {
			_ = osfile.RemoveAll(e.dir)
			continue
		}
		o.list = append(o.list, e)
	}
	o.sort()
	return o, nil
}

// AnyOutput reports whether output of some folder is held.
func AnyOutput() bool {
	at, err := place("")
	if err != nil {
		return false
	}
	held, _ := filepath.Glob(filepath.Join(filepath.Dir(at), "output", "*", "*", treeDir, "*"))
	return len(held) > 0
}

func (o *outputs) sort() {
	slices.SortFunc(o.list, func(a, b *entry) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Session, b.Session))
	})
}

// maxRecord bounds a record that is read, in bytes.
const maxRecord = 16 << 20

func (e *entry) read() bool {
	f, err := osfile.Open(filepath.Join(e.dir, entryFile), os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > maxRecord {
		return false
	}
	return json.NewDecoder(f).Decode(&e.record) == nil && e.Session != ""
}

// write writes the record, whole or not at all.
func (e *entry) write() error {
	data, err := json.Marshal(e.record)
	if err != nil {
		return err
	}
	return writeWhole(e.dir, entryFile, data)
}

func (e *entry) tree() string { return filepath.Join(e.dir, treeDir) }

// of is the entry of a session. It is made if it is missing.
func (o *outputs) of(session string) (*entry, error) {
	for _, e := range o.list {
		if e.Session == session {
			return e, nil
		}
	}
	sum := sha256.Sum256([]byte(session))
	e := &entry{dir: filepath.Join(o.dir, hex.EncodeToString(sum[:8])), record: record{Session: session, At: time.Now()}}
	if err := errors.Join(os.MkdirAll(e.tree(), 0o700), e.write()); err != nil {
		return nil, err
	}
	info, err := os.Stat(o.root)
	if err == nil {
		err = os.Chmod(e.tree(), info.Mode().Perm()|0o700)
	}
	o.list = append(o.list, e)
	return e, err
}

// layers are the trees of all entries, that of a session first, then the newest first.
func (o *outputs) layers(session string, most int) (trees []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, own := range []bool{true, false} {
		for _, e := range o.list {
			if (e.Session == session) == own && len(trees) < most {
				if names, err := os.ReadDir(e.tree()); err == nil && len(names) > 0 {
					trees = append(trees, e.tree())
				}
			}
		}
	}
	return trees
}

// has reports whether an entry has something at a name, or in it.
func (o *outputs) has(rel string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.list, func(e *entry) bool {
		_, err := os.Lstat(filepath.Join(e.tree(), filepath.FromSlash(rel)))
		return err == nil
	})
}

// hasSame reports whether an entry has a file of the same size and time.
func (o *outputs) hasSame(rel string, info fs.FileInfo) bool {
	return slices.ContainsFunc(o.list, func(e *entry) bool {
		have, err := os.Lstat(filepath.Join(e.tree(), filepath.FromSlash(rel)))
		return err == nil && have.Mode().Type() == info.Mode().Type() && have.Size() == info.Size() && have.ModTime().Equal(info.ModTime())
	})
}

// bytes is how much is held, as it was counted last.
func (o *outputs) bytes() (sum int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.list {
		sum += e.Bytes
	}
	return sum
}

// since is when the first command began that made something of a name, as far as an entry
// knows: commands saw what others hold of it.
func (o *outputs) since(rel string, began int64) int64 {
	for _, e := range o.list {
		for name, then := range e.Since {
			if name == rel || below(name, rel) || below(rel, name) {
				began = min(began, then)
			}
		}
	}
	return began
}

// under reports whether a directory above a name hides all that is below it: what is
// moved from there to another layer could not be seen.
func (w *world) under(rel string) bool {
	for dir := up(rel); dir != "."; dir = up(dir) {
		info, err := os.Lstat(filepath.Join(w.upper(), filepath.FromSlash(dir)))
		if err == nil && (!info.IsDir() || w.layer.replaces(dir)) {
			return true
		}
	}
	return false
}

// settle drops what was built of text that was rejected: of each text that an entry was
// made of, now says what becomes of it. pending: it waits still.
func (o *outputs) settle(now func(rel string) (n node, pending bool)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for _, e := range o.list {
		rejected, changed := false, false
		for rel, was := range maps.Clone(e.Made) {
			n, pending := now(rel)
			if pending {
				continue
			}
			rejected = rejected || n.word() != was
			changed = true
			delete(e.Made, rel)
		}
		if rejected {
			e.Made = nil
			errs = append(errs, e.dropBuilt())
		}
		if changed {
			errs = append(errs, e.write())
		}
	}
	return errors.Join(errs...)
}

// dropBuilt removes all but dependencies.
func (e *entry) dropBuilt() error {
	top, err := osfile.OpenDir(e.tree())
	if err != nil {
		return err
	}
	defer top.Close()
	e.Gone = slices.DeleteFunc(e.Gone, func(rel string) bool { return !inDependencies(rel) })
	maps.DeleteFunc(e.Since, func(rel string, _ int64) bool { return !inDependencies(rel) })
	return dropBuiltIn(top)
}

func dropBuiltIn(dir *osfile.Dir) error {
	entries, err := dir.List()
	errs := []error{err}
	for _, e := range entries {
		info, err := dir.Lstat(e.Name())
		switch {
		case err != nil || info.IsDir() && dependencyDirs[e.Name()]:
			continue
		case info.IsDir():
			sub, err := dir.Sub(e.Name())
			if err != nil {
				errs = append(errs, err)
				continue
			}
			errs = append(errs, dropBuiltIn(sub), sub.Close())
			_ = dir.Remove(e.Name()) // if nothing is left in it
		default:
			errs = append(errs, dir.Remove(e.Name()))
		}
	}
	return errors.Join(errs...)
}
