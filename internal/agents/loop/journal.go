package loop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/linelog"
)

// journal is the file of a conversation: a line for each item, on the disk before
// anything follows from it.
type journal struct {
	log *linelog.Log
	n   int // the number of the latest item
	now func() time.Time
}

// maxLine bounds an item, in bytes.
const maxLine = 64 << 20

// ErrJournal says that a journal can't be read or written.
var ErrJournal = errors.New("the journal of the conversation")

// openJournal reads a journal, or begins one. A last line that was not written whole is
// cut off.
func openJournal(path string, now func() time.Time) (*journal, []Item, error) {
	items, good, err := readItems(path)
	if err != nil {
		return nil, nil, err
	}
	log, err := linelog.Open(path, good)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	j := &journal{log: log, n: len(items), now: now}
	if len(items) == 0 {
		i := Item{Kind: Begins, Version: version}
		if err := j.append(&i); err != nil {
			return nil, nil, errors.Join(err, log.Close())
		}
		items = append(items, i)
	}
	return j, items, nil
}

// readItems reads the items of a file and how many bytes they have; a file that is not
// there has none.
func readItems(path string) (items []Item, good int64, err error) {
	for line, err := range linelog.Lines(path) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %w", ErrJournal, err)
		}
		var i Item
		if err := json.Unmarshal(line, &i); err != nil || i.N != len(items)+1 || (i.N == 1) != (i.Kind == Begins) {
			return nil, 0, fmt.Errorf("%w %s is damaged in line %d: start a new run; what is before that line can be read there", ErrJournal, path, len(items)+1)
		}
		if i.Version > version {
			return nil, 0, fmt.Errorf("%w %s was written by a later version of sidecar-ls: update, or start a new run", ErrJournal, path)
		}
		items = append(items, i)
		good += int64(len(line))
	}
	return items, good, nil
}

// append numbers items and brings them to the disk. After an error the file has what it
// had before.
func (j *journal) append(items ...*Item) error {
	var lines bytes.Buffer
	for k, i := range items {
		i.N, i.Time = j.n+k+1, j.now().UTC()
		line, err := json.Marshal(i)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
		if len(line) > maxLine {
			return fmt.Errorf("%w: an entry has %d MB, more than the %d that it may have", ErrJournal, len(line)>>20, maxLine>>20)
		}
		lines.Write(line)
		lines.WriteByte('\n')
	}
	if err := j.log.AppendSync(lines.Bytes()); err != nil {
		return fmt.Errorf("%w can't be written: %w", ErrJournal, err)
	}
	j.n += len(items)
	return nil
}
