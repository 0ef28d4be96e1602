package world

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
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

// stash moves output from the layer to the session's entry, and returns what could not be
// moved.
func (w *world) stash(list []output) (files int, left []output, err error) {
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	e, err := w.out.of(w.session)
	if err != nil {
		return 0, list, err
	}
	s := &stash{w: w, e: e}
	if s.from, err = osfile.OpenDir(w.upper()); err != nil {
		return 0, list, err
	}
	defer s.from.Close()
	if s.to, err = osfile.OpenDir(e.tree()); err != nil {
		return 0, list, err
	}
	defer s.to.Close()
	defer s.empty()
	// The record comes first: a server that is killed leaves no files that it does not name.
	since := map[string]int64{}
	for _, o := range list {
		since[o.rel] = w.out.since(o.rel, w.firstOf(o.rel))
	}
	if e.Since == nil {
		e.Since = map[string]int64{}
	}
	maps.Copy(e.Since, since)
	if e.Made == nil {
		e.Made = map[string]string{}
	}
	for rel, n := range w.made {
		e.Made[rel] = n.word()
	}
	e.At = time.Now()
	if err := e.write(); err != nil {
		return 0, list, err
	}
	for _, o := range list {
		if w.under(o.rel) || s.put(o.rel) != nil {
			left = append(left, o)
			continue
		}
		w.layer.moved(o.rel)
		w.o.Fail("held")
	}
	e.Bytes += s.bytes // what is replaced is counted twice, until all is counted
	w.out.sort()
	return s.files, left, e.write()
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

// stash is output on its way to an entry.
type stash struct {
	w        *world
	e        *entry
	from, to *osfile.Dir
	files    int
	bytes    int64
	bin      *osfile.Dir
	trashed  int
}

func (s *stash) put(rel string) error {
	to, err := s.parent(path.Dir(rel))
	if err != nil {
		return err
	}
	defer to.Close()
	from, err := s.from.Sub(path.Dir(rel))
	if errors.Is(err, fs.ErrNotExist) {
		return s.hide(to, rel)
	}
	if err != nil {
		return err
	}
	defer from.Close()
	return s.entry(from, to, rel)
}

// parent opens a directory of the tree, made as the folder has it.
func (s *stash) parent(rel string) (*osfile.Dir, error) {
	at, err := s.to.Sub(".")
	if err != nil || rel == "." {
		return at, err
	}
	done := "."
	for name := range strings.SplitSeq(rel, "/") {
		done = path.Join(done, name)
		if info, err := at.Lstat(name); err == nil && !info.IsDir() {
			_ = at.Remove(name)
		}
		mode := fs.FileMode(0o755)
		if info, err := os.Lstat(filepath.Join(s.w.root, filepath.FromSlash(done))); err == nil && info.IsDir() {
			mode = info.Mode().Perm() | 0o700
		}
		next, err := at.MakeSub(name, mode)
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func (s *stash) entry(from, to *osfile.Dir, rel string) error {
	name := path.Base(rel)
	info, err := from.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.hide(to, rel)
	case err != nil:
		return err
	case isWhiteout(info):
		return errors.Join(s.hide(to, rel), from.Remove(name))
	case info.Mode().Type()&^(fs.ModeSymlink|fs.ModeDir) != 0:
		return nil // a pipe, a socket or a device is nobody's output
	}
	low, lowErr := to.Lstat(name)
	if info.IsDir() {
		dir, err := from.Sub(name)
		if err != nil {
			return err
		}
		defer dir.Close()
		if lowErr == nil && low.IsDir() && !isOpaque(dir) {
			return s.merge(from, dir, to, rel)
		}
		if s.w.kind != Overlay {
			return s.merge(from, dir, to, rel)
		}
		if err := unlinkAll(dir, rel); err != nil {
			return err
		}
		files, bytes := countIn(from, rel)
		s.files, s.bytes = s.files+files, s.bytes+bytes
	} else {
		if s.w.kind != Overlay && s.w.out.hasSame(rel, info) {
			return nil // an entry has it already
		}
		if info.Mode().IsRegular() {
			if err := unlink(from, name, info); err != nil {
				return err
			}
		}
		s.files, s.bytes = s.files+1, s.bytes+info.Size()
	}
	s.e.Gone = slices.DeleteFunc(s.e.Gone, func(gone string) bool { return gone == rel || below(gone, rel) })
	if lowErr == nil && (low.IsDir() || info.IsDir()) {
		if err := s.discard(to, name); err != nil {
			return err
		}
	}
	return transfer(from, to, name)
}

// merge moves what is in a directory that the tree has, too.
func (s *stash) merge(from, dir, to *osfile.Dir, rel string) error {
	name := path.Base(rel)
	mode := fs.FileMode(0o755)
	if info, err := dir.Stat("."); err == nil {
		mode = info.Mode().Perm() | 0o700
	}
	if low, err := to.Lstat(name); err == nil && !low.IsDir() {
		if err := s.discard(to, name); err != nil {
			return err
		}
	}
	into, err := to.MakeSub(name, mode)
	if err != nil {
		return err
	}
	defer into.Close()
	entries, err := dir.List()
	for _, e := range entries {
		at := path.Join(rel, e.Name())
		if info, err := dir.Lstat(e.Name()); err != nil || s.w.kind != Overlay && s.w.layer.original(at, info) {
			continue
		}
		err = errors.Join(err, s.entry(dir, into, at))
	}
	_, _ = from.Remove(name), to.Remove(name) // if nothing is left, or came
	return err
}

// hide notes that a name is gone: by a mark of the overlay, or in the record.
func (s *stash) hide(to *osfile.Dir, rel string) error {
	name := path.Base(rel)
	if _, err := to.Lstat(name); err == nil {
		if err := s.discard(to, name); err != nil {
			return err
		}
	}
	s.files++
	if s.w.kind != Overlay {
		if !slices.Contains(s.e.Gone, rel) {
			s.e.Gone = append(s.e.Gone, rel)
		}
		return nil
	}
	return hideIn(to, name)
}

// discard takes away what the tree has under a name.
func (s *stash) discard(to *osfile.Dir, name string) error {
	if s.bin == nil {
		at, err := os.MkdirTemp(s.w.out.dir, fresh)
		if err != nil {
			return err
		}
		if s.bin, err = osfile.OpenDir(at); err != nil {
			return err
		}
	}
	s.trashed++
	return to.Move(name, s.bin, fmt.Sprint(s.trashed))
}

// empty removes what was discarded.
func (s *stash) empty() {
	if s.bin != nil {
		dir := s.bin.Name()
		_ = s.bin.Close()
		go func() { _ = osfile.RemoveAll(dir) }()
	}
}

// word is a node as a record has it.
func (n node) word() string {
	kind := "file"
	switch {
	case !n.there:
		return ""
	case n.link:
		kind = "link"
	case n.exec:
		kind = "exec"
	}
	return kind + " " + hex.EncodeToString(n.sum[:])
}

// sizeOf counts the bytes of the files in a directory.
func sizeOf(path string) (sum int64) {
	dir, err := osfile.OpenDir(path)
	if err != nil {
		return 0
	}
	defer dir.Close()
	_ = walkDir(dir, ".", func(_ *osfile.Dir, _ string, info fs.FileInfo) error {
		if info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
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

// describe lists what an entry has.
func (o *outputs) describe(e *entry) workspace.Held {
	h := workspace.Held{Session: e.Session, At: e.At, Deleted: slices.Clone(e.Gone), Programs: []string{}, Protected: []string{}}
	add := func(list *[]string, rel string) {
		if len(*list) < maxListed {
			*list = append(*list, rel)
		}
	}
	top, err := osfile.OpenDir(e.tree())
	if err != nil {
		return h
	}
	defer top.Close()
	_ = walkDir(top, ".", func(in *osfile.Dir, rel string, info fs.FileInfo) error {
		switch {
		case isWhiteout(info):
			add(&h.Deleted, rel)
			return nil
		case info.IsDir():
			o.replaced(in, rel, func(name string) { add(&h.Deleted, name) })
			return nil
		case info.Mode()&fs.ModeSymlink != 0:
			if target, err := in.Readlink(path.Base(rel)); err == nil && workspace.LeadsOut(rel, target) {
				add(&h.Protected, rel+" -> "+target)
			}
		case workspace.IsExec(info.Mode()):
			add(&h.Programs, rel)
		}
		if decidedApart(rel) {
			add(&h.Protected, rel)
		}
		h.Files++
		h.Bytes += info.Size()
		return nil
	})
	h.Names = slices.Sorted(maps.Keys(e.Since))
	h.Names = h.Names[:min(len(h.Names), maxListed)]
	if h.Deleted == nil {
		h.Deleted = []string{}
	}
	return h
}

// replaced names what the folder has in a directory that another one takes the place of.
func (o *outputs) replaced(in *osfile.Dir, rel string, add func(name string)) {
	dir, err := in.Sub(path.Base(rel))
	if err != nil {
		return
	}
	defer dir.Close()
	if !isOpaque(dir) {
		return
	}
	low, err := os.ReadDir(filepath.Join(o.root, filepath.FromSlash(rel)))
	if err != nil {
		return
	}
	for _, e := range low {
		if _, err := dir.Lstat(e.Name()); err != nil {
			add(path.Join(rel, e.Name()))
		}
	}
}

// Output describes what sessions hold of a folder, the newest first; session "" is all.
func (m *Manager) Output(root, session string) ([]workspace.Held, error) {
	o, err := m.output(root)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	list := []workspace.Held{}
	for _, e := range o.list {
		if session != "" && e.Session != session {
			continue
		}
		if h := o.describe(e); h.Files+len(h.Deleted) > 0 {
			list = append(list, h)
		}
	}
	return list, nil
}

// DropOutput removes what a session holds; session "" is all.
func (m *Manager) DropOutput(root, session string) error {
	o, err := m.output(root)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	o.list = slices.DeleteFunc(o.list, func(e *entry) bool {
		if session != "" && e.Session != session {
			return false
		}
		errs = append(errs, osfile.RemoveAll(e.dir))
		return true
	})
	return errors.Join(errs...)
}

// AcceptOutput moves what a session holds to the folder; session "" is all, the oldest
// first. Said are sentences about what stays held: what somebody changed in the folder
// since it was made, and repositories.
func (m *Manager) AcceptOutput(root, session string) (files int, said []string, err error) {
	o, err := m.output(root)
	if err != nil {
		return 0, nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range slices.Backward(slices.Clone(o.list)) {
		if session != "" && e.Session != session {
			continue
		}
		n, left, err := o.accept(e)
		files, said = files+n, append(said, left...)
		if err != nil {
			return files, said, err
		}
	}
	return files, said, nil
}

// accept moves an entry to the folder.
func (o *outputs) accept(e *entry) (files int, said []string, err error) {
	t, err := newMover(e.tree(), o.root, o.dir)
	if err != nil {
		return 0, nil, err
	}
	defer t.close()
	gone := e.Gone
	e.Gone = nil
	moved := map[string]bool{}
	for _, rel := range slices.Concat(e.names(t.from), gone) {
		t.since, t.stays = o.since(rel, e.At.UnixNano()), false
		_, err := t.from.Lstat(filepath.FromSlash(rel))
		switch {
		case err != nil && !slices.Contains(gone, rel): // it was dropped
		case err != nil && moved[rel]:
		default:
			moved[rel] = err == nil
			if err := makeParents(t.to, path.Dir(rel)); err != nil {
				t.keep(reasonOf(err), rel)
			} else {
				t.move(rel)
			}
		}
		switch {
		case !t.stays:
			delete(e.Since, rel)
		case slices.Contains(gone, rel):
			e.Gone = append(e.Gone, rel)
		}
	}
	said = t.said(map[string]bool{})
	if left := o.describe(e); len(e.Since)+len(e.Gone)+left.Files+len(left.Deleted) > 0 {
		e.Bytes = sizeOf(e.tree())
		return t.files, said, e.write()
	}
	o.list = slices.DeleteFunc(o.list, func(x *entry) bool { return x == e })
	return t.files, said, osfile.RemoveAll(e.dir)
}

// names are the names that an entry holds, and the top of what is there besides: no record
// that is damaged, or older than the files, has files forgotten.
func (e *entry) names(tree *osfile.Dir) []string {
	all := slices.Sorted(maps.Keys(e.Since))
	entries, _ := tree.List()
	for _, top := range entries {
		if !slices.ContainsFunc(all, func(rel string) bool { return rel == top.Name() || below(rel, top.Name()) }) {
			all = append(all, top.Name())
		}
	}
	return all
}

// makeParents makes the directories of the folder that a name lies in.
func makeParents(to *osfile.Dir, rel string) error {
	dir, err := to.MakeSub(rel, 0o755)
	if err != nil {
		return err
	}
	return dir.Close()
}
