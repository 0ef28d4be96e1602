package index

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"
	"time"
	"unsafe"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// maxIndex bounds an index file, in bytes. That of a million files has 100 MB.
const maxIndex = 1 << 30

// Read reads an index file: versions 2 to 4, gitformat-index(5). A file
// that isn't there is an empty index: nothing was ever staged. It fails with
// ErrCorrupt, and with ErrUnsupported for an index that is split or sparse.
func Read(path string) (*Index, error) {
	raw, err := readRaw(path)
	if err != nil {
		return nil, err
	}
	x := New()
	x.Version, x.Entries, x.ModTime = uint32(raw.version), make([]*gitindex.Entry, 0, raw.Count), raw.stat.MTime
	if raw.Tree != nil {
		x.Cache = raw.Tree.Flat()
	}
	entries := make([]gitindex.Entry, raw.Count) // one piece of memory
	for e := range raw.all {
		to := &entries[len(x.Entries)]
		*to = e.entry()
		x.Entries = append(x.Entries, to)
		if e.AssumeValid() {
			if x.AssumeValid == nil {
				x.AssumeValid = map[*gitindex.Entry]bool{}
			}
			x.AssumeValid[to] = true
		}
	}
	return x, nil
}

// Raw is an index whose entries stay as they are in the file, but for the
// names of version 4, which are written out.
type Raw struct {
	version int
	Count   int
	data    []byte // the file
	offsets []namedOffset
	Tree    *CachedTree
	Special []int // entries in conflict, or only meant to be added

	nameless bool          // there is an entry without a name
	stat     gitfile.Stamp // of the file that was read
	written  written
}

// namedOffset is where an entry lies.
type namedOffset struct {
	at   uint32 // of the entry in data
	name string // followed by a NUL in memory, as system calls want it
}

// Layout of an entry, in bytes: ten words of stat data, the object's name,
// flags, and from version 3 on more flags if a bit says so.
const (
	entryHash   = 40
	entryFlags  = 60
	entryHeader = 62

	flagAssumeValid = 1 << 15
	flagExtended    = 1 << 14
	flagStage       = 3 << 12
	flagNameLen     = 1<<12 - 1

	FlagSkipWorktree = 1 << 14 // of the extended ones
	FlagIntentToAdd  = 1 << 13
)

// RawEntry is one entry of a Raw.
type RawEntry struct {
	Name string
	b    []byte // at least entryHeader bytes
}

// NameAt is the name of an entry.
func (x *Raw) NameAt(i int) string { return x.offsets[i].name }

// At is the entry i, 0 ≤ i < Len.
func (x *Raw) At(i int) RawEntry {
	p := &x.offsets[i]
	return RawEntry{p.name, x.data[p.at:]}
}

// Find returns the first entry of a path.
func (x *Raw) Find(path string) (int, bool) {
	i := sort.Search(len(x.offsets), func(i int) bool { return x.offsets[i].name >= path })
	return i, i < len(x.offsets) && x.offsets[i].name == path
}

func (x *Raw) all(yield func(RawEntry) bool) {
	for i := range x.offsets {
		if !yield(x.At(i)) {
			return
		}
	}
}

func (e RawEntry) word(i int) uint32 { return binary.BigEndian.Uint32(e.b[4*i:]) }
func (e RawEntry) flags() uint16     { return binary.BigEndian.Uint16(e.b[entryFlags:]) }

// Mode is the file's mode.
func (e RawEntry) Mode() filemode.FileMode { return filemode.FileMode(e.word(6)) }

// Size is the file's size in bytes, modulo 2³².
func (e RawEntry) Size() uint32 { return e.word(9) }

// Hash names the blob.
func (e RawEntry) Hash() plumbing.Hash { return plumbing.Hash(e.b[entryHash:entryFlags]) }

// Stage is 0, or 1 to 3 for the sides of a conflict.
func (e RawEntry) Stage() int { return int(e.flags() & flagStage >> 12) }

// AssumeValid reports whether the file counts as unchanged.
func (e RawEntry) AssumeValid() bool { return e.flags()&flagAssumeValid != 0 }

// Extended are the flags of version 3 and later.
func (e RawEntry) Extended() uint16 {
	if e.flags()&flagExtended == 0 {
		return 0
	}
	return binary.BigEndian.Uint16(e.b[entryHeader:])
}

func (e RawEntry) entry() gitindex.Entry {
	return gitindex.Entry{
		Name: e.Name, Mode: e.Mode(), Hash: e.Hash(), Stage: gitindex.Stage(e.Stage()),
		CreatedAt: time.Unix(int64(e.word(0)), int64(e.word(1))), ModifiedAt: time.Unix(int64(e.word(2)), int64(e.word(3))),
		Dev: e.word(4), Inode: e.word(5), UID: e.word(7), GID: e.word(8), Size: e.Size(),
		SkipWorktree: e.Extended()&FlagSkipWorktree != 0,
		IntentToAdd:  e.Extended()&FlagIntentToAdd != 0,
	}
}

// readRaw reads an index file and checks it.
func readRaw(path string) (*Raw, error) {
	data, stamp, err := gitfile.ReadStamped(path, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return &Raw{version: 2}, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("the index %s: %w", path, err)
	}
	x.stat, x.written = stamp, writtenAt(stamp.MTime)
	return x, nil
}

// bad says what is wrong with an index, and what helps.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s; git can rebuild it (move it away and run git reset)", gitfile.ErrCorrupt, fmt.Sprintf(format, args...))
}

// parse checks the whole of an index and finds its entries.
func parse(data []byte) (*Raw, error) {
	if len(data) < 12+sha1.Size {
		return nil, bad("it ends after %d bytes", len(data))
	}
	if string(data[:4]) != "DIRC" {
		return nil, bad("it does not begin like an index")
	}
	x := &Raw{version: int(binary.BigEndian.Uint32(data[4:])), data: data}
	count := binary.BigEndian.Uint32(data[8:])
	if x.version < 2 || x.version > 4 {
		return nil, fmt.Errorf("%w: it has version %d", gitfile.ErrUnsupported, x.version)
	}
	end := len(data) - sha1.Size
	// All zeroes: git was told to leave the checksum out (index.skipHash).
	if sum := plumbing.Hash(data[end:]); !sum.IsZero() && sum != sha1.Sum(data[:end]) {
		return nil, bad("its checksum is wrong")
	}
	if int64(count) > int64(end)/entryHeader {
		return nil, bad("it can't have %d entries", count)
	}
	x.Count = int(count)
	x.offsets = make([]namedOffset, 0, count)
	at, err := x.readEntries(end)
	if errors.Is(err, gitfile.ErrUnsupported) {
		return nil, err
	}
	if err != nil {
		return nil, bad("%v", err)
	}
	for at < end {
		if at+8 > end {
			return nil, bad("an extension is cut off")
		}
		sig, size := string(data[at:at+4]), int64(binary.BigEndian.Uint32(data[at+4:]))
		at += 8
		if size > int64(end-at) {
			return nil, bad("the extension %q is cut off", sig)
		}
		body := data[at : at+int(size)]
		at += int(size)
		switch {
		case sig == "TREE":
			rest, tree, ok := parseCacheTree(body, 0)
			if !ok || len(rest) > 0 {
				return nil, bad("its extension TREE can't be read")
			}
			x.Tree = &tree
		case sig == "link":
			return nil, fmt.Errorf("%w: the index is split over two files", gitfile.ErrUnsupported)
		case sig == "sdir":
			return nil, fmt.Errorf("%w: the index is sparse", gitfile.ErrUnsupported)
		case sig[0] < 'A' || sig[0] > 'Z': // git: what can't be ignored
			return nil, fmt.Errorf("%w: the index has an extension %q", gitfile.ErrUnsupported, sig)
		}
	}
	if x.nameless {
		return nil, bad("an entry has no name")
	}
	return x, nil
}

// readEntries finds the entries of x and returns where they end.
func (x *Raw) readEntries(end int) (int, error) {
	data, at := x.data, 12
	var last []byte // the last name, in version 4
	for i := range x.Count {
		if at+entryHeader > end {
			return 0, fmt.Errorf("entry %d of %d is cut off", i+1, x.Count)
		}
		start := at
		flags := binary.BigEndian.Uint16(data[at+entryFlags:])
		at += entryHeader
		if flags&flagExtended != 0 {
			if at += 2; x.version == 2 || at > end {
				return 0, fmt.Errorf("the flags of entry %d are wrong", i+1)
			}
		}
		var name []byte
		if x.version == 4 {
			strip, n := varint(data[at:end])
			if n == 0 || strip > len(last) {
				return 0, fmt.Errorf("the name of entry %d is wrong", i+1)
			}
			at += n
			z := bytes.IndexByte(data[at:end], 0)
			if z < 0 {
				return 0, fmt.Errorf("the name of entry %d is cut off", i+1)
			}
			name = make([]byte, 0, len(last)-strip+z+1) // and a NUL, as the other versions have it
			name = append(append(name, last[:len(last)-strip]...), data[at:at+z]...)
			at += z + 1
			last = name
		} else {
			n := int(flags & flagNameLen)
			if n == flagNameLen {
				n = bytes.IndexByte(data[at:end], 0)
			}
			if n < 0 || at+n >= end || data[at+n] != 0 {
				return 0, fmt.Errorf("the name of entry %d is cut off", i+1)
			}
			name = data[at : at+n]
			// One to eight zeroes make the length a multiple of eight.
			if at = start + (at+n-start+8)&^7; at > end {
				return 0, fmt.Errorf("entry %d is cut off", i+1)
			}
		}
		e := namedOffset{uint32(start), unsafe.String(unsafe.SliceData(name), len(name))}
		if (RawEntry{b: data[start:]}).Mode() == filemode.Dir {
			return 0, fmt.Errorf("%w: the index is sparse", gitfile.ErrUnsupported)
		}
		if len(name) == 0 { // as a split index has them, which its extension says
			x.nameless = true
		} else if !x.inOrder(e) {
			return 0, fmt.Errorf("the name of entry %d, %q, is wrong or out of order", i+1, e.name)
		}
		x.offsets = append(x.offsets, e)
		if flags&flagStage != 0 || flags&flagExtended != 0 && x.At(i).Extended()&FlagIntentToAdd != 0 {
			x.Special = append(x.Special, i)
		}
	}
	return at, nil
}

// inOrder reports whether e comes after the last entry, and has a name that
// leads nowhere else: what it shares with the last one was looked at with that.
func (x *Raw) inOrder(e namedOffset) bool {
	if len(x.offsets) == 0 {
		return gitfile.ValidName(e.name)
	}
	prev := &x.offsets[len(x.offsets)-1]
	same := shared(prev.name, e.name)
	switch {
	case same == len(e.name):
		return same == len(prev.name) && x.At(len(x.offsets)-1).Stage() < (RawEntry{e.name, x.data[e.at:]}).Stage()
	case same < len(prev.name) && prev.name[same] > e.name[same]:
		return false
	}
	return gitfile.ValidName(e.name[strings.LastIndexByte(e.name[:same], '/')+1:])
}

// shared is how many bytes two names begin with that are the same.
func shared(a, b string) int {
	const step = 8
	n, limit := 0, min(len(a), len(b))
	for n+step <= limit && a[n:n+step] == b[n:n+step] {
		n += step
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

// varint reads a number as packs have it for offsets. n is 0 when there is none.
func varint(b []byte) (value, n int) {
	for i, c := range b {
		if i == 5 { // longer than any name
			return 0, 0
		}
		if i > 0 {
			value = (value + 1) << 7
		}
		value |= int(c & 0x7f)
		if c < 0x80 {
			return value, i + 1
		}
	}
	return 0, 0
}

// Same reports whether a file's stat data are those that were recorded.
func (e RawEntry) Same(st *workspace.FileStat) bool {
	w := e.b[:entryHash:entryHash]
	word := func(i int) uint32 { return binary.BigEndian.Uint32(w[4*i:]) }
	sec, nsec := st.MTime()
	if uint32(sec) != word(2) || nsec != word(3) || word(9) != uint32(st.Size()) {
		return false
	}
	if st.Ino() == 0 { // not known on this system, and so is the rest
		return true
	}
	sec, nsec = st.CTime()
	uid, gid := st.Owner()
	return uint32(sec) == word(0) && nsec == word(1) && uint32(st.Ino()) == word(5) && uid == word(7) && gid == word(8)
}

// racyMargin is how much older than the index a file must be for its stat data
// to be believed, in nanoseconds: a change right after git has read the file
// may leave no trace in them. File systems count time in steps of up to 10 ms.
const racyMargin = 100e6

// written is when an index was written, as racy needs it. The zero value is not
// known.
type written struct{ sec, nsec, racy int64 }

func writtenAt(t time.Time) written {
	if t.IsZero() {
		return written{}
	}
	return written{t.Unix(), int64(t.Nanosecond()), t.UnixNano() - racyMargin}
}

// Racy reports whether a file was changed so shortly before the index was
// written that it may have been changed again since without a trace.
func (x *Raw) Racy(e RawEntry) bool {
	if x.written == (written{}) {
		return true
	}
	sec, nsec := int64(e.word(2)), int64(e.word(3))
	if nsec == 0 || x.written.nsec == 0 { // whole seconds are all that is known
		return sec >= x.written.sec
	}
	return sec*1e9+nsec > x.written.racy
}

// Conflicting reports whether a path is staged as a conflict.
func (x *Raw) Conflicting(path string) bool {
	i, ok := x.Find(path)
	return ok && x.At(i).Stage() != 0
}

// Conflicts are the paths in conflict.
func (x *Raw) Conflicts() []string {
	var list []string
	for _, i := range x.Special {
		if e := x.At(i); e.Stage() != 0 && (len(list) == 0 || list[len(list)-1] != e.Name) {
			list = append(list, e.Name)
		}
	}
	return list
}

// HasDir reports whether there are entries below a directory.
func (x *Raw) HasDir(prefix string) bool {
	i, _ := x.Find(prefix)
	return i < len(x.offsets) && strings.HasPrefix(x.offsets[i].name, prefix)
}

// CheckSum256 checks the end of an index whose objects are named by SHA-256. No
// checksum (index.skipHash) is all zeroes.
func CheckSum256(path string) error {
	data, _, err := gitfile.ReadStamped(path, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if at := len(data) - sha256.Size; at >= 0 {
		if sum := [sha256.Size]byte(data[at:]); sum == [sha256.Size]byte{} || sum == sha256.Sum256(data[:at]) {
			return nil
		}
	}
	return bad("its checksum is wrong")
}
