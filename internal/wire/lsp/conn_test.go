package lsp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// wire is a raw client: what it sends and reads are bodies of frames.
type wire struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	conn *lsp.Conn
	end  chan error
}

func dial(t *testing.T, h lsp.Handler, opts lsp.Options) *wire {
	t.Helper()
	sr, in := io.Pipe()
	out, sw := io.Pipe()
	w := &wire{t: t, in: in, out: bufio.NewReaderSize(out, 256<<10), conn: lsp.NewConn(sr, sw, h, opts), end: make(chan error, 1)}
	go func() {
		w.end <- w.conn.Run(context.Background())
		_ = sw.Close()
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = out.Close()
	})
	return w
}

func (w *wire) send(bodies ...string) {
	w.t.Helper()
	for _, b := range bodies {
		w.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(b), b))
	}
}

func (w *wire) raw(s string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, s); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) read() string {
	w.t.Helper()
	header, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(header, "Content-Length: ")))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.out.Discard(2); err != nil {
		w.t.Fatal(err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(w.out, body); err != nil {
		w.t.Fatal(err)
	}
	return string(body)
}

func fail(code int64, id, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

func TestMessages(t *testing.T) {
	const notJSON = "the message is not valid JSON"
	h := funcs{request: func(_ context.Context, method string, params json.RawMessage) (any, error) {
		switch method {
		case "echo":
			return params, nil
		case "plain":
			return nil, errors.New("disk full")
		case "wrapped":
			return nil, fmt.Errorf("outer: %w", lsp.Errorf(lsp.ContentModified, "stale"))
		case "panic":
			panic("boom")
		case "unencodable":
			return func() {}, nil
		case "bytes":
			return map[string]string{"text": "a\xffb<>"}, nil
		case "typed":
			var p struct {
				TextDocument lsp.TextDocumentIdentifier `json:"textDocument"`
				Position     lsp.Position               `json:"position"`
			}
			return nil, lsp.Params(params, &p)
		}
		return nil, lsp.Errorf(lsp.MethodNotFound, "unknown method %q", method)
	}}
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, test := range []struct {
		name, send, want string
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}`, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`},
		{"absent params", `{"jsonrpc":"2.0","id":1,"method":"echo"}`, `{"jsonrpc":"2.0","id":1,"result":null}`},
		{"string id", `{"jsonrpc":"2.0","id":"a\"\u00e9","method":"echo","params":[]}`, `{"jsonrpc":"2.0","id":"a\"é","result":[]}`},
		{"id over 2^53", `{"jsonrpc":"2.0","id":9007199254740993,"method":"echo","params":9007199254740993}`, `{"jsonrpc":"2.0","id":9007199254740993,"result":9007199254740993}`},
		{"fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"echo"}`, fail(-32600, "null", "not a JSON-RPC 2.0 message")},
		{"huge id", `{"jsonrpc":"2.0","id":1` + strings.Repeat("0", 40) + `,"method":"echo"}`, fail(-32600, "null", "not a JSON-RPC 2.0 message")},
		{"object as id", `{"jsonrpc":"2.0","id":{},"method":"echo"}`, fail(-32600, "null", "not a JSON-RPC 2.0 message")},
		{"no JSON", `hello`, fail(-32700, "null", notJSON)},
		{"half of JSON", `{"jsonrpc":"2.0","id":1,"method":"echo"`, fail(-32700, "null", notJSON)},
		{"bad JSON deep inside", `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1,,2]}}`, fail(-32700, "null", notJSON)},
		{"two values", `{"jsonrpc":"2.0","id":1,"method":"echo"}{}`, fail(-32700, "null", notJSON)},
		{"100,000 levels", `{"jsonrpc":"2.0","id":1,"method":"echo","params":` + deep + `}`, fail(-32600, "1", "echo is nested 100001 deep, and at most 10000 is read")},
		{"an empty body", ``, fail(-32700, "null", notJSON)},
		{"a byte order mark", "\uFEFF" + `{"jsonrpc":"2.0","id":1,"method":"echo"}`, fail(-32700, "null", notJSON)},
		{"a scalar", `5`, fail(-32600, "null", "not a JSON-RPC 2.0 message")},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"echo"}]`, fail(-32600, "null", "not a JSON-RPC 2.0 message")},
		{"version 1.0", `{"jsonrpc":"1.0","id":1,"method":"echo"}`, fail(-32600, "1", "not a JSON-RPC 2.0 message")},
		{"no method", `{"jsonrpc":"2.0","id":"x"}`, fail(-32600, `"x"`, "not a JSON-RPC 2.0 message")},
		{"method is a number", `{"jsonrpc":"2.0","id":3,"method":5}`, fail(-32600, "3", "not a JSON-RPC 2.0 message")},
		{"wrong case of a name", `{"jsonrpc":"2.0","id":3,"Method":"echo"}`, fail(-32600, "3", "not a JSON-RPC 2.0 message")},
		{"name with a NUL", `{"jsonrpc":"2.0","id":3,"method\u0000":"panic","method":"echo"}`, `{"jsonrpc":"2.0","id":3,"result":null}`},
		{"method twice", `{"jsonrpc":"2.0","id":3,"method":"echo","method":"panic"}`, fail(-32600, "3", "a member name comes twice")},
		{"name twice by escape", `{"jsonrpc":"2.0","id":3,"method":"echo","m\u0065thod":"panic"}`, fail(-32600, "3", "a member name comes twice")},
		{"name twice deep inside", `{"jsonrpc":"2.0","id":3,"method":"echo","params":{"a":{"b":1,"b":2}}}`, fail(-32600, "3", "a member name comes twice")},
		{"unknown method", `{"jsonrpc":"2.0","id":4,"method":"x"}`, fail(-32601, "4", `unknown method "x"`)},
		{"unknown $/ request", `{"jsonrpc":"2.0","id":4,"method":"$/x"}`, fail(-32601, "4", `there is no such request below $/`)},
		{"cancel as a request", `{"jsonrpc":"2.0","id":4,"method":"$/cancelRequest","params":{"id":4}}`, fail(-32601, "4", `there is no such request below $/`)},
		{"plain error", `{"jsonrpc":"2.0","id":5,"method":"plain"}`, fail(-32803, "5", "disk full")},
		{"wrapped error keeps its code", `{"jsonrpc":"2.0","id":5,"method":"wrapped"}`, fail(-32801, "5", "stale")},
		{"panic", `{"jsonrpc":"2.0","id":5,"method":"panic"}`, fail(-32603, "5", "internal error in panic; the log has the details")},
		{"result without JSON", `{"jsonrpc":"2.0","id":5,"method":"unencodable"}`, fail(-32603, "5", "the result of unencodable can't be encoded")},
		{"result that is not UTF-8", `{"jsonrpc":"2.0","id":5,"method":"bytes"}`, `{"jsonrpc":"2.0","id":5,"result":{"text":"a` + "\uFFFD" + `b<>"}}`},
		{"good params", `{"jsonrpc":"2.0","id":6,"method":"typed","params":{"textDocument":{"uri":"x"},"more":1}}`, `{"jsonrpc":"2.0","id":6,"result":null}`},
		{"wrong type in params", `{"jsonrpc":"2.0","id":6,"method":"typed","params":{"textDocument":{"uri":5}}}`, fail(-32602, "6", "textDocument.uri: can't be a JSON number")},
		{"wrong case in params", `{"jsonrpc":"2.0","id":6,"method":"typed","params":{"TextDocument":{"uri":5}}}`, `{"jsonrpc":"2.0","id":6,"result":null}`},
		{"unknown reply", `{"jsonrpc":"2.0","id":99,"result":{}}`, ""},
		{"bad reply", `{"jsonrpc":"2.0","id":99,"result":{},"error":{"code":1,"message":"x"}}`, ""},
		{"notification with a null id", `{"jsonrpc":"2.0","id":null,"method":"x"}`, ""},
		{"cancel of nothing", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":77}}`, ""},
		{"cancel of null", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}`, ""},
		{"cancel without params", `{"jsonrpc":"2.0","method":"$/cancelRequest"}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := dial(t, h, lsp.Options{})
			w.send(test.send)
			if test.want != "" {
				if diff := cmp.Diff(test.want, w.read()); diff != "" {
					t.Errorf("reply (-want +got):\n%s", diff)
				}
			}
			w.send(`{"jsonrpc":"2.0","id":"still there","method":"echo"}`)
			if diff := cmp.Diff(`{"jsonrpc":"2.0","id":"still there","result":null}`, w.read()); diff != "" {
				t.Errorf("the next request (-want +got):\n%s", diff)
			}
			_ = w.in.Close()
			if err := <-w.end; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBadFrames(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":1,"method":"echo","params":"here"}`
	const next = "Content-Length: 56\r\n\r\n" + good
	for _, test := range []struct{ name, send string }{
		{"nothing", ""},
		{"empty lines between frames", "\r\n\n\r\n"},
		{"no length", "Foo: 1\r\n\r\n{}"},
		{"negative", "Content-Length: -5\r\n\r\n{}"},
		{"no number", "Content-Length: abc\r\n\r\n{}"},
		{"over the limit", "Content-Length: 99999999999\r\n\r\n{"},
		{"over 64 bits", "Content-Length: 99999999999999999999999\r\n\r\n"},
		{"two lengths", "Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}"},
		{"garbage", "\x00\xff garbage\r\n"},
		{"a line of 1 MB", strings.Repeat("x", 1<<20) + "\r\n"},
		{"a line of 1 MB that ends in the header", strings.Repeat("x", 1<<20)},
		{"100 header lines", strings.Repeat("A: b\r\n", 100)},
		{"too short a length", "Content-Length: 5\r\n\r\n" + good},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := dial(t, funcs{request: func(_ context.Context, _ string, p json.RawMessage) (any, error) { return p, nil }}, lsp.Options{})
			go func() { _, _ = io.WriteString(w.in, test.send+next) }()
			for {
				got := w.read()
				if strings.Contains(got, `"id":null,"error":{"code":-32700`) {
					continue
				}
				if want := `{"jsonrpc":"2.0","id":1,"result":"here"}`; got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				break
			}
		})
	}
}

func TestStreamEnds(t *testing.T) {
	for _, test := range []struct {
		name, send string
		want       error
	}{
		{"between frames", "", nil},
		{"by exit", "Content-Length: 33\r\n\r\n" + `{"jsonrpc":"2.0","method":"exit"}`, nil},
		{"in a header", "Content-Len", io.ErrUnexpectedEOF},
		{"in a body", "Content-Length: 10\r\n\r\n{", io.ErrUnexpectedEOF},
		{"while searching for a header", "garbage\r\nmore", io.ErrUnexpectedEOF},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := lsp.NewConn(strings.NewReader(test.send), io.Discard, funcs{}, lsp.Options{}).Run(t.Context())
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	causes := make(chan error, 1)
	started := make(chan struct{}, 1)
	w := dial(t, funcs{request: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
		started <- struct{}{}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, fmt.Errorf("stopped: %w", ctx.Err())
	}}, lsp.Options{Concurrency: 1})
	for _, id := range []string{"7", `"seven"`} {
		w.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"slow"}`)
		<-started
		// The second waits for the only slot and is answered before the first.
		w.send(`{"jsonrpc":"2.0","id":8,"method":"slow"}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":8}}`)
		if diff := cmp.Diff(fail(-32800, "8", "cancelled by the client"), w.read()); diff != "" {
			t.Errorf("queued (-want +got):\n%s", diff)
		}
		w.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`)
		if diff := cmp.Diff(fail(-32800, id, "cancelled by the client"), w.read()); diff != "" {
			t.Errorf("running (-want +got):\n%s", diff)
		}
		if cause := <-causes; !errors.Is(cause, lsp.ErrCancelled) {
			t.Errorf("cause: %v", cause)
		}
	}
}

func TestIDInUse(t *testing.T) {
	release := make(chan struct{})
	w := dial(t, funcs{request: func(context.Context, string, json.RawMessage) (any, error) {
		<-release
		return "done", nil
	}}, lsp.Options{})
	w.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`, `{"jsonrpc":"2.0","id":1,"method":"x"}`)
	if diff := cmp.Diff(fail(-32600, "1", "the id is in use"), w.read()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	close(release)
	if diff := cmp.Diff(`{"jsonrpc":"2.0","id":1,"result":"done"}`, w.read()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCallFromRequest(t *testing.T) {
	var conn *lsp.Conn
	h := funcs{request: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
		var title string
		err := conn.Call(ctx, "window/showMessageRequest", params, &title)
		return title, err
	}}
	w := dial(t, h, lsp.Options{})
	conn = w.conn
	w.send(`{"jsonrpc":"2.0","id":1,"method":"a","params":"first"}`)
	first := w.read()
	w.send(`{"jsonrpc":"2.0","id":2,"method":"b","params":"second"}`)
	second := w.read()
	want := `{"jsonrpc":"2.0","method":"window/showMessageRequest","params":"second","id":2}`
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.send(`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no such method"}}`)
	if diff := cmp.Diff(fail(-32803, "2", "window/showMessageRequest: no such method (-32601)"), w.read()); diff != "" {
		t.Errorf("a client's error (-want +got):\n%s\n%s", diff, first)
	}
	w.send(`{"jsonrpc":"2.0","id":1,"result":"Allow"}`, `{"jsonrpc":"2.0","id":1,"result":"again"}`)
	if diff := cmp.Diff(`{"jsonrpc":"2.0","id":1,"result":"Allow"}`, w.read()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPeerGone(t *testing.T) {
	errs := make(chan error, 2)
	var conn *lsp.Conn
	h := funcs{request: func(ctx context.Context, method string, _ json.RawMessage) (any, error) {
		if method == "call" {
			errs <- conn.Call(context.WithoutCancel(ctx), "question", nil, nil)
			return nil, nil
		}
		<-ctx.Done()
		errs <- context.Cause(ctx)
		return nil, ctx.Err()
	}}
	w := dial(t, h, lsp.Options{})
	conn = w.conn
	w.send(`{"jsonrpc":"2.0","id":1,"method":"call"}`)
	w.read()
	w.send(`{"jsonrpc":"2.0","id":2,"method":"wait"}`)
	go func() { _, _ = io.Copy(io.Discard, w.out) }()
	_ = w.in.Close()
	for range 2 {
		if err := <-errs; !errors.Is(err, lsp.ErrPeerGone) {
			t.Errorf("got %v", err)
		}
	}
	if err := <-w.end; err != nil {
		t.Error(err)
	}
	if err := conn.Notify(t.Context(), "x", nil); !errors.Is(err, lsp.ErrPeerGone) {
		t.Errorf("notification after the end: %v", err)
	}
}

// TestBounds: who asks too much, or reads nothing, is told so.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := dial(t, funcs{request: func(context.Context, string, json.RawMessage) (any, error) {
			<-release
			return nil, nil
		}}, lsp.Options{MaxPending: 600, WriteTimeout: time.Minute})
		w.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`, `{"jsonrpc":"2.0","id":2,"method":"x"}`)
		if diff := cmp.Diff(fail(-32802, "2", "too many requests are pending; try again later"), w.read()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		close(release)
		if err := <-w.end; err == nil || err.Error() != "writing to the client: the client has not read for 1m0s" {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestDropped: a message that can't be read is answered, told, and the
// connection goes on.
func TestDropped(t *testing.T) {
	dropped := make(chan string, 10)
	w := dial(t, funcs{request: func(context.Context, string, json.RawMessage) (any, error) { return nil, nil }}, lsp.Options{MaxFrame: 1 << 20, Dropped: func(what, _, _ string) { dropped <- what }})
	long, deep := strings.Repeat("x", 1<<20), strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)
	for _, c := range []struct{ body, id, told string }{
		{`{"jsonrpc":"2.0","id":1,"method":"m","params":{"text":"` + long + `"}}`, "1", "m of "},
		{`{"jsonrpc":"2.0","method":"n","params":{"text":"` + long + `"}}`, "null", "n of "},
		{`{"jsonrpc":"2.0","id":"two","method":"m","params":` + deep + `}`, `"two"`, "m is nested 20001 deep"},
		{`{"jsonrpc":"2.0","method":"n","params":` + deep + `}`, "null", "n is nested"},
		{`{"jsonrpc":"2.0","id":3,"method":`, "null", "not valid JSON"},
	} {
		w.send(c.body)
		var answer struct {
			ID    json.RawMessage
			Error struct{ Message string }
		}
		if got := w.read(); json.Unmarshal([]byte(got), &answer) != nil || string(answer.ID) != c.id || !strings.Contains(answer.Error.Message, c.told) {
			t.Errorf("%.60s is answered %s", c.body, got)
		}
		if what := <-dropped; !strings.Contains(what, c.told) {
			t.Errorf("%.60s is told as %q", c.body, what)
		}
	}
	// Who waits for a reply that is too long is told so.
	failed := make(chan error, 1)
	go func() { failed <- w.conn.Call(t.Context(), "ask", nil, nil) }()
	var asked struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(w.read()), &asked); err != nil {
		t.Fatal(err)
	}
	w.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":"` + long + `"}`)
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "over the limit") {
		t.Errorf("a reply that is too long: %v", err)
	}
	w.send(`{"jsonrpc":"2.0","id":4,"method":"m"}`)
	if got := w.read(); !strings.Contains(got, `"id":4`) {
		t.Errorf("after all that: %s", got)
	}
}
