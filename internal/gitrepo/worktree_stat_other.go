//go:build !linux

package gitrepo

import (
	"io/fs"
	"os"
	"time"
)

// setStat gives e the stat data of its file, as far as all systems have them.
func (e *IndexEntry) setStat(info fs.FileInfo) {
	e.MTime, e.Size = info.ModTime(), uint32(info.Size())
}

// setMTime dates an open file.
func setMTime(f *os.File, t time.Time) error { return os.Chtimes(f.Name(), t, t) }
