package embed

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"unsafe"
)

// A cache is a file with a head and then one record for each vector, appended
// as they come: key, scale, cells, checksum. Its name has the source of the
// vectors. The head has the file's own number in the file system, so that a
// copy that came with a project is no cache.

const (
	cacheVersion = 1
	headSize     = 32
	maxCache     = 2 << 30
)

var cacheMagic = [8]byte{'S', 'K', 'V', 'E', 'C', 'T', 'S', '\n'}

type cache struct {
	f   *os.File
	err error // the first one; from then on nothing is kept
}

// Dir opens the directory of the file, making it if create is set.
type Dir func(create bool) (*os.Root, error)

func cacheName(source string) string { return "embeddings-" + source }

// OpenVectors reads what is kept of a source, most vectors at most, and keeps
// what is added from then on. number tells files apart. Whatever is wrong with
// the file: then there is nothing yet. The error says why nothing can be kept;
// the vectors can be used all the same.
func OpenVectors(dir Dir, source string, most int, number func(fs.FileInfo) uint64) (*Vectors, error) {
	v := NewVectors()
	root, err := dir(true)
	if err != nil {
		return v, err
	}
	defer root.Close()
	name := cacheName(source)
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return v, errors.New(name + " is not a regular file")
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return v, err
	}
	info, err := f.Stat()
	if err != nil {
		return v, errors.Join(err, f.Close())
	}
	end := v.load(f, info, number(info), most)
	if err := f.Truncate(end); err != nil {
		return v, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return v, errors.Join(err, f.Close())
	}
	v.cache = &cache{f: f}
	if end == 0 {
		v.cache.begin(number(info))
	}
	return v, nil
}

// load reads the records and returns where the good ones end; 0: there is no
// good head.
func (v *Vectors) load(f *os.File, info fs.FileInfo, number uint64, most int) int64 {
	if info.Size() < headSize || info.Size() > maxCache {
		return 0
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return 0
	}
	if string(data[:8]) != string(cacheMagic[:]) || binary.LittleEndian.Uint32(data[8:]) != cacheVersion || binary.LittleEndian.Uint64(data[16:]) != number {
		return 0
	}
	if len(data) < headSize+4 {
		return headSize
	}
	dims := int(binary.LittleEndian.Uint32(data[headSize:])) // all have those of the first
	if dims <= 0 || dims > maxDimensions {
		return headSize
	}
	size := recordSize(dims)
	end := int64(headSize)
	if len(data)/size > 4*most {
		return 0 // most of it is of texts that are gone
	}
	for rest := data[headSize:]; len(rest) >= size; rest = rest[size:] {
		r := rest[:size]
		sum := binary.LittleEndian.Uint32(r[size-4:])
		scale := math.Float32frombits(binary.LittleEndian.Uint32(r[20:]))
		if int(binary.LittleEndian.Uint32(r)) != dims || crc32.ChecksumIEEE(r[:size-4]) != sum || scale != scale || scale <= 0 || scale > 1 {
			break
		}
		v.dims = dims
		v.set(Key(r[4:20]), scale, unsafe.Slice((*int8)(unsafe.Pointer(&r[24])), dims))
		end += int64(size)
	}
	return end
}

// recordSize is that of one vector: dimensions, key, scale, cells, checksum.
func recordSize(dims int) int { return 4 + 16 + 4 + dims + 4 }

func (c *cache) begin(number uint64) {
	head := append(make([]byte, 0, headSize), cacheMagic[:]...)
	head = binary.LittleEndian.AppendUint32(head, cacheVersion)
	head = binary.LittleEndian.AppendUint32(head, 0)
	head = binary.LittleEndian.AppendUint64(head, number)
	c.write(append(head, make([]byte, headSize-len(head))...))
}

func (c *cache) append(k Key, scale float32, cells []int8) {
	r := binary.LittleEndian.AppendUint32(make([]byte, 0, recordSize(len(cells))), uint32(len(cells)))
	r = append(r, k[:]...)
	r = binary.LittleEndian.AppendUint32(r, math.Float32bits(scale))
	r = append(r, unsafe.Slice((*byte)(unsafe.Pointer(&cells[0])), len(cells))...)
	c.write(binary.LittleEndian.AppendUint32(r, crc32.ChecksumIEEE(r)))
}

func (c *cache) write(data []byte) {
	if c.err == nil {
		_, c.err = c.f.Write(data)
	}
}

// Forget drops all vectors, those that are kept too.
func (v *Vectors) Forget() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dims, v.scales, v.cells = 0, nil, nil
	clear(v.byKey)
	if v.cache == nil || v.cache.err != nil {
		return nil
	}
	_, err := v.cache.f.Seek(headSize, io.SeekStart)
	return errors.Join(err, v.cache.f.Truncate(headSize))
}

// Close ends the keeping. It returns the first error of it.
func (v *Vectors) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cache == nil {
		return nil
	}
	err := errors.Join(v.cache.err, v.cache.f.Close())
	v.cache = nil
	return err
}
