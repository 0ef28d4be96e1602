package peers

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

// accepts is the variable by which the tests' program listens in the place of the tests,
// prints its port, and of each connection who is at the other end.
const accepts = "PEERS_TEST_ACCEPTS"

// named is the variable by which it connects under the name of ours.
const named = "PEERS_TEST_NAMED"

func accept() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if os.Getenv(leaves) != "" { // the other one first
			_, _ = io.Copy(io.Discard, c)
		} else {
			_, _ = c.Read(make([]byte, 1))
		}
		who := OfTCP(c)
		fmt.Println(who.Person(), who.Own(), who.why)
		_ = c.Close()
	}
}

// acceptor is a process that does so. It is none of those that connect, nor above them.
type acceptor struct {
	t    *testing.T
	at   string
	says *bufio.Reader
}

func accepting(t *testing.T, env ...string) *acceptor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(append(os.Environ(), accepts+"=1"), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	a := &acceptor{t: t, says: bufio.NewReader(out)}
	a.at = a.next()
	return a
}

func (a *acceptor) next() string {
	a.t.Helper()
	line, err := a.says.ReadString('\n')
	if err != nil {
		a.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// dial is a connection of this process.
func (a *acceptor) dial() net.Conn {
	a.t.Helper()
	c, err := net.Dial("tcp", a.at)
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

// looks has the acceptor look at a connection.
func (a *acceptor) looks(c net.Conn) string {
	a.t.Helper()
	defer c.Close()
	if _, err := c.Write([]byte("x")); err != nil {
		a.t.Fatal(err)
	}
	return a.next()
}

// from has a program of ours connect, in the place of another one.
func (a *acceptor) from(env string, argv ...string) string {
	a.t.Helper()
	cmd := exec.CommandContext(a.t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), connects+"="+a.at, env)
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	return a.next()
}

const (
	aPerson = "true false"
	nobody  = "false false "
)

// TestTCP: who has the other end of a TCP connection is found, however it was made.
func TestTCP(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := accepting(t)
	if got := a.looks(a.dial()); got != aPerson {
		t.Errorf("the control: %s", got)
	}
	for _, argv := range [][]string{{self}, {"sh", "-c", `"$0"; true`, self}, {"setsid", "-w", self}} {
		if got := a.from("", argv...); got != aPerson {
			t.Errorf("the control, %v: %s", argv, got)
		}
	}
	for _, argv := range [][]string{{self, self}, {self, "sh", "-c", `"$0"; true`, self}, {self, "setsid", "-w", self}} {
		if got := a.from(starts+"=as "+Program, argv...); !strings.HasPrefix(got, nobody+"it descends from") {
			t.Errorf("below one of ours, %v: %s", argv, got)
		}
	}
	if got := a.from(named+"=1", self); !strings.HasPrefix(got, nobody+"it is the sidecar-ls") {
		t.Errorf("one of ours: %s", got)
	}
	for _, option := range []string{"-m", "-Ur", "-Urm", "-Urpfm"} {
		if err := exec.CommandContext(t.Context(), "unshare", option, "true").Run(); err != nil {
			t.Logf("unshare %s does not work here: %v", option, err)
			continue
		}
		if got := a.from("", "unshare", option, self); !strings.HasPrefix(got, nobody) {
			t.Errorf("unshare %s: %s", option, got)
		}
	}
}

// TestTCPMapped: a socket of IPv6 that speaks IPv4 is in another table.
func TestTCPMapped(t *testing.T) {
	a := accepting(t)
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if errors.Is(err, unix.EAFNOSUPPORT) {
		needs.Skip(t, needs.Kernel, "the kernel has no IPv6")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(a.at)
	n, _ := strconv.Atoi(port)
	if err := unix.Connect(fd, &unix.SockaddrInet6{Port: n, Addr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}}); err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.looks(c); got != aPerson {
		t.Error(got)
	}
}

// TestTCPShared: one that is no person's is enough, and whoever has gone is nobody.
func TestTCPShared(t *testing.T) {
	a := accepting(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"": aPerson, Program: nobody} {
		c := a.dial()
		f, err := c.(*net.TCPConn).File()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), self, "sh", "-c", waits)
		cmd.Env, cmd.ExtraFiles = append(os.Environ(), starts+"=as "+name), []*os.File{f}
		waiting(t, cmd)
		_ = f.Close()
		if got := a.looks(c); !strings.HasPrefix(got, want) {
			t.Errorf("a process called %q has it, too: %s", name, got)
		}
	}
	a = accepting(t, leaves+"=1")
	c := a.dial()
	_ = c.Close()
	if got := a.next(); !strings.HasPrefix(got, nobody+"it can't be looked at") {
		t.Errorf("it has gone: %s", got)
	}
}

// TestTCPSelf: what this process sends was given to it; what it has started is known.
func TestTCPSelf(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	own, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{nil, {self}, {self, self}} {
		if argv != nil {
			cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
			cmd.Env = append(os.Environ(), connects+"="+l.Addr().String())
			if len(argv) > 1 { // a process of ours is between
				cmd.Env = append(cmd.Env, starts+"=as "+Program)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Wait() }()
		}
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if who := OfTCP(c); who.Person() || !who.Own() {
			t.Errorf("%v: %+v", argv, who)
		}
		_ = c.Close()
	}
}
