package world

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/osfile"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// through moves what nobody reviews to the folder: what was built of nothing but
// its own text, and what package managers put there. The rest stays in the
// session: were it moved and its source rejected, make would say that all is up
// to date, and run what nobody accepted. No mount of the layer is in use.
func (w *world) through(f *found) (said []string) {
	t := &mover{w: w, kept: map[string][]string{}}
	left := false
	for _, o := range f.output {
		dependency := inDependencies(o.rel)
		if w.stays || o.stays || !w.equal && !dependency {
			left = true
			continue
		}
		t.move(o.rel)
		w.o.Fail("moved")
	}
	if !left && len(t.kept) == 0 {
		w.since = 0
	}
	for _, why := range slices.Sorted(maps.Keys(t.kept)) {
		names := slices.DeleteFunc(t.kept[why], func(rel string) bool { return w.left[rel] })
		for _, rel := range names {
			w.left[rel] = true
		}
		if len(names) > 0 {
			said = append(said, fmt.Sprintf("Left in the session: %s: %s.", some(names), why))
		}
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
}

func (t *mover) keep(why, rel string) { t.kept[why] = append(t.kept[why], rel) }

// Why something is left in the session.
const (
	changedMeanwhile = "somebody changed it in the workspace while the command ran"
	hasRepository    = "there is a repository in it"
	noParent         = "its directory does not exist in the workspace"
)

func (t *mover) move(rel string) {
	from, to := filepath.Join(t.w.upper(), filepath.FromSlash(rel)), filepath.Join(t.w.root, filepath.FromSlash(rel))
	parent := filepath.Dir(to)
	if real, err := filepath.EvalSymlinks(parent); err != nil || real != parent {
		t.keep(noParent, rel)
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
	case info.IsDir() && there && low.IsDir() && !opaque(from):
		t.merge(rel, from)
		return
	case info.IsDir():
		if !t.clean(rel, from) || there && !t.discard(rel, to) {
			return
		}
		err = rename(from, to)
	case info.Mode().Type()&^fs.ModeSymlink != 0:
		t.keep("it is a socket, a pipe or a device", rel)
		return
	case there && (low.IsDir() || stampOf(to).changedSince(t.w.since)):
		t.keep(changedMeanwhile, rel)
		return
	default:
		unset(from, info)
		err = rename(from, to)
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
		if err == nil && stampOf(path).changedSince(t.w.since) {
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
	err := os.Rename(path, filepath.Join(t.trash, strconv.Itoa(t.trashed)))
	if errors.Is(err, unix.EXDEV) {
		err = os.RemoveAll(path)
	}
	if err != nil {
		t.keep(reason(err), rel)
	}
	return err == nil
}

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
		case d.Type()&fs.ModeSymlink == 0: // hides nothing any more, or is no file
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
	if !errors.Is(err, unix.EXDEV) {
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
