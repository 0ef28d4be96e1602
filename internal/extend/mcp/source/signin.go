package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Bounds of signing in.
const (
	signInTime   = 5 * time.Minute // for a person, in the browser
	metadataTime = 30 * time.Second
	maxMetadata  = 1 << 20 // bytes of an answer
)

// SignIn begins to sign a person in to a server. show is given the address to open
// in a browser, and says whether it has: then SignIn waits for the end, and ctx ends
// it; else it returns the address, and what becomes of it shows in the server's
// state.
func (m *Manager) SignIn(ctx context.Context, name string, show func(ctx context.Context, address string) bool) (_ Status, address string, _ error) {
	m.Reload()
	s, err := m.find(name)
	if err != nil {
		return Status{}, "", err
	}
	if s.cfg.URL == "" {
		return Status{}, "", tools.Errorf(tools.InvalidArguments, "the MCP server %s is a program that is run here; one signs in to those that are reached by HTTP", name)
	}
	if hold := s.hold(m.o.Config.Refused()); hold != "" {
		return Status{}, "", tools.Errorf(tools.Unavailable, "the MCP server %s is %s: %s", name, hold, s.status().Error)
	}
	flow, cancel := context.WithTimeout(m.base, signInTime)
	s.mu.Lock()
	if s.signing != nil {
		s.signing() // the latest counts
	}
	s.signing = cancel
	s.mu.Unlock()
	addresses, done := make(chan string, 1), make(chan error, 1)
	m.work.Go(func() {
		defer cancel()
		err := s.signIn(flow, addresses)
		if err == nil {
			s.end()
			s.begin()
		} else if _, lost := s.now(); lost != nil {
			s.note(SignIn, "signing in has failed ("+err.Error()+"); sidecar.mcp.signIn tries again")
		}
		done <- err
	})
	select {
	case address = <-addresses:
	case err := <-done:
		return Status{}, "", err
	case <-ctx.Done():
		cancel()
		<-done
		return Status{}, "", ctx.Err()
	}
	if !show(ctx, address) && ctx.Err() == nil {
		return s.status(), address, nil
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		cancel()
		<-done
		err = ctx.Err()
	}
	if err != nil {
		return Status{}, "", err
	}
	s.settled(ctx)
	return s.status(), "", nil
}

// signIn does all of it, and keeps what it has brought.
func (s *server) signIn(ctx context.Context, addresses chan<- string) error {
	cfg, err := s.m.o.Config.Expand(s.cfg)
	if err != nil {
		return err
	}
	back, err := newReturn()
	if err != nil {
		return err
	}
	defer back.close()
	client := signInClient(ctx, cfg.URL)
	g := &grant{}
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{back.address}, ClientName: "sidecar-ls", TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		RequestRefreshToken: true,
		Client:              client,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			u, err := url.Parse(args.URL)
			if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !onThisMachine(u.Hostname()) || !onThisMachine(hostOf(cfg.URL))) {
				return nil, errors.New("the page for signing in is at no https address, so it is not opened")
			}
			g.Resource = u.Query().Get("resource")
			back.expect(u.Query().Get("state"))
			addresses <- args.URL
			return back.wait(ctx)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			g.Config, g.Token = *c, t
			return oauth2.StaticTokenSource(t), nil
		},
	})
	if err != nil {
		return err
	}
	req, res, err := challenge(ctx, s.m, cfg)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := handler.Authorize(ctx, req, res); err != nil {
		return err
	}
	switch {
	case g.Token == nil:
		return errors.New("it has brought no token")
	case !strings.EqualFold(g.Token.Type(), "bearer"):
		return errors.New("it has brought no bearer token")
	}
	return s.keep(cfg, g)
}

// challenge has the server say how to sign in.
func challenge(ctx context.Context, m *Manager, cfg Server) (*http.Request, *http.Response, error) {
	base, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, nil, err
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + sseVersion + `","capabilities":{},"clientInfo":{"name":"sidecar-ls","version":"1"}}}`
	method, body := http.MethodPost, io.Reader(strings.NewReader(hello))
	if cfg.SSE {
		method, body = http.MethodGet, nil
	}
	req, err := http.NewRequestWithContext(ctx, method, cfg.URL, body)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := (&bounded{next: m.o.HTTP, headers: cfg.Headers, base: base, most: maxMetadata}).RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	if res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden {
		_ = res.Body.Close()
		return nil, nil, fmt.Errorf("it does not ask for signing in (%s); sidecar.mcp.reconnect tries it", res.Status)
	}
	return req, res, nil
}

// signInClient reaches what a server names for signing in: no redirects, answers of
// bounded size, and nothing in a network that the server itself is not in.
func signInClient(ctx context.Context, server string) *http.Client {
	own := netip.Addr{}
	if addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", hostOf(server)); err == nil && len(addrs) > 0 {
		own = addrs[0].Unmap()
	}
	dialer := &net.Dialer{Timeout: metadataTime, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !reachable(at.Addr().Unmap(), own) {
			return fmt.Errorf("%s is no public address, and the server is not in its network", at.Addr())
		}
		return nil
	}}
	return &http.Client{
		Transport:     &limited{&http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: metadataTime, DisableKeepAlives: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") },
		Timeout:       metadataTime,
	}
}

// shared are addresses between a provider and its customers (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// reachable reports whether an address may be one for signing in to a server that
// has the address own.
func reachable(at, own netip.Addr) bool {
	switch {
	case at.IsLoopback():
		return own.IsLoopback()
	case at.IsPrivate(), shared.Contains(at):
		return own.IsPrivate() || shared.Contains(own)
	}
	return at.IsGlobalUnicast()
}

type limited struct{ next http.RoundTripper }

func (l *limited) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{&firstBytes{res.Body, maxMetadata, maxMetadata}, res.Body}
	}
	return res, err
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// onThisMachine reports whether a host is this machine by its name.
func onThisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
