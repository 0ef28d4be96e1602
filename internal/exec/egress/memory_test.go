package egress

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestMemory: a program that holds all connections of a session, each with as much as it keeps,
// holds no large part of the server's memory.
func TestMemory(t *testing.T) {
	slow.Test(t)
	const most = 160 << 20
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	page := strings.Repeat("y", 1<<20)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.WriteString(c, page)
				_, _ = io.Copy(io.Discard, c)
				c.Close()
			}()
		}
	}()
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := inUse()
	for name, c := range map[string]struct {
		port int
		says string
	}{
		"bytes":   {7, "\x01" + strings.Repeat("x", 300<<10)},
		"headers": {80, "GET / HTTP/1.1\r\n" + strings.Repeat("X: "+strings.Repeat("y", 100)+"\r\n", 500)},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.net.Hosts = []hosts.Host{{Name: "a.example.org", Port: 7}}
			r.serves("a.example.org", 7, l.Addr().String())
			for range maxPlaces {
				conn := r.connect("a.example.org", c.port)
				if _, err := io.WriteString(conn, c.says); err != nil {
					t.Fatal(err)
				}
				if c.port != httpPort {
					if _, err := io.ReadFull(conn, make([]byte, len(page))); err != nil {
						t.Fatal(err)
					}
				}
			}
			if used := inUse() - before; used > most {
				t.Errorf("%d MiB", used>>20)
			} else {
				t.Logf("%d MiB", used>>20)
			}
		})
	}
}
