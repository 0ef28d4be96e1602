//go:build !linux

package index

import (
	"io/fs"

	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"
)

// SetStat gives e the stat data of its file, as far as all systems have them.
func SetStat(e *gitindex.Entry, info fs.FileInfo) {
	e.ModifiedAt, e.Size = info.ModTime(), uint32(info.Size())
}
