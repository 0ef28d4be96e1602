package egress

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// hello is TLS' first message for a name, without its record.
func hello(t *testing.T, name string) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go func() {
		_ = tls.Client(ours, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake() //nolint:gosec // nobody answers
		ours.Close()
	}()
	head := make([]byte, 5)
	if _, err := io.ReadFull(theirs, head); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, binary.BigEndian.Uint16(head[3:]))
	if _, err := io.ReadFull(theirs, b); err != nil {
		t.Fatal(err)
	}
	return b
}

// records puts a message into records of so many bytes.
func records(message []byte, size int) (all []byte) {
	for len(message) > 0 {
		n := min(size, len(message))
		all = append(all, 0x16, 3, 1, byte(n>>8), byte(n))
		all = append(all, message[:n]...)
		message = message[n:]
	}
	return all
}

// TestHello: no first message of TLS that is not wholly understood goes out, at any port.
func TestHello(t *testing.T) {
	a, b := hello(t, "a.example.org"), hello(t, "b.example.org")
	name := []byte("b.example.org")
	with := func(old, now string) []byte {
		if len(old) != len(now) || !bytes.Contains(a, []byte(old)) {
			t.Fatalf("%q for %q", now, old)
		}
		return bytes.Replace(a, []byte(old), []byte(now), 1)
	}
	for what, c := range map[string]struct {
		says []byte
		ok   bool
	}{
		"whole":                {records(a, 1<<14), true},
		"in three records":     {records(a, len(a)/3+1), true},
		"another":              {records(b, 1<<14), false},
		"another, in three":    {records(b, len(b)/3+1), false},
		"another, cut in name": {records(b, bytes.Index(b, name)+3), false},
		"in bytes":             {records(a, 1), false},
		"another, in bytes":    {records(b, 1), false},
		"empty records first":  {append(bytes.Repeat([]byte{0x16, 3, 1, 0, 0}, 3), records(b, 1<<14)...), false},
		"an alert first":       {append([]byte{0x15, 3, 1, 0, 2, 1, 0}, records(b, 1<<14)...), false},
		"an alert between":     {append(append(records(b, 20)[:25:25], 0x15, 3, 1, 0, 2, 1, 0), records(b[20:], 1<<14)...), false},
		"a zero byte":          {records(with("a.example.org", "a.example.or\x00"), 1<<14), false},
		"a dot":                {records(with("a.example.org", "a.example.or."), 1<<14), false},
		"an address":           {records(with("a.example.org", "93.184.216.34"), 1<<14), false},
		"SSLv2":                {append([]byte{0x80, 0x2e, 1, 3, 1, 0, 3, 0, 0, 0, 0x20, 0, 0, 0x2f}, make([]byte, 32)...), false},
		"no TLS, but like it":  {[]byte{0x15, 0, 0, 1, 2, 3}, true},
		"nor like SSL 2":       {[]byte{0x80, 1, 0, 1, 0, 0, 0, 4}, true},
		"cut":                  {records(a, 1<<14)[:60], false},
	} {
		for _, port := range []int{443, 8443} {
			t.Run(fmt.Sprint(what, " ", port), func(t *testing.T) {
				r := begin(t)
				r.net.Hosts = []hosts.Host{{Name: "a.example.org"}, {Name: "a.example.org", Port: 8443}}
				r.serves("a.example.org", port, echo(t))
				conn := r.connect("a.example.org", port)
				_, _ = conn.Write(c.says)
				_ = conn.(*net.TCPConn).CloseWrite()
				all, _ := io.ReadAll(conn)
				if went := bytes.HasPrefix(all, c.says[:5]); went != (c.ok && (port != 443 || c.says[0] == tlsHandshake)) {
					t.Errorf("%d bytes of %d came back", len(all), len(c.says))
				}
			})
		}
	}
}
