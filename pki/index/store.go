package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"unsafe"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// Store is the file that keeps an index between runs. It is believed only
// when this very file was written by this program: its head has its own number
// in the file system, so that a copy that came with a project is no index.
type Store struct {
	// Open opens the directory of the file, making it if make is set. It fails
	// where a link stands in the way.
	Open func(create bool) (*os.Root, error)
}

const (
	storeName = "knowledge.index"
	// storeVersion changes with what is written, and with how text is turned
	// into terms and units.
	storeVersion = 6
	// maxStore bounds what is read.
	maxStore = 4 << 30
	headSize = 48
)

var storeMagic = [8]byte{'S', 'K', 'I', 'N', 'D', 'E', 'X', '\n'}

// byteOrder reads differently on machines that Encode's files are not for.
const byteOrder = 0x0102030405060708

// stampRecord is what the index knows of a segment's file besides.
type stampRecord struct {
	size, mtime int64
	dead        uint64
}

// restore reads the index that was stored. Whatever is wrong with it: then
// there is none.
func (x *Index) restore() {
	if x.o.Store == nil {
		return
	}
	parts, err := x.o.Store.read()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			x.problem(fmt.Errorf("the stored project index is not used: %w", err))
		}
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range parts {
		p := &part{seg: s.seg}
		for i := range s.seg.Files {
			name := s.seg.Files[i].Path
			if _, twice := x.byPath[name]; twice || s.stamps[i].dead != 0 {
				p.kill(uint32(i))
				continue
			}
			x.enter(name, entry{p, uint32(i), stamp{s.stamps[i].size, s.stamps[i].mtime}})
			x.count(&s.seg.Files[i], 1)
		}
		x.parts = append(x.parts, p)
	}
	x.changed = false
}

// store writes the index, if it is complete and has changed.
func (x *Index) store() {
	x.storing.Lock()
	defer x.storing.Unlock()
	x.mu.Lock()
	if x.o.Store == nil || !x.changed || !x.status.Ready {
		x.mu.Unlock()
		return
	}
	parts := make([]stored, 0, len(x.parts))
	for _, p := range x.parts {
		s := stored{p.seg, make([]stampRecord, len(p.seg.Files))}
		for i := range p.seg.Files {
			if p.isDead(uint32(i)) {
				s.stamps[i].dead = 1
				continue
			}
			now := x.byPath[p.seg.Files[i].Path].stamp
			s.stamps[i] = stampRecord{now.size, now.mtime, 0}
		}
		parts = append(parts, s)
	}
	x.changed = false
	x.mu.Unlock()
	if err := x.o.Store.write(parts); err != nil {
		x.problem(fmt.Errorf("the project index is not stored: %w", err))
	}
}

// stored is a segment with what the index knows about its files.
type stored struct {
	seg    *segment.Segment
	stamps []stampRecord
}

// write replaces the file.
func (s *Store) write(parts []stored) error {
	return s.replace(storeName, func(f *os.File) error { return writeTo(f, parts) })
}

// replace writes a file of the directory again. A crash leaves the old one or the
// new one.
func (s *Store) replace(name string, write func(*os.File) error) error {
	root, err := s.Open(true)
	if err != nil {
		return err
	}
	defer root.Close()
	temp := name + ".new"
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = osfile.Retry(context.Background(), name, func() error { return root.Rename(temp, name) })
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// Keep writes data to a file of that name beside the index.
func (s *Store) Keep(name string, data []byte) error {
	return s.replace(name, func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		_, err = f.Write(append(head(fileNumber(info), 1, uint64(len(data)), segment.Hash(data)), data...))
		return err
	})
}

// Kept returns what Keep wrote. It fails with fs.ErrNotExist when there is
// nothing, and does not believe what others wrote.
func (s *Store) Kept(name string) ([]byte, error) {
	data, _, sum, err := s.load(name)
	if err == nil && segment.Hash(data) != sum {
		err = segment.ErrDamaged
	}
	return data, err
}

func writeTo(f *os.File, parts []stored) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := f.Seek(headSize, io.SeekStart); err != nil {
		return err
	}
	var buf []byte
	sum, size := uint64(0), int64(0)
	for _, p := range parts {
		buf = binary.LittleEndian.AppendUint64(buf[:0], 0)
		buf = binary.LittleEndian.AppendUint64(buf, uint64(len(p.stamps)))
		if len(p.stamps) > 0 {
			buf = append(buf, unsafe.Slice((*byte)(unsafe.Pointer(&p.stamps[0])), len(p.stamps)*int(unsafe.Sizeof(p.stamps[0])))...)
		}
		buf = p.seg.Encode(buf)
		binary.LittleEndian.PutUint64(buf, uint64(len(buf)))
		sum = sum*31 + segment.Hash(buf)
		size += int64(len(buf))
		if _, err := f.Write(buf); err != nil {
			return err
		}
	}
	_, err = f.WriteAt(head(fileNumber(info), uint64(len(parts)), uint64(size), sum), 0)
	return err
}

func head(number, parts, size, sum uint64) []byte {
	h := append(make([]byte, 0, headSize), storeMagic[:]...)
	order := uint64(byteOrder)
	h = append(h, unsafe.Slice((*byte)(unsafe.Pointer(&order)), 8)...)
	h = binary.LittleEndian.AppendUint64(h, storeVersion)
	h = binary.LittleEndian.AppendUint64(h, number^size<<32)
	h = binary.LittleEndian.AppendUint64(h, parts)
	return binary.LittleEndian.AppendUint64(h, sum)
}

var errForeign = errors.New("it was not written here, or by another version")

// read reads the file.
func (s *Store) read() ([]stored, error) {
	body, parts, sum, err := s.load(storeName)
	if err != nil {
		return nil, err
	}
	return readParts(body, parts, sum)
}

// load reads a file of the directory, and what its head says about the rest.
func (s *Store) load(name string) (body []byte, parts, sum uint64, err error) {
	root, err := s.Open(false)
	if err != nil {
		return nil, 0, 0, err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err != nil {
		return nil, 0, 0, err
	} else if !info.Mode().IsRegular() {
		return nil, 0, 0, errForeign
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, 0, err
	}
	if !info.Mode().IsRegular() || info.Size() < headSize || info.Size() > maxStore {
		return nil, 0, 0, errForeign
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, 0, 0, err
	}
	parts, sum = binary.LittleEndian.Uint64(data[32:]), binary.LittleEndian.Uint64(data[40:])
	body = data[headSize:]
	if string(data[:headSize]) != string(head(fileNumber(info), parts, uint64(len(body)), sum)) || parts > 1<<16 {
		return nil, 0, 0, errForeign
	}
	return body, parts, sum, nil
}

// readParts reads the parts, side by side.
func readParts(body []byte, count, sum uint64) ([]stored, error) {
	parts, sums, errs := make([]stored, count), make([]uint64, count), make([]error, count)
	var work sync.WaitGroup
	defer work.Wait()
	for i := range parts {
		if len(body) < 8 {
			return nil, segment.ErrDamaged
		}
		size := binary.LittleEndian.Uint64(body)
		if size < 16 || size > uint64(len(body)) || size%8 != 0 {
			return nil, segment.ErrDamaged
		}
		data := body[:size]
		body = body[size:]
		work.Go(func() {
			sums[i] = segment.Hash(data)
			parts[i], errs[i] = readPart(data)
		})
	}
	work.Wait()
	got := uint64(0)
	for _, s := range sums {
		got = got*31 + s
	}
	if got != sum || len(body) != 0 {
		return nil, segment.ErrDamaged
	}
	return parts, errors.Join(errs...)
}

// readPart reads one part; its length stands before it.
func readPart(data []byte) (p stored, err error) {
	n := binary.LittleEndian.Uint64(data[8:])
	data = data[16:]
	const size = uint64(unsafe.Sizeof(stampRecord{}))
	if n > uint64(len(data))/size {
		return p, segment.ErrDamaged
	}
	if n > 0 {
		p.stamps = unsafe.Slice((*stampRecord)(unsafe.Pointer(&data[0])), n)
	}
	var rest []byte
	if p.seg, rest, err = segment.Decode(data[n*size:]); err != nil {
		return p, err
	}
	if len(p.seg.Files) != len(p.stamps) || len(rest) != 0 {
		return p, segment.ErrDamaged
	}
	return p, nil
}
