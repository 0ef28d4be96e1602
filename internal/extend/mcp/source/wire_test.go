package source

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/mcpschema"
)

// rawServer speaks one version of MCP in plain JSON. What it hears must be as
// the schema of that version has it, to the last member.
type rawServer struct {
	schema *mcpschema.Schema
	check  *mcpschema.Check
	probe  *mcpschema.Check // of what is said before the version is known
	out    io.Writer
	fault  func(error)
	heard  chan string // methods, and "answer N" to what it asked
}

// serve answers until the client leaves.
func (s *rawServer) serve(in io.Reader) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxMessage)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name           string
				InputResponses json.RawMessage
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			s.fault(err)
			continue
		}
		check := s.check
		if m.Method == "server/discover" {
			check = s.probe
		}
		if err := check.Sent(lines.Bytes()); err != nil {
			s.fault(err)
		}
		s.answer(m.ID, m.Method, m.Params.Name, m.Params.InputResponses != nil)
		if m.Method == "" {
			m.Method = "answer " + string(m.ID)
		}
		s.heard <- m.Method
	}
}

func (s *rawServer) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	s.check.Got([]byte(line))
	_, _ = io.WriteString(s.out, line+"\n") // a client that has left is heard of by serve
}

func (s *rawServer) answer(id json.RawMessage, method, tool string, answered bool) {
	modern := s.schema.Version >= "2026-07-28"
	result := func(text string) {
		if modern {
			text = `"resultType":"complete",` + text
		}
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, id, text)
	}
	switch {
	case method == "server/discover" && modern:
		result(`"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"`)
	case method == "initialize" && !modern:
		result(`"protocolVersion":"` + s.schema.Version + `","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"raw","version":"1"}`)
	case method == "tools/list" && modern:
		result(`"tools":[{"name":"echo","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"`)
	case method == "tools/list":
		result(`"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"wait","inputSchema":{"type":"object"}}]`)
	case method == "tools/call" && tool == "wait": // until it is cancelled
	case method == "tools/call" && modern && !answered:
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"where":{"method":"roots/list","params":{}}}}}`, id)
	case method == "tools/call":
		result(`"content":[{"type":"text","text":"done"}]`)
	case method == "subscriptions/listen":
		s.say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, id)
	case method == "notifications/initialized":
		s.say(`{"jsonrpc":"2.0","id":901,"method":"roots/list"}`)
		s.say(`{"jsonrpc":"2.0","id":902,"method":"ping"}`)
		s.say(`{"jsonrpc":"2.0","id":903,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
		s.say(`{"jsonrpc":"2.0","id":904,"method":"nobody/knows"}`)
	case len(id) > 0 && method != "":
		s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, id)
	}
}

// TestWire: what is said to servers is as the official schemas have it, in
// every version.
func TestWire(t *testing.T) {
	latest, err := mcpschema.Load(mcpschema.Versions[len(mcpschema.Versions)-1])
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range mcpschema.Versions {
		t.Run(version, func(t *testing.T) {
			schema, err := mcpschema.Load(version)
			if err != nil {
				t.Fatal(err)
			}
			var faults []string
			faulty := make(chan error, 1000)
			heard := make(chan string, 1000)
			b := newBench(t, stdio("raw"))
			done := make(chan struct{})
			b.o.Start = func(context.Context, Server) (*Process, error) {
				in, toIt := io.Pipe()
				fromIt, out := io.Pipe()
				s := &rawServer{schema: schema, check: schema.Check(), probe: latest.Check(), out: out, fault: func(err error) { faulty <- err }, heard: heard}
				go func() {
					defer close(done)
					s.serve(in)
				}()
				return &Process{In: toIt, Out: fromIt, Said: func() string { return "" }, Kill: func() { _ = in.Close(); _ = out.Close() }}, nil
			}
			stash := map[string]int{}
			until := func(what ...string) {
				t.Helper()
				for _, w := range what {
					for stash[w] == 0 {
						select {
						case got := <-heard:
							stash[got]++
						case <-t.Context().Done():
							t.Fatalf("%s was not heard", w)
						}
					}
					stash[w]--
				}
			}
			if st := b.up("raw"); st.State != Connected {
				t.Fatalf("%+v", st)
			}
			if text, err := b.call(t.Context(), "mcp_raw_echo", `{"x":1}`); err != nil || text != "done" {
				t.Errorf("%q, %v", text, err)
			}
			if version < latest.Version {
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() {
					_, err := b.call(ctx, "mcp_raw_wait", `{}`)
					ended <- err
				}()
				until("tools/call", "tools/call")
				cancel()
				if err := <-ended; err == nil {
					t.Error("a cancelled call has a result")
				}
				until("notifications/cancelled", "answer 901", "answer 902", "answer 903", "answer 904")
			}
			b.Close()
			<-done
			close(faulty)
			for err := range faulty {
				faults = append(faults, err.Error())
			}
			if len(faults) > 0 {
				t.Errorf("what it was told:\n%s", strings.Join(faults, "\n"))
			}
		})
	}
}
