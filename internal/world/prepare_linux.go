package world

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// prepare makes the upper layer what the view has and the folder has not; only
// what is another than at the last look is written. live: a mount of it is in
// use, so it is changed through that. equal reports whether nothing differs.
func (w *world) prepare(v view, live bool) (equal bool, err error) {
	names := map[string]bool{}
	for _, rel := range v.over() {
		names[rel] = true
	}
	for _, rel := range slices.AppendSeq(slices.Collect(maps.Keys(w.held)), maps.Keys(w.made)) {
		names[rel] = true
	}
	equal = true
	rejected := false
	// What goes first makes room; a directory comes before what is in it.
	list := slices.Sorted(maps.Keys(names))
	wants := make(map[string]want, len(list))
	for _, rel := range list {
		if workspace.Protected(rel) == workspace.Never {
			continue
		}
		x := w.compare(v, rel)
		wants[rel] = x
		equal = equal && x.same
		if n, ok := w.made[rel]; ok && x.same {
			rejected = rejected || x.node != n
			delete(w.made, rel)
		}
	}
	if rejected && !live {
		if err := w.dropOutput(); err != nil {
			return false, err
		}
	}
	for _, goes := range []bool{true, false} {
		for _, rel := range list {
			if x, ok := wants[rel]; ok && x.there != goes {
				if err := w.put(rel, x, live); err != nil {
					return false, err
				}
			}
		}
	}
	return equal, nil
}

// want is what a name shall have in the merged tree.
type want struct {
	held
	done bool // it has it
}

// compare finds out what a name shall have, and whether the folder has it.
func (w *world) compare(v view, rel string) want {
	lowPath := filepath.Join(w.root, filepath.FromSlash(rel))
	x := want{held: held{lower: stampOf(lowPath)}}
	h := w.held[rel]
	var known bool
	x.node, x.text, known = viewNode(v.Files, v.name(rel))
	if h != nil && known && h.node == x.node && h.lower == x.lower {
		x.held, x.done = *h, true
		return x
	}
	low, text, err := readNode(lowPath)
	if !known || err != nil {
		x.node, x.text, x.same = low, text, true // whatever is there is seen
	} else {
		x.same = low == x.node
	}
	x.done = h != nil && h.node == x.node && !x.same
	return x
}

// put gives a name what it shall have.
func (w *world) put(rel string, x want, live bool) error {
	h := w.held[rel]
	switch {
	case x.done:
		h.lower, h.same = x.lower, x.same
		return nil
	case h == nil && x.same:
		return nil // the folder's own is seen
	case live:
		if err := w.putMerged(rel, x); err != nil {
			return err
		}
	case x.same:
		delete(w.held, rel)
		return w.reset(rel)
	default:
		if err := w.putUpper(rel, x); err != nil {
			return err
		}
	}
	w.held[rel] = &x.held
	return nil
}

// putMerged writes through the mount, so that programs that run there hear of it.
// Any of them may make a link of a directory on the way: it leads nowhere but into
// the tree.
func (w *world) putMerged(rel string, x want) error {
	top, err := os.OpenRoot(w.merged())
	if err != nil {
		return err
	}
	defer top.Close()
	at := filepath.FromSlash(rel)
	info, err := top.Lstat(at)
	if err == nil && (info.Mode().Type() != 0 || !x.there || x.link) {
		if err := top.RemoveAll(at); err != nil {
			return err
		}
	}
	if !x.there {
		return nil
	}
	if err := top.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if x.link {
		return top.Symlink(string(x.text), at)
	}
	mode := w.mode(rel, x)
	if err := top.WriteFile(at, x.text, mode); err != nil {
		return err
	}
	return top.Chmod(at, mode)
}

// putUpper writes into the upper layer, of which there is no mount.
func (w *world) putUpper(rel string, x want) error {
	if err := w.parents(rel); err != nil {
		return err
	}
	at := filepath.Join(w.upper(), filepath.FromSlash(rel))
	if err := removeAll(at); err != nil {
		return err
	}
	switch {
	case !x.there:
		if x.lower == (stamp{}) {
			return nil
		}
		return whiteout(at)
	case x.link:
		return os.Symlink(string(x.text), at)
	}
	mode := w.mode(rel, x)
	if err := os.WriteFile(at, x.text, mode); err != nil {
		return err
	}
	return os.Chmod(at, mode)
}

// mode is that of the folder's own file, if there is one, with the execute bits
// that x has.
func (w *world) mode(rel string, x want) fs.FileMode {
	mode := fs.FileMode(0o644)
	if info, err := os.Lstat(filepath.Join(w.root, filepath.FromSlash(rel))); err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	}
	if mode &^= 0o111; x.exec {
		mode |= mode & 0o444 >> 2
	}
	return mode
}

// parents makes the directories that a name is in, with what the folder has in
// them hidden as it was before: by one mark for all of it, or name by name.
func (w *world) parents(rel string) error {
	for i, c := range rel {
		if c != '/' {
			continue
		}
		dir := rel[:i]
		at, low := filepath.Join(w.upper(), filepath.FromSlash(dir)), filepath.Join(w.root, filepath.FromSlash(dir))
		info, err := os.Lstat(at)
		isDir := err == nil && info.IsDir()
		hides := err == nil && !isDir || isDir && opaque(at)
		if err == nil && !isDir {
			if err := os.Remove(at); err != nil {
				return err
			}
			delete(w.held, dir)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !isDir {
			mode := fs.FileMode(0o755)
			if below, err := os.Lstat(low); err == nil && below.IsDir() {
				mode = below.Mode().Perm()
			}
			if err := errors.Join(os.Mkdir(at, 0o700), os.Chmod(at, mode|0o700)); err != nil {
				return err
			}
		}
		if hides {
			if err := hideAll(at, low); err != nil {
				return err
			}
		}
	}
	return nil
}

// hideAll hides each name of the directory low that at has not, and then makes
// at no longer hide all of them.
func hideAll(at, low string) error {
	entries, err := os.ReadDir(low)
	if err != nil {
		entries = nil // there is nothing to hide
	}
	for _, e := range entries {
		name := filepath.Join(at, e.Name())
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			if err := whiteout(name); err != nil {
				return err
			}
		}
	}
	if opaque(at) {
		return unix.Lremovexattr(at, opaqueName)
	}
	return nil
}

// reset gives a name of the upper layer up, so that the folder's own is seen, and
// the directories that were there for it alone.
func (w *world) reset(rel string) error {
	if err := w.parents(rel); err != nil {
		return err
	}
	if err := removeAll(filepath.Join(w.upper(), filepath.FromSlash(rel))); err != nil {
		return err
	}
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(w.root, filepath.FromSlash(dir))); err == nil {
			break
		}
		if os.Remove(filepath.Join(w.upper(), filepath.FromSlash(dir))) != nil {
			break // something else is in it
		}
	}
	return nil
}

// dropOutput removes what was built of text that nobody wants any more.
func (w *world) dropOutput() error {
	clear(w.made)
	w.since = w.began
	f := w.walk()
	var errs []error
	for _, o := range f.output {
		if !inDependencies(o.rel) {
			errs = append(errs, removeAll(filepath.Join(w.upper(), filepath.FromSlash(o.rel))))
		}
	}
	return errors.Join(errs...)
}

// inDependencies reports whether a package manager put that there.
func inDependencies(rel string) bool {
	for dir := rel; dir != "."; dir = path.Dir(dir) {
		if dependencyDirs[path.Base(dir)] {
			return true
		}
	}
	return false
}

// below reports whether a name lies in dir.
func below(rel, dir string) bool { return dir == "." || strings.HasPrefix(rel, dir+"/") }
