package handover

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/localsock"
)

// pipeVariable names to a process the pipe by which Start reaches it.
const pipeVariable = "SIDECAR_HANDOVER"

// Start starts a program apart from this process, its console and its job, and returns
// the way to it, which it finds by Inherited.
func Start(program string, args ...string) (net.Conn, error) {
	pipe := localsock.Path(rand.Text(), "handover") // which admits this user alone
	l, err := localsock.Listen(pipe)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	type came struct {
		c   net.Conn
		err error
	}
	next := make(chan came, 1)
	go func() {
		c, err := l.Accept()
		next <- came{c, err}
	}()
	apart := func(flags uint32) (*exec.Cmd, error) {
		cmd := exec.CommandContext(context.Background(), program, args...) // which nothing here ends
		cmd.Env = append(os.Environ(), pipeVariable+"="+pipe)
		cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: flags | windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
		return cmd, cmd.Start()
	}
	cmd, err := apart(windows.CREATE_BREAKAWAY_FROM_JOB)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		if endsWithJob() {
			return nil, errors.New("the editor keeps what it has started in a job that ends with it")
		}
		cmd, err = apart(0)
	}
	if err != nil {
		return nil, err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // how it ended, it says itself
	}()
	select {
	case n := <-next:
		return n.c, n.err
	case <-gone:
		err = errors.New("it ended at once")
	case <-time.After(taken):
		err = errors.New("it does not answer")
		_ = cmd.Process.Kill()
	}
	l.Close()
	if n := <-next; n.c != nil {
		_ = n.c.Close()
	}
	return nil, fmt.Errorf("the server that would outlive the editor: %w", err)
}

// endsWithJob reports whether this process is in a job that ends all that is in it.
func endsWithJob() bool {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	err := windows.QueryInformationJobObject(0, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.BasicLimitInformation.LimitFlags&windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE != 0
}

// Inherited is the way to who started this process by Start.
func Inherited() (net.Conn, error) {
	pipe := os.Getenv(pipeVariable)
	if pipe == "" {
		return nil, errors.New("nobody hands an editor over: " + pipeVariable + " is not set")
	}
	if err := os.Unsetenv(pipeVariable); err != nil { // no child's
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), taken)
	defer cancel()
	return localsock.Dial(ctx, pipe)
}

// want says that this process takes an editor, and which process it is.
func want(c net.Conn) error {
	_, err := c.Write(binary.BigEndian.AppendUint32([]byte{ready}, windows.GetCurrentProcessId()))
	return err
}

// pass hands over streams with the length of what follows: the other process, which is
// this user's, has them from now on.
func pass(c net.Conn, s Streams, length uint64) (err error) {
	id := make([]byte, 4)
	if err := readFull(c, id); err != nil {
		return err
	}
	other, err := windows.OpenProcess(windows.PROCESS_DUP_HANDLE, false, binary.BigEndian.Uint32(id))
	if err != nil {
		return fmt.Errorf("the other process can't be given streams: %w", err)
	}
	defer func() { _ = windows.CloseHandle(other) }()
	var given []windows.Handle
	defer func() { // once it knows them they are its own to close
		for _, h := range given {
			_ = windows.DuplicateHandle(other, h, 0, nil, 0, false, windows.DUPLICATE_CLOSE_SOURCE)
		}
	}()
	words := binary.BigEndian.AppendUint64(nil, length)
	for _, f := range s.all() {
		var h windows.Handle
		if err := windows.DuplicateHandle(windows.CurrentProcess(), windows.Handle(f.Fd()), other, &h, 0, false, windows.DUPLICATE_SAME_ACCESS); err != nil {
			return fmt.Errorf("a stream can't be given to the other process: %w", err)
		}
		given = append(given, h)
		words = binary.BigEndian.AppendUint64(words, uint64(h))
	}
	if _, err = c.Write(words); err == nil {
		given = nil
	}
	return err
}

// passed is what pass hands over. The streams are to be closed, also with an error.
func passed(c net.Conn) (s Streams, length uint64, err error) {
	words := make([]byte, 4*8)
	if err := readFull(c, words); err != nil {
		return s, 0, err
	}
	for i, place := range []**os.File{&s.In, &s.Out, &s.Err} {
		h := windows.Handle(binary.BigEndian.Uint64(words[8*(i+1):]))
		if kind, err := windows.GetFileType(h); err != nil || kind == windows.FILE_TYPE_UNKNOWN {
			return s, 0, fmt.Errorf("stream %d that was handed over is none: %w", i, errors.Join(err))
		}
		*place = os.NewFile(uintptr(h), "editor")
	}
	return s, binary.BigEndian.Uint64(words), nil
}
