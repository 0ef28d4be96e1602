package workspace

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// A journal is a line "SCJ1 <length> <crc>", then length bytes: the length of
// an index, the index as JSON, and the texts that it speaks of, one after the
// other. It is complete or it doesn't count.

const (
	journalMagic  = "SCJ1"
	journalSuffix = ".journal"
	noteSuffix    = ".note" // a journal of one atomic step: only good for tidying up
	maxIndex      = 64 << 20
)

var errDamaged = errors.New("the journal is damaged")

type journalIndex struct {
	Dirs    []journalName  `json:"dirs,omitempty"`
	Entries []journalEntry `json:"entries"`
}

type journalName struct {
	Root string `json:"root"`
	Name string `json:"name"`
}

type journalEntry struct {
	journalName
	Temp    string       `json:"temp"`
	InPlace bool         `json:"inPlace,omitempty"`
	Old     journalState `json:"old"`
	New     journalState `json:"new"`
}

type journalState struct {
	Exists bool        `json:"exists,omitempty"`
	Link   string      `json:"link,omitempty"`
	Size   int         `json:"size,omitempty"`
	Meta   *meta       `json:"meta,omitempty"`
	Perm   fs.FileMode `json:"perm,omitempty"`
	Exec   execBit     `json:"exec,omitempty"`
	As     string      `json:"as,omitempty"`
}

// journal is one that is under way; the zero journal is none.
type journal struct {
	disk *Disk
	path string
	file *os.File // open, and owned, for as long as the batch is under way
}

// writeJournal writes down what is about to be done. A single atomic step
// needs no sync: whatever a power cut leaves of it is whole.
func (d *Disk) writeJournal(ctx context.Context, p *plan) (journal, error) {
	dir := d.opts.StateDir
	if dir == "" {
		return journal{}, nil
	}
	if err := d.makeStateDir(); err != nil {
		return journal{}, err
	}
	single := len(p.entries) == 1 && !p.entries[0].inPlace && !p.entries[0].respelled()
	suffix := journalSuffix
	if single {
		suffix = noteSuffix
	}
	var random [8]byte
	rand.Read(random[:])
	name := filepath.Join(dir, "apply-"+hex.EncodeToString(random[:]))
	j := journal{disk: d, path: name + suffix}
	err := d.step("journal.write", func() (err error) {
		j.file, err = writeJournalFile(name+".tmp", p, !single)
		return err
	})
	if err == nil {
		err = d.step("journal.rename", func() error { return osfile.Rename(ctx, name+".tmp", j.path) })
	}
	if err == nil && !single {
		err = d.step("journal.syncdir", func() error { return osfile.SyncDir(dir) })
	}
	if err != nil {
		defer j.disown()
		_ = os.Remove(name + ".tmp") // it may not be there
		return journal{}, errors.Join(err, j.remove())
	}
	return j, nil
}

func (d *Disk) makeStateDir() error {
	if _, err := os.Lstat(d.opts.StateDir); err == nil {
		return nil
	}
	if d.opts.Prepare != nil {
		if err := d.opts.Prepare(); err != nil {
			return err
		}
	}
	return os.MkdirAll(d.opts.StateDir, 0o700)
}

// writeJournalFile returns the file open, so that nobody who recovers takes
// the batch for one whose process has died.
func writeJournalFile(path string, p *plan, sync bool) (*os.File, error) {
	file, err := osfile.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	err = filelock.TryLock(file)
	if errors.Is(err, filelock.ErrLocked) {
		err = errors.New("somebody recovers while it is written; try again")
	}
	if err == nil {
		err = encodeJournal(file, p)
	}
	if err == nil && sync {
		err = file.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// disown leaves the journal, if it is still there, to whoever recovers.
func (j journal) disown() {
	if j.file != nil {
		j.file.Close()
	}
}

// remove forgets the journal.
func (j journal) remove() error {
	if j.path == "" {
		return nil
	}
	err := j.disk.step("journal.remove", func() error { return os.Remove(j.path) })
	if err == nil && strings.HasSuffix(j.path, journalSuffix) {
		err = j.disk.step("journal.syncdir", func() error { return osfile.SyncDir(filepath.Dir(j.path)) })
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, gone := os.Lstat(j.path); errors.Is(gone, fs.ErrNotExist) {
		return nil
	}
	if os.Truncate(j.path, 0) == nil {
		return nil // damaged on purpose, so that it is never applied
	}
	return fmt.Errorf("journal: %w", err)
}

func encodeJournal(w io.Writer, p *plan) error {
	var index journalIndex
	var texts [][]byte
	length := 0
	pack := func(s version) journalState {
		texts = append(texts, s.Data)
		length += len(s.Data)
		return journalState{s.Exists, s.Link, len(s.Data), s.Meta, s.Perm, s.Exec, s.As}
	}
	for _, at := range p.dirs {
		index.Dirs = append(index.Dirs, journalName{at.folder.real, at.name})
	}
	for _, e := range p.entries {
		index.Entries = append(index.Entries, journalEntry{
			journalName{e.folder.real, e.name}, e.temp, e.inPlace, pack(e.old), pack(e.new),
		})
	}
	head, err := json.Marshal(index)
	if err != nil {
		return err
	}
	head = append(fmt.Appendf(nil, "%08x", len(head)), head...)
	length += len(head)
	table := crc32.MakeTable(crc32.Castagnoli)
	crc := crc32.Update(0, table, head)
	for _, t := range texts {
		crc = crc32.Update(crc, table, t)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintln(out, journalLine(length, crc))
	out.Write(head)
	for _, t := range texts {
		out.Write(t)
	}
	return out.Flush()
}

func journalLine(length int, crc uint32) string {
	return fmt.Sprintf("%s %d %08x", journalMagic, length, crc)
}

// decodedJournal is what a journal says, before it is known whether its roots
// are open.
type decodedJournal struct {
	journalIndex
	texts [][]byte // old and new text of every entry
}

// decodeJournal fails with errDamaged unless every byte is as it was written.
func decodeJournal(data []byte) (*decodedJournal, error) {
	line, body, ok := bytes.Cut(data, []byte("\n"))
	if !ok {
		return nil, errDamaged
	}
	crc := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	if string(line) != journalLine(len(body), crc) {
		return nil, errDamaged
	}
	if len(body) < 8 {
		return nil, errDamaged
	}
	var size int
	if n, err := fmt.Sscanf(string(body[:8]), "%08x", &size); n != 1 || err != nil || size < 0 || size > min(maxIndex, len(body)-8) {
		return nil, errDamaged
	}
	var j decodedJournal
	if err := json.Unmarshal(body[8:8+size], &j.journalIndex); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	rest := body[8+size:]
	for _, e := range j.Entries {
		if !fs.ValidPath(e.Name) || e.Name == "." || !validSegment(e.Temp) {
			return nil, errDamaged
		}
		for _, s := range [...]journalState{e.Old, e.New} {
			if s.Size < 0 || s.Size > len(rest) || s.Size > 0 && (!s.Exists || s.Link != "") || s.Exec != 0 && s.Meta == nil || s.As != "" && !validSegment(s.As) {
				return nil, errDamaged
			}
			j.texts = append(j.texts, rest[:s.Size:s.Size])
			rest = rest[s.Size:]
		}
	}
	for _, at := range j.Dirs {
		if !fs.ValidPath(at.Name) || at.Name == "." {
			return nil, errDamaged
		}
	}
	if len(rest) > 0 {
		return nil, errDamaged
	}
	return &j, nil
}
