package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// TestOnceEnds: what was allowed for a command ends with it, also a connection that another
// process has by then.
func TestOnceEnds(t *testing.T) {
	for name, c := range map[string]struct {
		answer dispatch.Reached
		listed bool
		over   int
		ends   bool
	}{
		"once":            {dispatch.Reached{Allow: true, Person: true}, false, 1, true},
		"another command": {dispatch.Reached{Allow: true, Person: true}, false, 2, false},
		"session":         {dispatch.Reached{Allow: true, Person: true, Session: true}, false, 1, false},
		"listed":          {dispatch.Reached{}, true, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.serves("a.example.org", 22, echo(t))
			r.answer = func(dispatch.Reach) dispatch.Reached { return c.answer }
			if c.listed {
				r.net.Hosts = []hosts.Host{{Name: "a.example.org"}}
			}
			conn := r.connect("a.example.org", 22)
			in := bufio.NewReader(conn)
			say := func() error {
				fmt.Fprint(conn, "SSH-2.0-x\r\n")
				_, err := in.ReadString('\n')
				return err
			}
			if err := say(); err != nil {
				t.Fatal(err)
			}
			r.gate.Over("one", c.over)
			if err := say(); (err != nil) != c.ends {
				t.Error(err)
			}
		})
	}
}

// TestUploadsInPieces: what a session sends to a host is added up, whichever requests,
// connections and programs send it.
func TestUploadsInPieces(t *testing.T) {
	part := strings.Repeat("x", sendsAlone/2)
	send := func(t *testing.T, conn net.Conn, in *bufio.Reader, host string) {
		t.Helper()
		go fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", host, len(part), part)
		a, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, a.Body)
		a.Body.Close()
	}
	questions := func(r *rig) (n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, q := range r.asked {
			if q.Sent > 0 {
				n++
			}
		}
		return n
	}
	for name, c := range map[string]struct {
		pieces int
		each   func(i int) Connection
		asked  int
	}{
		"little": {1, func(int) Connection { return Connection{Host: "a.example.org", Port: 80} }, 0},
		"programs": {2 * sendsInAll / sendsAlone, func(i int) Connection {
			return Connection{Host: "a.example.org", Port: 80, Client: func() Client { return Client{Program: fmt.Sprint("p", i), Command: i} }}
		}, 1},
		"hosts of a pattern": {2 * sendsInAll / sendsAlone, func(i int) Connection {
			return Connection{Host: fmt.Sprintf("h%d.example.net", i), Port: 80}
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.net.Hosts = []hosts.Host{{Name: "*.example.net"}}
			at := web(t).Listener.Addr().String()
			for i := range c.pieces {
				one := c.each(i)
				r.serves(one.Host, 80, at)
				conn := r.arrives(one)
				send(t, conn, bufio.NewReader(conn), one.Host)
				conn.Close()
			}
			if n := questions(r); n != c.asked {
				t.Errorf("asked %d times: %+v", n, r.asked)
			}
		})
	}
	r := begin(t) // by requests of one connection
	r.serves("a.example.org", 80, web(t).Listener.Addr().String())
	conn := r.connect("a.example.org", 80)
	in := bufio.NewReader(conn)
	for range 3 {
		send(t, conn, in, "a.example.org")
	}
	if n := questions(r); n != 1 {
		t.Errorf("asked %d times: %+v", n, r.asked)
	}
}

// TestClosesAtOnce: a client does not wait for a host that has closed the connection.
func TestClosesAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	r := begin(t)
	r.net.Hosts = []hosts.Host{{Name: "a.example.org", Port: 7}}
	r.serves("a.example.org", 7, l.Addr().String())
	if all, err := io.ReadAll(r.connect("a.example.org", 7)); err != nil || len(all) > 0 {
		t.Errorf("%q %v", all, err)
	}
}
