package world

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// letThrough moves data of directories that the user has named to the folder, out of output
// that is to be held. It returns the rest, and sentences about both.
func letThrough(w *world, list []output) (rest []output, said []string, files int) {
	a := newAllowing(w)
	if a == nil || len(list) == 0 {
		return list, nil, 0
	}
	t, err := newMover(w.upper(), w.root, filepath.Join(w.dir, trashDir))
	if err != nil {
		return list, nil, 0 // it is held, and that is said
	}
	defer t.close()
	t.moved, t.leadsBack, t.guards = w.layer.moved, w.leadsBack, true
	t.replaces = func(_ *osfile.Dir, rel string) bool { return w.layer.replaces(rel) }
	p := &passing{
		mover: t, allowed: a, refused: map[string][]string{}, prunes: w.kind == Overlay,
		ready: func(dir string) error { return expose(w, dir) }, done: func() { w.o.Fail("passed") },
	}
	for _, o := range list {
		if o.stays || w.doubts(o.rel) || !a.about(o.rel) {
			rest = append(rest, o)
			continue
		}
		before := t.files
		t.since = w.firstOf(o.rel)
		for _, rel := range p.find(o.rel) {
			p.pass(rel)
		}
		if t.files == before || !empty(t.from, o.rel) {
			rest = append(rest, o)
		}
	}
	said = p.said()
	if now := strings.Join(said, "\n"); t.files > 0 || now != w.lastPassed {
		w.lastPassed = now
		return rest, said, t.files
	}
	return rest, nil, t.files
}

// passing is data on its way to the folder.
type passing struct {
	*mover
	allowed *allowing
	prunes  bool                   // directories that are empty then go
	ready   func(dir string) error // has commands see what goes to a directory
	done    func()                 // after each file
	dirs    []string               // where something went
	refused map[string][]string    // why files are held that lie in a directory of the user's
}

// find lists the files under a name that may pass. Nothing is moved meanwhile.
func (p *passing) find(rel string) (files []string) {
	look := func(in *osfile.Dir, at string, info fs.FileInfo) error {
		rest, ok := p.allowed.has(at)
		if !ok || info.IsDir() || isWhiteout(info) {
			return nil // what a command deleted is held
		}
		if why := p.allowed.why(in, at, rest, info); why != "" {
			p.refused[why] = append(p.refused[why], at)
			return nil
		}
		files = append(files, at)
		return nil
	}
	in, err := p.from.Sub(up(rel))
	if err != nil {
		return nil
	}
	defer in.Close()
	info, err := in.Lstat(path.Base(rel))
	switch {
	case err != nil:
	case info.IsDir():
		err = walkInto(in, rel, look)
	default:
		err = look(in, rel, info)
	}
	if err != nil {
		return nil
	}
	return files
}

// pass moves a file, and has commands see it where it is then.
func (p *passing) pass(rel string) {
	if err := makeParents(p.to, up(rel)); err != nil {
		p.keep(reasonOf(err), rel)
		return
	}
	if err := p.ready(up(rel)); err != nil {
		p.keep(reason(err), rel)
		return
	}
	before := p.files
	p.move(rel)
	if p.files == before {
		return
	}
	p.done()
	if dir := up(rel); !slices.Contains(p.dirs, dir) {
		p.dirs = append(p.dirs, dir)
	}
	for dir := up(rel); p.prunes && dir != "." && p.prune(dir); dir = up(dir) {
	}
}

// prune removes a directory of the layer if nothing else is in it.
func (p *passing) prune(dir string) bool {
	in, err := p.from.Sub(up(dir))
	if err != nil {
		return false
	}
	defer in.Close()
	return in.Remove(path.Base(dir)) == nil
}

func (p *passing) said() (said []string) {
	if p.files > 0 {
		count := fmt.Sprintf("%d files", p.files)
		if p.files == 1 {
			count = "1 file"
		}
		said = append(said, fmt.Sprintf("Moved to the workspace, as sidecar.output.allow says: %s in %s.", count, some(p.dirs)))
	}
	said = append(said, p.mover.said(map[string]bool{})...)
	for _, why := range slices.Sorted(maps.Keys(p.refused)) {
		said = append(said, fmt.Sprintf("Held all the same, though sidecar.output.allow names its directory: %s: %s.", some(p.refused[why]), why))
	}
	return said
}

// empty reports whether no file is left under a name of the layer, and no mark of one that
// is gone.
func empty(top *osfile.Dir, rel string) bool {
	in, err := top.Sub(up(rel))
	if err != nil {
		return true
	}
	defer in.Close()
	if _, err := in.Lstat(path.Base(rel)); err != nil {
		return true
	}
	files, _ := countIn(in, rel)
	return files == 0
}

// expose has a directory of the layer, and those above it, no longer hide all that lies below
// them: what is hidden there now is, name by name.
func expose(w *world, dir string) error {
	if w.kind != Overlay || dir == "." {
		return nil
	}
	if err := expose(w, up(dir)); err != nil {
		return err
	}
	at := filepath.Join(w.upper(), filepath.FromSlash(dir))
	if !opaque(at) {
		return nil
	}
	var low []string
	for _, tree := range append(w.out.trees(), w.root) {
		low = append(low, filepath.Join(tree, filepath.FromSlash(dir)))
	}
	return showThrough(at, low)
}

// trees are those of all entries.
func (o *outputs) trees() (trees []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.list {
		trees = append(trees, e.tree())
	}
	return trees
}

// covers reports whether an entry has something at a name, or hides what the folder has there:
// commands would not see what goes there.
func (o *outputs) covers(rel string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.list, func(e *entry) bool {
		if slices.ContainsFunc(e.Gone, func(gone string) bool { return gone == rel || below(rel, gone) }) {
			return true
		}
		for at := rel; at != "."; at = up(at) {
			path := filepath.Join(e.tree(), filepath.FromSlash(at))
			if info, err := os.Lstat(path); err == nil && (at == rel || !info.IsDir() || opaque(path)) {
				return true
			}
		}
		return false
	})
}
