package endpoint

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestLines: what is no message is answered with an error and forgotten; the
// messages before and after it are served.
func TestLines(t *testing.T) {
	const most = 64 << 10
	in, agent := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(t.Context(), in, out, Options{Version: "v", maxLine: most, Connect: func(context.Context, Agent) (Backend, error) {
			return nil, errors.New("nobody is there")
		}})
		_ = out.Close()
	}()
	from := bufio.NewReader(answers)
	say := func(line string) {
		go func() { _, _ = io.WriteString(agent, line) }()
	}
	hear := func() (id any, code int64) {
		t.Helper()
		line, err := from.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			JSONRPC string
			ID      any
			Error   struct {
				Code    int64
				Message string
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" || m.Error.Code != 0 && m.Error.Message == "" {
			t.Fatalf("%q: %v", line, err)
		}
		return m.ID, m.Error.Code
	}
	say(`{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	if id, code := hear(); id != "begin" || code != 0 {
		t.Fatal(id, code)
	}
	for _, c := range []struct {
		what, line string
		code       int64
	}{
		{"words", "hello\n", jsonrpc.CodeParseError},
		{"half a message", `{"jsonrpc":"2.0","id":1,` + "\n", jsonrpc.CodeParseError},
		{"two messages on a line", `{"jsonrpc":"2.0","method":"a"} {"jsonrpc":"2.0","method":"b"}` + "\n", jsonrpc.CodeParseError},
		{"bytes", "\xff\xfe\x00\n", jsonrpc.CodeParseError},
		{"a number", "17\n", jsonrpc.CodeInvalidRequest},
		{"nothing", "null\n", jsonrpc.CodeInvalidRequest},
		{"an object", "{}\n", jsonrpc.CodeInvalidRequest},
		{"another protocol", `{"jsonrpc":"1.0","id":1,"method":"ping"}` + "\n", jsonrpc.CodeInvalidRequest},
		{"an empty batch", "[]\n", jsonrpc.CodeInvalidRequest},
		{"a batch of something else", "[1, 2]\n", jsonrpc.CodeInvalidRequest},
		{"a long line", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", most) + `"}` + "\n", jsonrpc.CodeParseError},
		{"nothing wrong", "\n \r\n", 0},
	} {
		say(c.line + `{"jsonrpc":"2.0","id":"after","method":"ping"}` + "\r\n")
		if c.code != 0 {
			if id, code := hear(); id != nil || code != c.code {
				t.Errorf("%s: %v, %d", c.what, id, code)
			}
		}
		if id, code := hear(); id != "after" || code != 0 {
			t.Errorf("after %s: %v, %d", c.what, id, code)
		}
	}
	long := `{"jsonrpc":"2.0","id":"long","method":"ping","params":{"x":"`
	say(long + strings.Repeat("x", most-len(long)-len("\"}}\n")) + "\"}}\n")
	if id, code := hear(); id != "long" || code != 0 {
		t.Errorf("the longest line: %v, %d", id, code)
	}
	go func() {
		_, _ = io.WriteString(agent, `{"jsonrpc":"2.0","id":"last","method":"ping"}`) // and the end
		_ = agent.Close()
	}()
	_, _ = io.Copy(io.Discard, from)
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// hush hides a secret of the tests.
func hush(text string) string { return strings.ReplaceAll(text, "hush", "***") }

// TestFaultsQuote: no error gives a secret back that an agent sent, whatever it sent it as.
func TestFaultsQuote(t *testing.T) {
	in, agent := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(t.Context(), in, out, Options{Version: "v", Hide: hush, Connect: func(context.Context, Agent) (Backend, error) {
			return nil, errors.New("hush, nobody is there")
		}})
		_ = out.Close()
	}()
	from := bufio.NewReader(answers)
	exchange := func(line string) string {
		t.Helper()
		go func() { _, _ = io.WriteString(agent, line+"\n") }()
		answer, err := from.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	exchange(`{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`)
	quoted := 0
	for _, request := range []string{
		`"method":"hush"`, `"method":"tools/hush"`, `"method":"prompts/get","params":{"name":"hush"}`, `"method":"tools/call","params":"hush"`, `"method":"tools/call","params":{"name":"hush"}`,
		`"method":"completion/complete","params":{"ref":{"type":"hush"}}`, `"method":"resources/read","params":{"uri":"x://hush"}`, `"method":"tools/list","params":["hush"]`,
		`"method":"initialize","params":{"protocolVersion":"hush"}`,
	} {
		answer := exchange(`{"jsonrpc":"2.0","id":1,` + request + `}`)
		if !strings.Contains(answer, `rror":`) || strings.Contains(answer, "hush") {
			t.Errorf("%s: %s", request, answer)
		}
		quoted += strings.Count(answer, "***")
	}
	if quoted == 0 {
		t.Error("control: nothing was quoted")
	}
	if err := errors.Join(agent.Close(), <-ended); err != nil {
		t.Error(err)
	}
}
