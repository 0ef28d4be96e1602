package gitrepo

import (
	"bytes"
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
	var b bytes.Buffer
	b.Grow(len(x.Entries) * 120)
	version := uint32(2)
	for i := range x.Entries {
		if x.Entries[i].SkipWorktree || x.Entries[i].IntentToAdd {
			version = 3
		}
	}
	b.WriteString("DIRC")
	put32(&b, version, uint32(len(x.Entries)))
	for i := range x.Entries {
		writeEntry(&b, &x.Entries[i])
	}
	if x.Tree != nil {
		var t bytes.Buffer
		x.Tree.write(&t)
		b.WriteString("TREE")
		put32(&b, uint32(t.Len()))
		b.Write(t.Bytes())
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.Bytes()
}

func put32(b *bytes.Buffer, words ...uint32) {
	var buf [4]byte
	for _, w := range words {
		binary.BigEndian.PutUint32(buf[:], w)
		b.Write(buf[:])
	}
}

func writeEntry(b *bytes.Buffer, e *IndexEntry) {
	sec := func(t time.Time) (uint32, uint32) {
		if t.IsZero() {
			return 0, 0
		}
		return uint32(t.Unix()), uint32(t.Nanosecond())
	}
	cs, cn := sec(e.CTime)
	ms, mn := sec(e.MTime)
	put32(b, cs, cn, ms, mn, e.Dev, e.Ino, e.Mode, e.UID, e.GID, e.Size)
	b.Write(e.OID[:])
	flags := uint16(e.Stage)<<12 | uint16(min(len(e.Path), flagNameLen))
	if e.AssumeValid {
		flags |= flagAssumeValid
	}
	size := entryHeader
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
	b.Write([]byte{byte(flags >> 8), byte(flags)})
	if more != 0 {
		b.Write([]byte{byte(more >> 8), byte(more)})
		size += 2
	}
	b.WriteString(e.Path)
	var zeros [8]byte
	b.Write(zeros[:8-(size+len(e.Path))%8])
}

// write appends the tree in the form of the TREE extension, in which the
// directories of a directory are sorted by length and then by bytes.
func (t *CacheTree) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s\x00%d %d\n", t.Name, t.Entries, len(t.Subs))
	if t.Entries >= 0 {
		b.Write(t.OID[:])
	}
	subs := slices.Clone(t.Subs)
	slices.SortFunc(subs, func(a, z CacheTree) int {
		return cmp.Or(len(a.Name)-len(z.Name), strings.Compare(a.Name, z.Name))
	})
	for i := range subs {
		subs[i].write(b)
	}
}
