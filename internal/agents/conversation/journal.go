package conversation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// journal is the file of a run: a line for each event. A line is written with
// one call, so that the end of the process loses none that was told, and at most
// the last line is torn by the end of the machine.
type journal struct {
	path string
	file *os.File
	size int64
	bad  bool // the file doesn't hold all events: it has to be written anew
}

func encode(e Event) ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("writing a %s event: %w", e.Kind, err)
	}
	return append(line, '\n'), nil
}

// readJournal reads the events of a file and how many bytes of it are good. A
// line that can't be read is left out; what follows the last line end is torn.
func readJournal(path string) (events []Event, good int64, skipped int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	last := int64(0)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, good, skipped, nil
		}
		if err != nil {
			return nil, 0, 0, err
		}
		good += int64(len(line))
		var e Event
		if json.Unmarshal(line, &e) != nil || e.Seq <= last || e.Kind == "" {
			skipped++
			continue
		}
		last = e.Seq
		events = append(events, e)
	}
}

// openJournal opens the file for appending after its good bytes.
func openJournal(path string, good int64) (*journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = file.Truncate(good)
	if err == nil {
		_, err = file.Seek(good, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &journal{path: path, file: file, size: good}, nil
}

// append writes a line. After an error the file has what it had before.
func (j *journal) append(line []byte) error {
	n, err := j.file.Write(line)
	if err != nil {
		j.bad = true
		if n > 0 && j.file.Truncate(j.size) == nil {
			_, _ = j.file.Seek(j.size, io.SeekStart)
		}
		return err
	}
	j.size += int64(n)
	return nil
}

// rewrite puts these events in the place of the file's, or leaves it as it is.
func (j *journal) rewrite(events []entry) error {
	var all bytes.Buffer
	for _, e := range events {
		line, err := encode(e.Event)
		if err != nil {
			return err
		}
		all.Write(line)
	}
	temp, err := os.CreateTemp(filepath.Dir(j.path), ".run-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(all.Bytes())
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	bad, size := false, int64(all.Len())
	j.file.Close() // Windows does not replace a file that is open
	if err = osfile.Rename(context.Background(), temp.Name(), j.path); err != nil {
		_ = os.Remove(temp.Name())
		bad, size = j.bad, j.size
	}
	now, err2 := openJournal(j.path, size)
	if now != nil && err != nil { // somebody may have had to sync it while it was closed
		err2 = errors.Join(err2, now.file.Sync())
	}
	if err = errors.Join(err, err2); now != nil {
		now.bad = bad
		*j = *now
	}
	return err
}
