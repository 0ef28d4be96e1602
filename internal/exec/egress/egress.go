// Package egress is the way from sessions to other hosts. A session's network has no route
// out: its clients' connections come here, each with the name of the host that it is for. Here
// a person or a setting decides, by host; then the server resolves the name, connects, and
// carries the bytes.
//
//	decide.go   who may reach which host
//	dial.go     names, addresses, the user's own proxy
//	places.go   how many connections a session may have
//	inspect.go  the name in TLS, SSH and git's protocol against that of the host
//	web.go      HTTP: to a host, and as a proxy
//	socks.go    SOCKS5
//	carry.go    bytes both ways, and what was sent
package egress

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/decisions"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// Options configure a Gate.
type Options struct {
	Sessions Sessions
	People   People
	Net      Net // nil: the machine's
	Log      Log // nil: nothing is written down
}

// Sessions says what is known of sessions.
type Sessions interface {
	// Network returns the hosts that a session may reach now, those of its agent included.
	Network(session string) hosts.Network
	// Idle reports whether the session's agent asks a host of its own accord, and works without.
	Idle(session, host string) bool
}

// People answers questions.
type People interface {
	// MayReach asks a person.
	MayReach(ctx context.Context, r dispatch.Reach) dispatch.Reached
}

// Log keeps what was reached.
type Log interface {
	Reached(r decisions.Reach)
}

// Client is who made a connection.
type Client struct {
	Program string
	Line    string
	Command int  // tells commands apart; 0 is not known
	Shell   bool // a shell started it, on somebody's word
}

// Connection is one that came from a session's network.
type Connection struct {
	Session string
	Ended   <-chan struct{} // closed when the session ends
	Host    string
	Port    int
	Proxy   bool          // the client says to the proxy where it wants to go
	Client  func() Client // who made it; asked once; nil: it is not known
	Conn    net.Conn
}

// Gate is the way out.
type Gate struct {
	o       Options
	buffers *pool
	web     *http.Server
	in      *arrivals // that web serves

	mu       sync.Mutex
	sessions map[<-chan struct{}]*state
	closed   bool
}

// New returns a Gate.
func New(o Options) *Gate {
	if o.Net == nil {
		o.Net = machine{}
	}
	if o.Log == nil {
		o.Log = nothing{}
	}
	g := &Gate{o: o, buffers: newPool(), in: newArrivals(), sessions: map[<-chan struct{}]*state{}}
	g.web = newWeb()
	go func() { _ = g.web.Serve(g.in) }()
	return g
}

// Close ends all connections.
func (g *Gate) Close() {
	g.mu.Lock()
	g.closed = true
	var all []*state
	for _, s := range g.sessions {
		all = append(all, s)
	}
	g.mu.Unlock()
	_ = g.web.Close()
	for _, s := range all {
		s.end()
	}
}

// state holds a session's connections and the decisions about them.
type state struct {
	g       *Gate
	session string
	ctx     context.Context //nolint:containedctx // ends with the session, whose connections wait on it
	end     context.CancelFunc

	places places
	ruling rulings
	tally  tally
}

// of is the state of a session, which is made with its first connection.
func (g *Gate) of(session string, ended <-chan struct{}) *state {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.sessions[ended]
	if s != nil {
		return s
	}
	ctx, end := context.WithCancel(context.Background())
	s = &state{g: g, session: session, ctx: ctx, end: end}
	s.tally.log = g.o.Log
	if g.closed {
		end()
		return s
	}
	g.sessions[ended] = s
	go func() {
		select {
		case <-ended:
		case <-ctx.Done():
		}
		end()
		s.places.closeAll()
		s.tally.flush()
		g.mu.Lock()
		delete(g.sessions, ended)
		g.mu.Unlock()
	}()
	return s
}

// Said are the sentences about hosts that a command of a session did not reach.
func (g *Gate) Said(session string, command int) (said []string) {
	for _, s := range g.named(session) {
		said = append(said, s.ruling.said(command)...)
	}
	return said
}

// Over says that a command has ended: what was allowed for it alone is not any more.
func (g *Gate) Over(session string, command int) {
	for _, s := range g.named(session) {
		s.over(command)
	}
}

func (g *Gate) named(session string) (list []*state) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sessions {
		if s.session == session {
			list = append(list, s)
		}
	}
	return list
}

// Take takes a connection, and carries it out.
func (g *Gate) Take(c Connection) {
	s := g.of(c.Session, c.Ended)
	conn := &conn{Conn: c.Conn, of: s}
	conn.closed, conn.end = context.WithCancel(s.ctx)
	if !c.Proxy {
		conn.to.Store(&target{host: c.Host, port: c.Port})
	}
	conn.client = sync.OnceValue(func() Client {
		if c.Client == nil {
			return Client{}
		}
		return c.Client()
	})
	conn.r = bufio.NewReaderSize(counted{conn}, readSize)
	if !s.places.take(conn) {
		conn.end()
		_ = c.Conn.Close()
		return
	}
	go s.serve(conn, c.Proxy)
}

// serve carries a connection out, until its end.
func (s *state) serve(c *conn, proxy bool) {
	if s.ctx.Err() != nil {
		_ = c.Close()
		return
	}
	switch {
	case proxy:
		_ = c.SetReadDeadline(time.Now().Add(speakIn))
		first, err := c.r.Peek(1)
		_ = c.SetReadDeadline(time.Time{})
		switch {
		case err != nil:
			_ = c.Close()
		case first[0] == socksVersion:
			s.socks(c)
		default:
			s.g.in.add(c) // its server refuses anything but HTTP
		}
	default:
		s.pass(c)
	}
}

// pass carries what a client says to the host of its connection.
func (s *state) pass(c *conn) {
	to := c.to.Load()
	if to.port == httpPort {
		s.g.in.add(c)
		return
	}
	up, err := s.reach(s.ctx, c, to.host, to.port)
	if err != nil {
		c.sayTLS()
	} else if c.carry(up) {
		s.g.in.add(c)
		return
	}
	_ = c.Close()
}

const (
	httpPort = 80
	readSize = 64 << 10
	// speakIn is how long a client may take to say a first word, where it is the first to speak.
	speakIn = 10 * time.Second
)

// nothing keeps nothing.
type nothing struct{}

func (nothing) Reached(decisions.Reach) {}
