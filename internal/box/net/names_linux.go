package net

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/netaddr"
)

// names gives each name of a host an address of the namespace's own, listens there, and
// hands what is accepted to the server. So a client needs to know no proxy, no query leaves,
// and the name of a connection is known without trust in the client: it is the address that
// was dialled.
type names struct {
	mu    sync.Mutex
	to    *os.File // the socket to the server
	ports []int    // on which each name is listened at
	here  map[int]net.Listener
	of    map[string]*named
	free  []byte // the last bytes of addresses of names that are forgotten
}

// named is the address of a name.
type named struct {
	name   string
	addr   netip.Addr
	used   time.Time
	listen map[int]net.Listener
}

// Bounds of names. The one that was not used for the longest time makes place for a new
// one, unless that is a moment ago.
const (
	maxNames = 255
	inUse    = 20 * time.Second
	answerIn = 5 // seconds for which a client may keep an address
)

const dnsPort = 53

// canary is the name by which browsers ask whether they may resolve names elsewhere. That
// there is none means no.
const canary = "use-application-dns.net"

// set begins to serve names, and later changes on which ports.
func (n *names) set(want Names, to *os.File) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.to == nil {
		if to == nil {
			return errors.New("a descriptor is missing")
		}
		n.to, n.of, n.here = to, map[string]*named{}, map[int]net.Listener{}
		for last := maxNames; last > 0; last-- {
			n.free = append(n.free, byte(last))
		}
		if err := n.begin(); err != nil {
			n.to = nil
			return err
		}
	} else if to != nil {
		n.to = to // the first try failed on a port that was taken; the new socket counts
	}
	n.ports = want.Ports
	for _, one := range n.of {
		one.on(n, n.ports)
	}
	for port, l := range n.here {
		if !slices.Contains(want.Here, port) {
			_ = l.Close()
			delete(n.here, port)
		}
	}
	for _, port := range want.Here {
		if n.here[port] != nil {
			continue
		}
		l, err := listen("127.0.0.1", port)
		if err != nil {
			return fmt.Errorf("port %d of the session's localhost can't lead to that of this machine: %w", port, err)
		}
		n.here[port] = l
		go n.accept(l, Arrival{Name: localhost, Port: port}, nil)
	}
	return nil
}

const localhost = "localhost"

// begin starts the resolver and the proxy's place. The caller holds the lock.
func (n *names) begin() error {
	u, err := net.ListenPacket("udp", net.JoinHostPort("127.0.0.1", strconv.Itoa(dnsPort))) //nolint:noctx // at once
	if err != nil {
		return fmt.Errorf("names can't be resolved: %w", err)
	}
	t, err := listen("127.0.0.1", dnsPort)
	if err != nil {
		_ = u.Close()
		return fmt.Errorf("names can't be resolved: %w", err)
	}
	p, err := listen("127.0.0.1", ProxyPort)
	if err != nil {
		_, _ = u.Close(), t.Close()
		return fmt.Errorf("there is no place for a proxy: %w", err)
	}
	go n.serve(u)
	go n.serveTCP(t)
	go n.accept(p, Arrival{Proxy: true}, nil)
	return nil
}

func listen(host string, port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port))) //nolint:noctx // at once
}

// on has the name listened at on just these ports. What can't be is left out: a server of the
// session has the port.
func (one *named) on(n *names, want []int) {
	for port, l := range one.listen {
		if !slices.Contains(want, port) {
			_ = l.Close()
			delete(one.listen, port)
		}
	}
	for _, port := range want {
		if one.listen[port] != nil {
			continue
		}
		l, err := listen(one.addr.String(), port)
		if err != nil {
			continue
		}
		one.listen[port] = l
		go n.accept(l, Arrival{Name: one.name, Port: port}, one)
	}
}

// accept hands over what comes to a listener.
func (n *names) accept(l net.Listener, a Arrival, of *named) {
	for {
		c, err := l.Accept()
		if err != nil {
			if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ECONNABORTED) {
				time.Sleep(10 * time.Millisecond) // nothing tells when it is better
				continue
			}
			return
		}
		if of != nil {
			n.mu.Lock()
			of.used = time.Now()
			n.mu.Unlock()
		}
		n.hand(c.(*net.TCPConn), a) //nolint:forcetypeassert // it listens so
	}
}

// hand sends a connection to the server.
func (n *names) hand(c *net.TCPConn, a Arrival) {
	defer c.Close() //nolint:errcheck // the server has another one
	a.From, a.To = c.RemoteAddr().(*net.TCPAddr).AddrPort(), c.LocalAddr().(*net.TCPAddr).AddrPort()
	data, err := json.Marshal(a)
	if err != nil {
		return
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	n.mu.Lock()
	to := n.to
	n.mu.Unlock()
	_ = raw.Control(func(fd uintptr) {
		_ = unix.Sendmsg(int(to.Fd()), data, unix.UnixRights(int(fd)), nil, unix.MSG_NOSIGNAL)
	})
}

// address is that of a name; the zero value is that there is no place for one.
func (n *names) address(name string) netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if one := n.of[name]; one != nil {
		one.used = now
		return one.addr
	}
	if len(n.free) == 0 {
		oldest := ""
		for name, one := range n.of {
			if oldest == "" || one.used.Before(n.of[oldest].used) {
				oldest = name
			}
		}
		if now.Sub(n.of[oldest].used) < inUse {
			return netip.Addr{}
		}
		gone := n.of[oldest]
		gone.on(n, nil)
		delete(n.of, oldest)
		n.free = append(n.free, gone.addr.As4()[3])
	}
	last := n.free[len(n.free)-1]
	n.free = n.free[:len(n.free)-1]
	one := &named{name: name, addr: netip.AddrFrom4([4]byte{127, 64, 0, last}), used: now, listen: map[int]net.Listener{}}
	n.of[name] = one
	one.on(n, n.ports)
	return one.addr
}

// maxQuery bounds a query, in bytes.
const maxQuery = 4 << 10

func (n *names) serve(u net.PacketConn) {
	b := make([]byte, maxQuery)
	for {
		size, from, err := u.ReadFrom(b)
		if err != nil {
			return
		}
		if a := n.answer(b[:size]); a != nil {
			_, _ = u.WriteTo(a, from)
		}
	}
}

// idleQuery bounds how long a client may keep a connection to the resolver, and maxTCP how
// many have one.
const (
	idleQuery = 5 * time.Second
	maxTCP    = 32
)

func (n *names) serveTCP(l net.Listener) {
	places := make(chan struct{}, maxTCP)
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		select {
		case places <- struct{}{}:
		default:
			_ = c.Close()
			continue
		}
		go func() {
			defer func() { _ = c.Close(); <-places }()
			_ = c.SetDeadline(time.Now().Add(idleQuery))
			head := make([]byte, 2)
			if _, err := io.ReadFull(c, head); err != nil {
				return
			}
			query := make([]byte, int(head[0])<<8|int(head[1]))
			if _, err := io.ReadFull(c, query); err != nil {
				return
			}
			if a := n.answer(query); a != nil {
				_, _ = c.Write(append([]byte{byte(len(a) >> 8), byte(len(a))}, a...))
			}
		}()
	}
}

// answer is that to a query; nil is none.
func (n *names) answer(query []byte) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil || h.Response {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: h.ID, Response: true, RecursionDesired: h.RecursionDesired, RecursionAvailable: true},
		Questions: []dnsmessage.Question{q},
	}
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: answerIn}
	switch local := name == localhost || strings.HasSuffix(name, "."+localhost); {
	case q.Class != dnsmessage.ClassINET:
		m.RCode = dnsmessage.RCodeNotImplemented
	case !local && (!netaddr.IsName(name) || name == canary || strings.HasSuffix(name, ".arpa")): // those of addresses, too
		m.RCode = dnsmessage.RCodeNameError
	case local && q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
	case local && q.Type == dnsmessage.TypeAAAA:
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: netip.IPv6Loopback().As16()}}}
	case q.Type == dnsmessage.TypeA:
		at := n.address(name)
		if !at.IsValid() {
			m.RCode = dnsmessage.RCodeServerFailure
			break
		}
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: at.As4()}}}
	}
	data, err := m.Pack()
	if err != nil {
		return nil
	}
	return data
}

// Serve has names lead to hand, where it is called first; later it changes where they lead.
// It waits until they do.
func (n *Network) Serve(want Names, hand func(Arrival, *net.TCPConn)) error {
	n.serving.Lock()
	defer n.serving.Unlock()
	if n.serves {
		return n.serve(want)
	}
	ours, theirs, err := child.SocketPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	if err := n.serve(want, theirs); err != nil {
		_ = ours.Close()
		return err
	}
	n.serves = true
	go arrivals(ours, hand)
	return nil
}

func (n *Network) serve(want Names, files ...*os.File) error {
	_, got, err := n.ask(context.Background(), request{Names: &want}, files...)
	closeAll(got)
	return err
}

// arrivals hands on what the resident sends, until it is gone.
func arrivals(conn *net.UnixConn, hand func(Arrival, *net.TCPConn)) {
	defer conn.Close() //nolint:errcheck // it has served
	data, oob := make([]byte, 1<<10), make([]byte, unix.CmsgSpace(4))
	for {
		size, oobn, _, _, err := conn.ReadMsgUnix(data, oob)
		if err != nil || size == 0 {
			return
		}
		files := child.FilesOf(oob[:oobn])
		var a Arrival
		if len(files) == 1 && json.Unmarshal(data[:size], &a) == nil {
			if c, err := net.FileConn(files[0]); err == nil {
				if tcp, ok := c.(*net.TCPConn); ok {
					hand(a, tcp)
				} else {
					_ = c.Close()
				}
			}
		}
		closeAll(files)
	}
}
