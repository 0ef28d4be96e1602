// Package ports shows which ports the programs of sessions listen on, and opens one for a
// person: a listener of 127.0.0.1 hands what a browser asks to the session's localhost.
// It is a person's decision each time; no tool comes here.
package ports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"time"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
)

// Port is one that a program listens on, or that was opened.
type Port struct {
	Session string `json:"session"`
	Port    int    `json:"port"`
	Program string `json:"program"`          // its name; "" is not known
	Opened  string `json:"opened,omitempty"` // the address for a browser
}

// Warning is what a person is told before a port is opened.
const Warning = "The pages and scripts that this server sends run in your browser, and reach your network and what it serves."

// Ports are those of the sessions of a workspace.
type Ports struct {
	nets   *boxnet.Networks
	opened func(session string, port int) // hears of each that is opened

	followers followers

	mu   sync.Mutex
	open map[at]*door
	shut bool
}

type at struct {
	session string
	port    int
}

// maxOpen bounds how many ports are open at a time.
const maxOpen = 64

// New returns the ports of sessions with these networks. opened hears of each that is opened.
func New(nets *boxnet.Networks, opened func(session string, port int)) *Ports {
	return &Ports{nets: nets, opened: opened, open: map[at]*door{}}
}

// List are the ports that programs of a session listen on, and those that are open; "" is
// all sessions.
func (p *Ports) List(session string) []Port {
	list := []Port{}
	for _, j := range p.nets.All() {
		if session != "" && j.Session() != session {
			continue
		}
		for _, l := range j.Listening() {
			list = append(list, Port{j.Session(), l.Port, l.Program, p.address(at{j.Session(), l.Port})})
		}
	}
	return list
}

func (p *Ports) address(a at) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.open[a]; d != nil {
		return d.url
	}
	return ""
}

// May says why a port can't be opened; nil: it can.
func (p *Ports) May(session string, port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("%d is no port", port)
	}
	j := p.nets.Get(session)
	if j == nil {
		return fmt.Errorf("the session %s has no localhost of its own: no command of it has run, or its commands share the machine's, where you reach them", session)
	}
	for _, l := range j.Listening() {
		if l.Port == port {
			return nil
		}
	}
	return fmt.Errorf("no program of the session %s listens on port %d", session, port)
}

// Open opens a port, and returns the address for a browser. It closes with the session.
func (p *Ports) Open(session string, port int) (url string, err error) {
	if err := p.May(session, port); err != nil {
		return "", err
	}
	j := p.nets.Get(session)
	if j == nil {
		return "", fmt.Errorf("the session %s has just ended", session)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := at{session, port}
	switch d := p.open[key]; {
	case p.shut:
		return "", errors.New("the server ends")
	case d != nil && d.of == j:
		return d.url, nil
	case d != nil:
		d.close()
	case len(p.open) >= maxOpen:
		return "", fmt.Errorf("%d ports are open already; close one first", maxOpen)
	}
	d, err := newDoor(j, port)
	if err != nil {
		return "", err
	}
	p.open[key] = d
	defer p.followers.changed()
	p.opened(session, port)
	go func() {
		select {
		case <-j.Left():
		case <-j.Gone():
		case <-d.closed:
		}
		d.close()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.open[key] == d {
			delete(p.open, key)
		}
	}()
	return d.url, nil
}

// Close closes one that is open, and returns its address.
func (p *Ports) Close(session string, port int) (url string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.open[at{session, port}]
	if d == nil {
		return "", fmt.Errorf("port %d of the session %s is not open", port, session)
	}
	delete(p.open, at{session, port})
	defer p.followers.changed()
	d.close()
	return d.url, nil
}

// End closes all, and opens no more.
func (p *Ports) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = true
	defer p.followers.changed()
	for _, d := range p.open {
		d.close()
	}
	clear(p.open)
}

func (p *Ports) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shut
}

// door is a port that is open.
type door struct {
	of     *boxnet.Joint
	url    string
	close  func()
	closed chan struct{}
}

// headTime bounds how long the head of a request may take.
const headTime = 10 * time.Second

func newDoor(j *boxnet.Joint, port int) (*door, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // at once
	if err != nil {
		return nil, err
	}
	_, own, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	host := label(j.Session()) + "-" + strconv.Itoa(port) + ".localhost:" + own
	inside := &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return j.Dial(ctx, port) },
		DisableCompression: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
	}
	quiet := log.New(nothing{}, "", 0)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", host // which stays the Host, too: servers compare it with the origin
		},
		Transport: inside, FlushInterval: -1, ErrorLog: quiet,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, fmt.Sprintf("Port %d of the session %s does not answer: %v", port, j.Session(), err), http.StatusBadGateway)
		},
	}
	conns := &kept{Listener: l, all: map[net.Conn]bool{}}
	server := &http.Server{ReadHeaderTimeout: headTime, ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.EqualFold(r.Host, host) {
			// Another name may be one that a page elsewhere has led here.
			http.Error(w, "This address serves http://"+host+"/ only.", http.StatusMisdirectedRequest)
			return
		}
		proxy.ServeHTTP(w, r)
	})}
	d := &door{of: j, url: "http://" + host + "/", closed: make(chan struct{})}
	d.close = sync.OnceFunc(func() {
		close(d.closed)
		_ = server.Close()
		conns.end() // those of WebSockets, too
		inside.CloseIdleConnections()
	})
	go func() { _ = server.Serve(conns) }()
	return d, nil
}

// label is the name of a session as a part of a host's name.
func label(session string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, session[:min(len(session), 40)]), "-")
	return cmp.Or(name, "session")
}

// kept is a listener that knows its connections.
type kept struct {
	net.Listener

	mu  sync.Mutex
	all map[net.Conn]bool // nil: it has ended
}

func (k *kept) Accept() (net.Conn, error) {
	c, err := k.Listener.Accept()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	one := &counted{Conn: c, of: k}
	k.all[one] = true
	return one, nil
}

func (k *kept) end() {
	k.mu.Lock()
	all := k.all
	k.all = nil
	k.mu.Unlock()
	for c := range all {
		_ = c.Close()
	}
}

type counted struct {
	net.Conn
	of *kept
}

func (c *counted) Close() error {
	c.of.mu.Lock()
	delete(c.of.all, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// nothing drops what a program of a session could have said in the log.
type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }
