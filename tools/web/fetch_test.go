package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// names is a resolver with answers of its own, one after the other; the last
// one stays.
type names struct {
	mu      sync.Mutex
	answers map[string][][]string
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.answers[strings.TrimSuffix(strings.ToLower(host), ".")]
	if len(all) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(all) > 1 {
		n.answers[host] = all[1:]
	}
	var ips []netip.Addr
	for _, a := range all[0] {
		ips = append(ips, netip.MustParseAddr(a))
	}
	return ips, nil
}

// internet is a client whose public addresses all lead to one local server.
// The rule that is checked is the client's own; what passes it is counted.
type internet struct {
	*client
	mu     sync.Mutex
	dialed []netip.AddrPort
}

func newInternet(t *testing.T, answers map[string][][]string, h http.Handler) *internet {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return leadTo(s.Listener.Addr().String(), answers)
}

func leadTo(server string, answers map[string][][]string) *internet {
	in := &internet{client: newClient()}
	in.names = &names{answers: answers}
	in.dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		if err := in.control(ctx, "tcp", to.String(), nil); err != nil {
			return nil, err
		}
		in.mu.Lock()
		in.dialed = append(in.dialed, to)
		in.mu.Unlock()
		var d net.Dialer
		return d.DialContext(ctx, "tcp", server)
	}
	return in
}

const public = "93.184.216.34"

func site() map[string][][]string {
	return map[string][][]string{"ok.test": {{public}}, "other.test": {{public}}}
}

func fetch(t *testing.T, c *client, url string) (tools.Result, error) {
	t.Helper()
	return call(t, newWebFetch(c, Deps{}), map[string]any{"url": url})
}

// call runs a tool as the dispatcher does: bound, then run.
func call(t *testing.T, tool *tools.Tool, args any) (tools.Result, error) {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	b, err := tool.Bind(data)
	if err != nil {
		return tools.Result{}, err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, _, err := b.Run(ctx, &tools.Call{})
	tooltest.Fits(t, tool, r, err)
	return r, err
}

type ssrfCase struct {
	ID, Category, URL, Expect, Why string
	DNS                            map[string]json.RawMessage
	Redirects                      []string
}

// TestForbiddenAddresses tries every case that names an address, a redirect or
// a resolver's answer: what is to be blocked reaches no server, what is
// allowed does.
func TestForbiddenAddresses(t *testing.T) {
	data, err := os.ReadFile("testdata/ssrf.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Cases []ssrfCase }
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	tried, blocked, allowed := 0, 0, 0
	for _, c := range doc.Cases {
		if c.Category == "body" { // TestBodies
			continue
		}
		tried++
		answers := map[string][][]string{"xn--bcher-kva.test": {{public}}}
		for name, raw := range c.DNS {
			var one []string
			var many [][]string
			if json.Unmarshal(raw, &one) == nil {
				many = [][]string{one}
			} else if err := json.Unmarshal(raw, &many); err != nil {
				t.Fatal(err)
			}
			answers[strings.TrimSuffix(strings.ToLower(name), ".")] = many
		}
		left := c.Redirects
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if len(left) > 0 {
				w.Header().Set("Location", left[0])
				left = left[1:]
				w.WriteHeader(http.StatusFound)
				return
			}
			fmt.Fprint(w, "reached")
		})
		server := httptest.NewServer(h)
		in := leadTo(server.Listener.Addr().String(), answers)
		url := c.URL
		if strings.HasPrefix(url, "https:") { // the server here speaks no TLS; the address is what is tried
			url = "http:" + strings.TrimPrefix(url, "https:")
		}
		got, err := fetch(t, in.client, url)
		if c.Category == "rebind" && err == nil { // the first look is public and stands for its own dial; a second must not follow it inside
			got, err = fetch(t, in.client, url)
		}
		server.Close()
		for _, to := range in.dialed {
			if checkAddress(to.Addr()) != nil {
				t.Errorf("%s %s: dialed %s", c.ID, c.URL, to)
			}
		}
		switch reached := err == nil && got.Text == "reached"; {
		case c.Expect == "block" && err == nil:
			t.Errorf("%s %s: reached a server (%s)", c.ID, c.URL, c.Why)
		case c.Expect == "allow" && !reached:
			t.Errorf("%s %s: %v", c.ID, c.URL, err)
		case c.Expect == "allow":
			allowed++
		default:
			blocked++
		}
	}
	t.Logf("%d addresses tried, %d blocked, %d allowed as they should be", tried, blocked, allowed)
	if blocked < 45 || allowed < 5 {
		t.Errorf("%d blocked and %d allowed: the cases are not what they were", blocked, allowed)
	}
}

// The rule holds on the connection itself: a listener on this machine gets no
// connection, whatever name leads there, and gets one when the rule is lifted.
func TestTheDialedAddressIsChecked(t *testing.T) {
	var hits int
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { hits++; fmt.Fprint(w, "inside") }))
	defer s.Close()
	to := netip.MustParseAddrPort(s.Listener.Addr().String())
	c := newClient()
	c.names = &names{answers: map[string][][]string{"in.test": {{"127.0.0.1"}}, "mapped.test": {{"::ffff:127.0.0.1"}}}}
	for _, host := range []string{"in.test", "mapped.test", "127.0.0.1", "[::ffff:127.0.0.1]"} {
		conn, err := c.dialName(t.Context(), "tcp", net.JoinHostPort(strings.Trim(host, "[]"), fmt.Sprint(to.Port())))
		var refused *tools.Error
		if !errors.As(err, &refused) || refused.Code != tools.Denied || conn != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	c.check = func(netip.AddrPort) error { return nil }
	for _, host := range []string{"in.test", "mapped.test", "127.0.0.1"} {
		conn, err := c.dialName(t.Context(), "tcp", net.JoinHostPort(host, fmt.Sprint(to.Port())))
		if err != nil {
			t.Errorf("control: %s: %v", host, err)
			continue
		}
		conn.Close()
	}
	if hits != 0 {
		t.Errorf("%d requests", hits)
	}
}

func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	in := newInternet(t, site(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "direct") }))
	if r, err := fetch(t, in.client, "http://ok.test/"); err != nil || r.Text != "direct" {
		t.Errorf("%q, %v", r.Text, err)
	}
}

func TestRedirects(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/steps/%d", &n); err == nil && n > 0 {
			http.Redirect(w, r, fmt.Sprintf("/steps/%d", n-1), http.StatusMovedPermanently)
			return
		}
		fmt.Fprint(w, "arrived at "+r.Host)
	})
	in := newInternet(t, site(), h)
	for _, c := range []struct {
		url, want string
		code      tools.Code
	}{
		{"http://ok.test/steps/5", "arrived at ok.test", ""},
		{"http://ok.test/steps/6", "more than 5 times", tools.CommandFailed},
		{"http://ok.test/?to=/steps/1", "arrived", ""},
		{"http://ok.test/?to=http://other.test/", "call web_fetch with that address", tools.Denied},
		{"http://ok.test/?to=http://ok.test:8080/", "another server", tools.Denied},
		{"http://ok.test/?to=http://10.0.0.1/", "not fetched", tools.Denied},
		{"http://ok.test/?to=ftp://ok.test/", "not fetched", tools.InvalidArguments},
		{"http://ok.test/?to=http://u:p@ok.test/", "not fetched", tools.InvalidArguments},
	} {
		r, err := fetch(t, in.client, c.url)
		if c.code == "" && (err != nil || !strings.Contains(r.Text, c.want)) {
			t.Errorf("%s: %q, %v", c.url, r.Text, err)
		}
		if c.code != "" && (err == nil || tools.AsError(err).Code != c.code || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s %q", c.url, err, c.code, c.want)
		}
	}
	secure, plain := must(t, "https://ok.test/"), must(t, "http://ok.test/")
	if secure.leads(plain) || !plain.leads(secure) {
		t.Error("https may lead to http, or http not to https")
	}
}

func must(t *testing.T, raw string) target {
	t.Helper()
	to, err := parseTarget(raw)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// TestBodies: what a server sends can't take more time or memory than is
// allowed, nor pass for text.
func TestBodies(t *testing.T) {
	zip := func(data []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data)
		_ = z.Close()
		return b.Bytes()
	}
	bomb := zip(make([]byte, 128<<20))
	stop := make(chan struct{})
	mux := http.NewServeMux()
	send := func(path, coding, kind string, data []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			if coding != "" {
				w.Header().Set("Content-Encoding", coding)
			}
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(data)
		})
	}
	send("/gzip", "gzip", "text/plain", zip([]byte("plain")))
	send("/bomb", "gzip", "text/plain", bomb)
	send("/nested", "gzip, gzip", "text/plain", zip(zip([]byte("x"))))
	send("/brotli", "br", "text/plain", []byte("x"))
	send("/notgzip", "gzip", "text/plain", []byte("plain"))
	send("/torn", "gzip", "text/plain", zip([]byte(strings.Repeat("plain words ", 1000)))[:60])
	send("/elf", "", "application/octet-stream", []byte("\x7fELF\x02\x01\x01\x00"))
	send("/liar", "", "text/html", []byte("\x7fELF\x02\x01\x01\x00\x00\x00"))
	send("/pdf", "", "application/pdf", []byte("%PDF-1.7"))
	send("/octets", "", "application/octet-stream", []byte("words"))
	send("/json", "", "application/json; charset=utf-8", []byte(`{"a":1}`))
	send("/latin", "", "text/plain; charset=iso-8859-1", []byte("caf\xe9"))
	send("/meta", "", "text/html", []byte(`<meta charset="windows-1251"><p>`+"\xcf\xf0\xe8\xe2\xe5\xf2"))
	send("/empty", "", "text/plain", nil)
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for {
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			select {
			case <-stop:
				return
			case <-r.Context().Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	raw := func(path, head string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = conn.Write([]byte(head))
				_ = conn.Close()
			}
		})
	}
	raw("/length", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1099511627776\r\n\r\n0123456789")
	raw("/headers", "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n\r\n")
	raw("/garbage", "\x00\x01\x02 nonsense\r\n\r\n")
	mux.HandleFunc("/gone", http.NotFound)
	in := newInternet(t, site(), mux)
	defer close(stop)
	for _, c := range []struct {
		path, want string
		code       tools.Code
	}{
		{"/gzip", "plain", ""},
		{"/bomb", "larger than 10 MB", tools.TooLarge},
		{"/nested", "not asked for", tools.CommandFailed},
		{"/brotli", "not asked for", tools.CommandFailed},
		{"/notgzip", "is not", tools.CommandFailed},
		{"/torn", "unexpected EOF", tools.CommandFailed},
		{"/elf", "not text", tools.BinaryFile},
		{"/liar", "not text", tools.BinaryFile},
		{"/pdf", "not text", tools.BinaryFile},
		{"/octets", "words", ""},
		{"/json", `{"a":1}`, ""},
		{"/latin", "café", ""},
		{"/meta", "Привет", ""},
		{"/empty", "no text", ""},
		{"/endless", "within 100ms", tools.Timeout},
		{"/silent", "within 100ms", tools.Timeout},
		{"/length", "unexpected EOF", tools.CommandFailed},
		{"/headers", "can't be fetched", tools.CommandFailed},
		{"/garbage", "can't be fetched", tools.CommandFailed},
		{"/gone", "404", tools.NotFound},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		in.time = time.Minute
		if c.code == tools.Timeout {
			in.time = 100 * time.Millisecond
		}
		r, err := fetch(t, in.client, "http://ok.test"+c.path)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 96<<20 {
			t.Errorf("%s: took %d MB", c.path, used>>20)
		}
		if c.code == "" && (err != nil || !strings.Contains(r.Text, c.want)) {
			t.Errorf("%s: %q, %v", c.path, r.Text, err)
		}
		if c.code != "" && (err == nil || tools.AsError(err).Code != c.code || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s %q", c.path, err, c.code, c.want)
		}
	}
}

// A call that is given up stops at once, and is not called a time-out.
// TestTransient: which failures of a server are transient.
func TestTransient(t *testing.T) {
	mux := http.NewServeMux()
	status := func(code int, after string) {
		mux.HandleFunc(fmt.Sprint("/", code), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(code)
		})
	}
	status(503, "7")
	status(429, "")
	status(404, "7")
	status(500, "7")
	mux.HandleFunc("/reset", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	c := newInternet(t, site(), mux)
	for path, want := range map[string]struct {
		class tools.Class
		after time.Duration
	}{"503": {tools.Transient, 7 * time.Second}, "429": {tools.Transient, 0}, "404": {tools.Permanent, 0}, "500": {tools.Permanent, 0}, "reset": {tools.Transient, 0}} {
		_, err := fetch(t, c.client, "http://ok.test/"+path)
		if e := tools.AsError(err); err == nil || e.Class() != want.class || e.RetryAfter != want.after {
			t.Errorf("%s: class %v, after %v: %v", path, e.Class(), e.RetryAfter, err)
		}
		search := newWebSearch(c.client, Deps{Search: func() SearchSettings {
			return SearchSettings{Provider: JSON, URL: "http://ok.test/" + path + "?q={query}"}
		}})
		_, err = call(t, search, map[string]any{"query": "x"})
		if e := tools.AsError(err); err == nil || e.Class() != want.class || e.RetryAfter != want.after {
			t.Errorf("search, %s: class %v, after %v: %v", path, e.Class(), e.RetryAfter, err)
		}
	}
	if _, err := fetch(t, c.client, "http://nowhere.test/"); tools.AsError(err).Class() != tools.Permanent {
		t.Errorf("a host that is not there: %v", err)
	}
}

func TestCancel(t *testing.T) {
	asked := make(chan struct{})
	in := newInternet(t, site(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err := in.get(ctx, must(t, "http://ok.test/"), http.Header{})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestBeforeAnybodyIsAsked(t *testing.T) {
	d := Deps{Secret: func(s string) bool { return strings.Contains(s, "hunter2!") }}
	tool := newWebFetch(newClient(), d)
	for _, c := range []struct {
		url  string
		code tools.Code
		host string
	}{
		{"https://Example.COM./a?b#c", "", "example.com"},
		{"https://example.com:8443/", "", "example.com:8443"},
		{"https://[2606:4700::1111]/", "", "[2606:4700::1111]"},
		{"https://example.com/?k=hunter2!", tools.Denied, ""},
		{"https://example.com/?k=hunter2%21", tools.Denied, ""},
		{"https://example.com:25/", tools.Denied, ""},
		{"http://192.168.0.1/", tools.Denied, ""},
		{"example.com", tools.InvalidArguments, ""},
		{"https://é.com/", tools.InvalidArguments, ""},
		{"https://a b.com/", tools.InvalidArguments, ""},
		{"https://exa_mple..com/", tools.InvalidArguments, ""},
		{"https://example.com:/", tools.InvalidArguments, ""},
		{"https://" + strings.Repeat("a", 64) + ".com/", tools.InvalidArguments, ""},
		{"https://example.com/" + strings.Repeat("a", maxURL), tools.InvalidArguments, ""},
	} {
		args, _ := json.Marshal(map[string]string{"url": c.url})
		b, err := tool.Bind(args)
		switch {
		case c.code == "" && (err != nil || len(b.Effects.Hosts) != 1 || b.Effects.Hosts[0] != c.host):
			t.Errorf("%.60s: %v", c.url, err)
		case c.code != "" && (err == nil || tools.AsError(err).Code != c.code):
			t.Errorf("%.60s: %v, want %s", c.url, err, c.code)
		}
	}
}

// FuzzParseTarget: what passes is the same for whoever reads it next, and
// names no address inside.
func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"http://ok.test/", "http://a@b", "http://[::1]", "http://127.1/", `http:\\a`, "https://a:443/?x#y", "http://0x7f.1", "http://a%2eb/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		to, err := parseTarget(raw)
		if err != nil {
			return
		}
		again, err := parseTarget(to.url.String())
		if err != nil || again.name() != to.name() || to.url.User != nil {
			t.Fatalf("%q became %q: %v", raw, to.url, err)
		}
		if ip, err := netip.ParseAddr(to.host); err == nil && checkAddress(ip) != nil {
			t.Fatalf("%q leads to %s", raw, ip)
		}
	})
}
