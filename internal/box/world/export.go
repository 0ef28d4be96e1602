package world

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// exportOutput decides where output goes once no mount of the layer is in use.
//
// Where edits wait for review, so does output: it goes to the session's entry in the
// output store, but for data of directories that the user lets through. Where edits are applied it goes to the folder, if it was built of nothing
// but the folder's own text. The rest stays in the session: were it moved and its source
// rejected, make would say that all is up to date, and run what nobody accepted. files counts
// what went to the folder.
func (w *world) exportOutput(f *found) (said []string, files int) {
	waiting := map[string]int64{}
	defer func() { w.waiting = waiting }()
	if len(f.output) == 0 {
		return nil, 0
	}
	if w.drops {
		for _, o := range f.output {
			waiting[o.rel] = w.began
		}
		return nil, 0
	}
	var toFolder []output
	var held []output
	for _, o := range f.output {
		switch {
		case o.partial:
			waiting[o.rel] = w.firstOf(o.rel)
		case w.stays || w.out.has(o.rel) || w.doubts(o.rel):
			held = append(held, o)
		case o.stays || !w.equal && !inDependencies(o.rel):
			waiting[o.rel] = w.firstOf(o.rel)
		default:
			toFolder = append(toFolder, o)
		}
	}
	said, files = w.export(toFolder, f.apart, waiting)
	held, passed, more := letThrough(w, held)
	return append(append(said, passed...), w.hold(held, waiting)...), files + more
}

// doubts reports whether output is of a command that was cut off, or has something of it.
func (w *world) doubts(rel string) bool {
	return slices.ContainsFunc(w.doubted, func(name string) bool { return name == rel || below(name, rel) || below(rel, name) })
}

// export moves output to the folder, and counts its files.
func (w *world) export(list []output, apart map[string]bool, waiting map[string]int64) (said []string, files int) {
	if len(list) == 0 {
		return nil, 0
	}
	t, err := newMover(w.upper(), w.root, filepath.Join(w.dir, trashDir))
	if err != nil {
		return []string{"What was built stays in the session: " + reason(err) + "."}, 0
	}
	defer t.close()
	t.apart, t.moved, t.leadsBack, t.guards = apart, w.layer.moved, w.leadsBack, true
	t.replaces = func(_ *osfile.Dir, rel string) bool { return w.layer.replaces(rel) }
	names := ""
	if w.kind == SeparateCopy {
		names = w.namesCopy(list)
	}
	for _, o := range list {
		t.since, t.stays = w.firstOf(o.rel), false
		if names != "" && !mayNameCopy(o.rel) {
			t.keep(fmt.Sprintf("%s has the path of the copy of the workspace in it, in which it was built", names), o.rel)
		} else {
			t.move(o.rel)
			w.o.Fail("moved")
		}
		if t.stays {
			waiting[o.rel] = t.since
		}
	}
	return t.said(w.left), t.files
}

// hold moves output to the session's entry. In a copy it stays until the session ends:
// the next commands would not find it elsewhere.
func (w *world) hold(list []output, waiting map[string]int64) []string {
	if len(list) == 0 {
		return nil
	}
	if w.kind != Overlay {
		for _, o := range list {
			waiting[o.rel] = w.firstOf(o.rel)
		}
		return w.saysHeld(list, w.countUpper(list))
	}
	files, left, err := w.stash(list)
	for _, o := range left {
		waiting[o.rel] = w.firstOf(o.rel)
	}
	if err != nil {
		return []string{"What was built stays in the session, and goes with it: " + err.Error() + "."}
	}
	return w.saysHeld(list, files)
}

// saysHeld says in a line that output is held.
func (w *world) saysHeld(list []output, files int) []string {
	if w.fresh {
		return nil // who had it made takes it
	}
	var names []string
	for _, o := range list {
		names = append(names, o.rel)
	}
	count := fmt.Sprintf("%d files", files)
	if files == 1 {
		count = "1 file"
	}
	said := fmt.Sprintf("Output held for review: %s in %s; git ignores it or it is a dependency. The session's commands see it, the disk has it once a person accepts it (`sidecar-ls review output`).", count, some(names))
	if said == w.lastHeld {
		return nil
	}
	w.lastHeld = said
	return []string{said}
}

// countUpper counts the files of output that lies in the layer.
func (w *world) countUpper(list []output) (files int) {
	top, err := osfile.OpenDir(w.upper())
	if err != nil {
		return 0
	}
	defer top.Close()
	for _, o := range list {
		files += countFiles(top, o.rel)
	}
	return files
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

// leadsBack reports whether a link leads into the copy that it was made in, or is one to
// the folder's own in it.
func (w *world) leadsBack(dir *osfile.Dir, name string) bool {
	if w.kind != SeparateCopy {
		return false
	}
	target, err := dir.Readlink(name)
	return err == nil && (moved(target, w.upper(), "") != target || moved(target, w.root, "") != target)
}

// countFiles counts the files under a name.
func countFiles(top *osfile.Dir, rel string) (files int) {
	in, err := top.Sub(path.Dir(rel))
	if err != nil {
		return 0
	}
	defer in.Close()
	files, _ = countIn(in, rel)
	return files
}

// countIn counts the files under a name, in whose directory it looks, and their bytes.
func countIn(in *osfile.Dir, rel string) (files int, bytes int64) {
	info, err := in.Lstat(path.Base(rel))
	if err != nil || !info.IsDir() {
		return 1, 0
	}
	_ = walkInto(in, rel, func(_ *osfile.Dir, _ string, info fs.FileInfo) error {
		if !info.IsDir() {
			files++
			bytes += info.Size()
		}
		return nil
	})
	return files, bytes
}
