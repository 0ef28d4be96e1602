//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/program"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// streams are those of a program that this process runs for a person: a terminal of
// its own, which this process copies to and from the person's, or this process's own.
type streams struct {
	terminal bool
	theirs   []*os.File // the program's: its terminal, or standard input, output and error

	once sync.Once
	end  func() // gives the person's terminal back
}

// close ends copying. What the program has printed is on the terminal then.
func (s *streams) close() { s.once.Do(s.end) }

// streams readies the streams of a program.
func (c *cli) streams() (*streams, error) {
	in, inIs := c.In.(*os.File)
	out, outIs := c.Out.(*os.File)
	said, saidIs := c.Err.(*os.File)
	if inIs && outIs && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd())) {
		return terminalOf(in, out)
	}
	if !inIs || !outIs || !saidIs {
		return nil, errors.New("the program needs files as its standard streams")
	}
	s := &streams{end: func() {}}
	for _, f := range []*os.File{in, out, said} {
		fd, err := syscall.Dup(int(f.Fd()))
		if err != nil {
			closeAll(s.theirs)
			return nil, err
		}
		syscall.CloseOnExec(fd)
		s.theirs = append(s.theirs, os.NewFile(uintptr(fd), f.Name()))
	}
	return s, nil
}

// terminalOf makes a terminal for a program, which shows on the person's.
func terminalOf(in, out *os.File) (*streams, error) {
	ours, theirs, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("there is no terminal for the program: %w", err)
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, errors.Join(err, ours.Close(), theirs.Close())
	}
	size := make(chan os.Signal, 1)
	signal.Notify(size, syscall.SIGWINCH)
	_ = pty.InheritSize(in, ours)
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case <-size:
				_ = pty.InheritSize(in, ours)
			case <-ended:
				return
			}
		}
	}()
	go func() { _, _ = io.Copy(ours, in) }() // ends with this process: nothing ends a read of a terminal
	shown := make(chan struct{})
	go func() {
		_, _ = io.Copy(out, ours) // until nobody has the other end
		close(shown)
	}()
	return &streams{terminal: true, theirs: []*os.File{theirs}, end: func() {
		signal.Stop(size)
		close(ended)
		_ = theirs.Close()
		select {
		case <-shown:
		case <-time.After(drainTime): // something else still holds it
		}
		_ = term.Restore(int(in.Fd()), before)
		_ = ours.Close()
	}}, nil
}

// drainTime bounds the wait for what a program printed last.
const drainTime = 2 * time.Second

// ready is the answer to a query to run a program, before its streams are sent.
type ready struct {
	Ready bool `json:"ready"`
}

// hostThere has the process that serves the workspace run the program.
func (c *cli) hostThere(ctx context.Context, a runArgs, s *streams) (program.Result, error) {
	var res program.Result
	folders, err := c.folders()
	if err != nil {
		return res, err
	}
	conn, g, err := attach.DialPerson(ctx, workspace.Dirs(folders)...)
	if errors.Is(err, attach.ErrApart) {
		return res, err
	}
	if err != nil {
		return res, errNobodyHosts
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // the program ends with it
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return res, errNobodyHosts
	}
	data, err := encode(a)
	if err == nil {
		data, err = encode(queryRequest{runQuery, data})
	}
	if err == nil {
		_, err = conn.Write(data)
	}
	if err != nil {
		return res, err
	}
	answers := json.NewDecoder(conn)
	if err := readReply(answers, &ready{}); err != nil {
		return res, err
	}
	var rights []int
	for _, f := range s.theirs {
		rights = append(rights, int(f.Fd()))
	}
	if _, _, err := socket.WriteMsgUnix([]byte{streamsByte}, syscall.UnixRights(rights...), nil); err != nil {
		return res, err
	}
	closeAll(s.theirs)
	err = readReply(answers, &res)
	switch {
	case ctx.Err() != nil:
		return res, ctx.Err()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return res, fmt.Errorf("the sidecar-ls of process %d ended, and the program with it; what it had written until then is pending (sidecar-ls review list)", g.PID)
	}
	return res, err
}

// streamsByte comes with the streams of a program.
const streamsByte = 'S'

// readReply reads an answer.
func readReply(from *json.Decoder, answer any) error {
	var t queryReply
	if err := from.Decode(&t); err != nil {
		return err
	}
	switch {
	case t.Usage:
		return usagef("%s", t.Error)
	case t.Error != "":
		return errors.New(t.Error)
	}
	return json.Unmarshal(t.Answer, answer)
}

// hostFor runs a program for a command line that is connected.
func hostFor(ctx context.Context, c *app.Client, conn net.Conn, args json.RawMessage) (any, error) {
	var a runArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, err
	}
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.New("the streams of the program can't be sent over this connection")
	}
	if err := reply(conn, ready{true}, nil); err != nil {
		return nil, err
	}
	want := 3
	if a.Terminal {
		want = 1
	}
	files, err := receiveFiles(socket, want)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, conn) // until whoever asks has gone
		cancel()
	}()
	return host(ctx, c.Workspace(), a, files)
}

// receiveFiles reads files that come with a byte.
func receiveFiles(conn *net.UnixConn, want int) (files []*os.File, err error) {
	b, oob := make([]byte, 1), make([]byte, syscall.CmsgSpace(4*3))
	for {
		n, oobn, _, _, err := conn.ReadMsgUnix(b, oob)
		if err != nil {
			return nil, err
		}
		messages, err := syscall.ParseSocketControlMessage(oob[:oobn])
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			fds, err := syscall.ParseUnixRights(&m)
			if err != nil {
				continue
			}
			for _, fd := range fds {
				syscall.CloseOnExec(fd)
				files = append(files, os.NewFile(uintptr(fd), "stream"))
			}
		}
		if n == 0 || b[0] == streamsByte {
			break
		}
	}
	if len(files) != want {
		closeAll(files)
		return nil, fmt.Errorf("%d streams of the program came, and %d were to come", len(files), want)
	}
	return files, nil
}
