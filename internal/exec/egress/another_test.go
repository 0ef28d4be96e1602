package egress

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// ownProxy is a user's proxy that writes down what it is asked for.
func (r *rig) ownProxy() (asked chan string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { l.Close() })
	asked = make(chan string, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			q, err := http.ReadRequest(in)
			if err != nil {
				c.Close()
				continue
			}
			asked <- strings.TrimSpace(q.Method + " " + q.RequestURI)
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\n")
			if q.Method == http.MethodConnect {
				fmt.Fprint(c, "\r\n")
				_, _ = io.Copy(io.Discard, in)
			} else {
				fmt.Fprint(c, "Content-Length: 0\r\nConnection: close\r\n\r\n")
			}
			c.Close()
		}
	}()
	r.by, r.at["proxy.corp:3128"] = "http://proxy.corp:3128", l.Addr().String()
	return asked
}

// TestAddressWithin: an address of a scheme without // has no host for Go, and would go out as
// it is: to another host of the server, or by the user's proxy to any.
func TestAddressWithin(t *testing.T) {
	for line, ok := range map[string]bool{
		"GET x:http://b.example.org/ HTTP/1.1": false, "GET http:http://b.example.org/ HTTP/1.1": false, "GET b.example.org:443 HTTP/1.1": false,
		"GET /http://b.example.org/ HTTP/1.1": true, "OPTIONS * HTTP/1.1": true, // controls
	} {
		for _, by := range []bool{false, true} {
			t.Run(fmt.Sprint(line, " ", by), func(t *testing.T) {
				r := begin(t)
				r.serves("a.example.org", 80, web(t).Listener.Addr().String())
				var asked chan string
				if by {
					asked = r.ownProxy()
				}
				conn := r.connect("a.example.org", 80)
				fmt.Fprint(conn, line+"\r\nHost: a.example.org\r\nConnection: close\r\n\r\n")
				all, _ := io.ReadAll(conn)
				if strings.HasPrefix(string(all), "HTTP/1.1 200") != ok || strings.Contains(string(all), "b.example.org /") && !strings.Contains(string(all), "a.example.org /") {
					t.Errorf("%s", all)
				}
				for len(asked) > 0 {
					if line := <-asked; !ok || !strings.HasPrefix(strings.SplitN(line, " ", 2)[1], "http://a.example.org") {
						t.Errorf("the proxy was asked for %q", line)
					}
				}
			})
		}
	}
}

// TestPortByOwnProxy: what was decided for a port goes to that port.
func TestPortByOwnProxy(t *testing.T) {
	r := begin(t)
	r.net = hosts.Network{Hosts: []hosts.Host{{Name: "a.example.org", Port: 8080}}}
	asked := r.ownProxy()
	for _, host := range []string{"a.example.org", "a.example.org:8080"} {
		if status, body, err := get(r.connect("a.example.org", 8080), host, "/"); status != 200 {
			t.Fatal(status, body, err)
		}
		first, line := <-asked, <-asked // the connection, which speaks HTTP; and the request
		if first != "CONNECT a.example.org:8080" || line != "GET http://a.example.org:8080/" {
			t.Errorf("for %s the proxy was asked for %q and %q", host, first, line)
		}
	}
}

// TestOddNames: a pattern covers names only, whatever the user's proxy might read in others,
// and no question has bytes in it that are no name's.
func TestOddNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"a.example.org":                        true, // control
		"other.test:443 HTTP/1.1 .example.org": false, "other.test/.example.org": false, "other.test#.example.org": false, "other.test:443?.example.org": false,
		"a\n\x1b[2J.example.org": false, "127.0.0.1\x00.example.org": false, "*.example.org": false, "a%2eexample.org.example.org": false, "ä.example.org": false,
		"fe80::1%a\x1b[2J.example.org": false, "-.example.org": false, "..example.org": false,
	} {
		for _, ask := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q %v", name, ask), func(t *testing.T) {
				r := begin(t)
				r.net = hosts.Network{Hosts: []hosts.Host{{Name: "*.example.org", Ask: ask}}}
				asked := r.ownProxy()
				conn := r.proxied()
				fmt.Fprintf(conn, "\x05\x01\x00\x05\x01\x00\x03%c%s\x01\xbb", len(name), name)
				answer := make([]byte, 12)
				_, _ = io.ReadFull(conn, answer)
				if questions, _ := r.count(); (answer[3] == socksDone) != ok || (len(asked) > 0) != ok || (questions > 0) != (ok && ask) {
					t.Errorf("answer %d, %d connections, asked %+v", answer[3], len(asked), r.asked)
				}
				if strings.ContainsAny(r.said(), "\x00\x1b\n") {
					t.Errorf("%q", r.said())
				}
			})
		}
	}
}

// TestUpgrades: a connection does not become one of another protocol in which hosts are named
// anew. A WebSocket's does not name any.
func TestUpgrades(t *testing.T) {
	for kind, ok := range map[string]bool{"h2c": false, "TLS/1.0": false, "HTTP/2.0, websocket": false, "websocket": true} {
		t.Run(kind, func(t *testing.T) {
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if q.Header.Get("Upgrade") == "" {
					return
				}
				c, b, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", kind)
				line, _ := b.ReadString('\n')
				fmt.Fprint(c, line)
			}))
			defer site.Close()
			r := begin(t)
			r.serves("a.example.org", 80, site.Listener.Addr().String())
			conn := r.connect("a.example.org", 80)
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: a.example.org\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: %s\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n", kind)
			in := bufio.NewReader(conn)
			a, err := http.ReadResponse(in, nil)
			if err == nil {
				defer a.Body.Close()
			}
			if err != nil || (a.StatusCode == http.StatusSwitchingProtocols) != ok {
				t.Fatal(a, err)
			}
			if ok {
				fmt.Fprint(conn, "anything\n")
				if line, err := in.ReadString('\n'); line != "anything\n" {
					t.Error(line, err)
				}
			}
		})
	}
}

// TestHidesHTTPWords: HTTP is found whatever its method is, and in the oldest form.
func TestHidesHTTPWords(t *testing.T) {
	for _, line := range []string{
		strings.Repeat("A", 40) + " / HTTP/1.1", "GET1 / HTTP/1.1", "G!T / HTTP/1.1", " GET / HTTP/1.1", "\v\fGET / HTTP/1.1", "*| / HTTP/1.1", "GET /\v HTTP/1.1",
		"GET / http/1.1", "GET /\fHTTP/1.1", "GET\v/\vHTTP/1.1", "GET http://b.example.org/", "GET  HTTPS://b.example.org/", strings.Repeat("A", readSize+1),
	} {
		r := begin(t)
		r.net.Hosts = []hosts.Host{{Name: "a.example.org", Port: 8080}}
		r.serves("a.example.org", 8080, echo(t))
		conn := r.connect("a.example.org", 8080)
		fmt.Fprint(conn, line+"\r\nHost: b.example.org\r\nConnection: close\r\n\r\n")
		_ = conn.(*net.TCPConn).CloseWrite()
		if all, _ := io.ReadAll(conn); bytes.Contains(all, []byte("Host: b.")) {
			t.Errorf("%.50q went out", line)
		}
	}
	for _, line := range []string{"EHLO a\r\n", "*1\r\n$4\r\nPING\r\n", "NICK see http://b.example.org/\r\n", "RFB 003.008\n", "0\x2a\x02\x01", "DESCRIBE rtsp://a/ RTSP/1.0\r\n"} { // controls
		r := begin(t)
		r.net.Hosts = []hosts.Host{{Name: "a.example.org", Port: 8080}}
		r.serves("a.example.org", 8080, echo(t))
		conn := r.connect("a.example.org", 8080)
		fmt.Fprint(conn, line)
		back := make([]byte, len(line))
		if _, err := io.ReadFull(conn, back); string(back) != line {
			t.Errorf("%q: %q %v", line, back, err)
		}
	}
}

// TestGitNames: git's server takes the first name, in any case, whatever follows.
func TestGitNames(t *testing.T) {
	for says, ok := range map[string]bool{
		"git-upload-pack /a.git\x00host=a.example.org\x00": true, "git-upload-pack /a.git\x00HOST=a.example.org:9418\x00\x00version=2\x00": true, // controls
		"git-upload-pack /a.git\x00HOST=b.example.org\x00host=a.example.org\x00": false, "git-upload-pack /a.git\x00host=a.example.org\x00host=b.example.org\x00": false,
		"git-upload-pack host=a.example.org\x00": false,
	} {
		r := begin(t)
		r.serves("a.example.org", 9418, echo(t))
		conn := r.connect("a.example.org", 9418)
		fmt.Fprintf(conn, "%04x%s", len(says)+4, says)
		_ = conn.(*net.TCPConn).CloseWrite()
		if all, _ := io.ReadAll(conn); (len(all) > 0) != ok {
			t.Errorf("%q: %q came back", says, all)
		}
	}
}

// TestSaidAhead: what a client says ahead of the answer to CONNECT arrives whole.
func TestSaidAhead(t *testing.T) {
	for _, size := range []int{0, 100, 5000, 200_000} {
		r := begin(t)
		r.net.Hosts = []hosts.Host{{Name: "a.example.org", Port: 7}}
		r.serves("a.example.org", 7, echo(t))
		conn := r.proxied()
		data := slices.Concat([]byte{1}, bytes.Repeat([]byte("0123456789"), size/10))
		go func() {
			_, _ = conn.Write(slices.Concat([]byte("CONNECT a.example.org:7 HTTP/1.1\r\nHost: a.example.org:7\r\n\r\n"), data))
			_ = conn.(*net.TCPConn).CloseWrite()
		}()
		if all, err := io.ReadAll(conn); string(all) != established+string(data) {
			t.Errorf("%d bytes of %d came back: %v", len(all)-len(established), len(data), err)
		}
	}
}
