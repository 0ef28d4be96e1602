package world

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

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

// TakeBuilt moves what a session has built afresh to the folder, in the place of what another
// one holds in the same directories; session "" is all others. Replaced is what went so, as far
// as the new came.
func (m *Manager) TakeBuilt(root, built, session string) (files int, said []string, replaced []workspace.Held, err error) {
	o, err := m.output(root)
	if err != nil {
		return 0, nil, nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	at := slices.IndexFunc(o.list, func(e *entry) bool { return e.Session == built })
	if at < 0 {
		return 0, nil, nil, nil
	}
	e := o.list[at]
	names := e.places()
	if files, said, err = o.accept(e); err != nil {
		return files, said, nil, err
	}
	if len(said) > 0 {
		return files, said, nil, nil // what did not come is held beside the other
	}
	for _, other := range slices.Clone(o.list) {
		if other == e || session != "" && other.Session != session {
			continue
		}
		gone, failed := o.giveWay(other, names)
		err = errors.Join(err, failed)
		if len(gone) > 0 {
			replaced = append(replaced, workspace.Held{Session: other.Session, Names: gone})
		}
	}
	return files, said, replaced, err
}

// places are the directories, or names at the top, that an entry has output in.
func (e *entry) places() (places []string) {
	for rel := range e.Since {
		info, err := os.Lstat(filepath.Join(e.tree(), filepath.FromSlash(rel)))
		if dir := path.Dir(rel); (err != nil || !info.IsDir()) && dir != "." {
			rel = dir
		}
		if !slices.Contains(places, rel) {
			places = append(places, rel)
		}
	}
	slices.Sort(places)
	return places
}

// giveWay removes from an entry what lies at some names, or in them, and returns what there was.
func (o *outputs) giveWay(e *entry, names []string) (gone []string, err error) {
	tree, err := osfile.OpenDir(e.tree())
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	within := func(rel string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return rel == name || below(rel, name) })
	}
	for _, rel := range names {
		if _, err := tree.Lstat(filepath.FromSlash(rel)); err != nil {
			continue
		}
		if failed := osfile.RemoveAll(filepath.Join(e.tree(), filepath.FromSlash(rel))); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		gone = append(gone, rel)
	}
	for rel := range e.Since {
		if within(rel) {
			delete(e.Since, rel)
		}
	}
	e.Gone = slices.DeleteFunc(e.Gone, within)
	if left := o.describe(e); len(e.Since)+len(e.Gone)+left.Files+len(left.Deleted) > 0 {
		e.Bytes = sizeOf(e.tree())
		return gone, errors.Join(err, e.write())
	}
	o.list = slices.DeleteFunc(o.list, func(x *entry) bool { return x == e })
	return gone, errors.Join(err, osfile.RemoveAll(e.dir))
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
