// Package linelog keeps append-only files of lines, each with one process that writes.
// What was appended survives the end of the process, a last line that was not written whole is cut off, and a
// file that is rewritten has all its old lines or all its new ones. It doesn't know what a
// line says.
package linelog

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// NewPrefix begins the names of the files that Rewrite leaves behind when the process ends
// in the middle of it. Whoever owns the directory removes them.
const NewPrefix = ".run-"

// Lines yields the whole lines of a file, each with its end. What follows the last line end
// is torn and left out. An error comes last.
func Lines(path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		r := bufio.NewReaderSize(file, 64<<10)
		for {
			line, err := r.ReadBytes('\n')
			if errors.Is(err, io.EOF) || !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// Log is a file that is open for appending.
type Log struct {
	path string
	file *os.File // the same for the life of a Log, so that Sync needs no lock
	size int64    // of the whole lines
	torn error    // why the file may have more than these
}

// Open opens a file, or makes it, to append after its good bytes. What follows them is cut
// off.
func Open(path string, good int64) (*Log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() > good {
		err = file.Truncate(good)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Log{path: path, file: file, size: good}, nil
}

// Size is that of the file, in bytes.
func (l *Log) Size() int64 { return l.size }

// Append writes whole lines with one call: the end of the process loses none of them, that
// of the machine may. After an error the file has what it had before, or takes no more.
func (l *Log) Append(lines []byte) error { return l.append(lines, false) }

// AppendSync is Append that returns when the lines are on the disk.
func (l *Log) AppendSync(lines []byte) error { return l.append(lines, true) }

func (l *Log) append(lines []byte, sync bool) error {
	if l.torn != nil {
		return l.torn
	}
	_, err := l.file.WriteAt(lines, l.size)
	if err == nil && sync {
		err = l.file.Sync()
	}
	if err != nil {
		if torn := l.file.Truncate(l.size); torn != nil {
			l.torn = errors.Join(err, torn)
		}
		return err
	}
	l.size += int64(len(lines))
	return nil
}

// Sync brings to the disk what was appended. Others may use the log meanwhile.
func (l *Log) Sync() error { return l.file.Sync() }

// Rewrite puts lines in the place of the file's, and returns the log to go on with. After
// an error that has the old lines.
func (l *Log) Rewrite(lines []byte) (*Log, error) {
	temp, err := os.CreateTemp(filepath.Dir(l.path), NewPrefix+"*")
	if err != nil {
		return l, err
	}
	_, err = temp.Write(lines)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return l, errors.Join(err, os.Remove(temp.Name()))
	}
	size := int64(len(lines))
	l.file.Close() // Windows does not replace a file that is open
	if err = osfile.Rename(context.Background(), temp.Name(), l.path); err != nil {
		_ = os.Remove(temp.Name())
		size = l.size
	}
	now, opening := Open(l.path, size)
	if opening != nil {
		l.size, l.torn = size, errors.Join(err, opening)
		return l, l.torn
	}
	if err != nil { // somebody may have had to sync it while it was closed
		err = errors.Join(err, now.Sync())
	}
	return now, err
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
