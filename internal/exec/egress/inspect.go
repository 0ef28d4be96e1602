package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Ports where a protocol is expected.
const (
	sshPort = 22
	tlsPort = 443
	gitPort = 9418
)

// inspect looks at what a client says first, and compares the name of a host in it with the
// one that was allowed: a server may serve many.
func (c *conn) inspect() error {
	to := c.to.Load()
	if to.port != sshPort { // where the server speaks first, and keys may wait for a person
		_ = c.SetReadDeadline(time.Now().Add(idleFor))
	}
	if to.port == tlsPort {
		_ = c.SetReadDeadline(time.Now().Add(speakIn))
	}
	first, err := c.r.Peek(1)
	_ = c.SetReadDeadline(time.Time{})
	switch {
	case errors.Is(err, io.EOF) && c.r.Buffered() == 0:
		return io.EOF
	case err != nil:
		return errors.New("it said nothing")
	case first[0] == tlsHandshake:
		return c.named(serverName(c))
	case to.port == tlsPort:
		return fmt.Errorf("what it says on port %d is not TLS", tlsPort)
	case to.port == sshPort:
		if b, err := c.r.Peek(4); err != nil || string(b) != "SSH-" {
			return fmt.Errorf("what it says on port %d is not SSH", sshPort)
		}
	case to.port == gitPort:
		return c.named(gitHost(c.r))
	case isWord(first[0]), isBlank(first[0]):
		return c.plain()
	case first[0] >= 0x80 || first[0] >= tlsFirst && first[0] <= tlsLast:
		if b, err := c.r.Peek(4); err == nil && beginsOddly(b) {
			return errors.New("its TLS does not begin with the name of a host")
		}
	}
	return nil
}

// beginsOddly reports whether a client begins TLS as servers accept it, and clients don't: with
// another record than the handshake's, or a first message in the form of SSL 2.
func beginsOddly(b []byte) bool {
	return b[0] <= tlsLast && b[1] == 3 || b[0] >= 0x80 && b[2] == 1 && b[3] == 3
}

// named compares the name that a client says with that of its host.
func (c *conn) named(name string, err error) error {
	switch {
	case err != nil:
		return err
	case name == "":
		return errors.New("it does not say which host it is for (no server name in TLS), so that it could be another one")
	case !strings.EqualFold(strings.TrimSuffix(name, "."), c.to.Load().host):
		return fmt.Errorf("it is for %.100q, another host behind the same address", name)
	}
	return nil
}

// isWord reports whether a byte may stand in a method of HTTP, which is any token (RFC 9110).
func isWord(b byte) bool {
	return b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0
}

// isBlank reports whether servers may pass over a byte before a method, or part words at it.
func isBlank(b byte) bool { return strings.IndexByte(" \t\r\n\v\f", b) >= 0 }

// ofHTTP finds the protocol's name in a line, or a whole address as HTTP/0.9 may have it.
var ofHTTP = regexp.MustCompile(`(?i)[ \t\v\f]HTTP/|^[^ \t\v\f]*[ \t\v\f]+https?://`)

// plain finds out whether a client speaks HTTP: a method, a space, and a line with the
// protocol's name. Other protocols of words pass.
func (c *conn) plain() error {
	start := 0
	for n := 1; n <= readSize; n++ {
		b, err := c.r.Peek(n)
		if err != nil {
			return nil //nolint:nilerr // it says no more than that
		}
		switch last := b[n-1]; {
		case start == n-1 && isBlank(last):
			start = n
		case isWord(last):
		case isBlank(last) && last != '\r' && last != '\n':
			return c.line(start)
		default:
			return nil
		}
	}
	return errors.New("its first word has no end")
}

// line looks for HTTP's name in the first line.
func (c *conn) line(start int) error {
	for n := start + 1; n <= readSize; n = max(n+1, c.r.Buffered()) {
		b, err := c.r.Peek(n)
		if line, _, whole := bytes.Cut(b[min(start, len(b)):], []byte("\n")); whole || err != nil {
			if ofHTTP.Match(line) {
				return errHTTP
			}
			return nil
		}
	}
	return errors.New("its first line has no end")
}

// errHTTP says that a client speaks HTTP where it was not expected.
var errHTTP = errors.New("it speaks HTTP")

const (
	tlsFirst     = 0x14 // of the kinds of records
	tlsHandshake = 0x16
	tlsLast      = 0x18
	maxHello     = 4 // records of TLS
)

// encryptedHello is the number of TLS' extension with an encrypted name.
const encryptedHello = 0xfe0d

// serverName is the name in TLS' first message, which stays to be read. Go's own TLS reads it.
func serverName(c *conn) (string, error) {
	_ = c.SetReadDeadline(time.Now().Add(speakIn))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	need := 5
	for range maxHello {
		b, err := c.r.Peek(need)
		if err != nil {
			return "", errors.New("its TLS does not begin")
		}
		need += int(binary.BigEndian.Uint16(b[need-2:]))
		if b, err = c.r.Peek(need); err != nil {
			return "", errors.New("its TLS does not begin")
		}
		name, err := helloName(b)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return name, err
		}
		need += 5
	}
	return "", errors.New("its TLS begins with too much")
}

var errSeen = errors.New("seen")

func helloName(hello []byte) (name string, err error) {
	var seen *tls.ClientHelloInfo
	config := &tls.Config{MinVersion: tls.VersionTLS10, GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) { //nolint:gosec // it is only looked at
		seen = h
		return nil, errSeen
	}}
	err = tls.Server(&spoken{bytes.NewReader(hello)}, config).Handshake() //nolint:noctx // nothing is waited for
	switch {
	case seen != nil && slices.Contains(seen.Extensions, encryptedHello):
		return "", errors.New("its TLS may hide the name of another host (encrypted client hello); switch that off, as --disable-features=EncryptedClientHello does in Chromium")
	case seen != nil:
		return seen.ServerName, nil
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "", io.ErrUnexpectedEOF
	}
	return "", errors.New("its TLS can't be read")
}

// spoken is a connection of which all that was said is known.
type spoken struct{ r *bytes.Reader }

func (s *spoken) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
func (*spoken) Write(b []byte) (int, error)      { return len(b), nil }
func (*spoken) Close() error                     { return nil }
func (*spoken) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*spoken) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*spoken) SetDeadline(time.Time) error      { return nil }
func (*spoken) SetReadDeadline(time.Time) error  { return nil }
func (*spoken) SetWriteDeadline(time.Time) error { return nil }

// gitHost is the name in the first line of git's protocol: a length of four hexadecimal
// digits, the request, and host=NAME between zero bytes.
func gitHost(r *bufio.Reader) (string, error) {
	b, err := r.Peek(4)
	if err != nil {
		return "", errors.New("it does not speak git's protocol")
	}
	n, err := strconv.ParseUint(string(b), 16, 16)
	if err != nil || n < 4 {
		return "", errors.New("it does not speak git's protocol")
	}
	if b, err = r.Peek(int(n)); err != nil {
		return "", errors.New("it does not speak git's protocol")
	}
	var names []string
	for part := range strings.SplitSeq(string(b), "\x00") {
		if key, host, ok := strings.Cut(part, "="); ok && strings.EqualFold(key, "host") { // as git's server has it
			name, _, _ := strings.Cut(host, ":")
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return "", errors.New("it does not say which host it is for")
	case 1:
		return names[0], nil
	}
	return "", errors.New("it says more than once which host it is for")
}

// accessDenied is TLS' alert of that name. Clients show it; without one they say only that
// the connection was closed.
var accessDenied = []byte{21, 3, 3, 0, 2, 2, 49}

// sayTLS says to a client of TLS that its connection is refused.
func (c *conn) sayTLS() {
	if t := c.to.Load(); t == nil || t.port != tlsPort {
		return
	}
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if b, err := c.r.Peek(1); err == nil && b[0] == tlsHandshake {
		_, _ = c.Conn.Write(accessDenied)
	}
}
