package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/mcpschema"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// stateless is the first version of MCP in which each request says who asks.
const stateless = "2026-07-28"

// rawAgent speaks with the endpoint in plain JSON, as an SDK passes over much
// that is not right. Whatever it hears must be as the schema of its version has
// it, to the last member.
type rawAgent struct {
	t       *testing.T
	name    string
	version string
	check   *mcpschema.Check
	to      io.WriteCloser
	from    *bufio.Reader
	n       int
	heard   []e2e.Object // notifications and requests that came while an answer was waited for
}

func newRawAgent(t *testing.T, schema *mcpschema.Schema, name, dir string, args ...string) *rawAgent {
	t.Helper()
	in, toIt := io.Pipe()
	fromIt, out := io.Pipe()
	self, _ := os.Executable()
	ended := make(chan int, 1)
	var stderr strings.Builder
	go func() {
		ended <- cli.Main(context.Background(), append([]string{"mcp", "--root", dir}, args...), cli.Streams{In: in, Out: out, Err: &stderr, Self: self, Programs: anywhere.Programs()})
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = toIt.Close()
		go func() { _, _ = io.Copy(io.Discard, fromIt) }()
		if code := <-ended; code != 0 {
			t.Errorf("the endpoint: exit code %d\n%s", code, &stderr)
		}
	})
	a := &rawAgent{t: t, name: name, version: schema.Version, check: schema.Check(), to: toIt, from: bufio.NewReader(fromIt)}
	if a.version < stateless {
		a.request("initialize", e2e.Object{"protocolVersion": a.version, "capabilities": a.capabilities(), "clientInfo": a.info()})
		if got := a.answer()["result"].(e2e.Object)["protocolVersion"]; got != a.version {
			t.Fatalf("version %v, want %s", got, a.version)
		}
		a.say(e2e.Object{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	return a
}

func (a *rawAgent) info() e2e.Object { return e2e.Object{"name": a.name, "version": "1"} }

func (a *rawAgent) capabilities() e2e.Object {
	if a.version < "2025-06-18" {
		return e2e.Object{}
	}
	return e2e.Object{"elicitation": e2e.Object{}}
}

func (a *rawAgent) say(m any) {
	a.t.Helper()
	line, err := json.Marshal(m)
	if err != nil {
		a.t.Fatal(err)
	}
	a.check.Got(line)
	if _, err := a.to.Write(append(line, '\n')); err != nil {
		a.t.Fatal(err)
	}
}

// message is the next request, in this version's form.
func (a *rawAgent) message(method string, params e2e.Object) e2e.Object {
	a.n++
	if a.version >= stateless {
		meta, _ := params["_meta"].(e2e.Object)
		if meta == nil {
			meta = e2e.Object{}
		}
		meta["io.modelcontextprotocol/protocolVersion"] = a.version
		meta["io.modelcontextprotocol/clientInfo"] = a.info()
		meta["io.modelcontextprotocol/clientCapabilities"] = a.capabilities()
		params["_meta"] = meta
	}
	return e2e.Object{"jsonrpc": "2.0", "id": a.n, "method": method, "params": params}
}

func (a *rawAgent) request(method string, params e2e.Object) {
	a.t.Helper()
	a.say(a.message(method, params))
}

// hear returns the next message, which is checked.
func (a *rawAgent) hear() e2e.Object {
	a.t.Helper()
	line, err := a.from.ReadBytes('\n')
	if err != nil {
		a.t.Fatal(err)
	}
	// The oldest version says nothing of batches; JSON-RPC 2.0 has them.
	if err := a.check.Sent(line); err != nil && (line[0] != '[' || a.version != "2024-11-05") {
		a.t.Error(err)
	}
	var m e2e.Object // nil for a batch
	if line[0] != '[' {
		if err := json.Unmarshal(line, &m); err != nil {
			a.t.Fatalf("%v: %s", err, line)
		}
	}
	return m
}

// answer returns the answer to the latest request.
func (a *rawAgent) answer() e2e.Object {
	a.t.Helper()
	return a.answerTo(a.n)
}

func (a *rawAgent) answerTo(id int) e2e.Object {
	a.t.Helper()
	for {
		m := a.hear()
		if m["method"] == nil && m["id"] == float64(id) {
			return m
		}
		a.heard = append(a.heard, m)
	}
}

// until waits for a request or a notification.
func (a *rawAgent) until(method string) e2e.Object {
	a.t.Helper()
	for {
		for i, m := range a.heard {
			if m["method"] == method {
				a.heard = append(a.heard[:i], a.heard[i+1:]...)
				return m
			}
		}
		a.heard = append(a.heard, a.hear())
	}
}

// progressOr waits for progress, or for the answer to a request.
func (a *rawAgent) progressOr(id int) e2e.Object {
	a.t.Helper()
	for {
		m := a.hear()
		if m["method"] == "notifications/progress" || m["method"] == nil && m["id"] == float64(id) {
			return m
		}
		a.heard = append(a.heard, m)
	}
}

// call calls a tool; elicited is what the user answers if asked.
func (a *rawAgent) call(tool string, args, elicited e2e.Object) (text string, ok bool) {
	a.t.Helper()
	res := a.result(tool, args, elicited)
	isError, _ := res["isError"].(bool)
	return res["content"].([]any)[0].(e2e.Object)["text"].(string), !isError
}

// result is call with all of the result.
func (a *rawAgent) result(tool string, args, elicited e2e.Object) e2e.Object {
	a.t.Helper()
	a.request("tools/call", e2e.Object{"name": tool, "arguments": args})
	id := a.n
	for {
		m := a.hear()
		if m["method"] == "elicitation/create" {
			a.say(e2e.Object{"jsonrpc": "2.0", "id": m["id"], "result": elicited})
			continue
		}
		if m["method"] != nil || m["id"] != float64(id) {
			a.heard = append(a.heard, m)
			continue
		}
		res, _ := m["result"].(e2e.Object)
		if res == nil {
			a.t.Fatalf("%s: %v", tool, m)
		}
		if res["resultType"] == "input_required" {
			answers := e2e.Object{}
			for key := range res["inputRequests"].(e2e.Object) {
				answers[key] = elicited
			}
			a.request("tools/call", e2e.Object{"name": tool, "arguments": args, "inputResponses": answers, "requestState": res["requestState"]})
			id = a.n
			continue
		}
		return res
	}
}

// TestWire: all that the endpoint says is as the official schemas have it, in
// every version, alone and attached to an editor.
func TestWire(t *testing.T) {
	slow.Test(t)
	for _, version := range mcpschema.Versions {
		schema, err := mcpschema.Load(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, attached := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/attached=%v", version, attached), func(t *testing.T) {
				e2e.Home(t)
				e2e.UserSettings(t, e2e.Object{"sandbox": e2e.Object{"mode": "off"}, "toolPermissions": e2e.Object{"run_command": "allow"}, "tools": e2e.Object{"registryMode": "lazy"}})
				dir := e2e.Project(t, map[string]string{"a.txt": "one\n", "long.txt": strings.Repeat("a line of some length\n", 2000)})
				var r *e2e.Rig
				if attached {
					r = e2e.ServeSelf(t, dir, fakeeditor.Options{})
				}
				a := newRawAgent(t, schema, "Raw", dir)
				a.hello()
				a.calls()
				a.questions(r)
				a.running()
				a.news()
				a.mistakes()
			})
		}
	}
}

// hello asks who is there, and for the tools.
func (a *rawAgent) hello() {
	a.t.Helper()
	if a.version >= stateless {
		a.request("server/discover", e2e.Object{})
	} else {
		a.request("ping", e2e.Object{})
	}
	if m := a.answer(); m["result"] == nil {
		a.t.Errorf("hello: %v", m)
	}
	a.request("tools/list", e2e.Object{})
	if list, _ := a.answer()["result"].(e2e.Object)["tools"].([]any); len(list) == 0 {
		a.t.Error("no tools")
	}
}

// calls has results of all kinds.
func (a *rawAgent) calls() {
	a.t.Helper()
	for _, c := range []struct {
		tool string
		args e2e.Object
		ok   bool
	}{
		{"read_file", e2e.Object{"path": "a.txt"}, true},
		{"read_file", e2e.Object{"path": "long.txt"}, true},
		{"read_file", e2e.Object{"path": "none.txt"}, false},
		{"read_file", e2e.Object{}, false},
		{"reed_file", e2e.Object{}, false},
		{"run_command", e2e.Object{"command": "exit 3"}, false},
	} {
		if text, ok := a.call(c.tool, c.args, nil); ok != c.ok {
			a.t.Errorf("%s %v: %v %s", c.tool, c.args, ok, text)
		}
	}
}

// questions are put to the agent's user, or to the editor's.
func (a *rawAgent) questions(r *e2e.Rig) {
	a.t.Helper()
	allow := e2e.Object{"action": "accept", "content": e2e.Object{"answer": "Allow"}}
	for _, c := range []struct {
		what   string
		answer e2e.Object
		choice string // in the editor
		ok     bool
	}{
		{"no", e2e.Object{"action": "decline"}, "Deny", false},
		{"closed", e2e.Object{"action": "cancel"}, "", false},
		{"yes", allow, "Allow", true},
	} {
		if r != nil {
			r.Choose(c.choice)
		}
		text, ok := a.call("write_file", e2e.Object{"path": "b.txt", "content": c.what + "\n"}, c.answer)
		if want := c.ok && (r != nil || a.version >= "2025-06-18"); ok != want {
			a.t.Errorf("%s: %v %s", c.what, ok, text)
		}
	}
}

// running tells of progress, and is cancelled.
func (a *rawAgent) running() {
	a.t.Helper()
	a.request("tools/call", e2e.Object{"name": "run_command", "arguments": e2e.Object{"command": "echo begun; exec sleep 1000"}, "_meta": e2e.Object{"progressToken": "p"}})
	if m := a.progressOr(a.n); m["method"] == nil {
		a.t.Fatalf("it ended: %v", m)
	}
	a.say(e2e.Object{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": e2e.Object{"requestId": a.n, "reason": "enough"}})
	if m := a.answer(); m["error"] == nil {
		a.t.Errorf("cancelled: %v", m)
	}
	// A session's commands run one after the other: this one once the first has ended.
	if text, ok := a.call("run_command", e2e.Object{"command": "true"}, nil); !ok {
		a.t.Errorf("after it: %s", text)
	}
}

// news is that there are other tools.
func (a *rawAgent) news() {
	a.t.Helper()
	if a.version >= stateless {
		a.request("subscriptions/listen", e2e.Object{"notifications": e2e.Object{"toolsListChanged": true}})
		a.until("notifications/subscriptions/acknowledged")
	}
	a.call("git_log", e2e.Object{}, nil)
	a.until("notifications/tools/list_changed")
}

// mistakes are the agent's.
func (a *rawAgent) mistakes() {
	a.t.Helper()
	a.request("nobody/knows", e2e.Object{})
	if m := a.answer(); m["error"] == nil {
		a.t.Errorf("an unknown method: %v", m)
	}
	a.request("tools/call", e2e.Object{"name": 7})
	if m := a.answer(); m["error"] == nil {
		a.t.Errorf("no name: %v", m)
	}
	if _, err := io.WriteString(a.to, "hello\n"); err != nil {
		a.t.Fatal(err)
	}
	if m := a.hear(); m["error"] == nil {
		a.t.Errorf("no JSON: %v", m)
	}
	a.say([]e2e.Object{a.message("tools/list", e2e.Object{}), a.message("tools/list", e2e.Object{}), {"jsonrpc": "2.0", "method": "notifications/initialized"}})
	switch m := a.hear(); {
	case a.version > "2025-03-26" && m["error"] == nil:
		a.t.Errorf("a batch: %v", m)
	case a.version <= "2025-03-26" && m != nil:
		a.t.Errorf("a batch is not answered with one: %v", m)
	}
	if a.version == stateless {
		m := a.message("tools/list", e2e.Object{})
		m["params"].(e2e.Object)["_meta"].(e2e.Object)["io.modelcontextprotocol/protocolVersion"] = "2099-01-01"
		a.say(m)
		if m := a.answer(); m["error"] == nil {
			a.t.Errorf("a version of the future: %v", m)
		}
	}
}

// TestWireQuotesNoMethod: what an agent calls a method is not said back: it may be a token.
func TestWireQuotesNoMethod(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "a\n"})
	in, toIt := io.Pipe()
	fromIt, out := io.Pipe()
	self, _ := os.Executable()
	ended := make(chan int, 1)
	var stderr strings.Builder
	go func() {
		ended <- cli.Main(context.Background(), []string{"mcp", "--root", dir}, cli.Streams{In: in, Out: out, Err: &stderr, Self: self, Programs: anywhere.Programs()})
		_ = out.Close()
	}()
	lines := bufio.NewScanner(fromIt)
	ask := func(line string) string {
		t.Helper()
		if _, err := io.WriteString(toIt, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		return lines.Text()
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	for _, method := range []string{"ghp_1234567890abcdefghijklmnopqrstuvwxyz", "tools/ghp_1234567890abcdefghijklmnopqrstuvwxyz"} {
		if got := ask(`{"jsonrpc":"2.0","id":7,"method":"` + method + `"}`); strings.Contains(got, "ghp_") || !strings.Contains(got, "-32601") || !strings.Contains(got, `"id":7`) {
			t.Errorf("%s: %s", method, got)
		}
	}
	if got := ask(`{"jsonrpc":"2.0","id":8,"method":"ping"}`); !strings.Contains(got, `"result"`) {
		t.Errorf("the control: %s", got)
	}
	_ = toIt.Close()
	go func() { _, _ = io.Copy(io.Discard, fromIt) }()
	<-ended
	if strings.Contains(stderr.String(), "ghp_") {
		t.Errorf("the log has it: %s", &stderr)
	}
}
