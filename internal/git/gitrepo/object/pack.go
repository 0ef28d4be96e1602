package object

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// pack is one pack file with its index, gitformat-pack(5). Both stay open, so
// that they can be read after git has replaced them.
type pack struct {
	path   string // without extension
	idx    *os.File
	data   *os.File
	fanout [256]uint32 // how many objects have a first byte up to this one
	count  int64
	size   int64 // of data

	mu         sync.Mutex
	buckets    [256][]byte          // names by first byte, once one was looked for
	deltaBases map[int64]packObject // by offset
	basesSize  int                  // bytes in deltaBases
}

type packObject struct {
	kind plumbing.ObjectType
	data []byte
}

// Offsets in an index of version 2.
const (
	idxFanout = 8
	idxNames  = idxFanout + 256*4
)

// openPack opens a pack by its path without extension.
func openPack(path string) (*pack, error) {
	fail := func(err error) (*pack, error) { return nil, fmt.Errorf("the pack %s: %w", path, err) }
	idx, err := gitfile.OpenRegular(path + ".idx")
	if err != nil {
		return fail(err)
	}
	p := &pack{path: path, idx: idx, deltaBases: map[int64]packObject{}}
	var head [idxNames]byte
	if _, err := idx.ReadAt(head[:], 0); err != nil {
		return fail(corrupt(err))
	}
	if string(head[:8]) != "\xfftOc\x00\x00\x00\x02" {
		return fail(fmt.Errorf("%w: its index has another version than 2", gitfile.ErrUnsupported))
	}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[idxFanout+4*i:])
		if i > 0 && p.fanout[i] < p.fanout[i-1] {
			return fail(fmt.Errorf("%w: its index is not in order", gitfile.ErrCorrupt))
		}
	}
	p.count = int64(p.fanout[255])
	if info, err := idx.Stat(); err != nil || info.Size() < idxNames+p.count*28+40 {
		return fail(fmt.Errorf("%w: its index is cut off", gitfile.ErrCorrupt))
	}
	if p.data, err = gitfile.OpenRegular(path + ".pack"); err != nil {
		return fail(err)
	}
	info, err := p.data.Stat()
	if err != nil {
		return fail(err)
	}
	p.size = info.Size()
	return p, nil
}

// names returns the sorted names that begin with a byte, and the number of the
// first of them.
func (p *pack) names(first byte) ([]byte, int64, error) {
	var from int64
	if first > 0 {
		from = int64(p.fanout[first-1])
	}
	n := int64(p.fanout[first]) - from
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buckets[first] == nil && n > 0 {
		b := make([]byte, n*20)
		if _, err := p.idx.ReadAt(b, idxNames+from*20); err != nil {
			return nil, 0, fmt.Errorf("%s.idx: %w", p.path, corrupt(err))
		}
		p.buckets[first] = b
	}
	return p.buckets[first], from, nil
}

// find returns where an object begins. It fails with errMissing.
func (p *pack) find(hash plumbing.Hash) (int64, error) {
	names, from, err := p.names(hash[0])
	if err != nil {
		return 0, err
	}
	i := sort.Search(len(names)/20, func(i int) bool { return bytes.Compare(names[i*20:i*20+20], hash[:]) >= 0 })
	if i == len(names)/20 || plumbing.Hash(names[i*20:]) != hash {
		return 0, ErrMissing
	}
	return p.offset(from + int64(i))
}

// offset returns where the object with a number in the index begins.
func (p *pack) offset(number int64) (int64, error) {
	var word [8]byte
	small := idxNames + p.count*24
	if _, err := p.idx.ReadAt(word[:4], small+number*4); err != nil {
		return 0, fmt.Errorf("%s.idx: %w", p.path, corrupt(err))
	}
	at := int64(binary.BigEndian.Uint32(word[:]))
	if at&(1<<31) != 0 { // the number of a large one
		if _, err := p.idx.ReadAt(word[:], small+p.count*4+(at&^(1<<31))*8); err != nil {
			return 0, fmt.Errorf("%s.idx: %w", p.path, corrupt(err))
		}
		at = int64(binary.BigEndian.Uint64(word[:]))
	}
	if at < 12 || at >= p.size {
		return 0, fmt.Errorf("%s.idx: %w: it leads out of the pack", p.path, gitfile.ErrCorrupt)
	}
	return at, nil
}

// maxDeltas bounds how long a chain of deltas is; git makes none above 4095.
const maxDeltas = 10_000

// read reads the object that begins at an offset. What it is a delta of may be
// anywhere in the repository.
func (p *pack) read(s *Store, at int64) (plumbing.ObjectType, []byte, error) {
	type step struct {
		at    int64
		delta []byte
	}
	var steps []step
	base := packObject{}
	for base.kind == 0 {
		if o, ok := p.baseAt(at); ok {
			base = o
			break
		}
		if len(steps) > maxDeltas {
			return 0, nil, fmt.Errorf("%w: its deltas have no end", gitfile.ErrCorrupt)
		}
		e, err := p.entry(at)
		if err != nil {
			return 0, nil, fmt.Errorf("%s.pack: %w", p.path, err)
		}
		switch {
		case e.kind <= plumbing.TagObject:
			base = packObject{e.kind, e.data}
			p.keepBase(at, base)
		case e.kind == plumbing.REFDeltaObject:
			steps = append(steps, step{at, e.data})
			offset, err := p.find(e.base)
			if err == nil {
				at = offset
				continue
			}
			kind, data, err := s.Read(e.base)
			if err != nil {
				return 0, nil, err
			}
			base = packObject{kind, data}
		default:
			steps = append(steps, step{at, e.data})
			at = e.at
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		data, err := applyDelta(base.data, steps[i].delta)
		if err != nil {
			return 0, nil, fmt.Errorf("%s.pack: %w", p.path, err)
		}
		base.data = data
		p.keepBase(steps[i].at, base)
	}
	return base.kind, base.data, nil
}

func (p *pack) baseAt(at int64) (packObject, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, ok := p.deltaBases[at]
	return o, ok
}

// keepBase remembers an object, which others may be deltas of.
func (p *pack) keepBase(at int64, o packObject) {
	if len(o.data) > maxBases/16 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.basesSize += len(o.data); p.basesSize > maxBases {
		clear(p.deltaBases)
		p.basesSize = len(o.data)
	}
	p.deltaBases[at] = o
}

// packEntry is one entry of a pack.
type packEntry struct {
	kind plumbing.ObjectType
	data []byte        // the object, or the delta
	at   int64         // of a plumbing.OFSDeltaObject: the offset of its base
	base plumbing.Hash // of a plumbing.REFDeltaObject
}

func (p *pack) entry(at int64) (packEntry, error) {
	in := readers.Get().(*packReader)
	defer readers.Put(in)
	in.reset(p.data, at)
	c, err := in.ReadByte()
	if err != nil {
		return packEntry{}, corrupt(err)
	}
	e := packEntry{kind: plumbing.ObjectType(c >> 4 & 7)}
	size, shift := int64(c&15), 4
	for ; c >= 0x80; shift += 7 {
		if c, err = in.ReadByte(); err != nil || shift > 50 {
			return e, fmt.Errorf("%w: a size is wrong", gitfile.ErrCorrupt)
		}
		size |= int64(c&0x7f) << shift
	}
	switch e.kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.REFDeltaObject:
		if _, err := io.ReadFull(in, e.base[:]); err != nil {
			return e, corrupt(err)
		}
	case plumbing.OFSDeltaObject:
		back := int64(-1)
		for first := true; first || c >= 0x80; first = false {
			if c, err = in.ReadByte(); err != nil || back > 1<<50 {
				return e, fmt.Errorf("%w: a delta leads out of the pack", gitfile.ErrCorrupt)
			}
			back = (back+1)<<7 | int64(c&0x7f)
		}
		if e.at = at - back; back <= 0 || e.at < 12 {
			return e, fmt.Errorf("%w: a delta leads out of the pack", gitfile.ErrCorrupt)
		}
	default:
		return e, fmt.Errorf("%w: there is no object at %d", gitfile.ErrCorrupt, at)
	}
	if size > MaxSize {
		return e, workspace.ErrTooLarge
	}
	e.data, err = in.inflate(int(size))
	return e, err
}

// packReader reads a file from an offset on, without a seek.
type packReader struct {
	f    *os.File
	at   int64 // of the next block
	buf  [4096]byte
	left []byte // of buf
	z    io.ReadCloser
}

var readers = sync.Pool{New: func() any { return new(packReader) }}

func (r *packReader) reset(f *os.File, at int64) { r.f, r.at, r.left = f, at, nil }

func (r *packReader) fill() error {
	n, err := r.f.ReadAt(r.buf[:], r.at)
	if n == 0 && err == nil || errors.Is(err, io.EOF) && n == 0 {
		return io.ErrUnexpectedEOF
	}
	if n == 0 {
		return err
	}
	r.at += int64(n)
	r.left = r.buf[:n]
	return nil
}

func (r *packReader) ReadByte() (byte, error) {
	if len(r.left) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	c := r.left[0]
	r.left = r.left[1:]
	return c, nil
}

func (r *packReader) Read(b []byte) (int, error) {
	if len(r.left) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}

// inflate reads size bytes that are compressed here.
func (r *packReader) inflate(size int) ([]byte, error) {
	var err error
	if r.z == nil {
		r.z, err = zlib.NewReader(r)
	} else {
		err = r.z.(zlib.Resetter).Reset(r, nil)
	}
	if err != nil {
		r.z = nil
		return nil, corrupt(err)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r.z, data); err != nil {
		return nil, corrupt(err)
	}
	var more [1]byte // the end has the checksum
	if n, err := r.z.Read(more[:]); n != 0 || !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: an object is longer than it says", gitfile.ErrCorrupt)
	}
	return data, nil
}

// applyDelta makes an object of another one and the delta to it.
func applyDelta(base, delta []byte) ([]byte, error) {
	bad := fmt.Errorf("%w: a delta does not fit", gitfile.ErrCorrupt)
	from, delta, ok := deltaSize(delta)
	if !ok || from != len(base) {
		return nil, bad
	}
	size, delta, ok := deltaSize(delta)
	if !ok {
		return nil, bad
	}
	if size > MaxSize {
		return nil, workspace.ErrTooLarge
	}
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 { // bytes that follow
			n := int(op)
			if n == 0 || n > len(delta) || len(out)+n > size {
				return nil, bad
			}
			out, delta = append(out, delta[:n]...), delta[n:]
			continue
		}
		var args [7]int // bytes of the offset and the length in base
		for i := range args {
			if op&(1<<i) != 0 {
				if len(delta) == 0 {
					return nil, bad
				}
				args[i], delta = int(delta[0]), delta[1:]
			}
		}
		at := args[0] | args[1]<<8 | args[2]<<16 | args[3]<<24
		n := args[4] | args[5]<<8 | args[6]<<16
		if n == 0 {
			n = 1 << 16
		}
		if at > len(base) || n > len(base)-at || len(out)+n > size {
			return nil, bad
		}
		out = append(out, base[at:at+n]...)
	}
	if len(out) != size {
		return nil, bad
	}
	return out, nil
}

func deltaSize(b []byte) (size int, rest []byte, ok bool) {
	for shift := 0; len(b) > 0 && shift < 40; shift += 7 {
		c := b[0]
		b = b[1:]
		size |= int(c&0x7f) << shift
		if c < 0x80 {
			return size, b, true
		}
	}
	return 0, nil, false
}
