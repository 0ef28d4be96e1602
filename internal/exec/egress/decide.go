package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/decisions"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/netaddr"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// rulings hold people's decisions in a session.
type rulings struct {
	asking sync.Mutex // one question at a time

	mu      sync.Mutex
	session map[string]string         // by host with port: "" or why it is refused
	command map[int]map[string]string // likewise, for one command
	silent  map[int][]string          // sentences about what a command did not reach
	sending map[string]bool           // hosts to which much may be sent
	asked   int
}

// maxAsked bounds the hosts of a session about which a person is asked, and maxSaid what a
// command's result says about them.
const (
	maxAsked = 50
	maxSaid  = 5
)

// What decided.
const (
	bySetting = "setting"
	byPerson  = "user"
)

// errRefused is the error for a host that a session does not reach. Its text says why.
type errRefused struct{ why string }

func (e *errRefused) Error() string { return e.why }

// refusedFor is the error for a reason; nil for none.
func refusedFor(why string) error {
	if why == "" {
		return nil
	}
	return &errRefused{why}
}

// decide says whether a client may reach a host, and asks a person where nobody has decided.
func (s *state) decide(ctx context.Context, c *conn, name string, port int) (hosts.Host, string, error) {
	net := s.g.o.Sessions.Network(s.session)
	at := shown(name, port)
	known := hosts.Host{Name: name, Port: port}
	listed := hosts.Find(net.Hosts, name, port)
	if listed != nil && isHost(name) {
		if known = *listed; !known.Ask {
			return known, bySetting, nil
		}
	}
	refuse := func(format string, args ...any) (hosts.Host, string, error) {
		return known, bySetting, &errRefused{fmt.Sprintf(format, args...)}
	}
	advice := fmt.Sprintf("the user can list it in sidecar.sandbox.network as {\"host\": %q, \"private\": true}", at)
	switch {
	case !isHost(name): // also of what a pattern covers: the user's proxy may read it otherwise
		return refuse("it is no name of a host")
	case listed != nil:
	case name == hosts.Localhost || strings.HasSuffix(name, "."+hosts.Localhost):
		return refuse("it is this session's own; the machine's is reached at a port that sidecar.sandbox.network lists, such as %s", hosts.At(hosts.Localhost, port))
	case !netaddr.IsName(name):
		return refuse("addresses are not asked about, because nobody knows by them who is reached: use the host's name; or %s", advice)
	case !hosts.Public(name):
		return refuse("it is no name of the public internet: %s", advice)
	case hosts.Housekeeping(c.client().Program, name, port), s.g.o.Sessions.Idle(s.session, name) && !c.client().Shell:
		return known, bySetting, &errRefused{}
	case !net.Ask:
		return refuse("sidecar.sandbox.network does not list it, and does not say ask")
	}
	client := c.client()
	if why, decided := s.ruling.find(client.Command, at); decided {
		return known, byPerson, refusedFor(why)
	}
	s.ruling.asking.Lock()
	defer s.ruling.asking.Unlock()
	if why, decided := s.ruling.find(client.Command, at); decided { // while this one waited
		return known, byPerson, refusedFor(why)
	}
	if h := hosts.Find(s.g.o.Sessions.Network(s.session).Hosts, name, port); h != nil && !h.Ask { // it was allowed for good meanwhile
		return *h, bySetting, nil
	}
	if !s.ruling.mayAsk() {
		return refuse("a person was asked about %d hosts of this session already; the user can list it in sidecar.sandbox.network", maxAsked)
	}
	a := s.g.o.People.MayReach(ctx, dispatch.Reach{Session: s.session, Host: at, Program: client.Program, Line: client.Line})
	why := a.Why
	if !a.Allow && why == "" {
		why = "the user did not allow it"
	}
	if ctx.Err() == nil {
		s.ruling.keep(client.Command, at, why, a)
	}
	if !a.Allow {
		return known, byPerson, &errRefused{why}
	}
	return known, byPerson, nil
}

// isHost reports whether a text is a host's name, or an address.
func isHost(name string) bool {
	ip, err := netip.ParseAddr(name)
	return netaddr.IsName(name) || err == nil && ip.Zone() == ""
}

// shown is a host as people and rulings name it.
func shown(name string, port int) string {
	if !isHost(name) {
		name = fmt.Sprintf("%+.100q", name) // it may be any bytes
	}
	if hosts.Usual(port) {
		return name
	}
	return hosts.At(name, port)
}

func (r *rulings) find(command int, at string) (why string, decided bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if why, decided = r.session[at]; decided {
		return why, true
	}
	why, decided = r.command[command][at]
	return why, decided
}

func (r *rulings) mayAsk() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	return r.asked <= maxAsked
}

// keep keeps an answer. A person's no is for the session, or it would be asked again with each
// connection; nobody's is for the command.
func (r *rulings) keep(command int, at, why string, a dispatch.Reached) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.Session || !a.Allow && a.Person {
		if r.session == nil {
			r.session = map[string]string{}
		}
		r.session[at] = why
		return
	}
	if command == 0 {
		return // it holds for the connection
	}
	if r.command == nil {
		r.command = map[int]map[string]string{}
	}
	if r.command[command] == nil {
		r.command[command] = map[string]string{}
	}
	r.command[command][at] = why
}

// over forgets what holds for a command alone.
func (r *rulings) over(command int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.command, command)
	delete(r.silent, command)
}

// over forgets what holds for a command alone, and closes its connections: a process of
// another command may have them.
func (s *state) over(command int) {
	s.ruling.over(command)
	for _, c := range s.places.list() {
		s.outlived(c)
	}
}

// outlived closes a connection that was allowed for a command alone, if that has ended.
func (s *state) outlived(c *conn) {
	t := c.to.Load()
	if t == nil || t.command == 0 {
		return
	}
	if _, decided := s.ruling.find(t.command, t.String()); !decided {
		_ = c.Close()
	}
}

// tell notes a sentence for the result of a command.
func (r *rulings) tell(command int, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.silent == nil {
		r.silent = map[int][]string{}
	}
	if list := r.silent[command]; len(list) < maxSaid && !slices.Contains(list, text) {
		r.silent[command] = append(list, text)
	}
}

func (r *rulings) said(command int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.silent[command], r.silent[0])
}

// reach connects to a host for a client, if that is allowed.
func (s *state) reach(ctx context.Context, c *conn, name string, port int) (net.Conn, error) {
	h, by, err := s.allow(ctx, c, name, port)
	if err != nil {
		return nil, err
	}
	up, err := s.dial(ctx, h, name, port)
	if err != nil {
		return nil, s.failed(ctx, c, by, err)
	}
	c.reached(s.to(h, name, port), by)
	return up, nil
}

// allow is decide, and says what it refuses.
func (s *state) allow(ctx context.Context, c *conn, name string, port int) (hosts.Host, string, error) {
	c.aim(&target{host: name, port: port})
	h, by, err := s.decide(ctx, c, name, port)
	if err != nil {
		err = s.failed(ctx, c, by, err)
	}
	return h, by, err
}

// failed says that a host is not reached, to who reads the command's result and in the log.
func (s *state) failed(ctx context.Context, c *conn, by string, err error) error {
	var refused *errRefused
	if errors.As(err, &refused) && refused.why == "" || ctx.Err() != nil && s.ctx.Err() != nil {
		return err // nobody minds
	}
	client, at := c.client(), c.to.Load().String()
	s.ruling.tell(client.Command, fmt.Sprintf("%s %s%v", at, shell.NotReached, err))
	s.tally.refused(decisions.Reach{Session: s.session, Host: at, Program: client.Program, Line: client.Line, By: by, Refused: err.Error()})
	return err
}
