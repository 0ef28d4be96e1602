package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/keeper"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/probe"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

var netLevels = []spec.Level{spec.Bubblewrap, spec.Full}

// inSession is what a command of a session of that name is given; end ends the session.
func inSession(t *testing.T, name string) (want spec.Spec, end func()) {
	t.Helper()
	ended := make(chan struct{})
	end = sync.OnceFunc(func() { close(ended) })
	t.Cleanup(end)
	return spec.Spec{Root: realTemp(t), Env: spec.Environ(os.Environ()), Session: name, Ended: ended}, end
}

// freePort is a port that nobody of the machine listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// started starts a command and waits for its line "listens".
func started(t *testing.T, s *Sandbox, want spec.Spec, argv ...string) *Cmd {
	t.Helper()
	c, err := s.Command(t.Context(), want, want.Root, argv...)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	c.Stdout, c.Stderr = w, w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, r, "listens")
	go io.Copy(io.Discard, r)
	return c
}

func inNetwork(t *testing.T, s *Sandbox, want spec.Spec, network, addr string) result {
	t.Helper()
	return run(t, s, want, mask.HelperPath, "ask", network, addr)
}

// TestLocalhost: commands of a session share a localhost, and nobody else reaches it.
func TestLocalhost(t *testing.T) {
	eachLevel(t, netLevels, func(t *testing.T, s *Sandbox) {
		defer s.Close()
		a, _ := inSession(t, "a")
		b, _ := inSession(t, "b")
		alone := spec.Spec{Root: realTemp(t), Env: spec.Environ(os.Environ())}
		port := freePort(t)
		at := net.JoinHostPort("127.0.0.1", port)
		started(t, s, a, mask.HelperPath, "serve", ":"+port, "of a")
		if r := inNetwork(t, s, b, "tcp", at); r.code == 0 {
			t.Errorf("another session reaches it: %+v", r)
		}
		started(t, s, b, mask.HelperPath, "serve", ":"+port, "of b")
		for _, c := range []struct {
			want spec.Spec
			says string
		}{{a, "of a"}, {b, "of b"}} {
			for _, at := range []string{at, "localhost:" + port, "[::1]:" + port} {
				if r := inNetwork(t, s, c.want, "tcp", at); r.out != c.says {
					t.Errorf("%s of %s says %+v, want %q", at, c.want.Session, r, c.says)
				}
			}
		}
		if r := inNetwork(t, s, alone, "tcp", at); r.code == 0 {
			t.Errorf("a command without a session reaches it: %+v", r)
		}
		if c, err := net.DialTimeout("tcp", at, time.Second); err == nil {
			c.Close()
			t.Error("the machine reaches it")
		}
		if c, err := s.Localhosts().Get("a").Dial(t.Context(), atoi(t, port)); err != nil {
			t.Errorf("the server does not: %v", err)
		} else if said, _ := io.ReadAll(c); string(said) != "of a" {
			t.Errorf("the server hears %q", said)
		}
		if _, err := s.Localhosts().Get("a").Dial(t.Context(), 1); err == nil {
			t.Error("a port that nobody listens on could be connected to")
		}
		low := started(t, s, a, mask.HelperPath, "serve", "127.0.0.1:80", "low")
		low.Kill()
		if r := sh(t, s, a, "echo $(ls /proc/self/fd)"); r.out != "0 1 2 3\n" { // 3 is that of ls
			t.Errorf("descriptors: %+v", r)
		}
		for _, name := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
			if r := sh(t, s, a, "grep "+name+" /proc/self/status"); !strings.HasSuffix(strings.TrimSpace(r.out), "0000000000000000") {
				t.Errorf("%+v", r)
			}
			if data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Localhosts().Get("a").Pid())); os.Geteuid() != 0 && !strings.Contains(string(data), name+":\t0000000000000000") {
				t.Errorf("what lives in the network has %s", data)
			}
		}
		if n := len(s.Localhosts().All()); n != 2 {
			t.Errorf("%d networks", n)
		}
	})
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLocalhostCloses: what is outside can't be reached from a session's localhost.
func TestLocalhostCloses(t *testing.T) {
	slow.Test(t)
	eachLevel(t, netLevels, func(t *testing.T, s *Sandbox) {
		defer s.Close()
		w, _ := inSession(t, "a")
		p := s.prober()
		p.Capture = func(ctx context.Context, level spec.Level, want spec.Spec, argv ...string) ([]byte, error) {
			want.Session, want.Ended = w.Session, w.Ended
			return s.capture(ctx, level, want, argv...)
		}
		trials, err := p.Trials(t.Context(), s.status.Level, probe.TryAll)
		if err != nil {
			t.Fatal(err)
		}
		tried := map[string]bool{}
		for _, tr := range trials {
			tried[tr.Name] = true
			if !tr.Held && tr.Control {
				t.Errorf("a command could %s", tr.Name)
			}
		}
		for _, name := range []string{"connect over TCP", "ask over UDP", "connect to an abstract socket", "send raw packets", "listen to all packets", "speak to the host of a virtual machine", "speak to the kernel over netlink"} {
			if !tried[name] {
				t.Errorf("nobody tried to %s", name)
			}
		}
		for _, at := range []string{"192.0.2.1:80", "[2001:db8::1]:80", "169.254.169.254:80"} {
			if r := inNetwork(t, s, w, "tcp", at); r.code == 0 || !strings.Contains(r.out, "unreachable") {
				t.Errorf("%s: %+v", at, r)
			}
		}
		if r := sh(t, s, w, "awk 'NR > 2 {print $1}' /proc/net/dev; echo 1024 > /proc/sys/net/ipv4/ip_unprivileged_port_start"); r.out != "lo:\n" || r.code == 0 {
			t.Errorf("%+v", r)
		}
	})
}

// TestLocalhostEnds: what runs in a session's localhost ends with the session.
func TestLocalhostEnds(t *testing.T) {
	slow.Test(t)
	eachLevel(t, netLevels, func(t *testing.T, s *Sandbox) {
		defer s.Close()
		w, end := inSession(t, "a")
		other, _ := inSession(t, "b")
		token, kept := newToken(t), newToken(t)
		c := started(t, s, w, "bash", "-c", strings.ReplaceAll(stragglers+"trap '' TERM INT HUP; echo listens\nsleep TOKEN", "TOKEN", token))
		stays := started(t, s, other, "bash", "-c", "echo listens; sleep "+kept)
		if r := sh(t, s, w, "echo works"); r.out != "works\n" { // leaves a keeper that waits
			t.Errorf("%+v", r)
		}
		lives := s.Localhosts().Get("a").Pid()
		end()
		if err := c.Wait(); !errors.Is(err, errLeft) {
			t.Errorf("%v", err)
		}
		gone(t, token)
		none(t, "residents", func() int { return running(lives) })
		none(t, "keepers", func() int { return len(s.keepers.Idle()) })
		if alive(kept) == 0 {
			t.Error("the other session's command has ended, too")
		}
		if s.Localhosts().Get("a") != nil || s.Localhosts().Join("a", w.Ended) != nil {
			t.Error("there is a network for a session that has ended")
		}
		again, _ := inSession(t, "a")
		if r := sh(t, s, again, "echo works"); r.out != "works\n" {
			t.Errorf("in another session of that name: %+v", r)
		}
		stays.Kill()
	})
}

func running(pid int) int {
	if unix.Kill(pid, 0) == nil {
		return 1
	}
	return 0
}

// TestLocalhostLost: without what lives in it a session gets another network, and where
// none can be made each command has its own.
func TestLocalhostLost(t *testing.T) {
	eachLevel(t, netLevels, func(t *testing.T, s *Sandbox) {
		defer s.Close()
		w, _ := inSession(t, "a")
		works := func(when string) {
			t.Helper()
			if r := sh(t, s, w, "echo works"); r.out != "works\n" {
				t.Errorf("%s: %+v", when, r)
			}
		}
		works("at first")
		n := s.Localhosts().Get("a")
		first := keeperOf(t, s)
		works("again")
		if got := keeperOf(t, s); got != first {
			t.Errorf("the first command had keeper %d, the second %d", first, got)
		}
		if err := unix.Kill(n.Pid(), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-n.Gone()
		works("after what lives in the network was killed")
		again := s.Localhosts().Get("a")
		if again == nil || again == n {
			t.Fatal("there is no other network")
		}
		none(t, "keepers of the network that was lost", func() int { return len(s.keepers.Idle()) - 1 })
		works("once more")
		descriptors := func() int {
			list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", again.Pid()))
			return len(list)
		}
		before := 0
		for i := range 5 {
			if i == 1 { // by then the runtime has those that it keeps
				before = descriptors()
			}
			if err := unix.Kill(keeperOf(t, s), unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			works("with another keeper")
			_, _ = again.Dial(t.Context(), 1)
		}
		none(t, "descriptors of what lives in it", func() int { return max(0, descriptors()-before) })
		none(t, "children of what lives in it", func() int {
			data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", again.Pid(), again.Pid()))
			return max(0, len(strings.Fields(string(data)))-1)
		})
		var said []error
		s.networks = boxnet.Networks{Self: "/nonexistent", Failed: func(err error) { said = append(said, err) }}
		works("without a network")
		works("without a network, again")
		if len(said) != 1 {
			t.Errorf("%v", said)
		}
		c := started(t, s, w, mask.HelperPath, "serve", "127.0.0.1:8000", "x")
		if r := inNetwork(t, s, w, "tcp", "127.0.0.1:8000"); r.code == 0 {
			t.Error("it is reached from another network")
		}
		c.Kill()
	})
}

// TestLocalhostServerDies: kill -9 of the server leaves nothing of a session's network.
func TestLocalhostServerDies(t *testing.T) {
	slow.Test(t)
	eachLevel(t, netLevels, func(t *testing.T, s *Sandbox) {
		token := newToken(t)
		server, out := startServer(t, serverArgs{s.status.Level, realTemp(t), strings.ReplaceAll(stragglers+"echo ready\nsleep TOKEN", "TOKEN", token), "a"}, t.TempDir())
		await(t, out, "ready")
		if alive(token) < 50 {
			t.Error("few processes were made")
		}
		below := keeper.Descendants(server.Process.Pid)
		residents := 0
		for _, p := range below {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.Pid))
			if strings.Contains(string(line), child.InitCommand+"\x00"+child.RoleNetwork) {
				residents++
			}
		}
		if residents != 1 {
			t.Errorf("%d residents", residents)
		}
		if err := server.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = server.Wait()
		gone(t, token)
		none(t, "processes of the server's", func() (n int) {
			for _, p := range below {
				n += running(p.Pid)
			}
			return n
		})
	})
}

// TestLocalhostMany: twenty sessions at once have twenty networks, and nothing is left.
func TestLocalhostMany(t *testing.T) {
	slow.Test(t)
	s := at(t, spec.Full)
	before := children()
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	ends := make([]func(), 20)
	for i := range ends {
		var w spec.Spec
		w, ends[i] = inSession(t, fmt.Sprint("s", i))
		for range 2 {
			all.Go(func() {
				r := sh(t, s, w, "readlink /proc/self/ns/net")
				mu.Lock()
				seen[r.out]++
				mu.Unlock()
			})
		}
	}
	all.Wait()
	if len(seen) != len(ends) {
		t.Errorf("%v", seen)
	}
	for name, n := range seen {
		if n != 2 || !strings.HasPrefix(name, "net:[") {
			t.Errorf("%d commands saw %q", n, name)
		}
	}
	for _, end := range ends {
		end()
	}
	none(t, "networks", func() int { return len(s.Localhosts().All()) })
	none(t, "keepers", func() int { return len(s.keepers.Idle()) })
	s.Close()
	none(t, "children", func() int { return max(children()-before, 0) })
}

// children counts the processes that this one has started, those of other tests too.
func children() (n int) {
	own, _ := filepath.Glob("/proc/self/task/*/children")
	for _, name := range own {
		data, _ := os.ReadFile(name)
		n += len(strings.Fields(string(data)))
	}
	return n
}

// TestLocalhostBounded: a command of a session has the limits of any other.
func TestLocalhostBounded(t *testing.T) {
	slow.Test(t)
	s := at(t, spec.Full)
	defer s.Close()
	if len(s.tools.Cgroups) == 0 && os.Geteuid() == 0 {
		needs.Skip(t, needs.Kernel, "no bound of processes here")
	}
	w, _ := inSession(t, "a")
	w.Limits = spec.Limits{Processes: 60, Memory: 64 << 20}
	token := newToken(t)
	r := run(t, s, w, "sh", "-c", strings.ReplaceAll("for i in $(seq 120); do sleep TOKEN & done", "TOKEN", token))
	if !strings.Contains(strings.ToLower(r.said), "fork") {
		t.Errorf("120 processes were made: %+v", r)
	}
	gone(t, token)
	if memoryGroup(s.tools.Cgroups) {
		if r := sh(t, s, w, "head -c 150000000 /dev/zero | tail -c 150000000 | wc -c"); strings.TrimSpace(r.out) == "150000000" {
			t.Errorf("150 MB of memory were had: %+v", r)
		}
	}
}
