package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/retry"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Bounds of one fetch.
const (
	maxRedirects = 5
	maxBody      = 10 << 20  // bytes, after decompression
	maxHeader    = 256 << 10 // bytes
	fetchTime    = 20 * time.Second
	headerTime   = 10 * time.Second // for a connection, for a handshake, and for the headers
	userAgent    = "sidecar-ls (+https://github.com/sidecar-ls/sidecar-ls)"
)

// resolver finds the addresses of a name, as *net.Resolver does.
type resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// client fetches pages of the public internet. It keeps no cookies, uses no
// proxy, sends no credentials that it isn't given, and dials nothing that
// checkAddress refuses. What is not exported of it is for tests.
type client struct {
	names resolver
	check func(netip.AddrPort) error // of each address that is dialled
	dial  func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	time  time.Duration // for all of a fetch
	roots *tls.Config   // nil: those of the system
}

func newClient() *client {
	c := &client{names: net.DefaultResolver, time: fetchTime}
	c.check = func(to netip.AddrPort) error { return checkAddress(to.Addr()) }
	c.dial = c.connect
	return c
}

// control refuses a connection when its address is final and nothing has been
// sent: after all name resolution, whatever the resolver did.
func (c *client) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return tools.Errorf(tools.Denied, "%s is not an address", address)
	}
	return c.check(to)
}

func (c *client) connect(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Timeout: headerTime, ControlContext: c.control}
	return d.DialContext(ctx, "tcp", to.String())
}

// dialName resolves a name once and dials what it found, in order. An address
// that is refused ends it: a name that leads inside as well is not trusted.
func (c *client) dialName(ctx context.Context, _, address string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service) // a number: nothing is asked
	if err != nil {
		return nil, err
	}
	var ips []netip.Addr
	if ip, err := netip.ParseAddr(host); err == nil {
		ips = []netip.Addr{ip}
	} else if ips, err = c.names.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, err
	}
	err = fmt.Errorf("%s has no address", host)
	for _, ip := range ips {
		var conn net.Conn
		// Unmap: resolvers give IPv4 addresses in the form of IPv6.
		if conn, err = c.dial(ctx, netip.AddrPortFrom(ip.Unmap(), uint16(port))); err == nil {
			return conn, nil
		}
		var refused *tools.Error
		if errors.As(err, &refused) || ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

func (c *client) transport() *http.Transport {
	return &http.Transport{
		DialContext:            c.dialName,
		TLSClientConfig:        c.roots.Clone(),
		TLSHandshakeTimeout:    headerTime,
		ResponseHeaderTimeout:  headerTime,
		MaxResponseHeaderBytes: maxHeader,
		DisableKeepAlives:      true,
		DisableCompression:     true, // body.go does it, and counts
		ForceAttemptHTTP2:      true,
	}
}

// answer is what a server said.
type answer struct {
	from target // where it came from in the end
	kind string // media type, lower case
	body []byte // decompressed
	raw  string // Content-Type
}

// get fetches t. A redirect is followed to the same server only; one to
// another is told, so that asking for that server is a call of its own. All
// errors but the end of ctx are *tools.Error.
func (c *client) get(ctx context.Context, t target, header http.Header) (answer, error) {
	whole, cancel := context.WithTimeout(ctx, c.time)
	defer cancel()
	transport := c.transport()
	defer transport.CloseIdleConnections()
	for range maxRedirects + 1 {
		a, next, err := c.ask(whole, transport, t, header)
		switch {
		case ctx.Err() != nil:
			return answer{}, ctx.Err()
		case whole.Err() != nil:
			return answer{}, tools.Errorf(tools.Timeout, "%s did not answer in full within %v; try another source", t.name(), c.time)
		case err != nil:
			return answer{}, failed(t, err)
		case next == nil:
			return a, nil
		case !t.leads(*next):
			return answer{}, tools.Errorf(tools.Denied, "%s redirects to %.500s, which is another server or not encrypted; call web_fetch with that address if you want it", t.name(), next.url)
		}
		t = *next
	}
	return answer{}, tools.Errorf(tools.CommandFailed, "%s redirects more than %d times; try another address", t.name(), maxRedirects)
}

// ask sends one request. next is where its answer redirects to, nil for an
// answer that stands.
func (c *client) ask(ctx context.Context, transport *http.Transport, t target, header http.Header) (a answer, next *target, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url.String(), nil)
	if err != nil {
		return a, nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return a, nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		to, err := t.url.Parse(resp.Header.Get("Location"))
		if err != nil || resp.Header.Get("Location") == "" {
			return a, nil, tools.Errorf(tools.CommandFailed, "%s redirects to nowhere; try another address", t.name())
		}
		n, err := parseTarget(to.String())
		if err != nil {
			return a, nil, tools.Errorf(tools.AsError(err).Code, "%s redirects to an address that is not fetched: %v", t.name(), err)
		}
		return a, &n, nil
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		code := tools.CommandFailed
		if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
			code = tools.NotFound
		}
		e := tools.Errorf(code, "%s answered %d %s; try another address", t.name(), resp.StatusCode, http.StatusText(resp.StatusCode))
		e.Transient, e.RetryAfter = retry.Transient(resp.StatusCode, resp.Header)
		return a, nil, e
	}
	a = answer{from: t, raw: resp.Header.Get("Content-Type")}
	kind, _, _ := strings.Cut(a.raw, ";")
	a.kind = strings.ToLower(strings.TrimSpace(kind))
	a.body, err = readBody(resp)
	return a, nil, err
}

// failed makes an error of the network one that a model can act on.
func failed(t target, err error) error {
	var known *tools.Error
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &dns) && dns.IsNotFound:
		return tools.Errorf(tools.NotFound, "there is no host %s, or no network here; check the address", t.host)
	case errors.As(err, &dns):
		return tools.Errorf(tools.Unavailable, "the address of %s can't be found out (%v); there may be no network", t.host, dns)
	case errors.As(err, &network) && network.Timeout():
		return tools.Errorf(tools.Timeout, "%s did not answer within %v; try another source", t.name(), headerTime)
	}
	e := tools.Errorf(tools.CommandFailed, "%s can't be fetched: %.200v; try another source", t.name(), err.Error())
	e.Transient = errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	return e
}
