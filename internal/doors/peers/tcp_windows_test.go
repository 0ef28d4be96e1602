package peers

import (
	"net"
	"os"
	"testing"
)

// TestTCPOwner: the process at the other end is in the system's table; what this process
// sends was given to it.
func TestTCPOwner(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	own, err := net.Dial("tcp", l.Addr().String()) //nolint:noctx // at once
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if pid, err := tcpOwner(c); err != nil || pid != os.Getpid() {
		t.Errorf("process %d, %v; want %d", pid, err, os.Getpid())
	}
	if who := OfTCP(c); who.Person() || !who.Own() {
		t.Errorf("%+v", who)
	}
}
