// Package handover lets a process that outlives an editor speak with it: the one
// that the editor has started hands over the streams that it was given, and stays
// until the other one says how it ends.
package handover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// taken bounds how long the other process may take to answer.
const taken = 10 * time.Second

// Streams are those of an editor: what it says, what it is told, and where it
// expects the log.
type Streams struct{ In, Out, Err *os.File }

// all are the streams in the order in which they are sent.
func (s Streams) all() []*os.File { return []*os.File{s.In, s.Out, s.Err} }

// The words of the process that takes over: one byte that it has, then the exit
// code, which is one byte too.
const ready = '+'

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

// Give hands over streams of which first was read already. It fails if the other
// process does not take them: they can be used then as before. Otherwise it closes
// them here, waits, and returns the exit code that the other process names; lost
// is that of one that ends without, or when ctx ends.
func Give(ctx context.Context, c net.Conn, s Streams, first []byte, lost int) (code int, err error) {
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := offer(c, s, first); err != nil {
		return 0, err
	}
	for _, f := range s.all() {
		_ = f.Close() // the other process has it
	}
	b := make([]byte, 1)
	if err := readFull(c, b); err != nil {
		return lost, nil // it is gone, and with it what it had to say
	}
	return int(b[0]), nil
}

// offer waits until the other process has the streams.
func offer(c net.Conn, s Streams, first []byte) error {
	if err := c.SetDeadline(time.Now().Add(taken)); err != nil {
		return err
	}
	b := make([]byte, 1)
	if err := readFull(c, b); err != nil || b[0] != ready {
		return fmt.Errorf("the other process does not want the editor: %w", errors.Join(err))
	}
	if err := pass(c, s, uint64(len(first))); err != nil {
		return err
	}
	if len(first) > 0 { // for nothing the other process does not wait, and may be gone
		if _, err := c.Write(first); err != nil {
			return err
		}
	}
	if err := readFull(c, b); err != nil || b[0] != ready {
		return fmt.Errorf("the other process did not get the editor: %w", errors.Join(err))
	}
	return c.SetDeadline(time.Time{})
}

// Editor is one that was taken over.
type Editor struct {
	Streams
	First []byte        // was read from In before
	Gone  chan struct{} // closed when the process that the editor has started is gone

	c    net.Conn
	once sync.Once
}

// Take takes over the editor at the other end.
func Take(c net.Conn) (*Editor, error) {
	e := &Editor{c: c, Gone: make(chan struct{})}
	if err := e.take(); err != nil {
		e.closeStreams()
		return nil, errors.Join(err, c.Close())
	}
	go func() {
		defer close(e.Gone)
		_, _ = c.Read(make([]byte, 1)) // nothing is said any more
	}()
	return e, nil
}

func (e *Editor) take() (err error) {
	c := e.c
	if err := c.SetDeadline(time.Now().Add(taken)); err != nil {
		return err
	}
	if err := want(c); err != nil {
		return err
	}
	var length uint64
	if e.Streams, length, err = passed(c); err != nil {
		return err
	}
	if length > maxHeader+maxBody {
		return fmt.Errorf("a first message of %d bytes", length)
	}
	e.First = make([]byte, length)
	if err := readFull(c, e.First); err != nil {
		return err
	}
	if _, err := c.Write([]byte{ready}); err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

func readFull(c net.Conn, b []byte) error {
	_, err := io.ReadFull(c, b)
	return err
}

func (e *Editor) closeStreams() {
	for _, f := range e.all() {
		if f != nil {
			_ = f.Close()
		}
	}
}

// Leave ends what the editor has started, with an exit code, and the streams.
func (e *Editor) Leave(code int) {
	e.once.Do(func() {
		_, _ = e.c.Write([]byte{byte(code)})
		e.closeStreams()
		_ = e.c.Close()
	})
}
