package gitrepo

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// maxIndex bounds an index file, in bytes. That of a million files has 100 MB.
const maxIndex = 1 << 30

// ReadIndex reads an index file: versions 2 to 4, gitformat-index(5). A file
// that isn't there is an empty index: nothing was ever staged. It fails with
// ErrCorrupt, and with ErrUnsupported for an index that is split or sparse.
func ReadIndex(path string) (*Index, error) {
	raw, err := readRawIndex(path)
	if err != nil {
		return nil, err
	}
	x := &Index{Version: raw.version, Entries: make([]IndexEntry, 0, raw.count), Tree: raw.tree}
	for e := range raw.all {
		x.Entries = append(x.Entries, e.entry())
	}
	return x, nil
}

// rawIndex is an index whose entries stay as they are in the file, but for the
// names of version 4, which are written out.
type rawIndex struct {
	version int
	count   int
	data    []byte // the file
	places  []rawPlace
	tree    *CacheTree
	special []int // entries in conflict, or only meant to be added

	nameless bool      // there is an entry without a name
	stat     fileStamp // of the file that was read
	written  written
}

// rawPlace is where an entry lies.
type rawPlace struct {
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

	flagSkipWorktree = 1 << 14 // of the extended ones
	flagIntentToAdd  = 1 << 13
)

// rawEntry is one entry in place.
type rawEntry struct {
	name string
	b    []byte // at least entryHeader bytes
}

func (x *rawIndex) at(i int) rawEntry {
	p := &x.places[i]
	return rawEntry{p.name, x.data[p.at:]}
}

// find returns the first entry of a path.
func (x *rawIndex) find(path string) (int, bool) {
	i := sort.Search(len(x.places), func(i int) bool { return x.places[i].name >= path })
	return i, i < len(x.places) && x.places[i].name == path
}

func (x *rawIndex) all(yield func(rawEntry) bool) {
	for i := range x.places {
		if !yield(x.at(i)) {
			return
		}
	}
}

func (e rawEntry) word(i int) uint32       { return binary.BigEndian.Uint32(e.b[4*i:]) }
func (e rawEntry) mode() filemode.FileMode { return filemode.FileMode(e.word(6)) }
func (e rawEntry) size() uint32            { return e.word(9) }
func (e rawEntry) hash() plumbing.Hash     { return plumbing.Hash(e.b[entryHash:entryFlags]) }
func (e rawEntry) flags() uint16           { return binary.BigEndian.Uint16(e.b[entryFlags:]) }
func (e rawEntry) stage() int              { return int(e.flags() & flagStage >> 12) }
func (e rawEntry) assumeValid() bool       { return e.flags()&flagAssumeValid != 0 }

// extended are the flags of version 3 and later.
func (e rawEntry) extended() uint16 {
	if e.flags()&flagExtended == 0 {
		return 0
	}
	return binary.BigEndian.Uint16(e.b[entryHeader:])
}

func (e rawEntry) entry() IndexEntry {
	return IndexEntry{
		Path: e.name, Mode: e.mode(), Hash: e.hash(), Stage: e.stage(),
		CTime: time.Unix(int64(e.word(0)), int64(e.word(1))), MTime: time.Unix(int64(e.word(2)), int64(e.word(3))),
		Dev: e.word(4), Ino: e.word(5), UID: e.word(7), GID: e.word(8), Size: e.size(),
		AssumeValid:  e.assumeValid(),
		SkipWorktree: e.extended()&flagSkipWorktree != 0,
		IntentToAdd:  e.extended()&flagIntentToAdd != 0,
	}
}

// readRawIndex reads an index file and checks it.
func readRawIndex(path string) (*rawIndex, error) {
	data, stamp, err := readStamped(path, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return &rawIndex{version: 2}, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := parseIndex(data)
	if err != nil {
		return nil, fmt.Errorf("the index %s: %w", path, err)
	}
	x.stat, x.written = stamp, writtenAt(stamp.mtime)
	return x, nil
}

// readStamped reads a whole file, and what tells whether it was changed since.
func readStamped(path string, limit int64) ([]byte, fileStamp, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, fileStamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fileStamp{}, err
	}
	if info.Size() > limit {
		return nil, fileStamp{}, fmt.Errorf("%s: it is larger than %d bytes", path, limit)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fileStamp{}, fmt.Errorf("%s was changed while it was read: %w", path, err)
	}
	return data, stampOf(info), nil
}

// badIndex says what is wrong with an index, and what helps.
func badIndex(format string, args ...any) error {
	return fmt.Errorf("%w: %s; git can make it anew (move it away and run git reset)", ErrCorrupt, fmt.Sprintf(format, args...))
}

// parseIndex checks the whole of an index and finds its entries.
func parseIndex(data []byte) (*rawIndex, error) {
	if len(data) < 12+sha1.Size {
		return nil, badIndex("it ends after %d bytes", len(data))
	}
	if string(data[:4]) != "DIRC" {
		return nil, badIndex("it does not begin like an index")
	}
	x := &rawIndex{version: int(binary.BigEndian.Uint32(data[4:])), data: data}
	count := binary.BigEndian.Uint32(data[8:])
	if x.version < 2 || x.version > 4 {
		return nil, fmt.Errorf("%w: it has version %d", ErrUnsupported, x.version)
	}
	end := len(data) - sha1.Size
	// All zeroes: git was told to leave the checksum out (index.skipHash).
	if sum := plumbing.Hash(data[end:]); !sum.IsZero() && sum != sha1.Sum(data[:end]) {
		return nil, badIndex("its checksum is wrong")
	}
	if int64(count) > int64(end)/entryHeader {
		return nil, badIndex("it can't have %d entries", count)
	}
	x.count = int(count)
	x.places = make([]rawPlace, 0, count)
	at, err := x.readEntries(end)
	if errors.Is(err, ErrUnsupported) {
		return nil, err
	}
	if err != nil {
		return nil, badIndex("%v", err)
	}
	for at < end {
		if at+8 > end {
			return nil, badIndex("an extension is cut off")
		}
		sig, size := string(data[at:at+4]), int64(binary.BigEndian.Uint32(data[at+4:]))
		at += 8
		if size > int64(end-at) {
			return nil, badIndex("the extension %q is cut off", sig)
		}
		body := data[at : at+int(size)]
		at += int(size)
		switch {
		case sig == "TREE":
			rest, tree, ok := parseCacheTree(body, 0)
			if !ok || len(rest) > 0 {
				return nil, badIndex("its extension TREE can't be read")
			}
			x.tree = &tree
		case sig == "link":
			return nil, fmt.Errorf("%w: the index is split over two files", ErrUnsupported)
		case sig == "sdir":
			return nil, fmt.Errorf("%w: the index is sparse", ErrUnsupported)
		case sig[0] < 'A' || sig[0] > 'Z': // git: what can't be ignored
			return nil, fmt.Errorf("%w: the index has an extension %q", ErrUnsupported, sig)
		}
	}
	if x.nameless {
		return nil, badIndex("an entry has no name")
	}
	return x, nil
}

// readEntries finds the entries of x and returns where they end.
func (x *rawIndex) readEntries(end int) (int, error) {
	data, at := x.data, 12
	var last []byte // the last name, in version 4
	for i := range x.count {
		if at+entryHeader > end {
			return 0, fmt.Errorf("entry %d of %d is cut off", i+1, x.count)
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
		e := rawPlace{uint32(start), unsafe.String(unsafe.SliceData(name), len(name))}
		if (rawEntry{b: data[start:]}).mode() == filemode.Dir {
			return 0, fmt.Errorf("%w: the index is sparse", ErrUnsupported)
		}
		if len(name) == 0 { // as a split index has them, which its extension says
			x.nameless = true
		} else if !x.inOrder(e) {
			return 0, fmt.Errorf("the name of entry %d, %q, is wrong or out of order", i+1, e.name)
		}
		x.places = append(x.places, e)
		if flags&flagStage != 0 || flags&flagExtended != 0 && x.at(i).extended()&flagIntentToAdd != 0 {
			x.special = append(x.special, i)
		}
	}
	return at, nil
}

// inOrder reports whether e comes after the last entry, and has a name that
// leads nowhere else: what it shares with the last one was looked at with that.
func (x *rawIndex) inOrder(e rawPlace) bool {
	if len(x.places) == 0 {
		return validName(e.name)
	}
	prev := &x.places[len(x.places)-1]
	same := shared(prev.name, e.name)
	switch {
	case same == len(e.name):
		return same == len(prev.name) && x.at(len(x.places)-1).stage() < (rawEntry{e.name, x.data[e.at:]}).stage()
	case same < len(prev.name) && prev.name[same] > e.name[same]:
		return false
	}
	return validName(e.name[strings.LastIndexByte(e.name[:same], '/')+1:])
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

// validName reports whether a path has only elements that stay below the top
// of the working tree and out of its repository.
func validName(name string) bool {
	for {
		elem, rest, more := strings.Cut(name, "/")
		switch {
		case elem == "", elem == ".", elem == "..":
			return false
		case len(elem) == 4 && elem[0] == '.' && strings.EqualFold(elem, ".git"):
			return false
		}
		if !more {
			return true
		}
		name = rest
	}
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

// maxTreeDepth bounds how deep directories are nested.
const maxTreeDepth = 2048

// parseCacheTree reads one tree of the extension TREE and those below it.
func parseCacheTree(b []byte, depth int) (rest []byte, t CacheTree, ok bool) {
	name, b, ok := bytes.Cut(b, []byte{0})
	if !ok || depth > maxTreeDepth {
		return nil, t, false
	}
	line, b, ok := bytes.Cut(b, []byte{'\n'})
	if !ok {
		return nil, t, false
	}
	count, subs, ok := strings.Cut(string(line), " ")
	if !ok {
		return nil, t, false
	}
	entries, err := strconv.Atoi(count)
	if err != nil {
		return nil, t, false
	}
	n, err := strconv.Atoi(subs)
	if err != nil || n < 0 || n > len(b) {
		return nil, t, false
	}
	t = CacheTree{Name: string(name), Entries: entries}
	if entries >= 0 {
		if len(b) < len(t.Hash) {
			return nil, t, false
		}
		t.Hash, b = plumbing.Hash(b), b[len(t.Hash):]
	}
	if n > 0 {
		t.Subs = make([]CacheTree, n)
	}
	for i := range t.Subs {
		if b, t.Subs[i], ok = parseCacheTree(b, depth+1); !ok {
			return nil, t, false
		}
	}
	return b, t, true
}
