package egress

import (
	"encoding/binary"
	"io"
	"net/netip"
	"strings"
	"time"
)

// Numbers of SOCKS5 (RFC 1928).
const (
	socksVersion = 5
	socksConnect = 1
	socksNoAuth  = 0

	socksIPv4 = 1
	socksName = 3
	socksIPv6 = 4

	socksDone        = 0
	socksRefused     = 2 // not allowed by the ruleset
	socksNoCommand   = 7
	socksNoAddress   = 8
	socksNoMethod    = 0xff
	socksUnreachable = 4
)

// socks speaks SOCKS5 with a client. Only connections by it are made.
func (s *state) socks(c *conn) {
	_ = c.SetDeadline(time.Now().Add(speakIn))
	name, port, ok := socksRequest(c)
	_ = c.SetDeadline(time.Time{})
	if !ok {
		_ = c.Close()
		return
	}
	h, by, err := s.allow(s.ctx, c, name, port)
	if err != nil {
		socksSay(c, socksRefused)
		_ = c.Close()
		return
	}
	if port == httpPort {
		socksSay(c, socksDone)
		s.g.in.add(c)
		return
	}
	up, err := s.dial(s.ctx, h, name, port)
	if err != nil {
		_ = s.failed(s.ctx, c, by, err)
		socksSay(c, socksUnreachable)
		_ = c.Close()
		return
	}
	c.reached(s.to(h, name, port), by)
	socksSay(c, socksDone)
	if c.carry(up) {
		s.g.in.add(c)
		return
	}
	_ = c.Close()
}

// socksSay answers a request.
func socksSay(c *conn, code byte) {
	_, _ = c.Write([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
}

// socksRequest reads whom a client wants to be connected with.
func socksRequest(c *conn) (name string, port int, ok bool) {
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(c.r, b); err != nil {
			return nil
		}
		return b
	}
	head := read(2)
	if head == nil {
		return "", 0, false
	}
	methods := read(int(head[1]))
	if strings.IndexByte(string(methods), socksNoAuth) < 0 {
		_, _ = c.Write([]byte{socksVersion, socksNoMethod})
		return "", 0, false
	}
	_, _ = c.Write([]byte{socksVersion, socksNoAuth})
	if head = read(4); head == nil || head[0] != socksVersion {
		return "", 0, false
	}
	if head[1] != socksConnect {
		socksSay(c, socksNoCommand) // UDP and waiting for connections are not there
		return "", 0, false
	}
	switch head[3] {
	case socksIPv4, socksIPv6:
		ip, _ := netip.AddrFromSlice(read(map[byte]int{socksIPv4: 4, socksIPv6: 16}[head[3]]))
		name = ip.Unmap().String()
	case socksName:
		if n := read(1); n != nil {
			name = strings.ToLower(strings.TrimSuffix(string(read(int(n[0]))), "."))
		}
	default:
		socksSay(c, socksNoAddress)
		return "", 0, false
	}
	b := read(2)
	if b == nil || name == "" {
		return "", 0, false
	}
	port = int(binary.BigEndian.Uint16(b))
	return name, port, port > 0
}
