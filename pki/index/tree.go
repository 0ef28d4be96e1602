package index

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/imports"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// tree is a snapshot as imports are looked up in it.
type tree struct {
	x     *Index
	view  workspace.Files
	snap  snapshot
	above map[string][]string // what lies over the disk, by directory
}

func (x *Index) treeOf(view workspace.Files, snap snapshot) tree {
	t := tree{x, view, snap, map[string][]string{}}
	for name, part := range snap.over {
		if part != hidden {
			in, base := dirOf(name)
			t.above[in] = append(t.above[in], base)
		}
	}
	return t
}

// find returns where the view's text of a file is in the snapshot.
func (t tree) find(name string) (part, file uint32, ok bool) {
	if part, over := t.snap.over[name]; over {
		return part, 0, part != hidden
	}
	t.x.mu.Lock()
	at, ok := t.x.byPath[name]
	t.x.mu.Unlock()
	if !ok {
		return 0, 0, false
	}
	part, ok = t.snap.number[at.part]
	return part, at.file, ok
}

// IsFile implements imports.Tree.
func (t tree) IsFile(name string) bool {
	_, _, ok := t.find(name)
	return ok
}

// IsDir implements imports.Tree. A directory is one, too, of which a view hides
// all that is in it.
func (t tree) IsDir(name string) bool {
	t.x.mu.Lock()
	defer t.x.mu.Unlock()
	return t.x.dirs[name] != nil || len(t.above[name]) > 0
}

// IsPackage implements imports.Tree.
func (t tree) IsPackage(name string) bool { return t.face(name) != "" }

// ReadFile implements imports.Tree.
func (t tree) ReadFile(name string) ([]byte, error) { return t.view.ReadFile(name) }

// face is the file that stands for a package of Go, "" if there is none: its
// doc.go, what is called as the directory is, or else the first one.
func (t tree) face(name string) string {
	var list []string
	t.x.mu.Lock()
	if d := t.x.dirs[name]; d != nil {
		list = slices.Clone(d.golang)
	}
	t.x.mu.Unlock()
	for _, base := range t.above[name] {
		if isGo(base) {
			list = append(list, base)
		}
	}
	// The list is long in some packages, and looking a file up is not free.
	own, face := path.Base(name)+".go", ""
	less := func(a, b string) bool {
		if first := a == "doc.go"; first != (b == "doc.go") {
			return first
		}
		if first := a == own; first != (b == own) {
			return first
		}
		return a < b
	}
	for _, base := range list {
		if (face == "" || less(base, path.Base(face))) && t.IsFile(path.Join(name, base)) {
			face = path.Join(name, base)
		}
	}
	return face
}

// resolver makes what resolves imports.
func (t tree) resolver() *imports.Resolver {
	var names []string
	for name := range t.snap.over {
		if imports.Describes(name) {
			names = append(names, name)
		}
	}
	t.x.mu.Lock()
	for name := range t.x.modules {
		if _, over := t.snap.over[name]; !over {
			names = append(names, name)
		}
	}
	t.x.mu.Unlock()
	var list []imports.Description // in any order
	for _, name := range names {
		if part, file, ok := t.find(name); ok {
			if d, ok := t.x.described.of(t.view, &t.snap.parts[part].Files[file]); ok {
				list = append(list, d)
			}
		}
	}
	return imports.New(t, list)
}

// maxDescribed bounds the descriptions of modules that are kept.
const maxDescribed = 5000

// described are the descriptions of modules that were read.
type described struct {
	mu   sync.Mutex
	read map[string]description
}

type description struct {
	hash uint64
	imports.Description
	ok bool
}

// of returns the description that a file is, as a view shows it.
func (d *described) of(view workspace.Reader, f *segment.File) (imports.Description, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.read[f.Path]
	if !ok || known.hash != f.Hash || f.Flags&segment.Skipped != 0 {
		known = description{hash: f.Hash}
		name := strings.Clone(f.Path) // that of the file is in the memory of a segment that may go
		if data, err := view.ReadFile(name); err == nil {
			known.Description, known.ok = imports.Describe(name, data)
		}
		if d.read == nil || len(d.read) == maxDescribed {
			d.read = map[string]description{}
		}
		d.read[name] = known
	}
	return known.Description, known.ok
}
