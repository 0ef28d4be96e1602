package auditlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Bounds of what Recent reads: of all files, and of one line.
const (
	recentBytes = 64 << 20
	recentLine  = 1 << 20
)

// Recent writes what waits, then reads as Recent does.
func (l *Log) Recent(since time.Time, keep func(Record) bool) (list []Record, whole bool, err error) {
	if err := l.Flush(); err != nil {
		return nil, false, err
	}
	return Recent(l.dir, since, keep)
}

// Recent returns the records since a time that keep keeps, oldest first. It reads the newest
// files, and of all of them at most 64 MiB at the end: whole is false where that was not all.
// Damaged lines are passed over.
func Recent(dir string, since time.Time, keep func(Record) bool) (list []Record, whole bool, err error) {
	names, err := files(dir)
	if err != nil {
		return nil, false, fmt.Errorf("audit log: %w", err)
	}
	left := int64(recentBytes)
	whole = true
	for i := len(names) - 1; i >= 0; i-- {
		here, earlier, read, all, err := recentOf(filepath.Join(dir, names[i]), left, since, keep)
		if err != nil {
			return nil, false, fmt.Errorf("audit log: %w", err)
		}
		list = append(here, list...)
		if earlier { // the files before it are older still
			return list, whole, nil
		}
		if left -= read; !all || left <= 0 && i > 0 {
			return list, false, nil
		}
	}
	return list, whole, nil
}

// recentOf reads the last bytes of a file. earlier reports whether it has a record from before
// since.
func recentOf(name string, most int64, since time.Time, keep func(Record) bool) (list []Record, earlier bool, size int64, all bool, err error) {
	file, err := osfile.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, false, 0, false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, false, 0, false, err
	}
	size, all = info.Size(), true
	if size > most {
		size, all = most, false
		if _, err := file.Seek(-most, io.SeekEnd); err != nil {
			return nil, false, 0, false, err
		}
	}
	r := bufio.NewReaderSize(io.LimitReader(file, size), recentLine)
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // no line of ours is so long
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = r.ReadSlice('\n')
			}
		case first && !all: // the end of a line
		case len(line) > 0:
			if rec, ok := decode(bytes.TrimSuffix(line, []byte{'\n'})); ok {
				switch {
				case rec.Time.Before(since):
					earlier = true
				case keep(rec):
					list = append(list, rec)
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return list, earlier, size, all, nil
		}
		if err != nil {
			return nil, false, 0, false, err
		}
	}
}
