package world

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// prepare puts into the layer what the view has and the folder has not; only
// what is another than at the last look is written. live: programs run there, so
// it is changed where they hear of it. equal reports whether nothing differs.
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
	spellings := map[string]int{}
	for _, rel := range list {
		spellings[anySpelling.Key(rel)]++
	}
	wants := make(map[string]want, len(list))
	for _, rel := range list {
		if workspace.Protected(rel) == workspace.Never {
			continue
		}
		if w.unsettled[rel] > 0 {
			equal = false
			continue
		}
		x := w.compare(v, rel, spellings[anySpelling.Key(rel)] > 1)
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

// settleOutput drops what was built, by any session, of text that was rejected.
func (w *world) settleOutput(v view) error {
	return w.out.settle(func(rel string) (node, bool) {
		if _, _, known := viewNode(v.Files, v.name(rel)); !known {
			return node{}, true // nobody knows
		}
		x := w.compare(v, rel, false)
		return x.node, !x.same
	})
}

// want is what a name shall have in the merged tree.
type want struct {
	held
	done bool // it has it
}

// compare finds out what a name shall have, and whether the folder has it. twin: there is
// another spelling of it, by which the same may be found.
func (w *world) compare(v view, rel string, twin bool) want {
	lowPath := filepath.Join(w.root, filepath.FromSlash(rel))
	x := want{held: held{lower: stampOf(lowPath)}}
	h := w.held[rel]
	var known bool
	x.node, x.text, known = viewNode(v.Files, v.name(rel))
	other := twin && x.lower != stamp{} && !spelledSo(lowPath)
	if other {
		x.lower = stamp{}
	}
	if twin && known {
		if as, err := v.Resolve(v.Abs(v.name(rel))); err == nil && as != v.name(rel) {
			x.node, x.text = node{}, nil
		}
	}
	if h != nil && known && h.node == x.node && h.lower == x.lower {
		x.held, x.done = *h, true
		return x
	}
	low, text, err := readNode(lowPath)
	if other {
		low, text, err = node{}, nil, nil
	}
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
	case live && h.sameNode(x):
		h.lower, h.same = x.lower, x.same // to write it again would show it empty for a moment
		return nil
	case live:
		if err := w.putMerged(rel, x); err != nil {
			w.torn(rel, x)
			return err
		}
	case x.same:
		delete(w.held, rel)
		return w.layer.reset(rel)
	default:
		if err := w.putUpper(rel, x); err != nil {
			delete(w.held, rel)
			return errors.Join(err, w.layer.reset(rel))
		}
	}
	w.held[rel] = &x.held
	return nil
}

// sameNode reports whether a name has what it shall have already.
func (h *held) sameNode(x want) bool { return h != nil && h.node == x.node }

// torn notes what is there of a text that could not be put there whole: no command
// wrote it, and the next time it is put there again.
func (w *world) torn(rel string, x want) {
	top, err := os.OpenRoot(w.layer.path())
	if err != nil {
		return
	}
	defer top.Close()
	if n, _, err := readNodeOf(regular{top}, filepath.FromSlash(rel)); err == nil {
		w.held[rel] = &held{node: n, lower: x.lower}
	}
}

// putMerged writes where commands see it, so that programs that run there hear of it.
// Any of them may make a link of a directory on the way: it leads nowhere but into
// the tree.
func (w *world) putMerged(rel string, x want) error {
	top, err := os.OpenRoot(w.layer.path())
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
	if info != nil && info.Mode().Perm()&0o200 == 0 {
		if err := top.Chmod(at, mode|0o200); err != nil {
			return err
		}
	}
	if err := top.WriteFile(at, x.text, mode); err != nil {
		return err
	}
	return top.Chmod(at, mode)
}

// putUpper writes into the layer, in which nothing runs.
func (w *world) putUpper(rel string, x want) error {
	if err := w.layer.parents(rel); err != nil {
		return err
	}
	top, err := w.inside()
	if err != nil {
		return err
	}
	defer top.Close()
	at := filepath.FromSlash(rel)
	if err := removeAll(top, at); err != nil {
		return err
	}
	switch {
	case !x.there:
		if x.lower == (stamp{}) {
			return nil
		}
		return w.layer.hide(rel)
	case x.link:
		return top.Symlink(string(x.text), at)
	}
	mode := w.mode(rel, x)
	return errors.Join(top.WriteFile(at, x.text, mode), top.Chmod(at, mode))
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

// dropOutput removes what was built of text that nobody wants any more.
func (w *world) dropOutput() error {
	clear(w.made)
	maps.DeleteFunc(w.waiting, func(rel string, _ int64) bool { return !inDependencies(rel) }) // those stay
	f := w.walk()
	var errs []error
	for _, o := range f.output {
		if !inDependencies(o.rel) {
			errs = append(errs, w.layer.drop(o.rel))
		}
	}
	return errors.Join(errs...)
}

// inDependencies reports whether a package manager put that there.
func inDependencies(rel string) bool {
	for part := range strings.SplitSeq(rel, "/") {
		if dependencyDirs[part] {
			return true
		}
	}
	return false
}

// up is the directory that a name lies in, which is as short work at any depth.
func up(rel string) string {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i]
	}
	return "."
}

// below reports whether a name lies in dir.
func below(rel, dir string) bool { return dir == "." || strings.HasPrefix(rel, dir+"/") }
