package pendingedits

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
	logName    = "pending.log"
	lockName   = "lock"
	magic      = "SPE1"
	headerSize = 16
	wasteAbove = 1 << 20 // a log below this size is never rewritten
)

// log is the store's file. append and rewrite are called with the store's lock
// held, sync without.
type log struct {
	dir     string
	prepare func() error // called before dir is made
	fail    func(point string) error

	mu      sync.Mutex // guards the rest
	lock    *os.File   // nil before begin, as file
	file    *os.File
	size    int64 // of what is written and whole
	written int64 // number of appended records
	broken  error // why nothing can be appended until the log is rewritten
	damaged bool  // what was read was not all right

	syncing sync.Mutex // one sync at a time; those who wait share the next
	synced  int64      // guarded by mu
}

// newLog returns the log in dir, which is not read yet.
func newLog(dir string, opts Options) *log {
	return &log{dir: dir, prepare: opts.Prepare, fail: opts.Fail}
}

// open locks the directory and reads its log. What it had to leave out is
// reported. A directory that does not exist is made by the first record:
// looking leaves no traces. A log that is open already is left as it is; began
// is false for both.
func (l *log) open() (records []record, reports []string, began bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		return nil, nil, false, nil
	}
	if _, err := os.Lstat(l.dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil, false, nil
	}
	records, reports, err = l.begin()
	return records, reports, err == nil, err
}

// begin makes the directory, locks it and reads the log.
func (l *log) begin() (records []record, reports []string, err error) {
	if l.prepare != nil {
		if err := l.prepare(); err != nil {
			return nil, nil, err
		}
	}
	if err := makeDir(l.dir); err != nil {
		return nil, nil, err
	}
	odd, err := l.clear(lockName)
	if err != nil {
		return nil, nil, err
	}
	if l.lock, err = lockDir(l.dir); err != nil {
		return nil, nil, err
	}
	records, reports, err = l.load()
	if err != nil {
		err = errors.Join(err, l.end())
	}
	return records, append(odd, reports...), err
}

// clear sets aside directories that have the name of a file of the log. What else is no file is refused when it is opened.
func (l *log) clear(names ...string) (reports []string, err error) {
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(l.dir, name))
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
			continue
		}
		if err != nil {
			return nil, err
		}
		to, err := free(l.dir, name, os.Mkdir) // a name that nobody has
		if err != nil {
			return nil, err
		}
		inside := filepath.Join(to, name)
		if err := os.Rename(filepath.Join(l.dir, name), filepath.Join(l.dir, inside)); err != nil {
			return nil, err
		}
		reports = append(reports, fmt.Sprintf("%s was a directory; it was set aside as %s", filepath.Join(l.dir, name), inside))
	}
	return reports, nil
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

// errOthers says that the log has records which are not known here.
var errOthers = errors.New("another process has put edits into the queue meanwhile")

// beginEmpty is begin for who found no directory: it fails with errOthers if
// another process was faster.
func (l *log) beginEmpty() error {
	records, _, err := l.begin()
	if err == nil && len(records) > 0 {
		err = errors.Join(fmt.Errorf("%s: %w", l.dir, errOthers), l.end())
	}
	return err
}

// load opens the log's file and reads it.
func (l *log) load() (records []record, reports []string, err error) {
	name := filepath.Join(l.dir, logName)
	if reports, err = l.clear(logName, logName+".new"); err != nil {
		return nil, nil, err
	}
	// What a rewrite left when it was cut short was never the log.
	if err := os.Remove(name + ".new"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, err
	}
	l.file, err = openFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, nil, err
	}
	if err := osfile.SyncDir(l.dir); err != nil {
		return nil, nil, err
	}
	info, err := l.file.Stat()
	if err != nil {
		return nil, nil, err
	}
	records, l.size, err = readFrames(l.file, info.Size())
	switch {
	case errors.Is(err, errTorn):
		// A crash while it was written: nobody was told that it is kept.
		reports = append(reports, fmt.Sprintf("the last entry of %s was not written to its end before the last stop; it was left out", logName))
		return records, reports, errors.Join(l.file.Truncate(l.size), l.file.Sync())
	case errors.Is(err, errForeign):
		return nil, nil, fmt.Errorf("%s: %w; accept or reject what is pending with that version, or upgrade this one", name, err)
	case errors.Is(err, errDamaged):
		aside, err := l.setAside()
		l.damaged = true
		reports = append(reports, fmt.Sprintf("%s is damaged after %d entries, which were kept; the damaged file is %s", logName, len(records), aside))
		return records, reports, err
	}
	return records, reports, err
}

var (
	errTorn    = errors.New("the last record is not complete")
	errDamaged = errors.New("the log is damaged")
	errForeign = errors.New("it was written by another version of sidecar-ls, in a format that this one does not know")
)

// maxRecord bounds one record, in bytes.
const maxRecord = 1 << 30

// readFrames returns the records before the first that is not right, and where
// that begins. Of a file of which nothing is right it reads no more than a header.
func readFrames(file io.ReaderAt, end int64) (records []record, size int64, err error) {
	for size < end {
		header := make([]byte, min(end-size, headerSize))
		if _, err := file.ReadAt(header, size); err != nil && !errors.Is(err, io.EOF) {
			return records, size, err
		}
		if len(header) < headerSize {
			if len(header) <= len(magic) && magic[:len(header)] != string(header) || len(header) > len(magic) && string(header[:len(magic)]) != magic {
				return records, size, errDamaged
			}
			return records, size, errTorn
		}
		length := int64(binary.LittleEndian.Uint32(header[4:]))
		if binary.LittleEndian.Uint32(header[12:]) != checksum(header[:12]) {
			return records, size, errDamaged
		}
		if string(header[:4]) != magic {
			return records, size, errForeign
		}
		if length > end-size-headerSize {
			return records, size, errTorn
		}
		if length > maxRecord {
			return records, size, errDamaged
		}
		payload := make([]byte, length)
		if _, err := file.ReadAt(payload, size+headerSize); err != nil && !errors.Is(err, io.EOF) {
			return records, size, err
		}
		if binary.LittleEndian.Uint32(header[8:]) != checksum(payload) {
			return records, size, errDamaged
		}
		r, err := decode(payload)
		if err != nil {
			return records, size, errForeign // it is as it was written
		}
		records, size = append(records, r), size+headerSize+length
	}
	return records, size, nil
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

// append writes a record and returns its number for sync. If it fails, the log
// is as before.
func (l *log) append(op string, payload []byte) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return 0, l.broken
	}
	if l.file == nil {
		if err := l.beginEmpty(); err != nil {
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

// sync returns when the record with this number is durable. Callers that come
// together share one fsync.
func (l *log) sync(op string, seq int64) error {
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

// isOpen reports whether the directory is this process's.
func (l *log) isOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file != nil
}

// isBroken reports whether only a rewrite can make the log usable again.
func (l *log) isBroken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken != nil
}

// wasteful reports whether a rewrite would free more than half of a large log.
func (l *log) wasteful(needed func() int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size > wasteAbove && l.size > 2*needed()
}

// rewrite replaces the log by one that has just these records. If it fails, the
// old one stays.
func (l *log) rewrite(payloads [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := filepath.Join(l.dir, logName)
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
func (l *log) replace(name string) error {
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

func (l *log) fill(f *os.File, payloads [][]byte) (size int64, err error) {
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
func (l *log) setAside() (string, error) {
	name := filepath.Join(l.dir, logName)
	aside, err := free(l.dir, logName, func(path string, _ os.FileMode) error { return os.Link(name, path) })
	if err == nil {
		return aside, osfile.SyncDir(l.dir)
	}
	var f *os.File
	aside, err = free(l.dir, logName, func(path string, _ os.FileMode) (err error) {
		f, err = openFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		return err
	})
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, io.NewSectionReader(l.file, 0, math.MaxInt64))
	return aside, errors.Join(err, f.Sync(), f.Close())
}

func (l *log) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end()
}

// end gives the directory free.
func (l *log) end() error {
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

// lockDir holds dir for this process until the file is closed, which happens
// at its death at the latest. The file says whose it is.
func lockDir(dir string) (*os.File, error) {
	f, err := filelock.Open(filepath.Join(dir, lockName))
	if held, ok := errors.AsType[*filelock.HeldError](err); ok {
		return nil, fmt.Errorf("%s is %w: %w", dir, held, ErrLocked)
	}
	return f, err
}
