package workspace

import (
	"bufio"
	"bytes"
)

// read is Entry.Read of the file that is being visited.
func (k *worker) read(buf []byte) ([]byte, error) {
	data, err := k.dir.handle.readFile(k.name, buf, MaxFileSize)
	if err != nil {
		return data, pathError("read", k.entry.Path, err)
	}
	return data, nil
}

// scan is Entry.Scan of the file that is being visited.
func (k *worker) scan(buf []byte, piece func([]byte, bool) bool) error {
	if err := k.dir.handle.scanFile(k.name, buf, piece); err != nil {
		return pathError("read", k.entry.Path, err)
	}
	return nil
}

// stat is Entry.Stat of the file that is being visited.
func (k *worker) stat() (Stamp, error) {
	s, err := k.dir.handle.stat(k.name)
	if err != nil {
		return s, pathError("stat", k.entry.Path, err)
	}
	return s, nil
}

// readAt is Entry.ReadAt of the file that is being visited.
func (k *worker) readAt(buf []byte, off int64) error {
	if err := k.dir.handle.readAt(k.name, buf, off); err != nil {
		return pathError("read", k.entry.Path, err)
	}
	return nil
}

// scanPieces is Entry.Scan of a file that is open. read fills its buffer unless the
// file ends.
func scanPieces(read func(buf []byte) (int, error), buf []byte, piece func([]byte, bool) bool) error {
	filled, total := 0, 0
	for {
		n, err := read(buf[filled:])
		if err != nil {
			return err
		}
		filled += n
		if total += n; total > MaxFileSize {
			return ErrTooLarge
		}
		if filled < len(buf) {
			piece(buf[:filled], true)
			return nil
		}
		end := bytes.LastIndexByte(buf, '\n') + 1
		if end == 0 {
			return bufio.ErrTooLong
		}
		if !piece(buf[:end], false) {
			return nil
		}
		filled = copy(buf, buf[end:])
	}
}
