// Package handover lets a process that outlives an editor speak with it: the one
// that the editor has started hands over the streams that it was given, and stays
// until the other one says how it ends.
package handover

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ErrUnsupported says that streams can't be handed over on this system.
var ErrUnsupported = errors.New("streams can't be handed to another process on this system")

// The bounds of a first message, in bytes. What is longer is not looked at.
const (
	maxHeader = 4 << 10
	maxBody   = 64 << 20
)

// First reads the first message of an LSP stream and not a byte more. read is all
// that was read, whether or not that is a message; body is nil if it is none.
func First(r io.Reader) (read, body []byte) {
	header := make([]byte, 0, 128)
	b := make([]byte, 1)
	for !bytes.HasSuffix(header, []byte("\r\n\r\n")) {
		if len(header) == maxHeader {
			return header, nil
		}
		if _, err := io.ReadFull(r, b); err != nil {
			return header, nil
		}
		header = append(header, b[0])
	}
	size := length(string(header))
	if size < 0 {
		return header, nil
	}
	read = slices.Grow(header, size)[:len(header)+size]
	n, err := io.ReadFull(r, read[len(header):])
	if err != nil {
		return read[:len(header)+n], nil
	}
	return read, read[len(header):]
}

// length is what a header says of its body; -1 is nothing of use.
func length(header string) int {
	for line := range strings.Lines(header) {
		name, value, _ := strings.Cut(line, ":")
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || n > maxBody {
			return -1
		}
		return n
	}
	return -1
}
