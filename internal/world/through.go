package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sidecar-ls/sidecar-ls/internal/osfile"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// through moves what nobody reviews to the folder: what was built of nothing but
// its own text, and what package managers put there. The rest stays in the
// session: were it moved and its source rejected, make would say that all is up
// to date, and run what nobody accepted. No mount of the layer is in use.
func (w *world) through(f *found) (said []string) {
	t := &mover{w: w, kept: map[string][]string{}}
	names, waiting := "", map[string]int64{}
	if w.kind == Apart && !w.stays {
		names = w.namesCopy(f.output)
	}
	for _, o := range f.output {
		t.since = w.firstOf(o.rel)
		t.stays = w.stays || o.stays || !w.equal && !inDependencies(o.rel)
		switch {
		case t.stays:
		case names != "" && !mayNameCopy(o.rel):
			t.keep(fmt.Sprintf("%s has the path of the copy of the workspace in it, in which it was built", names), o.rel)
		default:
			t.move(o.rel)
			w.o.Fail("moved")
		}
		if t.stays {
			waiting[o.rel] = t.since
		}
	}
	w.waiting = waiting
	for _, why := range slices.Sorted(maps.Keys(t.kept)) {
		names := slices.DeleteFunc(t.kept[why], func(rel string) bool { return w.left[rel] })
		for _, rel := range names {
			w.left[rel] = true
		}
		if len(names) > 0 {
			said = append(said, fmt.Sprintf("Left in the session: %s: %s.", some(names), why))
		}
	}
	for _, dir := range t.asides {
		_ = osfile.RemoveAll(dir)
	}
	// Removing takes longer than renaming, and nobody has to wait for it.
	if t.trashed > 0 {
		go func() { _ = osfile.RemoveAll(t.trash) }()
	}
	return said
}

// mover moves trees from the upper layer to the folder.
type mover struct {
	w       *world
	kept    map[string][]string // by why
	trash   string
	trashed int
	last    string   // where what was discarded last is
	asides  []string // directories beside what was discarded, where the trash is on another disk

	since int64 // of the tree that is being moved: when its first command began
	stays bool  // something of it does

	waited bool // for another program, in vain
}

// patient renames by f. On Windows it waits a second for a program that has a file open,
// as virus scanners do with what is new; once is enough.
func (t *mover) patient(to string, f func() error) error {
	if t.waited {
		return f()
	}
	err := osfile.Retry(context.Background(), to, f)
	t.waited = osfile.IsInUse(err)
	return err
}

func (t *mover) keep(why, rel string) {
	t.kept[why] = append(t.kept[why], rel)
	t.stays = true
}

// firstOf is when the first command began that has output at a name which is still in
// the session; the last one that has none.
func (w *world) firstOf(rel string) int64 {
	first := w.began
	for name, began := range w.waiting {
		if name == rel || below(name, rel) || below(rel, name) {
			first = min(first, began)
		}
	}
	return first
}

// Why something is left in the session.
const (
	changedMeanwhile = "somebody changed it in the workspace while the command ran"
	hasRepository    = "there is a repository in it"
	noParent         = "its directory does not exist in the workspace"
	linksBack        = "a link leads to the copy of the workspace in which it was made, or is one of the links there"
	swapped          = "a program put something else in the place of its directory"
)

func (t *mover) move(rel string) {
	from, to := filepath.Join(t.w.upper(), filepath.FromSlash(rel)), filepath.Join(t.w.root, filepath.FromSlash(rel))
	parent := filepath.Dir(to)
	if real, err := filepath.EvalSymlinks(parent); err != nil || real != parent {
		t.keep(noParent, rel)
		return
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(from)); err == nil && real != filepath.Dir(from) {
		t.keep(swapped, rel)
		return
	}
	info, err := os.Lstat(from)
	hidden := errors.Is(err, fs.ErrNotExist) // by an opaque directory above
	if err != nil && !hidden {
		t.keep(reason(err), rel)
		return
	}
	low, lowErr := os.Lstat(to)
	there := lowErr == nil
	switch {
	case hidden || isWhiteout(info):
		if there && !t.discard(rel, to) {
			return
		}
		if err = nil; !hidden {
			err = os.Remove(from)
		}
	case info.IsDir() && there && low.IsDir() && !t.w.layer.replaces(rel):
		t.merge(rel, from)
		return
	case info.IsDir():
		if !t.clean(rel, from) || there && !t.discard(rel, to) {
			return
		}
		err = t.patient(to, func() error { return rename(from, to) })
		if err != nil && there {
			t.restore(to)
		}
	case info.Mode().Type()&^fs.ModeSymlink != 0:
		t.keep("it is a socket, a pipe or a device", rel)
		return
	case there && (low.IsDir() || stampOf(to).changedSince(t.since)):
		t.keep(changedMeanwhile, rel)
		return
	case info.Mode()&fs.ModeSymlink != 0 && t.leadsBack(from):
		t.keep(linksBack, rel)
		return
	default:
		unset(from, info)
		err = t.patient(to, func() error { return rename(from, to) })
	}
	if err != nil {
		t.keep(reason(err), rel)
		return
	}
	t.w.layer.moved(rel)
}

// merge moves what is in a directory that the folder has, too.
func (t *mover) merge(rel, from string) {
	entries, err := os.ReadDir(from)
	if err != nil {
		t.keep(reason(err), rel)
		return
	}
	for _, e := range entries {
		if workspace.Protected(e.Name()) == workspace.Never {
			t.keep(hasRepository, rel)
			continue
		}
		t.move(rel + "/" + e.Name())
	}
	_ = os.Remove(from) // if nothing is left in it
}

// discard takes what is in the folder away, unless it was changed meanwhile.
func (t *mover) discard(rel, path string) bool {
	changed := false
	_ = filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && stampOf(path).changedSince(t.since) {
			changed = true
			return fs.SkipAll
		}
		return nil
	})
	if changed {
		t.keep(changedMeanwhile, rel)
		return false
	}
	if t.trash == "" {
		var err error
		if t.trash, err = os.MkdirTemp(filepath.Join(t.w.dir, trashDir), ""); err != nil {
			t.keep(reason(err), rel)
			return false
		}
	}
	t.trashed++
	t.last = filepath.Join(t.trash, strconv.Itoa(t.trashed))
	err := t.patient(path, func() error { return os.Rename(path, t.last) })
	if osfile.IsOtherDisk(err) {
		err = t.aside(path)
	}
	if err != nil {
		t.keep(reason(err), rel)
	}
	return err == nil
}

// aside discards to a directory beside, from where it can be put back.
func (t *mover) aside(path string) error {
	dir, err := os.MkdirTemp(filepath.Dir(path), ".sidecar-*.tmp")
	if err != nil {
		return err
	}
	t.asides, t.last = append(t.asides, dir), filepath.Join(dir, "discarded")
	return t.patient(path, func() error { return os.Rename(path, t.last) })
}

// restore puts back what was discarded last, if it can: what was to take its place did not
// come, because a program has it open.
func (t *mover) restore(to string) { _ = osfile.Rename(context.Background(), t.last, to) }

// clean readies a new directory: nothing that git would take for a repository, no
// marks of the overlay.
func (t *mover) clean(rel, dir string) bool {
	bad := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case workspace.Protected(d.Name()) == workspace.Never:
			bad = hasRepository
			return fs.SkipAll
		case d.IsDir():
			if isRepository(path) {
				bad = hasRepository
				return fs.SkipAll
			}
			strip(path)
		case d.Type().IsRegular():
			if info, err := d.Info(); err == nil {
				unset(path, info)
			}
		case d.Type()&fs.ModeIrregular != 0: // a junction of Windows, which has an absolute path
			bad = linksBack
			return fs.SkipAll
		case d.Type()&fs.ModeSymlink != 0:
			if t.leadsBack(path) {
				bad = linksBack
				return fs.SkipAll
			}
		default: // hides nothing any more, or is no file
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		bad = reason(err)
	}
	if bad != "" {
		t.keep(bad, rel)
	}
	return bad == ""
}

// leadsBack reports whether a link leads into the copy that it was made in, or is one to
// the folder's own in it.
func (t *mover) leadsBack(link string) bool {
	return t.w.kind == Apart && (leadsTo(link, t.w.upper()) || leadsTo(link, t.w.root))
}

// unset takes the bits from a file that give who runs it other rights.
func unset(path string, info fs.FileInfo) {
	if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		_ = os.Chmod(path, info.Mode().Perm())
	}
}

// rename moves a file or a directory, also to another file system: there it
// comes by a rename too, once it is whole.
func rename(from, to string) error {
	err := os.Rename(from, to)
	if !osfile.IsOtherDisk(err) {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(to), ".sidecar-*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	copied := filepath.Join(temp, "copied")
	info, err := os.Lstat(from)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		err = os.CopyFS(copied, os.DirFS(from))
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		if target, err = os.Readlink(from); err == nil {
			err = os.Symlink(target, copied)
		}
	default:
		err = copyFile(from, copied)
	}
	if err == nil {
		err = os.Rename(copied, to)
	}
	if err == nil {
		err = osfile.RemoveAll(from)
	}
	return err
}
