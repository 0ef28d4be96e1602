package world_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
)

// get asks an address for a page under a name.
func get(t *testing.T, at, host string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(data)
}

// A person opens a port of a session: a browser gets it by one name of this machine, with
// WebSockets, until it is closed or the session ends.
func TestOpenPort(t *testing.T) {
	slow.Test(t)
	dir := e2e.WorldProject(t, "auto", map[string]string{"a.txt": "one\n"})
	e2e.Asker(t, dir)
	r := e2e.WorldIn(t, dir)
	opened(r, "one", "two")
	list := func() commands.PortList {
		return e2e.Command[commands.PortList](r, "sidecar.session.ports", e2e.Object{})
	}
	if l := list(); l.Ports == nil || len(l.Ports) != 0 {
		t.Errorf("%+v", l)
	}
	const port = 3000
	for _, name := range []string{"one", "two"} {
		if res := r.In(name, "run_command", e2e.Object{"command": fmt.Sprintf("./asker http 127.0.0.1:%d 'page of %s'", port, name), "background": true}); !res.OK {
			t.Fatal(res.Content)
		}
		r.In(name, "run_command", e2e.Object{"command": fmt.Sprintf("for i in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/%d) 2>/dev/null && exit; sleep 0.05; done; exit 1", port)})
	}
	if l := list(); len(l.Ports) != 2 || l.Ports[0].Session != "one" || l.Ports[0].Port != port || l.Ports[0].Program != "asker" || l.Ports[0].Opened != "" {
		t.Fatalf("%+v", l)
	}
	for tool, args := range map[string]e2e.Object{"command_list": {}, "command_output": {"id": "bg1"}} {
		if res := r.In("one", tool, args); !strings.Contains(res.Content, "listens on 3000 (asker)") {
			t.Errorf("%s: %s", tool, res.Content)
		}
	}

	open := func(answer string) (address string, asked string, err error) {
		r.Choose(answer)
		var got commands.PortURL
		err = r.ExecuteCommand(t.Context(), "sidecar.session.openPort", e2e.Object{"session": "one", "port": port}, &got)
		if all := r.Asked(); len(all) > 0 {
			asked = all[len(all)-1]
		}
		return got.URL, asked, err
	}
	if _, asked, err := open("Deny"); err == nil || !strings.Contains(asked, "reach your network") {
		t.Errorf("%q, %v", asked, err)
	}
	if _, _, err := open(""); err == nil {
		t.Error("a question that was closed opened a port")
	}
	left := func() (ports []effects.Effect) {
		for _, e := range e2e.Command[struct{ Effects []effects.Effect }](r, "sidecar.effects.list", e2e.Object{"session": "one"}).Effects {
			if e.Kind == effects.Port {
				ports = append(ports, e)
			}
		}
		return ports
	}
	if l := left(); len(l) != 0 {
		t.Errorf("before it is opened it left: %+v", l)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.session.openPort", e2e.Object{"session": "one", "port": 3001}, nil); err == nil {
		t.Error("a port that nobody listens on was opened")
	}
	address, _, err := open("Allow")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() != "one-3000.localhost" {
		t.Fatal(address, err)
	}
	at := "127.0.0.1:" + u.Port()
	if status, body := get(t, at, u.Host); status != 200 || body != "page of one at "+u.Host {
		t.Errorf("%d %q", status, body)
	}
	for _, host := range []string{at, "localhost:" + u.Port(), "two-3000.localhost:" + u.Port(), "one-3000.localhost", "evil.example", "one-3000.localhost.evil.example:" + u.Port()} {
		if status, body := get(t, at, host); status != http.StatusMisdirectedRequest || strings.Contains(body, "page") {
			t.Errorf("%s: %d %q", host, status, body)
		}
	}
	if l := left(); len(l) != 1 || l[0].Decision != effects.Asked || !strings.Contains(l[0].What, "3000") {
		t.Errorf("it left: %+v", l)
	}
	if l := list(); l.Ports[0].Opened != address || l.Ports[1].Opened != "" {
		t.Errorf("%+v", l)
	}
	echo := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprintf(c, "GET /echo HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", u.Host)
		c.SetDeadline(time.Now().Add(20 * time.Second))
		in := bufio.NewReader(c)
		res, err := http.ReadResponse(in, nil) //nolint:bodyclose // the connection is what goes on
		if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
			t.Fatal(res, err)
		}
		fmt.Fprint(c, "hello\n")
		if line, err := in.ReadString('\n'); line != "hello\n" {
			t.Fatal(line, err)
		}
		return c
	}
	ends := func(what string, c net.Conn) {
		t.Helper()
		if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil || strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: a WebSocket goes on: %v", what, err)
		}
		e2e.Until(t, what+": the port is open still", func() bool { status, _ := get(t, at, u.Host); return status == 0 })
	}
	c := echo()
	if got := e2e.Command[commands.PortURL](r, "sidecar.session.closePort", e2e.Object{"session": "one", "port": port}); got.URL != address {
		t.Error(got)
	}
	ends("closed", c)
	if address, _, err = open("Allow"); err != nil {
		t.Fatal(err)
	}
	u, _ = url.Parse(address)
	at = "127.0.0.1:" + u.Port()
	c = echo()
	e2e.Command[struct{}](r, "sidecar.session.close", e2e.Object{"session": "one"})
	ends("the session's end", c)
	e2e.Until(t, "a port of the session that ended is listed", func() bool {
		l := list() // a program may hold it for a moment
		return len(l.Ports) == 1 && l.Ports[0].Session == "two"
	})
}

// The command line lists, opens and closes the ports of a server.
func TestPortCommand(t *testing.T) {
	slow.Test(t)
	dir := e2e.WorldProject(t, "auto", map[string]string{"a.txt": "one\n"})
	e2e.Asker(t, dir)
	server := program.ServerAnywhere(t)
	r := e2e.RunIn(t, dir) // a process of its own: what descends from a server is no person's
	if out, err := r.AsPerson(server, "port", "list"); err != nil || !strings.Contains(out, "No program") {
		t.Errorf("%v %s", err, out)
	}
	if res := r.Tool("run_command", e2e.Object{"command": "./asker http 127.0.0.1:3000 page", "background": true}); !res.OK {
		t.Fatal(res.Content)
	}
	var out string
	e2e.Until(t, "no port is listed", func() bool {
		out, _ = r.AsPerson(server, "port", "list")
		return strings.Contains(out, "default") && strings.Contains(out, "3000") && strings.Contains(out, "asker")
	})
	if out, err := r.AsPerson("setsid", "-w", server, "port", "open", "default", "3000"); err == nil || !strings.Contains(out, "--yes") {
		t.Errorf("without a terminal: %v %s", err, out)
	}
	out, err := r.AsPerson(server, "port", "open", "--yes", "default", "3000")
	address := strings.TrimSpace(out)
	u, perr := url.Parse(address)
	if err != nil || perr != nil {
		t.Fatal(err, out)
	}
	if status, body := get(t, "127.0.0.1:"+u.Port(), u.Host); status != 200 || !strings.HasPrefix(body, "page at ") {
		t.Errorf("%d %s", status, body)
	}
	if out, err := r.AsPerson(server, "port", "list", "--json"); err != nil || !strings.Contains(out, address) {
		t.Errorf("%v %s", err, out)
	}
	if out, err := r.AsPerson(server, "port", "close", "default", "3000"); err != nil || !strings.Contains(out, "Closed") {
		t.Errorf("%v %s", err, out)
	}
	if status, _ := get(t, "127.0.0.1:"+u.Port(), u.Host); status != 0 {
		t.Error("it is open still")
	}
}

// TestPortsAreTold: an editor that wants it hears when a program begins and ends listening. The
// control is one that does not want it.
func TestPortsAreTold(t *testing.T) {
	slow.Test(t)
	for _, wants := range []bool{true, false} {
		can := fakeeditor.Usual()
		can.Experimental.Sidecar.Ports = wants
		dir := e2e.WorldProject(t, "auto", map[string]string{"a.txt": "one\n"})
		e2e.Asker(t, dir)
		r := e2e.RunWith(t, dir, fakeeditor.Options{Capabilities: can})
		told := func(rec *fakeeditor.Record) (all []commands.PortList) {
			for _, m := range rec.Notifications {
				var list commands.PortList
				if m.Method == "sidecar/ports" && json.Unmarshal(m.Params, &list) == nil {
					all = append(all, list)
				}
			}
			return all
		}
		hears := func(what string, ok func([]commands.PortList) bool) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if err := r.Await(ctx, what, func(rec *fakeeditor.Record) bool { return ok(told(rec)) }); err != nil {
				t.Fatal(err)
			}
		}
		if res := r.Tool("run_command", e2e.Object{"command": "sleep 1; exec ./asker http 127.0.0.1:3000 page", "background": true}); !res.OK {
			t.Fatal(res.Content)
		}
		if !wants {
			e2e.Until(t, "nobody listens", func() bool {
				return len(e2e.Command[commands.PortList](r, "sidecar.session.ports", e2e.Object{}).Ports) > 0
			})
		} else {
			hears("a port", func(all []commands.PortList) bool {
				return len(all) == 1 && len(all[0].Ports) == 1 && all[0].Ports[0].Port == 3000 && all[0].Ports[0].Program == "asker" && all[0].Ports[0].Session == "default"
			})
		}
		r.Tool("command_kill", e2e.Object{"id": "bg1"})
		if wants {
			hears("its end", func(all []commands.PortList) bool { return len(all) == 2 && len(all[1].Ports) == 0 })
		} else if rec := r.Record(); len(told(&rec)) > 0 {
			t.Errorf("it hears %+v", told(&rec))
		}
	}
}
