package net

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
)

// request is one to the resident. The first of the descriptors that come with it is the
// socket for the answer.
type request struct {
	Program *Program `json:",omitempty"` // to start, with the other descriptors
	Dial    int      `json:",omitempty"` // a port to connect to
	Names   *Names   `json:",omitempty"` // to serve; the first time with the socket to which connections go
}

// answer is the resident's; a descriptor may come with it.
type answer struct {
	Failed string `json:",omitempty"`
	Pid    int    `json:",omitempty"`
}

// maxFiles bounds the descriptors of a message.
const maxFiles = 32

// isReady is the argument by which the resident knows that the namespace is. The number of
// a child that was started before follows.
const isReady = "ready"

// Reside is the life of a resident. Its standard input is the socket to the server; it
// ends with that. To a user who is not root no capability is left in it once the namespace
// is ready.
func Reside(args []string) int {
	if len(args) == 0 {
		runtime.LockOSThread() // ambient capabilities are a thread's
		if err := ready(); err != nil {
			send(0, answer{Failed: err.Error()}, -1)
			return child.ExitSetup
		}
		if os.Geteuid() != 0 {
			args := slices.Concat(os.Args, []string{isReady})
			// The first program comes up while this one does so again.
			if r, files, err := receive(unix.MSG_DONTWAIT); err == nil {
				if cmd := answerTo(r, files); cmd != nil {
					args = append(args, strconv.Itoa(cmd.Process.Pid))
				}
			}
			err := syscall.Exec("/proc/self/exe", args, os.Environ())
			send(0, answer{Failed: err.Error()}, -1)
			return child.ExitSetup
		}
		runtime.UnlockOSThread()
	} else if len(args) > 1 {
		if pid, err := strconv.Atoi(args[1]); err == nil {
			go reap(pid)
		}
	}
	send(0, answer{}, -1)
	n := &names{}
	for {
		switch r, files, err := receive(0); {
		case err == nil && r.Names != nil:
			serveNames(n, *r.Names, files)
		case errors.Is(err, errNoRequest):
		case err != nil:
			return 0
		default:
			go func() {
				if cmd := answerTo(r, files); cmd != nil {
					_ = cmd.Wait() // how it ends does not matter, only that it is not left
				}
			}()
		}
	}
}

// serveNames answers a request to serve names.
func serveNames(n *names, want Names, files []*os.File) {
	var to *os.File
	if len(files) > 1 {
		to = files[1]
		defer closeAll(files[2:])
	}
	var a answer
	if err := n.set(want, to); err != nil {
		a.Failed = err.Error()
	}
	if to != nil && n.to != to {
		to.Close()
	}
	send(int(files[0].Fd()), a, -1)
	files[0].Close()
}

// reap waits for the end of a child.
func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

var errNoRequest = errors.New("no request")

// receive reads a request, and what comes with it.
func receive(flags int) (r request, files []*os.File, err error) {
	data, oob := make([]byte, 64<<10), make([]byte, unix.CmsgSpace(4*maxFiles))
	for {
		n, oobn, _, _, err := unix.Recvmsg(0, data, oob, unix.MSG_CMSG_CLOEXEC|flags)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return r, nil, err
		case n == 0:
			return r, nil, io.EOF
		}
		files := child.FilesOf(oob[:oobn])
		if err := json.Unmarshal(data[:n], &r); err != nil || len(files) == 0 {
			closeAll(files)
			return r, nil, errNoRequest
		}
		return r, files, nil
	}
}

// ready brings lo up, and has no port take a right.
func ready() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("lo can't be brought up: %w", err)
	}
	// Where /proc/sys can't be written, ports below 1024 stay closed.
	_ = os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0)
	if os.Geteuid() == 0 {
		return nil // root keeps what it has outside, too
	}
	// Of this thread's all go, and with the exec that follows those of the others.
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("capabilities can't be dropped: %w", err)
	}
	return nil
}

// answerTo carries a request out, and answers it. A program that it started is for the
// caller to wait for.
func answerTo(r request, files []*os.File) (started *exec.Cmd) {
	defer closeAll(files)
	var a answer
	fd := -1
	var err error
	if r.Program != nil {
		if started, err = start(*r.Program, files[1:]); err == nil {
			a.Pid = started.Process.Pid
			if fd, err = unix.PidfdOpen(a.Pid, unix.PIDFD_NONBLOCK); err != nil {
				_ = started.Process.Kill()
			}
		} else {
			started = nil
		}
	} else {
		fd, err = connect(r.Dial)
	}
	if err != nil {
		a.Failed = err.Error()
	}
	send(int(files[0].Fd()), a, fd)
	if fd >= 0 {
		unix.Close(fd)
	}
	return started
}

func start(p Program, files []*os.File) (*exec.Cmd, error) {
	if len(files) == 0 {
		return nil, errors.New("descriptors are missing")
	}
	cmd := &exec.Cmd{
		Path: p.Path, Args: p.Argv, Env: p.Env, Dir: "/", Stdin: files[0], ExtraFiles: files[1:],
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	return cmd, cmd.Start()
}

// dialTime bounds how long a port may take to accept.
const dialTime = 3 * time.Second

// connect connects to a port of localhost, whichever of its addresses listens.
func connect(port int) (fd int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	var d net.Dialer
	for _, host := range []string{"127.0.0.1", "::1"} {
		var c net.Conn
		if c, err = d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port))); err != nil {
			continue
		}
		defer c.Close()                   //nolint:errcheck // the server has another one
		f, err := c.(*net.TCPConn).File() //nolint:forcetypeassert // it was dialled so
		if err != nil {
			return -1, err
		}
		defer f.Close()
		return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	}
	return -1, err
}

func send(to int, a answer, fd int) {
	data, err := json.Marshal(a)
	if err != nil {
		return
	}
	var rights []byte
	if fd >= 0 {
		rights = unix.UnixRights(fd)
	}
	_ = unix.Sendmsg(to, data, rights, nil, unix.MSG_NOSIGNAL)
}
