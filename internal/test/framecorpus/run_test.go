package framecorpus

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestRunnerNotices runs servers with a fault each against a case that only the
// one without passes.
func TestRunnerNotices(t *testing.T) {
	bad := Case{Category: "types", Expect: "error-reply", Messages: []json.RawMessage{json.RawMessage(`{"jsonrpc":"2.0","id":20,"method":"x"}`)}}
	fail := func(id string) string {
		return frame(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"no"}}`)
	}
	for _, test := range []struct {
		name   string
		answer func(id string) string // "" ends the server
		want   string
	}{
		{"no fault", fail, ""},
		{"accepts", func(id string) string { return frame(`{"jsonrpc":"2.0","id":` + id + `,"result":null}`) }, "want an error"},
		{"answers twice", func(id string) string { return fail(id) + fail(id) }, "answered twice"},
		{"dies", func(string) string { return "" }, "closed the connection"},
		{"writes something else", func(id string) string { return "hello\r\n\r\n" + fail(id) }, "bad output"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := run(t, "file:///workspace", bad, serve(test.answer))
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// serve answers initialize well, and every other request by answer.
func serve(answer func(id string) string) Server {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		defer func() {
			_ = in.Close()
			_ = out.Close()
			ended <- nil
		}()
		r := bufio.NewReader(in)
		for {
			m, err := readReply(r)
			switch {
			case err != nil:
				return
			case m.ID == nil:
				continue
			}
			text := answer(string(m.ID))
			if m.Method == "initialize" || strings.HasPrefix(m.Method, "$/") && text != "" {
				text = frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
			}
			if text == "" {
				return
			}
			if _, err := io.WriteString(out, text); err != nil {
				return
			}
		}
	}()
	return Server{In: toServer, Out: fromServer, Wait: func() error { return <-ended }}
}
