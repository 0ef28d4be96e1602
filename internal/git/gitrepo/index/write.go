package index

import (
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// ErrLocked says that another process is writing the index.
var ErrLocked = errors.New("the index is being written by another process")

// Write replaces an index file the way git does: the new one is written
// to the lock file beside it, which is then renamed. It fails with
// ErrIndexLocked when the lock is held.
func Write(path string, x *Index) error {
	lock := path + ".lock"
	f, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", path, ErrLocked)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(x.encode())
	if err = errors.Join(err, f.Close()); err == nil {
		err = osfile.Rename(context.Background(), lock, path)
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
		e := x.Entries[i]
		if e.SkipWorktree || e.IntentToAdd {
			version = 3
		}
		size += entryHeader + len(e.Name) + 2 + 8
	}
	b := append(make([]byte, 0, size+size/16), "DIRC"...)
	b = append32(b, version, uint32(len(x.Entries)))
	for i := range x.Entries {
		b = appendEntry(b, x.Entries[i], x.AssumeValid[x.Entries[i]])
	}
	if x.Cache != nil {
		b = append(b, "TREE\x00\x00\x00\x00"...)
		from := len(b)
		b = appendTree(b, x.Cache)
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

func appendEntry(b []byte, e *gitindex.Entry, assumeValid bool) []byte {
	from := len(b)
	for _, t := range [...]time.Time{e.CreatedAt, e.ModifiedAt} {
		if t.IsZero() {
			b = append32(b, 0, 0)
		} else {
			b = append32(b, uint32(t.Unix()), uint32(t.Nanosecond()))
		}
	}
	b = append32(b, e.Dev, e.Inode, uint32(e.Mode), e.UID, e.GID, e.Size)
	b = append(b, e.Hash[:]...)
	flags := uint16(e.Stage)<<12 | uint16(min(len(e.Name), flagNameLen))
	if assumeValid {
		flags |= flagAssumeValid
	}
	var more uint16
	if e.SkipWorktree {
		more |= FlagSkipWorktree
	}
	if e.IntentToAdd {
		more |= FlagIntentToAdd
	}
	if more != 0 {
		flags |= flagExtended
	}
	b = binary.BigEndian.AppendUint16(b, flags)
	if more != 0 {
		b = binary.BigEndian.AppendUint16(b, more)
	}
	b = append(b, e.Name...)
	return append(b, "\x00\x00\x00\x00\x00\x00\x00\x00"[:8-(len(b)-from)%8]...)
}
