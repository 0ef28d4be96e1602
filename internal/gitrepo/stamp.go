package gitrepo

import (
	"io/fs"
	"os"
	"time"
)

// fileStamp tells whether a file is still the one that was read. git replaces
// its files by renaming new ones over them, so that the inode differs too.
type fileStamp struct {
	size  int64
	mtime time.Time
	file  fs.FileInfo // for os.SameFile; nil: there was no file
}

func stampOf(info fs.FileInfo) fileStamp {
	return fileStamp{info.Size(), info.ModTime(), info}
}

// fresh reports whether path is still the file that has the stamp.
func (s fileStamp) fresh(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return s.file == nil
	}
	return s.file != nil && info.Size() == s.size && info.ModTime().Equal(s.mtime) && os.SameFile(info, s.file)
}

// stampFile is the stamp of a file that may not be there.
func stampFile(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{}
	}
	return stampOf(info)
}
