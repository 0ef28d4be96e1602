package gitrepo

import (
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/index"
)

// ModeOf is a file's mode as git writes it, 0 for what it does not keep.
func ModeOf(m fs.FileMode) filemode.FileMode { return index.ModeOf(m) }

// InsideRepository reports whether a path has an element that is a repository's
// own, or leads nowhere.
func InsideRepository(path string) bool { return !gitfile.ValidName(path) }
