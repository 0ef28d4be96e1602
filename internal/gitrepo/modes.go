package gitrepo

import "io/fs"

// Modes of entries, for other packages.
const (
	ModeFile      = modeFile
	ModeExec      = modeExec
	ModeLink      = modeLink
	ModeSubmodule = modeSubmodule
)

// ModeOf is a file's mode as git writes it, 0 for what it does not keep.
func ModeOf(m fs.FileMode) uint32 { return gitMode(m) }

// InsideRepository reports whether a path has an element that is a repository's
// own, or leads nowhere.
func InsideRepository(path string) bool { return !validName(path) }
