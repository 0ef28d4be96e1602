package gitfile

import (
	"io/fs"
	"os"
	"time"
)

// Stamp tells whether a file is still the one that was read. git replaces
// its files by renaming new ones over them, so that the inode differs too.
type Stamp struct {
	size  int64
	MTime time.Time
	file  fs.FileInfo // for os.SameFile; nil: there was no file
}

func stampOf(info fs.FileInfo) Stamp {
	return Stamp{info.Size(), info.ModTime(), info}
}

// Fresh reports whether path is still the file that has the stamp.
func (s Stamp) Fresh(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return s.file == nil
	}
	return s.file != nil && info.Size() == s.size && info.ModTime().Equal(s.MTime) && os.SameFile(info, s.file)
}

// StampFile is the stamp of a file that may not be there.
func StampFile(path string) Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}
	}
	return stampOf(info)
}

// StampedFile is a file and its stamp when it was read.
type StampedFile struct {
	Path  string
	Stamp Stamp
}

// NewStampedFile is a file, which may not be there, as it is now.
func NewStampedFile(path string) StampedFile { return StampedFile{path, StampFile(path)} }

// Fresh reports whether the file is still the one that has the stamp.
func (f StampedFile) Fresh() bool { return f.Stamp.Fresh(f.Path) }
