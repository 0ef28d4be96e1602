package index

import (
	"maps"
	"slices"
	"time"
)

// An event tells of the name that was used. What is written through one name of
// a file (a hard link) is told of no other, and of none when that name is
// outside: files that have others are looked at before each answer.

// link notes whether a file has further names. It reports whether it has and
// that was not known.
func (x *Index) link(name string, linked bool) (found bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !linked {
		delete(x.linked, name)
		return false
	}
	found = !x.linked[name]
	x.linked[name] = true
	return found
}

// relook looks at the files that have further names. x.follow is held.
func (x *Index) relook() {
	x.mu.Lock()
	names := slices.Collect(maps.Keys(x.linked))
	x.mu.Unlock()
	for _, name := range names {
		info, err := x.o.Files.Stat(name)
		x.mu.Lock()
		known, ok := x.byPath[name]
		x.mu.Unlock()
		if err == nil && ok && known.stamp == stampOf(info.Size(), info.ModTime().UnixNano()) && known.stamp.mtime != 0 {
			continue
		}
		x.update(name)
	}
}

// distrust makes the next look one at everything.
func (x *Index) distrust() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.looked = time.Time{}
}
