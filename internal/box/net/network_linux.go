package net

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
)

// Network is a network namespace with its resident, as the server has it.
type Network struct {
	cmd  *exec.Cmd
	conn *net.UnixConn
	gone chan struct{} // closed when the resident has ended

	finding sync.Mutex
	serving sync.Mutex
	serves  bool // names lead to the server
}

// answerTime is how long the resident may take to answer.
const answerTime = 5 * time.Second

// Start begins to make a network namespace; Ready waits for it. self is this program. The
// resident ends with this process, also when that is killed: its socket is closed then.
func Start(self string) (*Network, error) {
	ours, theirs, err := child.SocketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command(self, child.InitCommand, child.RoleNetwork) //nolint:noctx // it outlives the call that it is started for
	cmd.Env, cmd.Dir, cmd.Stdin = []string{"GOMAXPROCS=2"}, "/", theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNET}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		// The same ids inside: an exec by one that is not 0 drops all capabilities, but for
		// the one that lo takes.
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	}
	if err := cmd.Start(); err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("no network namespace can be made: %w", err)
	}
	n := &Network{cmd: cmd, conn: ours, gone: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ends does not matter
		close(n.gone)
	}()
	return n, nil
}

// Ready waits until the namespace can be used. It is called once. What is asked before is
// answered all the same, and does not wait for it.
func (n *Network) Ready() error {
	a, files, err := hear(n.conn, answerTime)
	closeAll(files)
	if err == nil && a.Failed != "" {
		err = errors.New(a.Failed)
	}
	if err != nil {
		n.Close()
		return fmt.Errorf("a network namespace can't be used: %w", err)
	}
	return nil
}

// Pid is the resident's process.
func (n *Network) Pid() int { return n.cmd.Process.Pid }

// Gone is closed when the resident has ended. What runs in the namespace goes on.
func (n *Network) Gone() <-chan struct{} { return n.gone }

// Ended reports whether it has.
func (n *Network) Ended() bool {
	select {
	case <-n.gone:
		return true
	default:
		return false
	}
}

// Close ends the resident. What runs in the namespace goes on, and the namespace ends
// with the last of it.
func (n *Network) Close() {
	_ = n.conn.Close()
	_ = n.cmd.Process.Kill()
	<-n.gone
}

// Program is a program of ours to start in the namespace.
type Program struct {
	Path      string
	Argv, Env []string
}

// StartProgram starts a program in a session of its own, with a file as its standard
// input and more from the descriptor 3 on. It is a child of the resident.
func (n *Network) StartProgram(p Program, in *os.File, more ...*os.File) (*Started, error) {
	a, files, err := n.ask(context.Background(), request{Program: &p}, append([]*os.File{in}, more...)...)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		closeAll(files)
		return nil, errors.New("the process in the session's network names no process")
	}
	return &Started{pid: a.Pid, fd: files[0]}, nil
}

// Dial connects to a TCP port of the namespace's localhost.
func (n *Network) Dial(ctx context.Context, port int) (net.Conn, error) {
	_, files, err := n.ask(ctx, request{Dial: port})
	if err != nil {
		return nil, err
	}
	defer closeAll(files)
	if len(files) != 1 {
		return nil, errors.New("the process in the session's network made no connection")
	}
	return net.FileConn(files[0])
}

// ask sends a request, with a socket of its own for the answer: requests don't wait for
// each other.
func (n *Network) ask(ctx context.Context, r request, files ...*os.File) (answer, []*os.File, error) {
	ours, theirs, err := child.SocketPair()
	if err != nil {
		return answer{}, nil, err
	}
	defer ours.Close() //nolint:errcheck // it has served
	data, err := json.Marshal(r)
	if err != nil {
		theirs.Close()
		return answer{}, nil, err
	}
	fds := []int{int(theirs.Fd())}
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	_, _, err = n.conn.WriteMsgUnix(data, unix.UnixRights(fds...), nil)
	theirs.Close()
	if err != nil {
		return answer{}, nil, fmt.Errorf("the process in the session's network is gone: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = ours.SetReadDeadline(time.Unix(1, 0)) })()
	a, got, err := hear(ours, answerTime)
	if err == nil && a.Failed != "" {
		err = errors.New(a.Failed)
	}
	if err != nil {
		closeAll(got)
		return a, nil, err
	}
	return a, got, nil
}

// hear reads an answer, and what comes with it.
func hear(conn *net.UnixConn, wait time.Duration) (a answer, files []*os.File, err error) {
	_ = conn.SetReadDeadline(time.Now().Add(wait))
	data, oob := make([]byte, 4<<10), make([]byte, unix.CmsgSpace(4*maxFiles))
	n, oobn, _, _, err := conn.ReadMsgUnix(data, oob)
	if err != nil || n == 0 {
		return a, nil, errors.New("the process in it does not answer")
	}
	return a, child.FilesOf(oob[:oobn]), json.Unmarshal(data[:n], &a)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// Started is a process that the resident started. Its number can't come to mean another one.
type Started struct {
	pid int
	fd  *os.File
}

// Pid is its number.
func (p *Started) Pid() int { return p.pid }

// Signal sends it a signal.
func (p *Started) Signal(sig syscall.Signal) error {
	return unix.PidfdSendSignal(int(p.fd.Fd()), sig, nil, 0)
}

// Wait waits for its end. It is called once.
func (p *Started) Wait() error {
	defer p.fd.Close()
	conn, err := p.fd.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
}
