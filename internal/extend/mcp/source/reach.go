package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/retry"
)

// sseVersion is what is proposed to servers of the old transport, which may know
// no other way to begin.
const sseVersion = "2025-11-25"

// reach says hello to a server that is reached by HTTP. One that refuses the
// streamable transport as servers do that know the old one alone gets that.
func (s *server) reach(ctx context.Context, c *conn, cfg Server, client *sdk.Client) (joined *sdk.ClientSession, err error) {
	base, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	road := &bounded{next: s.m.o.HTTP, headers: cfg.Headers, base: base, most: c.most}
	if !hasAuthorization(cfg.Headers) {
		road.session = &session{s: s, cfg: cfg, client: signInClient(ctx, cfg.URL)}
	}
	defer func() {
		if err != nil && road.session != nil && (road.refused.Load() || errors.Is(err, errSignIn)) {
			joined, err = nil, errSignIn
		}
	}()
	web := &http.Client{
		Transport: road,
		// What it was trusted with goes to no other address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") },
	}
	old := func() (*sdk.ClientSession, error) {
		over := &lasting{&sdk.SSEClientTransport{Endpoint: cfg.URL, MaxEventSize: c.most, HTTPClient: web}, c.life}
		session, err := client.Connect(ctx, over, &sdk.ClientSessionOptions{ProtocolVersion: sseVersion})
		c.sse = err == nil
		return session, err
	}
	if cfg.SSE {
		return old()
	}
	joined, err = client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: cfg.URL, MaxEventSize: c.most, HTTPClient: web}, nil)
	if err == nil || !road.unknown() || ctx.Err() != nil {
		return joined, err
	}
	joined, oldErr := old()
	if oldErr != nil {
		return nil, fmt.Errorf("%w; by the old transport sse: %w", err, oldErr)
	}
	return joined, nil
}

func hasAuthorization(headers map[string]string) bool {
	for k := range headers {
		if strings.EqualFold(k, "Authorization") {
			return true
		}
	}
	return false
}

// lasting has a connection live beyond the hello, and no longer than life.
type lasting struct {
	sdk.Transport
	life context.Context
}

func (l *lasting) Connect(context.Context) (sdk.Connection, error) {
	return l.Transport.Connect(l.life)
}

// bounded sends the headers of a server, to its address alone, and reads no more
// of an answer than a message may have.
type bounded struct {
	next    http.RoundTripper
	headers map[string]string
	base    *url.URL
	most    int          // bytes
	session *session     // what a person's signing in has brought; nil: it has nothing to do with that
	status  atomic.Int64 // of the last answer to a POST
	refused atomic.Bool  // somebody has to sign in
}

// unknown reports whether the last message was refused as by who does not know
// the transport.
func (b *bounded) unknown() bool {
	switch status := b.status.Load(); status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return status >= 400 && status < 500
	}
}

// busy is the answer of a server that can't take a call now.
type busy struct {
	status int
	after  time.Duration // it asks to wait so long; 0: it does not say
}

// busyKey is where the context of a call has the place for a *busy.
type busyKey struct{}

// noting is a context for a call that notes when the server is busy.
func noting(ctx context.Context) context.Context {
	return context.WithValue(ctx, busyKey{}, &atomic.Pointer[busy]{})
}

func note(ctx context.Context, b *busy) {
	if p, ok := ctx.Value(busyKey{}).(*atomic.Pointer[busy]); ok {
		p.Store(b)
	}
}

// busyOf is what was noted; nil for nothing.
func busyOf(ctx context.Context) *busy {
	if p, ok := ctx.Value(busyKey{}).(*atomic.Pointer[busy]); ok {
		return p.Load()
	}
	return nil
}

func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != b.base.Scheme || r.URL.Host != b.base.Host {
		return nil, fmt.Errorf("it names another address, %s://%s, for its messages, which is not followed", r.URL.Scheme, r.URL.Host)
	}
	r = r.Clone(r.Context())
	for k, v := range b.headers {
		r.Header.Set(k, v)
	}
	if b.session != nil {
		token, err := b.session.token(r.Context())
		if err != nil {
			return nil, err
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
	}
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusUnauthorized {
		b.refused.Store(true)
	}
	if r.Method == http.MethodPost {
		b.status.Store(int64(res.StatusCode))
		if transient, after := retry.Transient(res.StatusCode, res.Header); transient {
			note(r.Context(), &busy{res.StatusCode, after})
		}
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		res.Body = struct {
			io.Reader
			io.Closer
		}{&firstBytes{res.Body, b.most, b.most}, res.Body}
	}
	return res, nil
}

// firstBytes fails where more would be read.
type firstBytes struct {
	r          io.Reader
	left, most int
}

func (f *firstBytes) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, fmt.Errorf("an answer of more than %d bytes", f.most)
	}
	n, err := f.r.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}
