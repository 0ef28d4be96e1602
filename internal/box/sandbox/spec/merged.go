package spec

import (
	"os"
	"slices"
	"strings"
)

// Merged shows a command a folder of its Spec, and takes what the command writes there:
// a mount without a place in the machine's own tree, as Overlay
// makes it, or a directory. It takes bubblewrap.
type Merged struct {
	// Mount is the mount; nil when it is a directory. Several commands may share one.
	Mount Mounted

	// At is an empty directory, in which the process that starts bubblewrap puts
	// the mount, for itself and the command alone. Without a mount it is what is seen.
	At string

	// Real are directories in the folder that are the disk's own all the same.
	Real []string

	// Lent are directories of the machine that the command can read in another
	// place.
	Lent []Lent
}

// Mounted is a mount that a command may see.
type Mounted interface {
	Path() string            // where this process finds it
	Refresh() error          // what was changed below it is seen from then on
	Copy() (*os.File, error) // another one for a command, as a descriptor
}

// Layer is a mount that a command sees as a directory of its home: Mount and At
// are those of a Merged.
type Layer struct {
	Mount Mounted
	At    string
	On    string // relative to the home; "" is the home itself, and comes first
}

// HomeDir is a directory of the machine that a command has in its home, over all layers.
// In holds nothing else then.
type HomeDir struct {
	Dir string
	In  string // relative to the home
	On  string // relative to In
}

// Lent is a directory that a command reads in another place, below LentDir.
type Lent struct{ Dir, Place string }

// LentDir is the directory for such places.
const LentDir = "/run/sidecar-ls-lent"

// Overlay says of which directories an overlay is made. All of them exist; Upper
// and Work are private, empty or of an overlay before, and on one file system.
type Overlay struct {
	Lower string // what is seen, and not changed

	// Between are seen over Lower, the first on top, and not changed either: at most MaxBetween.
	Between []string

	Upper string // what is changed
	Work  string // the kernel's own
}

// MaxBetween bounds the layers between: what the kernel takes of their names is bounded.
const MaxBetween = 8

// Path is where this process finds what is seen.
func (t *Merged) Path() string {
	switch {
	case t == nil:
		return ""
	case t.Mount == nil:
		return t.At
	}
	return t.Mount.Path()
}

// Folder is a folder of the workspace that a command sees besides Root, as it sees that.
type Folder struct {
	Dir    string
	Merged Merged
}

// Folders are Root and those beside it.
func (s Spec) Folders() []string {
	dirs := []string{s.Root}
	for _, f := range s.Beside {
		dirs = append(dirs, f.Dir)
	}
	return dirs
}

// InFolders reports whether a path is in one of them.
func (s Spec) InFolders(path string) bool {
	return slices.ContainsFunc(s.Folders(), func(dir string) bool { return Within(path, dir) })
}

// Worlds returns what stands in the place of folders.
func (s Spec) Worlds() (list []Merged) {
	if s.Merged != nil {
		list = append(list, *s.Merged)
	}
	for _, f := range s.Beside {
		list = append(list, f.Merged)
	}
	return list
}

// Host is where the server itself finds what a command sees at path.
func (s Spec) Host(path string) string { return s.in(path, (*Merged).Path) }

// Source is where bubblewrap finds what the command is to see at path.
func (s Spec) Source(path string) string {
	return s.in(path, func(m *Merged) string { return m.At })
}

// in is a path in the tree that is seen in the place of its folder, the innermost of those
// that it is in.
func (s Spec) in(path string, tree func(*Merged) string) string {
	dir, seen := s.Root, s.Merged
	if !Within(path, dir) {
		dir, seen = "", nil
	}
	for i := range s.Beside {
		if f := &s.Beside[i]; Within(path, f.Dir) && len(f.Dir) > len(dir) {
			dir, seen = f.Dir, &f.Merged
		}
	}
	if seen == nil || slices.ContainsFunc(seen.Real, func(real string) bool { return Within(path, real) }) {
		return path
	}
	return tree(seen) + strings.TrimPrefix(path, dir)
}
