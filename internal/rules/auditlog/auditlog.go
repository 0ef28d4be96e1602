// Package auditlog is the record of what tools did: one line of JSON for each
// call, appended and never changed, each with the hash of the one before it,
// so that a line that is changed, put in or taken out shows. Only cutting off
// the end does not; whoever must find that too keeps the last hash elsewhere.
package auditlog

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Record is one call. Seq, Prev and Hash are the log's own.
type Record struct {
	Seq  int64     `json:"seq"` // counted from one
	Time time.Time `json:"time"`
	Prev string    `json:"prev"` // hash of the record before; "" for the first

	Session    string          `json:"session"`
	CallID     string          `json:"callId"`
	Tool       string          `json:"tool"`
	Own        string          `json:"own,omitempty"`    // the agent and its own tool, which did it: what is recorded is the decision
	Access     string          `json:"access,omitempty"` // read, edit or exec
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	Outcome    string          `json:"outcome"` // allow or deny
	By         string          `json:"by"`      // rule, mode, user or agent
	Rule       string          `json:"rule,omitempty"`
	OK         bool            `json:"ok"`
	Code       string          `json:"code,omitempty"` // why it failed
	DurationMs int64           `json:"durationMs"`
	ApprovalMs int64           `json:"approvalMs,omitempty"`
	Changes    []Change        `json:"changes,omitempty"`
	Crosses    []Crossing      `json:"crosses,omitempty"` // what of it left the session

	Hash string `json:"-"` // of the line without it; stands last in the line
}

// Change is one file that a call changed, with the hashes of its content.
type Change struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // a move's old name
	Kind   string `json:"kind"`           // create, modify, delete or rename
	State  string `json:"state"`          // applied or pending
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Crossing is an effect that left its session; docs/protocol.md has the words.
type Crossing struct {
	Kind       string `json:"kind"`
	What       string `json:"what"`
	Reversible bool   `json:"reversible"`
	Decision   string `json:"decision"`
	Rule       string `json:"rule,omitempty"`
}

// Sum is the hash of a content, as records have it; "" for none.
func Sum(content []byte) string {
	if content == nil {
		return ""
	}
	return sum(content)
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Options has a useful zero value.
type Options struct {
	Prepare  func() error // called before the directory is made, and may refuse that
	MaxBytes int64        // of one file; a larger one is followed by the next; 0 means 32 MiB
	Now      func() time.Time
	Failed   func(error) // told when writing fails, once until it works again; nil: nobody is
}

// Log appends records. It is safe for concurrent use, also by several
// processes: whoever appends holds a lock and goes on where the file ends.
type Log struct {
	dir string
	o   Options

	queue    sync.Mutex // guards the four below
	closed   bool       // no more writers begin
	waiting  []queued
	emptying bool // a goroutine is writing what waits, or is about to
	failing  bool // the last write failed; used by that goroutine alone
	writers  sync.WaitGroup
	hurry    chan struct{} // ends the pause before writing

	mu   sync.Mutex // guards the rest
	lock *os.File   // nil before the first record, as file
	file *os.File
	size int64 // of file, as we left it; -1: not known
	last tail
}

// tail is what the next record follows.
type tail struct {
	seq  int64
	hash string
}

// ErrClosed says that the log is closed.
var ErrClosed = errors.New("the audit log is closed")

// New returns the log in dir, which is made by the first record.
func New(dir string, o Options) *Log {
	if o.MaxBytes == 0 {
		o.MaxBytes = 32 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Log{dir: dir, o: o, hurry: make(chan struct{}, 1)}
}

// queued is a record that waits to be written.
type queued struct {
	at   time.Time
	make func() Record // nil: there is none, only somebody who waits
	done chan<- error
}

// Append writes r as the next record. The line has reached the system when it
// returns: the end of this process does not lose it, a power cut may.
func (l *Log) Append(r Record) error {
	done := make(chan error, 1)
	l.enqueue(queued{make: func() Record { return r }, done: done})
	return <-done
}

// Add is Append for a record that nothing depends on: it does not wait, and
// has the record made when it is written. What goes wrong is told to
// Options.Failed.
func (l *Log) Add(make func() Record) { l.enqueue(queued{make: make}) }

// Flush writes what waits, and returns what went wrong with it.
func (l *Log) Flush() error {
	l.queue.Lock()
	idle := !l.emptying
	l.queue.Unlock()
	if idle {
		return nil
	}
	done := make(chan error, 1)
	l.enqueue(queued{done: done})
	return <-done
}

// enqueue puts q last. Records are written in this order, several at once when
// they come faster than they are written.
func (l *Log) enqueue(q queued) {
	q.at = l.o.Now().UTC()
	l.queue.Lock()
	defer l.queue.Unlock()
	if l.closed {
		if q.done != nil {
			q.done <- ErrClosed
		} else if l.o.Failed != nil {
			l.o.Failed(ErrClosed)
		}
		return
	}
	l.waiting = append(l.waiting, q)
	if !l.emptying {
		l.emptying = true
		l.writers.Go(l.empty)
	}
	if q.done != nil {
		l.now()
	}
}

// pause is how long a record may wait for others that nobody waits for: to
// write each by itself takes longer than a small call.
const pause = 50 * time.Millisecond

// now ends the pause.
func (l *Log) now() {
	select {
	case l.hurry <- struct{}{}:
	default:
	}
}

// empty writes what waits until nothing does, after a pause.
func (l *Log) empty() {
	select {
	case <-l.hurry:
	case <-time.After(pause):
	}
	for {
		l.queue.Lock()
		batch := l.waiting
		l.waiting = nil
		if len(batch) == 0 {
			l.emptying = false
			l.queue.Unlock()
			return
		}
		l.queue.Unlock()
		err := l.write(batch)
		if err != nil && !l.failing && l.o.Failed != nil {
			l.o.Failed(err)
		}
		l.failing = err != nil
		for _, q := range batch {
			if q.done != nil {
				q.done <- err
			}
		}
	}
}

// write appends records in one go.
func (l *Log) write(batch []queued) error {
	batch = slices.DeleteFunc(slices.Clone(batch), func(q queued) bool { return q.make == nil })
	if len(batch) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	release, err := l.hold()
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	defer release()
	if err := l.catchUp(); err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	var lines []byte
	last := l.last
	for i, q := range batch {
		r := q.make()
		r.Time, r.Seq, r.Prev = q.at, last.seq+1, last.hash
		line, hash, err := encode(r)
		if err != nil {
			return fmt.Errorf("audit log: %w", err)
		}
		if len(lines)+len(line) > cap(lines) { // most are about as long as the first
			lines = slices.Grow(lines, (len(batch)-i)*(len(line)+16))
		}
		lines = append(lines, line...)
		last = tail{r.Seq, hash}
	}
	n, err := l.file.Write(lines)
	if err != nil {
		l.size = -1 // look again where the file ends
		return fmt.Errorf("audit log: %w", err)
	}
	l.size += int64(n)
	l.last = last
	return nil
}

// encode makes the line of r: JSON, whose last member is the hash of the line
// without that member.
func encode(r Record) (line []byte, hash string, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, "", err
	}
	hash = sum(body)
	line = slices.Grow(body[:len(body)-1], hashed+1)
	return fmt.Appendf(line, `,"hash":"%s"}`+"\n", hash), hash, nil
}

// hashed is how many bytes the hash member takes at the end of a line.
const hashed = len(`,"hash":""}`) + 2*sha256.Size

// decode reads a line, without its end, and says whether its hash is right.
func decode(line []byte) (r Record, ok bool) {
	if len(line) <= hashed {
		return r, false
	}
	body, member := line[:len(line)-hashed], line[len(line)-hashed:]
	if !bytes.HasPrefix(member, []byte(`,"hash":"`)) || !bytes.HasSuffix(member, []byte(`"}`)) {
		return r, false
	}
	body = append(slices.Clone(body), '}')
	if json.Unmarshal(body, &r) != nil {
		return r, false
	}
	r.Hash = string(member[len(`,"hash":"`) : len(member)-2])
	return r, r.Hash == sum(body)
}

// hold keeps other processes from appending until release.
func (l *Log) hold() (release func(), err error) {
	if l.dir == "" {
		return nil, ErrClosed
	}
	if l.lock == nil {
		if l.o.Prepare != nil {
			if err := l.o.Prepare(); err != nil {
				return nil, err
			}
		}
		if err := os.MkdirAll(l.dir, 0o700); err != nil {
			return nil, err
		}
		if l.lock, err = openFile(filepath.Join(l.dir, "lock")); err != nil {
			return nil, err
		}
	}
	if err := filelock.Lock(l.lock); err != nil {
		return nil, err
	}
	return func() { _ = filelock.Unlock(l.lock) }, nil
}

// catchUp makes l.file the file that is appended to, and l.last its last
// record. When the file is as we left it, it is that still: nobody begins the
// next one before this one is full.
func (l *Log) catchUp() error {
	if l.file != nil && l.size < l.o.MaxBytes {
		if info, err := l.file.Stat(); err != nil || info.Size() == l.size {
			return err
		}
	}
	names, err := files(l.dir)
	if err != nil {
		return err
	}
	name := fileName(1)
	if len(names) > 0 {
		name = names[len(names)-1]
		info, err := os.Lstat(filepath.Join(l.dir, name))
		if err != nil {
			return err
		}
		if info.Size() >= l.o.MaxBytes {
			name = fileName(len(names) + 1)
		}
	}
	f, err := openFile(filepath.Join(l.dir, name))
	if err != nil {
		return err
	}
	if l.file != nil {
		l.file.Close()
	}
	l.file = f
	l.last = tail{}
	for i := len(names) - 1; i >= 0 && l.last.seq == 0; i-- {
		t, whole, err := lastOf(filepath.Join(l.dir, names[i]))
		if err != nil {
			return err
		}
		if names[i] == name && !whole {
			// What a crash left is closed by a line end, and stays to be seen.
			if _, err := f.Write([]byte{'\n'}); err != nil {
				return err
			}
		}
		l.last = t
	}
	info, err := f.Stat()
	if err == nil {
		l.size = info.Size()
	}
	return err
}

// openFile opens a file of the log, which must be no link and nothing special.
func openFile(name string) (*os.File, error) {
	return osfile.Open(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
}

// lastOf returns the last good record of a file, and whether the file ends
// with a line end.
func lastOf(name string) (t tail, whole bool, err error) {
	whole = true
	err = eachLine(name, func(_ int, line []byte, ended bool) bool {
		whole = ended
		if r, ok := decode(line); ok {
			t = tail{r.Seq, r.Hash}
		}
		return true
	})
	return t, whole, err
}

// eachLine calls f for each line of a file, counted from one, until it returns
// false.
func eachLine(name string, f func(number int, line []byte, ended bool) bool) error {
	file, err := osfile.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			text, ended := bytes.CutSuffix(line, []byte{'\n'})
			if !f(n, text, ended) {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// files lists the log's files, oldest first.
func files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "audit-") && strings.HasSuffix(e.Name(), ".jsonl") {
			names = append(names, e.Name())
		}
	}
	return names, err // ReadDir sorts
}

func fileName(n int) string { return fmt.Sprintf("audit-%06d.jsonl", n) }

// Close writes what waits and ends the log.
func (l *Log) Close() error {
	l.queue.Lock()
	l.closed = true
	l.queue.Unlock()
	l.now()
	l.writers.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dir = ""
	var err error
	for _, f := range []*os.File{l.file, l.lock} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	l.file, l.lock = nil, nil
	return err
}
