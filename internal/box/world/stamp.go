package world

import (
	"io/fs"
	"os"
	"time"
)

// stamp tells whether a file was changed. Times are in nanoseconds.
type stamp struct {
	ino          uint64
	size         int64
	mtime, ctime int64
}

func stampOf(path string) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	return stampFrom(info)
}

// stampFrom is the stamp of what was looked at.
func stampFrom(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}
	if info.Mode()&(fs.ModeDir|fs.ModeIrregular) != 0 {
		s.size = 0 // on Windows it depends on who says it
	}
	s.ino, s.ctime = identity(info)
	return s
}

// anyName is the stamp of a file whatever its name: another one changes its ctime.
func (s stamp) anyName() stamp {
	s.ctime = 0
	return s
}

// otherClock is how far from now a time is that comes from another clock: the machine's
// was, or is, years off.
const otherClock = 24 * time.Hour

// changedSince reports whether what is there was changed at, or after, a moment
// in nanoseconds. Nothing was not.
func (s stamp) changedSince(then int64) bool {
	at := max(s.mtime, s.ctime)
	return s != stamp{} && at >= then && at < time.Now().Add(otherClock).UnixNano()
}
