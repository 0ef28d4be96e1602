//go:build !linux

package gitrepo

import "io/fs"

// setStat gives e the stat data of its file, as far as all systems have them.
func (e *IndexEntry) setStat(info fs.FileInfo) {
	e.MTime, e.Size = info.ModTime(), uint32(info.Size())
}
