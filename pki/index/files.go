package index

import (
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki/imports"
)

// dir is what is known of a directory.
type dir struct {
	entries int      // files and directories that are known
	golang  []string // the names of its files of Go that are no tests, in order
}

// empty forgets all files. x.mu is held.
func (x *Index) empty() {
	x.byPath, x.dirs, x.modules = map[string]entry{}, map[string]*dir{}, map[string]bool{}
}

// enter notes where a file is. x.mu is held.
func (x *Index) enter(name string, at entry) {
	_, known := x.byPath[name]
	if x.byPath[name] = at; known {
		return
	}
	if imports.Describes(name) {
		x.modules[name] = true
	}
	in, base := dirOf(name)
	d := x.enterDir(in)
	d.entries++
	if isGo(base) {
		i, _ := slices.BinarySearch(d.golang, base)
		d.golang = slices.Insert(d.golang, i, base)
	}
}

// enterDir returns a directory, which is made with the first that is in it.
func (x *Index) enterDir(name string) *dir {
	d := x.dirs[name]
	if d == nil {
		d = new(dir)
		x.dirs[strings.Clone(name)] = d // names of files are in the memory of a segment that may go
		if name != "." {
			above, _ := dirOf(name)
			x.enterDir(above).entries++
		}
	}
	return d
}

// leave takes out a file that was entered. x.mu is held.
func (x *Index) leave(name string) {
	delete(x.byPath, name)
	delete(x.modules, name)
	in, base := dirOf(name)
	d := x.dirs[in]
	if i, ok := slices.BinarySearch(d.golang, base); ok {
		d.golang = slices.Delete(d.golang, i, i+1)
	}
	x.leaveDir(in, d)
}

// leaveDir takes one entry out of a directory, which goes with the last.
func (x *Index) leaveDir(name string, d *dir) {
	if d.entries--; d.entries > 0 {
		return
	}
	delete(x.dirs, name)
	if name != "." {
		above, _ := dirOf(name)
		x.leaveDir(above, x.dirs[above])
	}
}

// dirOf splits a name.
func dirOf(name string) (in, base string) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return ".", name
}

// isGo reports whether others can import what is in a file of Go.
func isGo(base string) bool {
	return strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go")
}
