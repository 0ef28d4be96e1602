package world_test

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// opened opens sessions.
func opened(r *e2e.Rig, names ...string) {
	for _, name := range names {
		e2e.Command[struct{}](r, "sidecar.session.open", e2e.Object{"id": name, "mode": "review"})
	}
}

// asks asks a port of localhost until somebody answers.
func asks(port int) string {
	return fmt.Sprintf("for i in $(seq 100); do ./asker ask tcp localhost:%d && exit; sleep 0.05; done; exit 1", port)
}

// A server that a session runs in the background answers its later commands, tests among
// them, not another session's, which may listen on the same port, nor the machine's.
func TestSessionsHaveLocalhosts(t *testing.T) {
	slow.Test(t)
	dir := e2e.WorldProject(t, "auto", map[string]string{"a.txt": "one\n", "package.json": "{}"})
	e2e.Asker(t, dir)
	r := e2e.WorldIn(t, dir)
	opened(r, "one", "two")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if res := r.In("one", "run_command", e2e.Object{"command": fmt.Sprintf("./asker ask tcp 127.0.0.1:%d", port)}); res.OK {
		t.Errorf("a listener of the machine's is reached: %s", res.Content)
	}
	l.Close()
	for _, name := range []string{"one", "two"} {
		res := r.In(name, "run_command", e2e.Object{"command": fmt.Sprintf("trap '' TERM; setsid ./asker serve :%d 'of %s'", port, name), "background": true})
		if !res.OK || strings.Contains(res.Content, "SIDECAR_PORT_BASE") {
			t.Fatal(res.Content)
		}
	}
	for _, name := range []string{"one", "two", "one"} {
		if res := r.In(name, "run_command", e2e.Object{"command": asks(port)}); !res.OK || !strings.Contains(res.Content, "of "+name) {
			t.Errorf("%s: %s", name, res.Content)
		}
	}
	if res := r.In("two", "run_tests", e2e.Object{"command": asks(port)}); !strings.Contains(res.Content, "of two") {
		t.Errorf("tests: %s", res.Content)
	}
	if c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second); err == nil {
		c.Close()
		t.Error("the machine reaches a session's server")
	}
	e2e.Command[struct{}](r, "sidecar.session.close", e2e.Object{"session": "one"})
	opened(r, "one")
	if res := r.In("one", "run_command", e2e.Object{"command": fmt.Sprintf("./asker ask tcp localhost:%d", port)}); res.OK {
		t.Errorf("a server outlives its session: %s", res.Content)
	}
	if res := r.In("two", "run_command", e2e.Object{"command": asks(port)}); !strings.Contains(res.Content, "of two") {
		t.Errorf("the other session: %s", res.Content)
	}
}

// Where sessions share the machine's localhost, each is told ports of its own, once.
func TestSessionsHavePorts(t *testing.T) {
	slow.Test(t)
	for name, set := range map[string]e2e.Object{"no sandbox": {"sandbox.mode": "off"}, "the machine's network": {"sandbox.network": true}} {
		t.Run(name, func(t *testing.T) {
			r := e2e.WorldRig(t, "auto", map[string]string{"a.txt": "one\n"}, set)
			opened(r, "one", "two")
			seen := map[string]bool{}
			for _, session := range []string{"one", "two"} {
				var base string
				for i, said := range []bool{true, false} {
					res := r.In(session, "run_command", e2e.Object{"command": "echo has $SIDECAR_PORT_BASE $PORT"})
					m := regexp.MustCompile(`has (\d+) (\d+)\n`).FindStringSubmatch(res.Content)
					if m == nil || m[1] != m[2] || base != "" && m[1] != base {
						t.Fatal(res.Content)
					}
					base = m[1]
					if strings.Contains(res.Content, "ports "+base+" to ") != said {
						t.Errorf("command %d: %s", i, res.Content)
					}
				}
				if seen[base] {
					t.Errorf("two sessions have %s", base)
				}
				seen[base] = true
			}
		})
	}
}
