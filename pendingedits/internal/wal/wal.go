// Package wal is the write-ahead log of the pending edits: records, opaque here,
// with checksums. It locks the directory, cuts off what a crash
// left half written, sets aside what is damaged, and is rewritten by a rename.
package wal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// A log is a file of frames, each one record. A frame is a header of sixteen
// bytes (magic, length, checksum of the payload, checksum of the header) and
// the payload; numbers are little-endian. The checksum of its own tells a
// header of a write that was cut short from a damaged one, and one of another
// version, which keeps its shape and has another magic, from both.
const (
	magic      = "SPE1"
	headerSize = 16
	wasteAbove = 1 << 20 // a log below this size is never rewritten
)

// The files of a log in its directory.
const (
	Name     = "pending.log"
	LockName = "lock"
)

// Log is the log in a directory. Append and Rewrite are called one at a time,
// Sync at any time.
type Log struct {
	dir     string
	prepare func() error // called before dir is made
	fail    func(point string) error

	mu      sync.Mutex // guards the rest
	lock    *os.File   // nil before it is opened, as file
	file    *os.File
	size    int64 // of what is written and whole
	written int64 // number of appended records
	broken  error // why nothing can be appended until the log is rewritten

	syncing sync.Mutex // one sync at a time; those who wait share the next
	synced  int64      // guarded by mu
}

// New returns the log in dir, which is not read yet. prepare, if not nil, is called
// before dir is made and may refuse that; fail at the points where a process may
// die, and what it returns is the failure of the step that would follow.
func New(dir string, prepare func() error, fail func(point string) error) *Log {
	return &Log{dir: dir, prepare: prepare, fail: fail}
}

// Opened says what Open found.
type Opened struct {
	Began   bool     // the log was read
	Damaged bool     // not all of it was right, so it has to be rewritten
	Reports []string // what was left out, for the user
}

// Open locks the directory and reads its log: read gets each record, and fails for
// one that it does not know. A directory that does not exist is made by the first
// record: looking leaves no traces. A log that is open already is left as it is;
// Began is false for both.
func (l *Log) Open(read func(record []byte) error) (Opened, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		return Opened{}, nil
	}
	if _, err := os.Lstat(l.dir); errors.Is(err, os.ErrNotExist) {
		return Opened{}, nil
	}
	return l.lockAndRead(read)
}

// lockAndRead makes the directory, locks it and reads the log.
func (l *Log) lockAndRead(read func([]byte) error) (o Opened, err error) {
	if l.prepare != nil {
		if err := l.prepare(); err != nil {
			return o, err
		}
	}
	if err := makeDir(l.dir); err != nil {
		return o, err
	}
	if err := l.clear(&o, LockName); err != nil {
		return o, err
	}
	if l.lock, err = filelock.Open(filepath.Join(l.dir, LockName)); err != nil {
		if held, ok := errors.AsType[*filelock.HeldError](err); ok {
			err = fmt.Errorf("%s is %w", l.dir, held)
		}
		return o, err
	}
	if err := l.load(&o, read); err != nil {
		return o, errors.Join(err, l.end())
	}
	o.Began = true
	return o, nil
}

// clear sets aside directories that have the name of a file of the log. What else is no file is refused when it is opened.
func (l *Log) clear(o *Opened, names ...string) error {
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(l.dir, name))
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
			continue
		}
		if err != nil {
			return err
		}
		to, err := free(l.dir, name, os.Mkdir) // a name that nobody has
		if err != nil {
			return err
		}
		inside := filepath.Join(to, name)
		if err := os.Rename(filepath.Join(l.dir, name), filepath.Join(l.dir, inside)); err != nil {
			return err
		}
		o.Reports = append(o.Reports, fmt.Sprintf("%s was a directory; it was set aside as %s", filepath.Join(l.dir, name), inside))
	}
	return nil
}

// free makes something under the first name for damaged files that nobody has.
func free(dir, name string, makeIt func(path string, perm os.FileMode) error) (string, error) {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.damaged-%d", name, n)
		if err := makeIt(filepath.Join(dir, aside), 0o700); !errors.Is(err, os.ErrExist) {
			return aside, err
		}
	}
}

// ErrOthers says that the log has records which are not known here.
var ErrOthers = errors.New("another process has put edits into the queue meanwhile")

// lockEmpty is lockAndRead for who found no directory: it fails with ErrOthers if
// another process was faster.
func (l *Log) lockEmpty() error {
	n := 0
	_, err := l.lockAndRead(func([]byte) error { n++; return nil })
	if err == nil && n > 0 {
		err = errors.Join(fmt.Errorf("%s: %w", l.dir, ErrOthers), l.end())
	}
	return err
}

// load opens the log's file and reads it.
func (l *Log) load(o *Opened, read func([]byte) error) error {
	name := filepath.Join(l.dir, Name)
	if err := l.clear(o, Name, Name+".new"); err != nil {
		return err
	}
	// What a rewrite left when it was cut short was never the log.
	if err := os.Remove(name + ".new"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var err error
	if l.file, err = openFile(name, os.O_RDWR|os.O_CREATE); err != nil {
		return err
	}
	if err := osfile.SyncDir(l.dir); err != nil {
		return err
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	n := 0
	l.size, err = readFrames(l.file, info.Size(), func(record []byte) error { n++; return read(record) })
	switch {
	case errors.Is(err, errTorn):
		// A crash while it was written: nobody was told that it is kept.
		o.Reports = append(o.Reports, fmt.Sprintf("the last entry of %s was not written to its end before the last stop; it was left out", Name))
		return errors.Join(l.file.Truncate(l.size), l.file.Sync())
	case errors.Is(err, errForeign):
		return fmt.Errorf("%s: %w; accept or reject what is pending with that version, or upgrade this one", name, err)
	case errors.Is(err, errDamaged):
		aside, err := l.setAside()
		o.Damaged = true
		o.Reports = append(o.Reports, fmt.Sprintf("%s is damaged after %d entries, which were kept; the damaged file is %s", Name, n, aside))
		return err
	}
	return err
}

var (
	errTorn    = errors.New("the last record is not complete")
	errDamaged = errors.New("the log is damaged")
	errForeign = errors.New("it was written by another version of sidecar-ls, in a format that this one does not know")
)

// maxRecord bounds one record, in bytes.
const maxRecord = 1 << 30

// readFrames reads the records before the first that is not right, and returns where
// that begins. Of a file of which nothing is right it reads no more than a header.
func readFrames(file io.ReaderAt, end int64, read func(record []byte) error) (size int64, err error) {
	for size < end {
		header := make([]byte, min(end-size, headerSize))
		if _, err := file.ReadAt(header, size); err != nil && !errors.Is(err, io.EOF) {
			return size, err
		}
		if len(header) < headerSize {
			if len(header) <= len(magic) && magic[:len(header)] != string(header) || len(header) > len(magic) && string(header[:len(magic)]) != magic {
				return size, errDamaged
			}
			return size, errTorn
		}
		length := int64(binary.LittleEndian.Uint32(header[4:]))
		if binary.LittleEndian.Uint32(header[12:]) != checksum(header[:12]) {
			return size, errDamaged
		}
		if string(header[:4]) != magic {
			return size, errForeign
		}
		if length > end-size-headerSize {
			return size, errTorn
		}
		if length > maxRecord {
			return size, errDamaged
		}
		payload := make([]byte, length)
		if _, err := file.ReadAt(payload, size+headerSize); err != nil && !errors.Is(err, io.EOF) {
			return size, err
		}
		if binary.LittleEndian.Uint32(header[8:]) != checksum(payload) {
			return size, errDamaged
		}
		if err := read(payload); err != nil {
			return size, errForeign // it is as it was written
		}
		size += headerSize + length
	}
	return size, nil
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// header is what stands before a record, which is written after it: a record may be as
// large as the largest file, and is copied nowhere.
func header(payload []byte) []byte {
	b := make([]byte, headerSize)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[8:], checksum(payload))
	binary.LittleEndian.PutUint32(b[12:], checksum(b[:12]))
	return b
}

// Append writes a record and returns its number for Sync. If it fails, the log
// is as before.
func (l *Log) Append(op string, payload []byte) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return 0, l.broken
	}
	if l.file == nil {
		if err := l.lockEmpty(); err != nil {
			return 0, err
		}
	}
	if err := l.fail(op + ".write"); err != nil {
		return 0, err
	}
	_, err := l.file.WriteAt(header(payload), l.size)
	if err == nil {
		_, err = l.file.WriteAt(payload, l.size+headerSize)
	}
	if err == nil {
		err = l.fail(op + ".written")
	}
	if err != nil {
		if e := l.file.Truncate(l.size); e != nil {
			l.broken = e
		}
		return 0, err
	}
	l.size += int64(headerSize + len(payload))
	l.written++
	return l.written, nil
}

// Sync returns when the record with this number is durable. Callers that come
// together share one fsync.
func (l *Log) Sync(op string, seq int64) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	file, written, synced, broken := l.file, l.written, l.synced, l.broken
	l.mu.Unlock()
	if synced >= seq {
		return nil
	}
	if broken != nil {
		return notDurable(broken)
	}
	err := l.fail(op + ".sync")
	if err == nil {
		err = file.Sync()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.file != file && l.broken != nil:
		return notDurable(l.broken)
	case l.file != file && (l.synced >= written || err == nil || errors.Is(err, os.ErrClosed)):
		return nil // it was rewritten meanwhile, with everything in it, or opened again and synced
	case err != nil:
		// The system may have given up on the pages: only a new file can be trusted.
		l.broken = err
		return notDurable(err)
	}
	l.synced = max(l.synced, written)
	return l.fail(op + ".synced")
}

func notDurable(err error) error {
	return fmt.Errorf("pending edits: the step was made, but is lost if the server stops now: %w", err)
}

// IsOpen reports whether the directory is this process's.
func (l *Log) IsOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file != nil
}

// IsBroken reports whether only a rewrite can make the log usable again.
func (l *Log) IsBroken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken != nil
}

// IsWasteful reports whether a rewrite would free more than half of a large log.
func (l *Log) IsWasteful(needed func() int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size > wasteAbove && l.size > 2*needed()
}

// Rewrite replaces the log by one that has just these records. If it fails, the
// old one stays.
func (l *Log) Rewrite(payloads [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := filepath.Join(l.dir, Name)
	if err := l.fail("compact.create"); err != nil {
		return err
	}
	f, err := openFile(name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	size, err := l.fill(f, payloads)
	if err == nil {
		err = l.replace(name)
	}
	if err != nil {
		f.Close()
		return errors.Join(err, os.Remove(name+".new"))
	}
	// From here on the new file is the log, whatever else fails.
	l.file, l.size = f, size
	err = l.fail("compact.renamed")
	if err == nil {
		err = osfile.SyncDir(l.dir)
	}
	l.broken = err
	if err == nil {
		l.synced = l.written
		err = l.fail("compact.synced")
	}
	return err
}

// replace puts the new file in the place of the log, which is closed: Windows does
// not replace a file that is open.
func (l *Log) replace(name string) error {
	l.file.Close()
	err := osfile.Rename(context.Background(), name+".new", name)
	if err == nil {
		return nil
	}
	old, err2 := openFile(name, os.O_RDWR)
	if err2 == nil {
		l.file = old
		err2 = old.Sync() // somebody may have had to sync it while it was closed
	}
	if err2 != nil {
		l.broken = err2
	}
	return errors.Join(err, err2)
}

func (l *Log) fill(f *os.File, payloads [][]byte) (size int64, err error) {
	for _, p := range payloads {
		for _, part := range [][]byte{header(p), p} {
			n, err := f.Write(part)
			if err != nil {
				return 0, err
			}
			size += int64(n)
		}
	}
	if err := l.fail("compact.written"); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	return size, l.fail("compact.rename")
}

// setAside keeps a damaged log for a person to look at: under another name, too, until it is replaced. Where a file has one
// name only, it is copied.
func (l *Log) setAside() (string, error) {
	name := filepath.Join(l.dir, Name)
	aside, err := free(l.dir, Name, func(path string, _ os.FileMode) error { return os.Link(name, path) })
	if err == nil {
		return aside, osfile.SyncDir(l.dir)
	}
	var f *os.File
	aside, err = free(l.dir, Name, func(path string, _ os.FileMode) (err error) {
		f, err = openFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		return err
	})
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, io.NewSectionReader(l.file, 0, math.MaxInt64))
	return aside, errors.Join(err, f.Sync(), f.Close())
}

// Close gives the directory free.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end()
}

func (l *Log) end() error {
	var errs []error
	for _, f := range []**os.File{&l.file, &l.lock} {
		if *f != nil {
			errs = append(errs, (*f).Close())
			*f = nil
		}
	}
	return errors.Join(errs...)
}

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return err
}

func openFile(name string, flag int) (*os.File, error) { return osfile.Open(name, flag, 0o600) }
