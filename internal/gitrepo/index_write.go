package gitrepo

import (
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// ErrIndexLocked says that another process is writing the index.
var ErrIndexLocked = errors.New("the index is being written by another process")

// WriteIndex replaces an index file the way git does: the new one is written
// to the lock file beside it, which is then renamed. It fails with
// ErrIndexLocked when the lock is held.
func WriteIndex(path string, x *Index) error {
	lock := path + ".lock"
	f, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", path, ErrIndexLocked)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(x.encode())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(lock, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(lock))
	}
	return nil
}

// encode writes version 2, or 3 where a flag needs it: gitformat-index(5).
func (x *Index) encode() []byte {
	version, size := uint32(2), 12+8+sha1.Size
	for i := range x.Entries {
		e := &x.Entries[i]
		if e.SkipWorktree || e.IntentToAdd {
			version = 3
		}
		size += entryHeader + len(e.Path) + 2 + 8
	}
	b := append(make([]byte, 0, size+size/16), "DIRC"...)
	b = append32(b, version, uint32(len(x.Entries)))
	for i := range x.Entries {
		b = x.Entries[i].append(b)
	}
	if x.Tree != nil {
		b = append(b, "TREE\x00\x00\x00\x00"...)
		from := len(b)
		b = x.Tree.append(b)
		binary.BigEndian.PutUint32(b[from-4:], uint32(len(b)-from))
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

func append32(b []byte, words ...uint32) []byte {
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

func (e *IndexEntry) append(b []byte) []byte {
	from := len(b)
	for _, t := range [...]time.Time{e.CTime, e.MTime} {
		if t.IsZero() {
			b = append32(b, 0, 0)
		} else {
			b = append32(b, uint32(t.Unix()), uint32(t.Nanosecond()))
		}
	}
	b = append32(b, e.Dev, e.Ino, uint32(e.Mode), e.UID, e.GID, e.Size)
	b = append(b, e.Hash[:]...)
	flags := uint16(e.Stage)<<12 | uint16(min(len(e.Path), flagNameLen))
	if e.AssumeValid {
		flags |= flagAssumeValid
	}
	var more uint16
	if e.SkipWorktree {
		more |= flagSkipWorktree
	}
	if e.IntentToAdd {
		more |= flagIntentToAdd
	}
	if more != 0 {
		flags |= flagExtended
	}
	b = binary.BigEndian.AppendUint16(b, flags)
	if more != 0 {
		b = binary.BigEndian.AppendUint16(b, more)
	}
	b = append(b, e.Path...)
	return append(b, "\x00\x00\x00\x00\x00\x00\x00\x00"[:8-(len(b)-from)%8]...)
}

// append appends the tree in the form of the TREE extension, in which the
// directories of a directory are sorted by length and then by bytes.
func (t *CacheTree) append(b []byte) []byte {
	b = fmt.Appendf(b, "%s\x00%d %d\n", t.Name, t.Entries, len(t.Subs))
	if t.Entries >= 0 {
		b = append(b, t.Hash[:]...)
	}
	subs := slices.Clone(t.Subs)
	slices.SortFunc(subs, func(a, z CacheTree) int {
		return cmp.Or(len(a.Name)-len(z.Name), strings.Compare(a.Name, z.Name))
	})
	for i := range subs {
		b = subs[i].append(b)
	}
	return b
}
