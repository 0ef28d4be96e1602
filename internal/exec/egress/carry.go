package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/decisions"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// conn is a client's connection.
type conn struct {
	net.Conn

	of     *state
	client func() Client
	r      *bufio.Reader // of what the client says
	leave  func()        // gives its place back

	to     atomic.Pointer[target] // nil: the client has not said it yet
	spoke  atomic.Bool            // the client has said something
	at     atomic.Int64           // when something was moved last, in nanoseconds since 1970
	sent   atomic.Int64           // to the host that it is for
	early  atomic.Int64           // before that was reached, which is little: it is looked at
	was    string                 // the host that was reached last
	closer sync.Once
	closed context.Context //nolint:containedctx // ends with the connection
	end    context.CancelFunc
	up     atomic.Pointer[net.Conn] // the host's
}

// target is the host that a connection is for.
type target struct {
	host    string
	port    int
	uploads bool          // any amount may be sent
	all     *atomic.Int64 // what the session has sent to it
	command int           // for which alone it was allowed; 0: for none
	reach   *reach        // nil: it is not reached yet
}

func (t *target) String() string { return shown(t.host, t.port) }

// Read reads what the client says, as HTTP's server wants it.
func (c *conn) Read(b []byte) (int, error) { return c.r.Read(b) }

// Write writes to the client.
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.moved()
	if t := c.to.Load(); t != nil && t.reach != nil {
		t.reach.received.Add(int64(n))
	}
	return n, err
}

// Close closes it, and that to the host.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.closer.Do(func() {
		c.end() // before it is looked at what is there to close, so that carry sees it otherwise
		if up := c.up.Load(); up != nil {
			_ = (*up).Close()
		}
		c.leave()
		c.rest()
	})
	return err
}

func (c *conn) moved()          { c.at.Store(time.Now().UnixNano()) }
func (c *conn) last() time.Time { return time.Unix(0, c.at.Load()) }

// rank orders connections by how soon one makes place: those that never spoke first.
func (c *conn) rank() int64 {
	if c.spoke.Load() {
		return c.at.Load()
	}
	return c.at.Load() - int64(24*time.Hour)
}

// aim says what the connection is for from now on.
func (c *conn) aim(t *target) {
	if old := c.to.Swap(t); old != nil && old.reach != nil {
		c.of.tally.leave(old.reach)
	}
	if c.closed.Err() != nil {
		c.rest()
	}
}

// rest counts the connection no more as one to its host, whose name stays for what is still
// said about it.
func (c *conn) rest() {
	if t := c.to.Load(); t != nil && t.reach != nil {
		c.aim(&target{host: t.host, port: t.port})
	}
}

// to is a host that was reached.
func (s *state) to(h hosts.Host, name string, port int) target {
	return target{host: name, port: port, uploads: h.Uploads, all: s.tally.sent(h.Name)}
}

// reached counts the connection as one to its host.
func (c *conn) reached(t target, by string) {
	client := c.client()
	t.reach = c.of.tally.join(decisions.Reach{Session: c.of.session, Host: t.String(), Program: client.Program, Line: client.Line, By: by}, client.Command)
	if at := t.String(); c.was != at { // else it is one more request
		c.was = at
		c.sent.Store(0)
	}
	early := c.early.Swap(0)
	t.reach.sent.Add(early)
	t.all.Add(early)
	c.sent.Add(early)
	if by == byPerson {
		t.command = client.Command
	}
	c.aim(&t)
	c.of.outlived(c)
}

// How much is sent to a host that is not the agent's model before a person is asked once
// more: by one connection, and by all of the session.
const (
	sendsAlone = 1 << 20
	sendsInAll = 16 << 20
)

var errSends = errors.New("it would send more than was allowed")

// counted reads from a client, and counts the bytes before they go anywhere.
type counted struct{ c *conn }

func (r counted) Read(b []byte) (int, error) {
	c := r.c
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.spoke.Store(true)
		c.moved()
		t := c.to.Load()
		if t == nil || t.reach == nil {
			c.early.Add(int64(n))
			return n, err
		}
		t.reach.sent.Add(int64(n))
		sent, all := c.sent.Add(int64(n)), t.all.Add(int64(n))
		if (sent > sendsAlone || all > sendsInAll) && !t.uploads {
			if err := c.of.maySend(c, t, sent, all); err != nil {
				return 0, err
			}
		}
	}
	return n, err
}

// maySend asks whether a client may send more.
func (s *state) maySend(c *conn, t *target, sent, all int64) error {
	s.ruling.asking.Lock()
	defer s.ruling.asking.Unlock()
	at := t.String()
	s.ruling.mu.Lock()
	may, decided := s.ruling.sending[at]
	s.ruling.mu.Unlock()
	client := c.client()
	if !decided && s.ruling.mayAsk() {
		a := s.g.o.People.MayReach(s.ctx, dispatch.Reach{Session: s.session, Host: at, Program: client.Program, Line: client.Line, Sent: max(sent, all)})
		may = a.Allow
		if a.Person && s.ctx.Err() == nil {
			s.ruling.mu.Lock()
			if s.ruling.sending == nil {
				s.ruling.sending = map[string]bool{}
			}
			s.ruling.sending[at] = may
			s.ruling.mu.Unlock()
		}
	}
	if may {
		return nil
	}
	s.ruling.tell(client.Command, fmt.Sprintf("%s gets no more than %d bytes of a connection: nobody allowed more; the user can list it in sidecar.sandbox.network with \"uploads\": true", at, sendsAlone))
	_ = c.Close()
	return errSends
}

const copySize = 64 << 10 // of which each connection has two

// pool has the buffers of copies.
type pool struct{ sync.Pool }

func newPool() *pool {
	return &pool{sync.Pool{New: func() any { b := make([]byte, copySize); return &b }}}
}

// Get implements httputil.BufferPool, as does Put.
func (p *pool) Get() []byte { return *p.Pool.Get().(*[]byte) } //nolint:forcetypeassert // nothing else is there

// Put implements httputil.BufferPool.
func (p *pool) Put(b []byte) { p.Pool.Put(&b) }

// carry carries bytes both ways between the client and a host, until both have said all. What
// the client says first is looked at. again is that it speaks HTTP, and nothing was said yet:
// then each of its requests is to be looked at.
func (c *conn) carry(up net.Conn) (again bool) {
	c.up.Store(&up)
	defer up.Close()           //nolint:errcheck // all was said
	if c.closed.Err() != nil { // while it was waited for: nobody else closes up
		return false
	}
	stop := make(chan struct{})
	defer close(stop)
	go c.watch(stop)
	done := make(chan error, 1)
	go func() {
		err := c.speak(up)
		done <- err // before the host's connection ends of it
		switch {
		case errors.Is(err, errHTTP):
			_ = up.Close()
		case err != nil:
			_ = c.Close()
		default:
			halfClose(up)
		}
	}()
	heard := c.copy(c, up)
	select {
	case err := <-done: // it may be the end that speak made
		if !heard && errors.Is(err, errHTTP) {
			return true
		}
		halfClose(c.Conn)
	default:
		halfClose(c.Conn)
		<-done
	}
	return false
}

// watch closes a connection on which nothing moves.
func (c *conn) watch(stop <-chan struct{}) {
	t := time.NewTicker(idleFor / 4)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			if time.Since(c.last()) > idleFor {
				_ = c.Close()
				return
			}
		}
	}
}

// speak carries what the client says to the host, once it may be said there.
func (c *conn) speak(up net.Conn) error {
	if err := c.inspect(); err != nil {
		switch {
		case errors.Is(err, io.EOF):
			return nil // it says nothing
		case !errors.Is(err, errHTTP):
			c.of.ruling.tell(c.client().Command, fmt.Sprintf("a connection to %s was closed: %v", c.to.Load(), err))
			c.sayTLS()
		}
		return err
	}
	c.copy(up, c.r)
	return nil
}

// copy copies until the end of from, and reports whether anything came.
func (c *conn) copy(to io.Writer, from io.Reader) (any bool) {
	b := c.of.g.buffers.Get()
	defer c.of.g.buffers.Put(b)
	for {
		n, err := from.Read(b)
		if n > 0 {
			any = true
			if _, werr := to.Write(b[:n]); werr != nil {
				return any
			}
			c.moved()
		}
		if err != nil {
			return any
		}
	}
}

func halfClose(c net.Conn) {
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		_ = h.CloseWrite()
		return
	}
	_ = c.Close()
}

// reach are the connections of a command to a host, together.
type reach struct {
	decisions.Reach

	key            string
	open           int
	sent, received atomic.Int64
}

// tally adds up what goes over connections, and has it written down when none is open for a
// moment.
type tally struct {
	log Log

	mu  sync.Mutex
	all map[string]*reach
	to  map[string]*atomic.Int64 // bytes that the session has sent, by hosts and patterns
	no  map[string]bool          // refusals that are written down
}

// settles is how long none of a host's connections is open before what they moved is written
// down.
const settles = time.Second

// sent counts what the session sends to a host, or to all of a pattern, whoever does.
func (t *tally) sent(host string) *atomic.Int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.to == nil {
		t.to = map[string]*atomic.Int64{}
	}
	if t.to[host] == nil {
		t.to[host] = new(atomic.Int64)
	}
	return t.to[host]
}

func (t *tally) join(r decisions.Reach, command int) *reach {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := fmt.Sprint(command, " ", r.Program, " ", r.Host)
	one := t.all[key]
	if one == nil {
		one = &reach{Reach: r, key: key}
		if t.all == nil {
			t.all = map[string]*reach{}
		}
		t.all[key] = one
	}
	one.open++
	return one
}

func (t *tally) leave(r *reach) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.open--; r.open == 0 {
		time.AfterFunc(settles, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			if r.open == 0 && t.all[r.key] == r {
				t.write(r)
			}
		})
	}
}

// write writes down what went over connections. The caller holds the lock.
func (t *tally) write(r *reach) {
	delete(t.all, r.key)
	r.Sent, r.Received = r.sent.Load(), r.received.Load()
	t.log.Reached(r.Reach)
}

// flush writes down all.
func (t *tally) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.all {
		t.write(r)
	}
}

// refused writes down that a host was not reached, once.
func (t *tally) refused(r decisions.Reach) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := r.Host + "\x00" + r.Refused
	if t.no[key] || len(t.no) >= maxAsked {
		return
	}
	if t.no == nil {
		t.no = map[string]bool{}
	}
	t.no[key] = true
	t.log.Reached(r)
}
