//go:build unix

package handover

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
)

// Start starts a program apart from this process and its terminal, and returns the
// way to it, which it finds by Inherited.
func Start(program string, args ...string) (net.Conn, error) {
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
func Inherited() (net.Conn, error) { return connection(os.NewFile(3, "handover")) }

// want says that this process takes an editor.
func want(c net.Conn) error {
	_, err := c.Write([]byte{ready})
	return err
}

// pass hands over streams with the length of what follows. The other process has them
// once it has said so.
func pass(c net.Conn, s Streams, length uint64) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("streams can be sent over a local socket alone")
	}
	var fds []int
	for _, f := range s.all() {
		fds = append(fds, int(f.Fd()))
	}
	_, _, err := u.WriteMsgUnix(binary.BigEndian.AppendUint64(nil, length), syscall.UnixRights(fds...), nil)
	return err
}

// passed is what pass hands over. The streams are to be closed, also with an error.
func passed(c net.Conn) (s Streams, length uint64, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return s, 0, errors.New("streams can be sent over a local socket alone")
	}
	size, control := make([]byte, 8), make([]byte, syscall.CmsgSpace(4*3))
	n, got, _, _, err := u.ReadMsgUnix(size, control)
	if err != nil {
		return s, 0, err
	}
	if s, err = open(control[:got]); err != nil {
		return s, 0, err
	}
	if err := readFull(c, size[n:]); err != nil {
		return s, 0, err
	}
	return s, binary.BigEndian.Uint64(size), nil
}

// open makes the streams of what came with a message.
func open(control []byte) (s Streams, err error) {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return s, err
	}
	var fds []int
	for i := range messages {
		got, err := syscall.ParseUnixRights(&messages[i])
		if err != nil {
			return s, err
		}
		fds = append(fds, got...)
	}
	places := []**os.File{&s.In, &s.Out, &s.Err}
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
		return s, fmt.Errorf("%d streams were handed over, not %d", len(fds), len(places))
	}
	return s, nil
}
