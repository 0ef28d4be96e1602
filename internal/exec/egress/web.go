package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// arrivals is a listener for connections that are there already.
type arrivals struct {
	next chan net.Conn
	end  chan struct{}
	once sync.Once
}

func newArrivals() *arrivals {
	return &arrivals{next: make(chan net.Conn), end: make(chan struct{})}
}

func (a *arrivals) add(c *conn) {
	select {
	case a.next <- c:
	case <-a.end:
		_ = c.Close()
	}
}

// Accept implements net.Listener, as its neighbours do.
func (a *arrivals) Accept() (net.Conn, error) {
	select {
	case c := <-a.next:
		return c, nil
	case <-a.end:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (a *arrivals) Close() error {
	a.once.Do(func() { close(a.end) })
	return nil
}

// Addr implements net.Listener.
func (a *arrivals) Addr() net.Addr { return &net.TCPAddr{} }

type connKey struct{}

// newWeb is what speaks HTTP with clients: as the host of their connection, or as a proxy.
// Each request is looked at, whichever host it names.
func newWeb() *http.Server {
	quiet := log.New(io.Discard, "", 0) // nothing that a client says comes to the server's log
	return &http.Server{
		ReadHeaderTimeout: speakIn, IdleTimeout: idleFor, ErrorLog: quiet, MaxHeaderBytes: 64 << 10,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			one := c.(*conn) //nolint:forcetypeassert // nothing else comes
			return context.WithValue(ctx, connKey{}, &browsing{c: one, quiet: quiet, fixed: one.to.Load()})
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Context().Value(connKey{}).(*browsing).serve(w, r) //nolint:forcetypeassert // it was put there
		}),
	}
}

// browsing is a connection whose client speaks HTTP.
type browsing struct {
	c     *conn
	quiet *log.Logger
	fixed *target // the only host that it is for; nil: the client sees a proxy

	at  string // the host that out connects to
	out *http.Transport
}

func (b *browsing) serve(w http.ResponseWriter, r *http.Request) {
	name, port, err := b.wants(r)
	switch {
	case err != nil:
		b.c.of.ruling.tell(b.c.client().Command, "a request was refused: "+err.Error())
		w.Header().Set("Connection", "close")
		http.Error(w, "sidecar-ls: "+err.Error(), http.StatusBadRequest)
	case r.Method == http.MethodConnect:
		b.connect(w, r, name, port)
	default:
		b.request(w, r, name, port)
	}
}

// wants is the host that a request is for.
func (b *browsing) wants(r *http.Request) (name string, port int, err error) {
	if r.Method == http.MethodTrace { // the user's proxy would answer with its password
		return "", 0, errors.New("TRACE is not carried")
	}
	if r.URL.Opaque != "" { // it would go out as it is, and may be a whole address with another host
		return "", 0, fmt.Errorf("%.100q is no address of HTTP", r.RequestURI)
	}
	if b.fixed != nil && b.fixed.host == hosts.Localhost {
		return b.fixed.host, b.fixed.port, nil // it serves this machine alone, by whatever name
	}
	if b.fixed != nil {
		for _, asked := range []string{r.Host, r.URL.Host} {
			name, port, err := hostPort(asked, httpPort)
			if asked != "" && (err != nil || name != b.fixed.host || port != b.fixed.port && strings.Contains(asked, ":")) {
				return "", 0, fmt.Errorf("the connection is for %s, and a request on it for %.100q", b.fixed, asked)
			}
		}
		return b.fixed.host, b.fixed.port, nil
	}
	switch {
	case r.Method == http.MethodConnect:
		return hostPort(r.Host, 0)
	case r.URL.Host == "":
		return "", 0, errors.New("here is a proxy, for HTTP (CONNECT, or a request with a whole address) and SOCKS5")
	case r.URL.Scheme != "http":
		return "", 0, fmt.Errorf("the proxy takes requests for http://; for %.20s:// use CONNECT", r.URL.Scheme)
	}
	return hostPort(r.URL.Host, httpPort)
}

// hostPort takes a host and a port apart. other is the port of a text without one; 0: it
// must have one.
func hostPort(text string, other int) (name string, port int, err error) {
	if other != 0 && (!strings.Contains(text, ":") || strings.HasSuffix(text, "]")) {
		text = net.JoinHostPort(strings.Trim(text, "[]"), strconv.Itoa(other))
	}
	name, number, err := net.SplitHostPort(text)
	if err == nil {
		port, err = strconv.Atoi(number)
	}
	if err != nil || port < 1 || port > 65535 || name == "" {
		return "", 0, fmt.Errorf("%.100q is no host and port", text)
	}
	return strings.ToLower(strings.TrimSuffix(name, ".")), port, nil
}

// request carries a request out.
func (b *browsing) request(w http.ResponseWriter, r *http.Request, name string, port int) {
	c, s := b.c, b.c.of
	h, by, err := s.allow(r.Context(), c, name, port)
	if err != nil {
		refuse(w, err)
		return
	}
	c.reached(s.to(h, name, port), by)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "http", hosts.At(name, port), p.In.Host
			if port != httpPort && name != hosts.Localhost {
				p.Out.Host = p.Out.URL.Host // the user's proxy goes by it, and a client may leave its port out
			}
			if !strings.EqualFold(p.Out.Header.Get("Upgrade"), "websocket") { // to HTTP/2 or TLS, where hosts are named anew
				p.Out.Header.Del("Upgrade")
				p.Out.Header.Del("Connection")
			}
		},
		Transport: b.transport(h, name, port), FlushInterval: -1, ErrorLog: b.quiet, BufferPool: s.g.buffers,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			refuse(w, s.failed(r.Context(), c, by, err))
		},
	}
	proxy.ServeHTTP(w, r)
}

// transport connects to a host, for requests of one client only.
func (b *browsing) transport(h hosts.Host, name string, port int) *http.Transport {
	at := hosts.At(name, port)
	if b.out != nil && b.at == at {
		return b.out
	}
	if b.out != nil {
		b.out.CloseIdleConnections()
	}
	s := b.c.of
	var own *url.URL // the user's proxy
	b.at, b.out = at, &http.Transport{
		DisableCompression: true, IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 1, ReadBufferSize: readSize, WriteBufferSize: readSize,
		Proxy: func(r *http.Request) (by *url.URL, err error) {
			if h.Name == hosts.Localhost || h.Address != "" {
				return nil, nil //nolint:nilnil // none is needed
			}
			if by, err = s.g.o.Net.Proxy(r.URL); err != nil || by == nil || by.Scheme != "http" {
				return nil, err // dial goes through the others
			}
			own = by
			_, err = s.addresses(r.Context(), h, name)
			if !isRefused(err) {
				err = nil
			}
			return by, err
		},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if own != nil {
				return s.g.o.Net.DialContext(ctx, network, address)
			}
			return s.dial(ctx, h, name, port)
		},
	}
	context.AfterFunc(b.c.closed, b.out.CloseIdleConnections)
	return b.out
}

// refuse says why a host is not reached.
func refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Connection", "close")
	http.Error(w, "sidecar-ls: "+err.Error(), http.StatusForbidden)
}

// connect makes the connection one to a host.
func (b *browsing) connect(w http.ResponseWriter, r *http.Request, name string, port int) {
	if b.fixed != nil {
		refuse(w, fmt.Errorf("the connection is for %s, and no proxy is there", b.fixed))
		return
	}
	c, s := b.c, b.c.of
	h, by, err := s.allow(r.Context(), c, name, port)
	if err != nil {
		refuse(w, err)
		return
	}
	_, ahead, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, err)
		return
	}
	_ = c.SetDeadline(time.Time{})
	said, _ := ahead.Peek(ahead.Reader.Buffered()) // what the client said ahead of the answer; c.r may have more
	c.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(said)), c.r), readSize)
	if port == httpPort {
		_, _ = io.WriteString(c, established)
		s.g.in.add(c)
		return
	}
	up, err := s.dial(s.ctx, h, name, port)
	if err != nil {
		text := s.failed(s.ctx, c, by, err).Error() + "\n"
		_, _ = fmt.Fprintf(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		_ = c.Close()
		return
	}
	c.reached(s.to(h, name, port), by)
	_, _ = io.WriteString(c, established)
	if c.carry(up) {
		s.g.in.add(c)
		return
	}
	_ = c.Close()
}

const established = "HTTP/1.1 200 Connection established\r\n\r\n"
