package segment

import (
	"encoding/binary"
	"errors"
	"unsafe"
)

// A segment is written as its arrays, as they are in memory: what is read back
// is looked at in place. So a file is good for machines of one byte order, and
// whoever keeps it has to tell others apart.

// ErrDamaged is what Decode says about bytes that Encode did not make.
var ErrDamaged = errors.New("the segment is damaged")

// fileRecord is a File in bytes.
type fileRecord struct {
	hash         uint64
	path, length uint32 // in the paths
	first, count uint32
	flags        uint32
	_            uint32
}

// Encode appends the segment to out, which is aligned to 8 bytes before and
// after.
func (s *Segment) Encode(out []byte) []byte {
	var paths []byte
	files := make([]fileRecord, len(s.Files))
	for i := range s.Files {
		f := &s.Files[i]
		files[i] = fileRecord{f.Hash, uint32(len(paths)), uint32(len(f.Path)), f.First, f.Count, uint32(f.Flags), 0}
		paths = append(paths, f.Path...)
	}
	for _, n := range [...]int{len(files), len(s.Units), len(s.hashes), len(s.posts), len(s.text), len(paths), len(s.imports), len(s.moduleEnds), len(s.modules)} {
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
	}
	out = padded(append(out, bytesOf(files)...))
	out = padded(append(out, bytesOf(s.Units)...))
	out = padded(append(out, bytesOf(s.hashes)...))
	out = padded(append(out, bytesOf(s.starts)...))
	out = padded(append(out, s.posts...))
	out = padded(append(out, s.text...))
	out = padded(append(out, paths...))
	out = padded(append(out, bytesOf(s.imports)...))
	out = padded(append(out, bytesOf(s.importEnds)...))
	out = padded(append(out, bytesOf(s.moduleEnds)...))
	return padded(append(out, s.modules...))
}

func padded(out []byte) []byte {
	for len(out)%8 != 0 {
		out = append(out, 0)
	}
	return out
}

func bytesOf[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}

// decoder takes arrays from bytes.
type decoder struct {
	data []byte
	bad  bool
}

// take returns n elements, which share the memory of the bytes.
func take[T any](d *decoder, n uint64) []T {
	var zero T
	size := uint64(unsafe.Sizeof(zero))
	if d.bad || n > uint64(len(d.data))/size {
		d.bad = true
		return nil
	}
	length := (n*size + 7) &^ 7
	if length > uint64(len(d.data)) {
		d.bad = true
		return nil
	}
	p := d.data
	d.data = d.data[length:]
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&p[0])), n)
}

// Decode reads a segment from the beginning of data, which must be aligned to
// 8 bytes and never change, and returns what is behind it. Nothing in data is
// believed: what Decode accepts is safe to use, though it may be untrue.
func Decode(data []byte) (*Segment, []byte, error) {
	if len(data) > 0 && uintptr(unsafe.Pointer(&data[0]))%8 != 0 {
		return nil, nil, ErrDamaged
	}
	d := decoder{data: data}
	counts := take[uint64](&d, 9)
	if d.bad {
		return nil, nil, ErrDamaged
	}
	s := &Segment{}
	files := take[fileRecord](&d, counts[0])
	s.Units = take[Unit](&d, counts[1])
	s.hashes = take[uint32](&d, counts[2])
	s.starts = take[uint32](&d, counts[2]+1)
	s.posts = take[byte](&d, counts[3])
	text, paths := take[byte](&d, counts[4]), take[byte](&d, counts[5])
	s.imports, s.importEnds, s.moduleEnds = take[uint32](&d, counts[6]), take[uint32](&d, counts[0]), take[uint32](&d, counts[7])
	modules := take[byte](&d, counts[8])
	if d.bad || len(s.Units) > maxUnits || len(files) > maxFiles {
		return nil, nil, ErrDamaged
	}
	s.text = unsafe.String(unsafe.SliceData(text), len(text))
	s.modules = unsafe.String(unsafe.SliceData(modules), len(modules))
	names := unsafe.String(unsafe.SliceData(paths), len(paths))
	s.Files = make([]File, len(files))
	for i, f := range files {
		if uint64(f.path)+uint64(f.length) > uint64(len(names)) || uint64(f.first)+uint64(f.count) > uint64(len(s.Units)) || f.count == 0 {
			return nil, nil, ErrDamaged
		}
		s.Files[i] = File{Path: names[f.path : f.path+f.length], Hash: f.hash, Flags: FileFlag(f.flags), First: f.first, Count: f.count}
	}
	if !s.sound() || !s.soundImports() {
		return nil, nil, ErrDamaged
	}
	s.arrange()
	return s, d.data, nil
}

// sound checks everything that others take for granted.
func (s *Segment) sound() bool {
	for i := range s.Units {
		u := &s.Units[i]
		if int(u.File) >= len(s.Files) || uint64(u.text)+uint64(u.owner)+uint64(u.name) > uint64(len(s.text)) ||
			u.Length >= LengthClasses || u.Doc >= LengthClasses || u.Parts > NameParts || int(u.kind) >= len(kinds) {
			return false
		}
	}
	if len(s.starts) == 0 || s.starts[0] != 0 || int(s.starts[len(s.starts)-1]) != len(s.posts) {
		return len(s.posts) == 0 && len(s.hashes) == 0
	}
	for i := range s.hashes {
		if s.starts[i] > s.starts[i+1] || i > 0 && s.hashes[i] <= s.hashes[i-1] {
			return false
		}
	}
	return s.mark()
}
