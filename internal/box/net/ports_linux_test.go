package net

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestClient: a connection is that of the process that has its socket, though another process
// uses the same port at another address, or a socket for both kinds of addresses.
func TestClient(t *testing.T) {
	n := &Network{cmd: &exec.Cmd{Process: &os.Process{Pid: os.Getpid()}}} // the namespace of the test
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	to := l.Addr().(*net.TCPAddr).AddrPort()
	connect := func(from string) *net.TCPConn {
		t.Helper()
		d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from))}
		c, err := d.Dial("tcp4", to.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c.(*net.TCPConn)
	}
	ours := connect("127.0.0.1:0")
	port := ours.LocalAddr().(*net.TCPAddr).Port
	var children []int
	var ends []netip.AddrPort
	for _, host := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"} {
		c := connect(net.JoinHostPort(host, strconv.Itoa(port)))
		f, err := c.File()
		if err != nil {
			t.Fatal(err)
		}
		child := exec.Command("sleep", "60")
		child.ExtraFiles = []*os.File{f}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
		children, ends = append(children, child.Process.Pid), append(ends, c.LocalAddr().(*net.TCPAddr).AddrPort())
		f.Close()
		c.Close()
	}
	if got := n.Client(Arrival{From: ours.LocalAddr().(*net.TCPAddr).AddrPort(), To: to}); len(got.Parents) == 0 || got.Parents[0].Pid != os.Getpid() {
		t.Errorf("the test's own is that of %+v", got)
	}
	for i, from := range ends {
		if got := n.Client(Arrival{From: from, To: to}); got.Program != "sleep" || !slices.ContainsFunc(got.Parents, func(p Process) bool { return p.Pid == children[i] }) {
			t.Errorf("that of %d is that of %+v", children[i], got)
		}
	}
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return // a machine without IPv6
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet6{Addr: netip.AddrFrom16(to.Addr().As16()).As16(), Port: int(to.Port())}); err != nil {
		return // a machine without IPv6
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	six := at.(*unix.SockaddrInet6)
	if got := n.Client(Arrival{From: netip.AddrPortFrom(netip.AddrFrom16(six.Addr), uint16(six.Port)), To: to}); len(got.Parents) == 0 || got.Parents[0].Pid != os.Getpid() {
		t.Errorf("that of a socket for both is that of %+v", got)
	}
}

// TestManyDescriptors: no more of them are looked at for a socket than are left to look at, and
// where they are not enough the socket is nobody's.
func TestManyDescriptors(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 50 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	for left, all := range map[int]bool{10: false, maxLooked: true} {
		before, seen := left, 0
		if got := sockets(os.Getpid(), &left, func(string) bool { seen++; return true }); got != all || (seen > 0) != all && seen > before || before-left > before {
			t.Errorf("with %d: %v, %d looked at, %d sockets", before, got, before-left, seen)
		}
	}
}
