package egress

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/proxy"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/decisions"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// rig is a Gate whose names lead to servers of the test.
type rig struct {
	*testing.T

	gate  *Gate
	ended chan struct{}

	mu      sync.Mutex
	net     hosts.Network
	answer  func(dispatch.Reach) dispatch.Reached
	asked   []dispatch.Reach
	reached []decisions.Reach
	ips     map[string][]string // of names
	at      map[string]string   // where addresses with ports are
	dialled []string
	looked  []string
	by      string    // the user's own proxy
	logged  chan bool // has one after something was written down
}

func begin(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		T: t, ended: make(chan struct{}), net: hosts.Network{Ask: true},
		answer: func(dispatch.Reach) dispatch.Reached {
			return dispatch.Reached{Allow: true, Session: true, Person: true}
		},
		ips: map[string][]string{}, at: map[string]string{}, logged: make(chan bool, 1),
	}
	r.gate = New(Options{Sessions: r, People: r, Net: r, Log: r})
	t.Cleanup(r.gate.Close)
	return r
}

func (r *rig) Network(string) hosts.Network {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.net
}

func (r *rig) Idle(_, host string) bool { return host == "idle.example.org" }

func (r *rig) MayReach(_ context.Context, q dispatch.Reach) dispatch.Reached {
	r.mu.Lock()
	r.asked = append(r.asked, q)
	answer := r.answer
	r.mu.Unlock()
	return answer(q)
}

func (r *rig) Reached(one decisions.Reach) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reached = append(r.reached, one)
	select {
	case r.logged <- true:
	default:
	}
}

func (r *rig) LookupNetIP(_ context.Context, _, host string) (list []netip.Addr, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked = append(r.looked, host)
	for _, ip := range r.ips[host] {
		list = append(list, netip.MustParseAddr(ip))
	}
	if list == nil {
		err = &net.DNSError{IsNotFound: true, Name: host}
	}
	return list, err
}

func (r *rig) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	r.mu.Lock()
	r.dialled = append(r.dialled, address)
	at, ok := r.at[address]
	r.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("the test has nothing at %s", address)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, at)
}

func (r *rig) Proxy(*url.URL) (*url.URL, error) {
	if r.by == "" {
		return nil, nil //nolint:nilnil // none is needed
	}
	return url.Parse(r.by)
}

// serves has a name lead to a server of the test, by a public address.
func (r *rig) serves(name string, port int, at string) {
	ip := fmt.Sprintf("93.184.216.%d", len(r.ips)+1)
	if have := r.ips[name]; have != nil {
		ip = have[0]
	}
	r.ips[name] = []string{ip}
	r.at[hosts.At(ip, port)] = at
}

// connect makes a connection as a client in a session's network does.
func (r *rig) connect(name string, port int) net.Conn {
	return r.arrives(Connection{Host: name, Port: port})
}

func (r *rig) proxied() net.Conn { return r.arrives(Connection{Proxy: true}) }

func (r *rig) arrives(c Connection) net.Conn {
	r.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.Fatal(err)
	}
	defer l.Close()
	ours, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		r.Fatal(err)
	}
	theirs, err := l.Accept()
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { ours.Close() })
	_ = ours.SetDeadline(time.Now().Add(20 * time.Second))
	c.Session, c.Ended, c.Conn = "one", r.ended, theirs
	if c.Client == nil {
		c.Client = func() Client { return Client{Program: "npm", Line: "npm install", Command: 1} }
	}
	r.gate.Take(c)
	return ours
}

func (r *rig) said() string { return strings.Join(r.gate.Said("one", 1), "\n") }

func (r *rig) count() (asked int, dialled int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked), len(r.dialled)
}

// get asks for a page over a connection.
func get(c net.Conn, host, path string) (status int, body string, err error) {
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, host)
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, "", err
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	return a.StatusCode, string(data), err
}

func web(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %s, %d bytes", r.Host, r.URL.Path, n)
	}))
	t.Cleanup(s.Close)
	return s
}

// secure is a server of TLS for names, with a client's configuration that trusts it.
func secure(t *testing.T, names ...string) (at string, trust *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "secure ", r.Host) }))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	trust = x509.NewCertPool()
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	trust.AddCert(cert)
	return s.Listener.Addr().String(), trust
}

// A host is asked about once in a session, whatever connects to it; the name is resolved
// after that.
func TestAskedOnce(t *testing.T) {
	r := begin(t)
	r.serves("packages.example.org", 80, web(t).Listener.Addr().String())
	r.answer = func(dispatch.Reach) dispatch.Reached {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.looked) > 0 {
			t.Error("the name was resolved before anybody answered")
		}
		return dispatch.Reached{Allow: true, Session: true, Person: true}
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Add(1)
		go func() {
			defer all.Done()
			status, body, err := get(r.connect("packages.example.org", 80), "packages.example.org", fmt.Sprint("/", i))
			if err != nil || status != 200 || body != fmt.Sprintf("packages.example.org /%d, 0 bytes", i) {
				t.Error(status, body, err)
			}
		}()
	}
	all.Wait()
	if asked, _ := r.count(); asked != 1 || r.asked[0].Program != "npm" || r.asked[0].Line != "npm install" || r.asked[0].Host != "packages.example.org" {
		t.Errorf("asked: %+v", r.asked)
	}
}

// TestAnswers: once is for a command, the session for all of it, and no for all of it, too;
// where nobody answers, the next command asks again.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer      dispatch.Reached
		ok          bool
		same, other int // questions after a second connection of the command, and one of another command
	}{
		"once":    {dispatch.Reached{Allow: true, Person: true}, true, 1, 2},
		"session": {dispatch.Reached{Allow: true, Session: true, Person: true}, true, 1, 1},
		"no":      {dispatch.Reached{Person: true}, false, 1, 1},
		"nobody":  {dispatch.Reached{Why: "nobody can be asked"}, false, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.serves("packages.example.org", 80, web(t).Listener.Addr().String())
			r.answer = func(dispatch.Reach) dispatch.Reached { return c.answer }
			ask := func(command, want int) {
				t.Helper()
				conn := r.arrives(Connection{Host: "packages.example.org", Port: 80, Client: func() Client { return Client{Program: "x", Command: command} }})
				status, body, err := get(conn, "packages.example.org", "/")
				if err != nil || (status == 200) != c.ok || (status == 403) == c.ok {
					t.Error(status, body, err)
				}
				if asked, _ := r.count(); asked != want {
					t.Errorf("%d questions, want %d", asked, want)
				}
			}
			ask(1, 1)
			ask(1, c.same)
			ask(2, c.other)
		})
	}
}

// TestIdle: where an agent asks of its own accord, nobody is asked, unless a shell started what
// asks: then somebody wants it.
func TestIdle(t *testing.T) {
	for _, shell := range []bool{false, true} {
		r := begin(t)
		r.serves("idle.example.org", 80, web(t).Listener.Addr().String())
		status, _, err := get(r.arrives(Connection{Host: "idle.example.org", Port: 80, Client: func() Client { return Client{Program: "git", Shell: shell} }}), "idle.example.org", "/")
		if asked, _ := r.count(); err != nil || (status == 200) != shell || (asked == 1) != shell || r.said() != "" {
			t.Errorf("by a shell %v: %d, %d questions, said %q, %v", shell, status, asked, r.said(), err)
		}
	}
}

// TestSettings: what is listed is reached unasked, and nothing else where it does not say ask.
func TestSettings(t *testing.T) {
	site := web(t)
	for name, c := range map[string]struct {
		net    hosts.Network
		host   string
		port   int
		status int
		asked  int
		says   string
	}{
		"listed":             {hosts.Network{Hosts: []hosts.Host{{Name: "a.example.org"}}}, "a.example.org", 80, 200, 0, ""},
		"below a listed one": {hosts.Network{Hosts: []hosts.Host{{Name: "*.example.org"}}}, "a.example.org", 80, 200, 0, ""},
		"not listed":         {hosts.Network{Hosts: []hosts.Host{{Name: "b.example.org"}}}, "a.example.org", 80, 403, 0, "does not list it"},
		"the name above":     {hosts.Network{Hosts: []hosts.Host{{Name: "*.a.example.org"}}}, "a.example.org", 80, 403, 0, "does not list it"},
		"none":               {hosts.Network{}, "a.example.org", 80, 403, 0, "does not list it"},
		"others asked":       {hosts.Network{Ask: true, Hosts: []hosts.Host{{Name: "b.example.org"}}}, "a.example.org", 80, 200, 1, ""},
		"listed, and asked":  {hosts.Network{Hosts: []hosts.Host{{Name: "a.example.org", Ask: true}}}, "a.example.org", 80, 200, 1, ""},
		"another port":       {hosts.Network{Hosts: []hosts.Host{{Name: "a.example.org", Port: 8443}}}, "a.example.org", 80, 403, 0, "does not list it"},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.net = c.net
			r.serves("a.example.org", c.port, site.Listener.Addr().String())
			status, body, err := get(r.connect(c.host, c.port), c.host, "/")
			if asked, _ := r.count(); err != nil || status != c.status || asked != c.asked || !strings.Contains(r.said(), c.says) {
				t.Errorf("%d %q %v, %d questions, said %q", status, body, err, asked, r.said())
			}
		})
	}
}

// TestAddresses: what a name resolves to has to be public, each address of it, unless the user
// lists the host as private; and it is the address that is dialled.
func TestAddresses(t *testing.T) {
	site := web(t)
	for name, c := range map[string]struct {
		ips     []string
		private bool
		ok      bool
	}{
		"public":             {[]string{"93.184.216.9"}, false, true},
		"loopback":           {[]string{"127.0.0.1"}, false, false},
		"private":            {[]string{"10.0.0.1"}, false, false},
		"metadata":           {[]string{"169.254.169.254"}, false, false},
		"mapped":             {[]string{"::ffff:10.0.0.1"}, false, false},
		"unique local":       {[]string{"fd00::1"}, false, false},
		"nat64":              {[]string{"64:ff9b::a00:1"}, false, false},
		"public and private": {[]string{"93.184.216.9", "10.0.0.1"}, false, false},
		"meant":              {[]string{"10.0.0.1"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.ips["a.example.org"] = c.ips
			r.at[hosts.At(strings.TrimPrefix(c.ips[0], "::ffff:"), 80)] = site.Listener.Addr().String()
			if c.private {
				r.net = hosts.Network{Hosts: []hosts.Host{{Name: "a.example.org", Private: true}}}
			}
			status, _, err := get(r.connect("a.example.org", 80), "a.example.org", "/")
			_, dialled := r.count()
			if err != nil || (status == 200) != c.ok || (dialled > 0) != c.ok || !c.ok && !strings.Contains(r.said(), "not a public one") {
				t.Errorf("%d %v, %v dialled, said %q", status, err, r.dialled, r.said())
			}
		})
	}
}

// TestRebinding: a name is resolved once, and what was checked is dialled.
func TestRebinding(t *testing.T) {
	r := begin(t)
	r.serves("a.example.org", 80, web(t).Listener.Addr().String())
	if status, _, err := get(r.connect("a.example.org", 80), "a.example.org", "/"); status != 200 || err != nil {
		t.Fatal(status, err)
	}
	r.mu.Lock()
	first := r.dialled[0]
	r.ips["a.example.org"] = []string{"127.0.0.1"}
	r.mu.Unlock()
	if status, _, err := get(r.connect("a.example.org", 80), "a.example.org", "/"); status != 403 || err != nil {
		t.Error(status, err)
	}
	if r.dialled[0] != first || len(r.dialled) != 1 || len(r.looked) != 2 {
		t.Errorf("dialled %v, looked up %v", r.dialled, r.looked)
	}
}

// TestNotAsked: what is no name of the public internet is refused, and nobody is asked.
func TestNotAsked(t *testing.T) {
	for _, target := range []string{
		"10.0.0.1:443", "93.184.216.34:443", "[::1]:443", "127.1:80", "0x7f000001:80", "2130706433:443", "localhost:22", "a.localhost:80",
		"metadata.google.internal:80", "printer.local:80", "intranet:80", "router.home.arpa:80", "*.example.org:443", "a..example.org:443", "-a.example.org:443", "a b.example.org:443",
	} {
		t.Run(target, func(t *testing.T) {
			r := begin(t)
			c := r.proxied()
			fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
			if line, _ := bufio.NewReader(c).ReadString('\n'); strings.Contains(line, " 200 ") {
				t.Error("connected")
			}
			if asked, dialled := r.count(); asked+dialled != 0 || len(r.looked) != 0 {
				t.Errorf("asked %v, looked up %v, dialled %v", r.asked, r.looked, r.dialled)
			}
		})
	}
	r := begin(t) // control
	r.serves("a.example.org", 443, web(t).Listener.Addr().String())
	c := r.proxied()
	fmt.Fprintf(c, "CONNECT a.example.org:443 HTTP/1.1\r\nHost: a.example.org:443\r\n\r\n")
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, " 200 ") {
		t.Error(line, err)
	}
}

// TestServerName: TLS has to name the host of the connection, by name and by proxy.
func TestServerName(t *testing.T) {
	at, trust := secure(t, "a.example.org", "b.example.org")
	for name, c := range map[string]struct {
		config *tls.Config
		ok     bool
		says   string
	}{
		"the name":   {&tls.Config{ServerName: "a.example.org"}, true, ""},
		"upper case": {&tls.Config{ServerName: "A.Example.ORG"}, true, ""},
		"another":    {&tls.Config{ServerName: "b.example.org"}, false, "another host"},
		"none":       {&tls.Config{InsecureSkipVerify: true}, false, "does not say which host"}, //nolint:gosec // it is refused
		"hidden":     {&tls.Config{ServerName: "a.example.org", EncryptedClientHelloConfigList: echConfig(t, "a.example.org"), MinVersion: tls.VersionTLS13}, false, "encrypted client hello"},
	} {
		for _, proxied := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", proxied), func(t *testing.T) {
				r := begin(t)
				r.serves("a.example.org", 443, at)
				var conn net.Conn
				if proxied {
					conn = r.proxied()
					fmt.Fprint(conn, "CONNECT a.example.org:443 HTTP/1.1\r\nHost: a.example.org:443\r\n\r\n")
					if a, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || a.StatusCode != http.StatusOK { //nolint:bodyclose // it is the connection
						t.Fatal(err)
					}
				} else {
					conn = r.connect("a.example.org", 443)
				}
				config := c.config.Clone()
				config.RootCAs = trust
				client := tls.Client(conn, config)
				err := client.Handshake()
				if (err == nil) != c.ok || !strings.Contains(r.said(), c.says) {
					t.Errorf("%v, said %q", err, r.said())
				}
				if !c.ok && name != "hidden" && (err == nil || !strings.Contains(err.Error(), "access denied")) {
					t.Errorf("it is told %v, and not that access is denied", err)
				}
				if err == nil {
					if _, body, err := get(client, "a.example.org", "/"); body != "secure a.example.org" {
						t.Error(body, err)
					}
				}
			})
		}
	}
}

// echConfig is a configuration with which clients hide the name in TLS (RFC 9849).
func echConfig(t *testing.T, public string) []byte {
	t.Helper()
	key := make([]byte, 32)
	key[0] = 9 // the base point is a public key as good as others
	var b []byte
	b = append(b, 1, 0, 0x20, 0, byte(len(key)))
	b = append(b, key...)
	b = append(b, 0, 4, 0, 1, 0, 1, 0, byte(len(public)))
	b = append(b, public...)
	b = append(b, 0, 0)
	b = append([]byte{0xfe, 0x0d, 0, byte(len(b))}, b...)
	return append([]byte{0, byte(len(b))}, b...)
}

// TestRequests: each request of a plain connection is for its host, whatever it names.
func TestRequests(t *testing.T) {
	site := web(t)
	for name, c := range map[string]struct {
		says string
		ok   bool
		last int
	}{
		"the host":         {"GET / HTTP/1.1\r\nHost: a.example.org\r\n\r\n", true, 1},
		"with its port":    {"GET / HTTP/1.1\r\nHost: a.example.org:80\r\n\r\n", true, 1},
		"upper case":       {"GET / HTTP/1.1\r\nConnection: close\r\nHost: A.EXAMPLE.org\r\n\r\n", true, 1},
		"a whole address":  {"GET http://a.example.org/ HTTP/1.1\r\nHost: a.example.org\r\n\r\n", true, 1},
		"without one":      {"GET / HTTP/1.0\r\n\r\n", true, 0},
		"another":          {"GET / HTTP/1.1\r\nHost: b.example.org\r\n\r\n", false, 0},
		"another, early":   {"\r\nGET / HTTP/1.1\r\nHost: b.example.org\r\n\r\n", false, 0},
		"another, whole":   {"GET http://b.example.org/ HTTP/1.1\r\nHost: a.example.org\r\n\r\n", false, 0},
		"two":              {"GET / HTTP/1.1\r\nHost: a.example.org\r\nHost: b.example.org\r\n\r\n", false, 0},
		"another port":     {"GET / HTTP/1.1\r\nHost: a.example.org:8080\r\n\r\n", false, 0},
		"the second":       {"GET / HTTP/1.1\r\nHost: a.example.org\r\n\r\nGET / HTTP/1.1\r\nHost: b.example.org\r\n\r\n", false, 0},
		"after an upgrade": {"GET / HTTP/1.1\r\nHost: a.example.org\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nGET / HTTP/1.1\r\nHost: b.example.org\r\n\r\n", false, 0},
		"smuggled":         {"POST / HTTP/1.1\r\nHost: a.example.org\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: b.example.org\r\n\r\n", false, 0},
		"a tunnel":         {"CONNECT b.example.org:443 HTTP/1.1\r\nHost: b.example.org:443\r\n\r\n", false, 0},
		"no HTTP":          {"\x00\x01\x02 what is this\r\n\r\n", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.serves("a.example.org", 80, site.Listener.Addr().String())
			conn := r.connect("a.example.org", 80)
			fmt.Fprint(conn, strings.Replace(c.says, "Host: a.", "Connection: close\r\nHost: a.", c.last))
			all, _ := io.ReadAll(conn)
			if strings.Contains(string(all), "b.example.org /") {
				t.Errorf("another host was asked: %s", all)
			}
			if ok := strings.HasPrefix(string(all), "HTTP/1.1 200") || strings.HasPrefix(string(all), "HTTP/1.0 200"); ok != c.ok && name != "the second" && name != "after an upgrade" && name != "smuggled" {
				t.Errorf("%s", all)
			}
		})
	}
}

// TestHidesHTTP: HTTP on another port is looked at, too, however slowly it comes.
func TestHidesHTTP(t *testing.T) {
	site := web(t)
	for name, parts := range map[string][]string{
		"at once":  {"GET / HTTP/1.1\r\nHost: b.example.org\r\n\r\n"},
		"slowly":   {"G", "ET", " / HTTP", "/1.1\r\nHost: b.example", ".org\r\n\r\n"},
		"newlines": {"\r\n", "\r\nGET / HTTP/1.1\r\nHost: b.example.org\r\n\r\n"},
		"a tab":    {"GET\t/\tHTTP/1.1\r\nHost: b.example.org\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.net.Hosts = []hosts.Host{{Name: "a.example.org", Port: 8080}}
			r.serves("a.example.org", 8080, site.Listener.Addr().String())
			conn := r.connect("a.example.org", 8080)
			for _, p := range parts {
				fmt.Fprint(conn, p)
			}
			_ = conn.(*net.TCPConn).CloseWrite()
			all, _ := io.ReadAll(conn)
			if strings.Contains(string(all), "b.example.org /") {
				t.Errorf("another host was asked: %s", all)
			}
		})
	}
	r := begin(t) // controls: the host itself, and a protocol of words that is not HTTP
	r.net.Hosts = []hosts.Host{{Name: "a.example.org", Port: 8080}, {Name: "a.example.org", Port: 6379}}
	r.serves("a.example.org", 8080, site.Listener.Addr().String())
	if _, body, err := get(r.connect("a.example.org", 8080), "a.example.org:8080", "/"); err != nil || body != "a.example.org:8080 /, 0 bytes" {
		t.Error(body, err)
	}
	r.serves("a.example.org", 6379, echo(t))
	conn := r.connect("a.example.org", 6379)
	fmt.Fprint(conn, "PING all\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "PING all\r\n" {
		t.Error(line, err)
	}
}

// echo is a server that says what it hears.
func echo(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	return l.Addr().String()
}

// TestProtocols: at the ports of SSH, TLS and git only these are spoken.
func TestProtocols(t *testing.T) {
	for name, c := range map[string]struct {
		port int
		says string
		ok   bool
	}{
		"ssh":              {22, "SSH-2.0-x\r\n", true},
		"no ssh":           {22, "GET / HTTP/1.1\r\n\r\n", false},
		"git":              {9418, "0033git-upload-pack /a.git\x00host=a.example.org\x00......", true},
		"git for another":  {9418, "0033git-upload-pack /a.git\x00host=b.example.org\x00......", false},
		"git for none":     {9418, "001fgit-upload-pack /a.git\x00.....", false},
		"no git":           {9418, "hello there\r\n", false},
		"no tls":           {443, "hello there\r\n", false},
		"http without tls": {443, "GET / HTTP/1.1\r\nHost: b.example.org\r\n\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.serves("a.example.org", c.port, echo(t))
			conn := r.connect("a.example.org", c.port)
			fmt.Fprint(conn, c.says)
			_ = conn.(*net.TCPConn).CloseWrite()
			all, _ := io.ReadAll(conn)
			if got := string(all) == c.says; got != c.ok || !c.ok && !strings.Contains(r.said(), "was closed") {
				t.Errorf("%q came back, said %q", all, r.said())
			}
		})
	}
}

// TestServerSpeaksFirst: a server that greets is heard before the client says anything.
func TestServerSpeaksFirst(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err == nil {
			fmt.Fprint(c, "SSH-2.0-server\r\n")
			_, _ = io.Copy(c, c)
			c.Close()
		}
	}()
	r := begin(t)
	r.serves("a.example.org", 22, l.Addr().String())
	conn := r.connect("a.example.org", 22)
	b := bufio.NewReader(conn)
	if line, err := b.ReadString('\n'); line != "SSH-2.0-server\r\n" {
		t.Fatal(line, err)
	}
	fmt.Fprint(conn, "SSH-2.0-client\r\n")
	if line, err := b.ReadString('\n'); line != "SSH-2.0-client\r\n" {
		t.Error(line, err)
	}
}

// TestSOCKS: by name only, and for connections only.
func TestSOCKS(t *testing.T) {
	r := begin(t)
	r.net.Hosts = []hosts.Host{{Name: "a.example.org", Port: 7}}
	r.serves("a.example.org", 7, echo(t))
	r.serves("a.example.org", 80, web(t).Listener.Addr().String())
	through := func(address string) (net.Conn, error) {
		d, err := proxy.SOCKS5("tcp", "gate", nil, dialTo{r})
		if err != nil {
			t.Fatal(err)
		}
		return d.Dial("tcp", address)
	}
	c, err := through("a.example.org:7")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "hello\n")
	if line, err := bufio.NewReader(c).ReadString('\n'); line != "hello\n" {
		t.Error(line, err)
	}
	if c, err = through("a.example.org:80"); err != nil {
		t.Fatal(err)
	}
	if status, body, err := get(c, "b.example.org", "/"); status != 400 {
		t.Errorf("another host: %d %s %v", status, body, err)
	}
	if _, err = through("93.184.216.1:7"); err == nil {
		t.Error("an address is reached")
	}
	for name, says := range map[string][]byte{
		"udp":  {5, 1, 0, 5, 3, 0, 1, 93, 184, 216, 1, 0, 7},
		"bind": {5, 1, 0, 5, 2, 0, 1, 93, 184, 216, 1, 0, 7},
	} {
		c := r.proxied()
		_, _ = c.Write(says)
		all, _ := io.ReadAll(c)
		if len(all) < 4 || all[3] != socksNoCommand {
			t.Errorf("%s: %v", name, all)
		}
	}
}

type dialTo struct{ r *rig }

func (d dialTo) Dial(string, string) (net.Conn, error) { return d.r.proxied(), nil }

// TestUploads: more than so much to a host that is not the model's is asked about once more.
func TestUploads(t *testing.T) {
	big := strings.Repeat("x", 3*sendsAlone)
	send := func(r *rig) (status int, err error) {
		c := r.connect("a.example.org", 80)
		go fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: a.example.org\r\nContent-Length: %d\r\n\r\n%s", len(big), big)
		a, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return 0, err
		}
		defer a.Body.Close()
		body, err := io.ReadAll(a.Body)
		if a.StatusCode == http.StatusOK && string(body) != fmt.Sprintf("a.example.org /, %d bytes", len(big)) {
			t.Errorf("%s", body)
		}
		return a.StatusCode, err
	}
	for name, c := range map[string]struct {
		set   func(r *rig)
		ok    bool
		asked int // about uploads
	}{
		"yes": {func(*rig) {}, true, 1},
		"no": {func(r *rig) {
			r.answer = func(q dispatch.Reach) dispatch.Reached {
				return dispatch.Reached{Allow: q.Sent == 0, Session: true, Person: true}
			}
		}, false, 1},
		"the user's":  {func(r *rig) { r.net.Hosts = []hosts.Host{{Name: "a.example.org", Uploads: true}} }, true, 0},
		"listed only": {func(r *rig) { r.net.Hosts = []hosts.Host{{Name: "a.example.org"}} }, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.serves("a.example.org", 80, web(t).Listener.Addr().String())
			c.set(r)
			for range 2 {
				if status, err := send(r); (status == 200) != c.ok {
					t.Error(status, err)
				}
			}
			n := 0
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, q := range r.asked {
				if q.Sent > 0 {
					n++
				}
			}
			if n != c.asked {
				t.Errorf("asked %d times: %+v", n, r.asked)
			}
		})
	}
}

// TestPlaces: connections that say nothing make place for others, and one that speaks stays.
func TestPlaces(t *testing.T) {
	r := begin(t)
	r.serves("a.example.org", 7000, echo(t))
	r.net.Hosts = []hosts.Host{{Name: "a.example.org", Port: 7000}}
	works := r.connect("a.example.org", 7000)
	in := bufio.NewReader(works)
	say := func() {
		t.Helper()
		fmt.Fprint(works, "hello\n")
		if line, err := in.ReadString('\n'); line != "hello\n" {
			t.Fatal(line, err)
		}
	}
	say()
	for range maxPlaces + 100 {
		r.connect("a.example.org", 7000)
	}
	say()
	if c := r.connect("a.example.org", 7000); true {
		fmt.Fprint(c, "late\n")
		if line, err := bufio.NewReader(c).ReadString('\n'); line != "late\n" {
			t.Error(line, err)
		}
	}
	s := r.gate.named("one")[0]
	s.places.mu.Lock()
	n := len(s.places.all)
	s.places.mu.Unlock()
	if n > maxPlaces {
		t.Errorf("%d connections", n)
	}
}

// TestManyHosts: a person is not asked about hundreds of hosts.
func TestManyHosts(t *testing.T) {
	r := begin(t)
	r.answer = func(dispatch.Reach) dispatch.Reached { return dispatch.Reached{Person: true} }
	for i := range 300 {
		c := r.connect(fmt.Sprintf("h%d.example.org", i), 22)
		_, _ = io.ReadAll(c)
		c.Close()
	}
	if asked, _ := r.count(); asked != maxAsked {
		t.Errorf("asked %d times", asked)
	}
	if !strings.Contains(r.said(), "h0.example.org was not reached") || strings.Count(r.said(), "\n") >= maxSaid {
		t.Error(r.said())
	}
}

// TestSessionEnds: its connections end with it.
func TestSessionEnds(t *testing.T) {
	r := begin(t)
	r.serves("a.example.org", 22, echo(t))
	c := r.connect("a.example.org", 22)
	fmt.Fprint(c, "SSH-2.0-x\r\n")
	if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	close(r.ended)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("it goes on")
	}
	<-r.logged
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(r.reached, func(one decisions.Reach) bool {
		return one.Host == "a.example.org" && one.Sent == 11 && one.Received == 11
	}) {
		t.Errorf("written down: %+v", r.reached)
	}
}

// TestOwnProxy: where the user has a proxy, it leads there, and names are still decided on.
func TestOwnProxy(t *testing.T) {
	at, trust := secure(t, "a.example.org")
	site := web(t)
	var mu sync.Mutex
	var seen []string
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		seen = append(seen, q.Method+" "+q.Host+" "+q.Header.Get("Proxy-Authorization"))
		mu.Unlock()
		if q.Method != http.MethodConnect {
			fmt.Fprint(w, "by the proxy: ", q.URL)
			return
		}
		up, err := net.Dial("tcp", map[string]string{"a.example.org:443": at, "a.example.org:22": site.Listener.Addr().String()}[q.Host])
		if err != nil {
			http.Error(w, "no", http.StatusBadGateway)
			return
		}
		c, _, _ := http.NewResponseController(w).Hijack()
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(up, c) }()
		_, _ = io.Copy(c, up)
	}))
	defer own.Close()
	r := begin(t)
	r.by = "http://me:secret@proxy.corp:3128"
	r.at["proxy.corp:3128"] = own.Listener.Addr().String()
	client := tls.Client(r.connect("a.example.org", 443), &tls.Config{ServerName: "a.example.org", RootCAs: trust})
	if _, body, err := get(client, "a.example.org", "/"); body != "secure a.example.org" {
		t.Error(body, err, r.said())
	}
	if _, body, err := get(r.connect("a.example.org", 80), "a.example.org", "/x"); body != "by the proxy: http://a.example.org/x" && body != "by the proxy: http://a.example.org:80/x" {
		t.Error(body, err, r.said())
	}
	for _, one := range seen {
		if !strings.HasSuffix(one, " Basic bWU6c2VjcmV0") {
			t.Errorf("the proxy saw %q", one)
		}
	}
	r.ips["inside.example.org"] = []string{"10.0.0.1"}
	if status, _, err := get(r.connect("inside.example.org", 80), "inside.example.org", "/"); status != 403 {
		t.Error("a name that leads inside is reached by the proxy:", status, err)
	}
	if strings.Contains(r.said(), "secret") {
		t.Error(r.said())
	}
}
