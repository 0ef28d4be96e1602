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
	x.byPath, x.dirs, x.modules = map[string]place{}, map[string]dir{}, map[string]bool{}
}

// enter notes where a file is. x.mu is held.
func (x *Index) enter(name string, at place) {
	_, known := x.byPath[name]
	if x.byPath[name] = at; known {
		return
	}
	if imports.Describes(name) {
		x.modules[name] = true
	}
	in, base := dirOf(name)
	d := x.dirs[in]
	if isGo(base) {
		i, _ := slices.BinarySearch(d.golang, base)
		d.golang = slices.Insert(d.golang, i, base)
	}
	x.grow(in, d, 1)
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
	x.grow(in, d, -1)
}

// grow changes how much there is in a directory. The one above it has it only
// while there is something.
func (x *Index) grow(name string, d dir, by int) {
	for {
		before := d.entries
		if d.entries += by; d.entries == 0 {
			delete(x.dirs, name)
		} else {
			x.dirs[name] = d
		}
		if name == "." || before > 0 && d.entries > 0 {
			return
		}
		name, _ = dirOf(name)
		d = x.dirs[name]
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
