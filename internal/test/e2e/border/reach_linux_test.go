package border_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// site is a server outside of sessions that greets.
func site(t *testing.T) (s *httptest.Server, seen *atomic.Int64) {
	t.Helper()
	seen = &atomic.Int64{}
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		if r.URL.Path == "/inside" {
			http.Redirect(w, r, "http://"+r.Header.Get("X-To")+"/", http.StatusFound)
			return
		}
		fmt.Fprintf(w, "here is %s\n", r.Host)
	}))
	t.Cleanup(s.Close)
	return s, seen
}

// dials is a command that asks a server by its address.
func dials(s *httptest.Server) string {
	host, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return fmt.Sprintf("bash -c 'exec 3<>/dev/tcp/%s/%s && printf \"GET / HTTP/1.0\\r\\n\\r\\n\" >&3 && cat <&3'", host, port)
}

// asksFor is the setting by which a name leads to a server, after a question.
func asksFor(s *httptest.Server, names ...string) (list []any) {
	list = []any{"ask"}
	for _, name := range names {
		list = append(list, e2e.Object{"host": name, "private": true, "ask": true, "address": s.Listener.Addr().String()})
	}
	return list
}

// TestReach: a command reaches a host after a person said yes, in its session and in no other,
// in every mode that runs commands; a no is one for the session; where nobody can be asked, the
// command says so.
func TestReach(t *testing.T) {
	slow.Test(t)
	s, seen := site(t)
	_, begin := reaching(t, asksFor(s, "a.example.org", "b.example.org"), map[string]string{"a.txt": "one\n"})
	r := begin(t)
	opened := func(name, mode string) {
		e2e.Command[struct{}](r, "sidecar.session.open", e2e.Object{"id": name, "mode": mode})
	}
	const line = "curl -sS http://a.example.org/x"
	for _, mode := range []string{"review", "audit", "autonomous"} {
		no, yes, other := mode+"-no", mode+"-yes", mode+"-other"
		opened(no, mode)
		opened(yes, mode)
		opened(other, mode)
		before, asked := seen.Load(), len(r.Asked())
		r.Choose("Deny", "Deny")
		for range 2 {
			if res := r.In(no, "run_command", e2e.Object{"command": line}); !strings.Contains(res.Content, "a.example.org was not reached: the user did not allow it") {
				t.Errorf("%s: %s", no, res.Content)
			}
		}
		if got := len(r.Asked()) - asked; got != 1 || seen.Load() != before {
			t.Errorf("%s: %d questions, %d requests", no, got, seen.Load()-before)
		}
		asked = len(r.Asked())
		r.Choose("Allow for session", "Allow for session")
		for range 2 {
			if res := r.In(yes, "run_command", e2e.Object{"command": line}); !strings.Contains(res.Content, "here is a.example.org") || strings.Contains(res.Content, "was not reached") {
				t.Errorf("%s: %s", yes, res.Content)
			}
		}
		if got := len(r.Asked()) - asked; got != 1 {
			t.Errorf("%s: %d questions", yes, got)
		}
		r.Choose("Deny", "Deny")
		if res := r.In(other, "run_command", e2e.Object{"command": line}); strings.Contains(res.Content, "here is") {
			t.Errorf("another session reaches it: %s", res.Content)
		}
		asked = len(r.Asked())
		r.Choose("Allow", "Allow")
		res := r.In(yes, "run_command", e2e.Object{"command": "for i in 1 2 3; do curl -sS http://b.example.org/; done; curl -sS http://b.example.org/"})
		if strings.Count(res.Content, "here is b.example.org") != 4 || len(r.Asked())-asked != 1 {
			t.Errorf("once: %d questions: %s", len(r.Asked())-asked, res.Content)
		}
		if r.In(yes, "run_command", e2e.Object{"command": "curl -sS http://b.example.org/"}); len(r.Asked())-asked != 2 {
			t.Errorf("once held for another command: %d questions", len(r.Asked())-asked)
		}
	}
}

// TestNobodyToAsk: without a person no host is reached but those that are listed.
func TestNobodyToAsk(t *testing.T) {
	slow.Test(t)
	s, _ := site(t)
	list := append(asksFor(s, "a.example.org"), e2e.Object{"host": "b.example.org", "private": true, "address": s.Listener.Addr().String()})
	dir, _ := reaching(t, list, map[string]string{"a.txt": "one\n"})
	shell := e2e.Shell{T: t, Dir: dir}
	out := shell.Run(0, "call", "run_command", "command=curl -sS http://a.example.org/; curl -sS http://b.example.org/")
	if !strings.Contains(out, "a.example.org was not reached: nobody could be asked") || !strings.Contains(out, "here is b.example.org") || strings.Contains(out, "here is a.") {
		t.Error(out)
	}
}

// TestWaysOut: no command reaches another machine, or this one, past the decision by host.
func TestWaysOut(t *testing.T) {
	slow.Test(t)
	s, seen := site(t)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	sock := filepath.Join(t.TempDir(), "s")
	u, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	abstract, err := net.Listen("unix", "@sidecar-test-"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	own := "127.0.0.1"
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			own = ip.IP.String()
		}
	}
	_, begin := reaching(t, append(asksFor(s, "a.example.org"), e2e.Object{"host": "free.example.org", "private": true, "address": s.Listener.Addr().String()}), map[string]string{"a.txt": "one\n"})
	r := begin(t)
	r.Choose("Deny", "Deny")
	tried, held, controls := 0, 0, 0
	run := func(line string) e2e.Result {
		return r.Tool("run_command", e2e.Object{"command": line, "timeout_s": 20})
	}
	const name = "a.example.org"
	ask := fmt.Sprintf("printf 'GET / HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n' >&3; timeout 2 cat <&3", name)
	for what, line := range map[string]string{
		"the name":                    "curl -sS http://" + name + "/",
		"the name, TLS":               "curl -sSk https://" + name + "/",
		"the proxy":                   "curl -sS -x $SIDECAR_PROXY http://" + name + "/",
		"a tunnel":                    "curl -sS -p -x $SIDECAR_PROXY http://" + name + "/",
		"SOCKS":                       "curl -sS -x socks5h://127.0.0.1:61080 http://" + name + "/",
		"the machine's localhost":     "curl -sS http://127.0.0.1:" + port + "/",
		"the same by IPv6":            "curl -sS 'http://[::1]:" + port + "/'",
		"the machine's address":       "curl -sS -m 3 http://" + own + ":" + port + "/",
		"a tunnel to localhost":       "curl -sS -p -x $SIDECAR_PROXY http://127.0.0.1:" + port + "/",
		"a tunnel to the address":     "curl -sS -p -x $SIDECAR_PROXY http://" + own + ":" + port + "/",
		"the proxy to localhost":      "curl -sS -x $SIDECAR_PROXY http://127.0.0.1:" + port + "/",
		"the proxy to the name of it": "curl -sS -x $SIDECAR_PROXY --noproxy '' http://localhost:" + port + "/",
		"SOCKS to localhost":          "curl -sS -x socks5://127.0.0.1:61080 http://127.0.0.1:" + port + "/",
		"a number":                    "curl -sS -p -x $SIDECAR_PROXY http://2130706433:" + port + "/",
		"the address of another name": "curl -sS http://free.example.org/ >/dev/null; ip=$(getent hosts free.example.org | cut -d' ' -f1); curl -sS -H 'Host: " + name + "' http://$ip/",
		"another Host":                "curl -sS -H 'Host: " + name + "' http://free.example.org/",
		"a redirect inwards":          "curl -sSL -H 'X-To: 127.0.0.1:" + port + "' http://free.example.org/inside",
		"a redirect to another":       "curl -sSL -H 'X-To: " + name + "' http://free.example.org/inside",
		"a socket of bash":            "exec 3<>/dev/tcp/" + name + "/80 && " + ask,
		"an address of bash":          "exec 3<>/dev/tcp/" + own + "/" + port + " && " + ask,
		"a socket with a path":        "curl -sS -m 3 --unix-socket " + sock + " http://x/",
		"an abstract socket":          "curl -sS -m 3 --abstract-unix-socket sidecar-test-" + port + " http://x/",
		"a second network":            "unshare -rn true && echo here is another",
		"an interface":                "ip link add d0 type dummy && echo here is an interface",
		"leaving the session's":       "nsenter -t 1 -n true && echo here is the machine",
	} {
		tried++
		before := seen.Load()
		res := run(line)
		reached := strings.Contains(res.Content, "here is "+name) || strings.Contains(res.Content, "here is 127") || strings.Contains(res.Content, "here is an") || strings.Contains(res.Content, "here is the")
		if got := seen.Load() - before; reached || got > 1 || got == 1 && !strings.Contains(line, "free.example.org") {
			t.Errorf("%s: %d requests: %s", what, got, res.Content)
			continue
		}
		held++
	}
	for what, line := range map[string]string{
		"udp":          "echo x >/dev/udp/" + own + "/53 && echo sent",
		"udp, outside": "echo x >/dev/udp/192.0.2.1/53 && echo sent",
		"ipv6":         "echo x >/dev/tcp/2001:db8::1/80 && echo sent",
		"an address":   "echo x >/dev/tcp/192.0.2.1/80 && echo sent",
		"resolving":    "getent ahosts 1.0.0.10.in-addr.arpa && echo sent; getent hosts 192.0.2.1 && echo sent",
		"a raw socket": "ping -c1 -W1 " + own + " && echo sent",
	} {
		tried++
		if res := run(line); strings.Contains(res.Content, "sent") {
			t.Errorf("%s: %s", what, res.Content)
			continue
		}
		held++
	}
	for what, line := range map[string]string{
		"the name":  "curl -sS http://" + name + "/",
		"the proxy": "curl -sS -x $SIDECAR_PROXY http://" + name + "/",
		"a tunnel":  "curl -sS -p -x $SIDECAR_PROXY http://" + name + "/",
		"SOCKS":     "curl -sS -x socks5h://127.0.0.1:61080 http://" + name + "/",
		"bash":      "exec 3<>/dev/tcp/free.example.org/80; printf 'GET / HTTP/1.1\\r\\nHost: free.example.org\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3",
		"localhost": "curl -sS http://localhost:" + port + "/ || echo here is nobody",
	} {
		r.Choose("Allow")
		e2e.Command[struct{}](r, "sidecar.session.open", e2e.Object{"id": strings.ReplaceAll(what, " ", "-"), "mode": "review"})
		if res := r.In(strings.ReplaceAll(what, " ", "-"), "run_command", e2e.Object{"command": line}); !strings.Contains(res.Content, "here is ") {
			t.Errorf("control, %s: %s", what, res.Content)
			continue
		}
		controls++
	}
	t.Logf("%d of %d held, %d controls", held, tried, controls)
}

// TestOwnPort: a port of the machine's localhost that is listed answers at the same port of the
// session's; others don't.
func TestOwnPort(t *testing.T) {
	slow.Test(t)
	s, _ := site(t)
	other, _ := site(t)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, otherPort, err := net.SplitHostPort(other.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, begin := reaching(t, []any{"localhost:" + port}, map[string]string{"a.txt": "one\n"})
	r := begin(t)
	res := r.Tool("run_command", e2e.Object{"command": fmt.Sprintf("curl -sS http://localhost:%[1]s/; curl -sS http://127.0.0.1:%[1]s/; curl -sS http://127.0.0.1:%[2]s/", port, otherPort)})
	if strings.Count(res.Content, "here is localhost:"+port) != 1 || strings.Count(res.Content, "here is 127.0.0.1:"+port) != 1 || strings.Contains(res.Content, otherPort+"\n") {
		t.Error(res.Content)
	}
	if list := e2e.Command[struct{ Ports []struct{ Port int } }](r, "sidecar.session.ports", e2e.Object{}).Ports; len(list) != 0 {
		t.Errorf("ports of ours are shown: %v", list)
	}
	if _, err := os.Stat("/etc/resolv.conf"); err == nil {
		if res := r.Tool("run_command", e2e.Object{"command": "cat /etc/resolv.conf; hostname -i; getent hosts localhost"}); !strings.Contains(res.Content, "nameserver 127.0.0.1") || !strings.Contains(res.Content, "127.0.1.1") {
			t.Error(res.Content)
		}
	}
}
