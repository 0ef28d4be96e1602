package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/netaddr"
)

// Net is the network of the machine.
type Net interface {
	// LookupNetIP finds the addresses of a name, as *net.Resolver does.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	// DialContext connects, as *net.Dialer does.
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
	// Proxy is the user's own proxy for an address; nil is none.
	Proxy(to *url.URL) (*url.URL, error)
}

// machine is that on which the server runs.
type machine struct{}

func (machine) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, network, host)
}

func (machine) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTime}
	return d.DialContext(ctx, network, address)
}

func (machine) Proxy(to *url.URL) (*url.URL, error) {
	return httpproxy.FromEnvironment().ProxyFunc()(to)
}

// Bounds of connecting.
const (
	dialTime   = 15 * time.Second
	lookupTime = 10 * time.Second
)

// dial connects to a host that may be reached.
func (s *state) dial(ctx context.Context, h hosts.Host, name string, port int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime+lookupTime)
	defer cancel()
	to := hosts.At(name, port)
	switch {
	case h.Name == hosts.Localhost:
		return s.connect(ctx, hosts.At("127.0.0.1", port))
	case h.Address != "":
		return s.connect(ctx, h.Address)
	}
	by, err := s.g.o.Net.Proxy(&url.URL{Scheme: scheme(port), Host: to})
	if err != nil {
		return nil, fmt.Errorf("the user's proxy can't be used: %w", err)
	}
	ips, err := s.addresses(ctx, h, name)
	switch {
	case by != nil && !isRefused(err): // it resolves names itself
		return s.by(ctx, by, to)
	case err != nil:
		return nil, err
	}
	err = fmt.Errorf("%s has no address", name)
	for _, ip := range ips {
		var c net.Conn
		if c, err = s.connect(ctx, netip.AddrPortFrom(ip, uint16(port)).String()); err == nil { //nolint:gosec // a port was checked
			return c, nil
		}
	}
	return nil, err
}

func (s *state) connect(ctx context.Context, address string) (net.Conn, error) {
	c, err := s.g.o.Net.DialContext(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, errors.New("it refuses the connection")
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("it does not answer within %v", dialTime)
	}
	return c, err
}

// addresses are those of a host. One that is not public refuses all, unless that is meant: a
// name that leads inside as well is not trusted.
func (s *state) addresses(ctx context.Context, h hosts.Host, name string) ([]netip.Addr, error) {
	ips, err := s.lookup(ctx, name)
	for _, ip := range ips {
		if what := netaddr.Private(ip); what != "" && !h.Private {
			return nil, &errRefused{fmt.Sprintf("its address %s is not a public one (%s); if it is meant, the user can list it in sidecar.sandbox.network as {\"host\": %q, \"private\": true}", ip, what, name)}
		}
	}
	return ips, err
}

func isRefused(err error) bool {
	var refused *errRefused
	return errors.As(err, &refused)
}

func (s *state) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{ip.Unmap()}, nil
	}
	lookup, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	ips, err := s.g.o.Net.LookupNetIP(lookup, "ip", name)
	for i := range ips {
		ips[i] = ips[i].Unmap() // resolvers give IPv4 addresses in the form of IPv6
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return nil, errors.New("there is no such host, or this machine has no network")
	case err != nil:
		return nil, fmt.Errorf("its address can't be found out: %w", err)
	}
	return ips, nil
}

// scheme is that by which the user's settings for proxies name what is at a port.
func scheme(port int) string {
	if port == httpPort {
		return "http"
	}
	return "https"
}

// by connects through the user's own proxy.
func (s *state) by(ctx context.Context, via *url.URL, to string) (net.Conn, error) {
	at := via.Host
	if via.Port() == "" {
		at = net.JoinHostPort(via.Hostname(), map[string]string{"http": "80", "https": "443"}[via.Scheme])
	}
	fail := func(err error) (net.Conn, error) {
		return nil, fmt.Errorf("the user's proxy %s does not lead there: %w", via.Redacted(), err)
	}
	if strings.HasPrefix(via.Scheme, "socks5") {
		d, err := proxy.FromURL(via, dialer{s.g.o.Net})
		if err != nil {
			return fail(err)
		}
		c, err := d.(proxy.ContextDialer).DialContext(ctx, "tcp", to) //nolint:forcetypeassert // that of SOCKS5 is one
		if err != nil {
			return fail(err)
		}
		return c, nil
	}
	c, err := s.g.o.Net.DialContext(ctx, "tcp", at)
	if err != nil {
		return fail(err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(deadline)
	}
	if via.Scheme == "https" {
		t := tls.Client(c, &tls.Config{ServerName: via.Hostname(), MinVersion: tls.VersionTLS12})
		if err := t.HandshakeContext(ctx); err != nil {
			_ = c.Close()
			return fail(err)
		}
		c = t
	}
	q := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to}, Host: to, Header: http.Header{}}
	if via.User != nil {
		password, _ := via.User.Password()
		q.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(via.User.Username()+":"+password)))
	}
	r := bufio.NewReader(c)
	err = q.Write(c)
	var a *http.Response
	if err == nil {
		a, err = http.ReadResponse(r, q) //nolint:bodyclose // that to CONNECT is the connection
	}
	switch {
	case err != nil:
	case a.StatusCode != http.StatusOK:
		err = errors.New(a.Status)
	case r.Buffered() > 0:
		err = errors.New("it says more than it should")
	default:
		_ = c.SetDeadline(time.Time{})
		return c, nil
	}
	_ = c.Close()
	return fail(err)
}

// dialer is a Net for package proxy.
type dialer struct{ Net }

func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}
