package egress

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// TestGarbage: whatever many clients say to every entry, and however they leave, the server
// lives, and nothing of theirs is left when the session ends.
func TestGarbage(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("clients", func(t *testing.T) {
		r := begin(t)
		r.net = hosts.Network{Ask: true, Hosts: []hosts.Host{{Name: "a.example.org", Port: 8080}, {Name: "*.example.net"}, {Name: "a.example.org"}}}
		at := echo(t)
		for _, port := range []int{22, 80, 443, 9418, 8080} {
			r.serves("a.example.org", port, at)
			r.serves("b.example.net", port, web(t).Listener.Addr().String())
		}
		r.answer = func(q dispatch.Reach) dispatch.Reached {
			return dispatch.Reached{Allow: len(q.Host)%2 == 0, Session: len(q.Host)%3 == 0, Person: len(q.Host)%5 > 0}
		}
		says := []string{
			"GET / HTTP/1.1\r\nHost: a.example.org\r\n\r\n", "POST / HTTP/1.1\r\nHost: a.example.org\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", "GET http://b.example.net/ HTTP/1.1\r\nHost: b\r\n\r\n",
			"CONNECT a.example.org:8080 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: a.example.org:8080\r\n\r\n", "CONNECT b.example.net:80 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: b.example.net\r\n\r\n",
			"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "\x05\x01\x00\x05\x01\x00\x03\x0da.example.org\x00\x50GET / HTTP/1.1\r\nHost: a.example.org\r\n\r\n",
			"\x05\x01\x00\x05\x01\x00\x03\x0da.example.org\x01\xbb\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", "\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x16", "\x05\x01\x00\x05\x01\x00\x04", "\x05\xff", "\x04\x01\x00\x50\x00\x00\x00\x01x\x00a\x00",
			"\x16\x03\x01\xff\xff\x01\x00\xff\xff", "\x16\x03\x01\x00\x01\x01\x16\x03\x01\x00\x01\x00\x16\x03\x01\x00\x01\x00", "\x16\x03\x01\x00\x00\x16\x03\x01\x00\x00", "0033git-upload-pack /a.git\x00host=a.example.org\x00", "ffff", "0000", "SSH-2.0-x\r\n", "SSH",
			strings.Repeat("A", 70000), strings.Repeat("\r\n", 40000), "GET " + strings.Repeat("x", 300<<10) + " HTTP/1.1\r\n", "GET / HTTP/1.1\r\n" + strings.Repeat("X: y\r\n", 60000), "",
			"GET / HTTP/1.1\r\nHost: a.example.org\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "GET x:y HTTP/1.1\r\nHost: a.example.org\r\n\r\n", "GET / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\nHost: a.example.org\r\n\r\n",
		}
		var all sync.WaitGroup
		for g := range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				rnd := rand.New(rand.NewPCG(uint64(g), 7))
				for i := range 250 {
					say := []byte(says[rnd.IntN(len(says))])
					if len(say) > 0 && rnd.IntN(3) == 0 {
						say[rnd.IntN(min(len(say), 60))] = byte(rnd.IntN(256))
					}
					if rnd.IntN(3) == 0 {
						say = say[:rnd.IntN(len(say)+1)]
					}
					id := i % 5
					one := Connection{Client: func() Client { return Client{Program: fmt.Sprint("p", g), Command: id} }}
					switch rnd.IntN(3) {
					case 0:
						one.Proxy = true
					default:
						one.Host = []string{"a.example.org", "b.example.net", "c.example.com", "\x00", ""}[rnd.IntN(5)]
						one.Port = []int{22, 80, 443, 9418, 8080, 0, 70000}[rnd.IntN(7)]
					}
					c := r.arrives(one)
					_ = c.SetDeadline(time.Now().Add(20 * time.Millisecond))
					_, _ = c.Write(say)
					if rnd.IntN(2) == 0 {
						_ = c.(*net.TCPConn).CloseWrite()
					}
					_, _ = io.ReadAll(c)
					if rnd.IntN(4) > 0 {
						c.Close()
					}
					if rnd.IntN(20) == 0 {
						r.gate.Over("one", rnd.IntN(5))
						r.gate.Said("one", rnd.IntN(5))
					}
				}
			}()
		}
		all.Wait()
		close(r.ended)
		if c := r.connect("a.example.org", 22); true {
			_, _ = io.ReadAll(c)
		}
	})
	for end := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			b := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, b[:runtime.Stack(b, true)])
		}
	}
}
