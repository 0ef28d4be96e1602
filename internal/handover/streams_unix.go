//go:build unix

package handover

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
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

// Start starts a program apart from this process and its terminal, and returns the
// way to it, which it finds by Inherited.
func Start(program string, args ...string) (*net.UnixConn, error) {
	ours, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.CommandContext(context.Background(), program, args...) // which nothing here ends
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	go func() { _ = cmd.Wait() }() // how it ended, it says itself
	return ours, nil
}

// pair are the two ends of a connection; one is a file for a child.
func pair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	ours, err = connection(os.NewFile(uintptr(fds[0]), "handover"))
	if err != nil {
		_ = syscall.Close(fds[1])
		return nil, nil, err
	}
	return ours, os.NewFile(uintptr(fds[1]), "handover"), nil
}

// connection is what a socket leads to; the file is closed.
func connection(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("the file is not a local socket"), c.Close())
	}
	return u, nil
}

// Inherited is the way to who started this process by Start.
func Inherited() (*net.UnixConn, error) { return connection(os.NewFile(3, "handover")) }

// Give hands over streams of which first was read already. It fails if the other
// process does not take them: they can be used then as before. Otherwise it closes
// them here, waits, and returns the exit code that the other process names; lost
// is that of one that ends without, or when ctx ends.
func Give(ctx context.Context, c *net.UnixConn, s Streams, first []byte, lost int) (code int, err error) {
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := offer(c, s, first); err != nil {
		return 0, err
	}
	for _, f := range s.all() {
		_ = f.Close() // the other process has it
	}
	b := make([]byte, 1)
	if _, err := io.ReadFull(c, b); err != nil {
		return lost, nil // it is gone, and with it what it had to say
	}
	return int(b[0]), nil
}

// offer waits until the other process has the streams.
func offer(c *net.UnixConn, s Streams, first []byte) error {
	if err := c.SetDeadline(time.Now().Add(taken)); err != nil {
		return err
	}
	b := make([]byte, 1)
	if _, err := io.ReadFull(c, b); err != nil || b[0] != ready {
		return fmt.Errorf("the other process does not want the editor: %w", errors.Join(err))
	}
	var fds []int
	for _, f := range s.all() {
		fds = append(fds, int(f.Fd()))
	}
	if _, _, err := c.WriteMsgUnix(binary.BigEndian.AppendUint64(nil, uint64(len(first))), syscall.UnixRights(fds...), nil); err != nil {
		return err
	}
	if len(first) > 0 { // for nothing the other process does not wait, and may be gone
		if _, err := c.Write(first); err != nil {
			return err
		}
	}
	if _, err := io.ReadFull(c, b); err != nil || b[0] != ready {
		return fmt.Errorf("the other process did not get the editor: %w", errors.Join(err))
	}
	return c.SetDeadline(time.Time{})
}

// Editor is one that was taken over.
type Editor struct {
	Streams
	First []byte        // was read from In before
	Gone  chan struct{} // closed when the process that the editor has started is gone

	c    *net.UnixConn
	once sync.Once
}

// Take takes over the editor at the other end.
func Take(c *net.UnixConn) (*Editor, error) {
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

func (e *Editor) take() error {
	c := e.c
	if err := c.SetDeadline(time.Now().Add(taken)); err != nil {
		return err
	}
	if _, err := c.Write([]byte{ready}); err != nil {
		return err
	}
	size, files := make([]byte, 8), make([]byte, syscall.CmsgSpace(4*3))
	n, got, _, _, err := c.ReadMsgUnix(size, files)
	if err != nil {
		return err
	}
	if err := e.open(files[:got]); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, size[n:]); err != nil {
		return err
	}
	length := binary.BigEndian.Uint64(size)
	if length > maxHeader+maxBody {
		return fmt.Errorf("a first message of %d bytes", length)
	}
	e.First = make([]byte, length)
	if _, err := io.ReadFull(c, e.First); err != nil {
		return err
	}
	if _, err := c.Write([]byte{ready}); err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

// open makes the streams of what came with a message.
func (e *Editor) open(control []byte) error {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return err
	}
	var fds []int
	for i := range messages {
		got, err := syscall.ParseUnixRights(&messages[i])
		if err != nil {
			return err
		}
		fds = append(fds, got...)
	}
	places := []**os.File{&e.In, &e.Out, &e.Err}
	for i, fd := range fds {
		syscall.CloseOnExec(fd)
		if i >= len(places) {
			_ = syscall.Close(fd)
			continue
		}
		_ = syscall.SetNonblock(fd, true) // so that closing it ends who reads it; a terminal may refuse
		*places[i] = os.NewFile(uintptr(fd), "editor")
	}
	if len(fds) != len(places) {
		return fmt.Errorf("%d streams were handed over, not %d", len(fds), len(places))
	}
	return nil
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
