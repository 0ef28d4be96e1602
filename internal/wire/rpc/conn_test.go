package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCancel(t *testing.T) {
	each(t, func(t *testing.T, f form) {
		causes := make(chan error, 1)
		started := make(chan struct{}, 1)
		p := dial(t, f, funcs{request: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
			started <- struct{}{}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil, fmt.Errorf("stopped: %w", ctx.Err())
		}}, Options{Concurrency: 1})
		for _, id := range []string{"7", `"seven"`} {
			p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"slow"}`)
			<-started
			// The second waits for the only slot and is answered before the first.
			p.send(`{"jsonrpc":"2.0","id":8,"method":"slow"}`, `{"jsonrpc":"2.0","method":"cancel","params":{"request":8}}`)
			p.want(failure("8", "cancelled by the client"))
			p.send(`{"jsonrpc":"2.0","method":"cancel","params":{"request":` + id + `}}`)
			p.want(failure(id, "stopped: context canceled"))
			if cause := <-causes; !errors.Is(cause, ErrCancelled) {
				t.Errorf("cause: %v", cause)
			}
		}
	})
}

// TestIDInUse: the second request gets an answer of its own, and the first keeps its.
func TestIDInUse(t *testing.T) {
	for nameless, id := range map[bool]string{false: "1", true: "null"} {
		each(t, func(t *testing.T, f form) {
			release := make(chan struct{})
			p := dial(t, f, funcs{request: func(context.Context, string, json.RawMessage) (any, error) {
				<-release
				return "done", nil
			}}, Options{Nameless: nameless})
			p.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`, `{"jsonrpc":"2.0","id":1,"method":"x"}`)
			p.want(failure(id, "the id is in use"))
			close(release)
			p.want(`{"jsonrpc":"2.0","id":1,"result":"done"}`)
			p.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`) // it is free again
			p.want(`{"jsonrpc":"2.0","id":1,"result":"done"}`)
		})
	}
}

// TestOrder: notifications and the beginnings of requests come in wire order, and
// neither a request that works nor a panic holds them up.
func TestOrder(t *testing.T) {
	each(t, func(t *testing.T, f form) {
		const n = 2000
		var got []string
		all := make(chan struct{})
		var logged bytes.Buffer
		p := dial(t, f, funcs{
			notify: func(_ context.Context, _ string, params json.RawMessage) {
				if got = append(got, string(params)); len(got) == n {
					close(all)
				}
				if len(got)%100 == 0 {
					panic("a bad notification")
				}
			},
			prepare: func(r *Request) error {
				got = append(got, string(r.Params))
				return nil
			},
			request: func(context.Context, string, json.RawMessage) (any, error) {
				<-all
				return "waited", nil
			},
		}, Options{Log: slog.New(slog.NewTextHandler(&logged, nil))})
		for i := range n {
			if i == n/2 {
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"wait","params":[%d]}`, i))
				continue
			}
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"count","params":[%d]}`, i))
		}
		p.want(`{"jsonrpc":"2.0","id":1,"result":"waited"}`)
		p.close()
		for i, v := range got {
			if v != fmt.Sprintf("[%d]", i) {
				t.Fatalf("%s came as number %d", v, i)
			}
		}
		if !strings.Contains(logged.String(), "a bad notification") {
			t.Error("the panic is not in the log")
		}
	})
}

// TestOneAnswer: whatever becomes of a request, it is answered once.
func TestOneAnswer(t *testing.T) {
	each(t, func(t *testing.T, f form) {
		p := dial(t, f, funcs{
			prepare: func(r *Request) error {
				switch r.Method {
				case "begin fails":
					return Errorf(7, "no")
				case "begin panics":
					panic("boom")
				}
				return nil
			},
			request: func(_ context.Context, method string, params json.RawMessage) (any, error) {
				switch method {
				case "fails":
					return nil, &Error{Code: 7, Message: "a\xffb", Data: json.RawMessage("{\n\"a\": 1}")}
				case "panics":
					panic("boom")
				case "has no JSON":
					return func() {}, nil
				}
				return params, nil
			},
		}, Options{Inline: map[string]bool{"inline": true}})
		for method, want := range map[string]string{
			"works":        `"result":[1]`,
			"inline":       `"result":[1]`,
			"begin fails":  `"error":{"code":7,"message":"no"}`,
			"begin panics": `"error":{"code":-1,"message":"the handler has failed"}`,
			"fails":        "\"error\":{\"code\":7,\"message\":\"a\uFFFDb\",\"data\":{\"a\":1}}",
			"panics":       `"error":{"code":-1,"message":"the handler has failed"}`,
		} {
			p.send(`{"jsonrpc":"2.0","id":"a","method":"` + method + `","params":[1]}`)
			p.want(`{"jsonrpc":"2.0","id":"a",` + want + `}`)
		}
		p.send(`{"jsonrpc":"2.0","id":"b","method":"has no JSON"}`)
		if got := p.next(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":"b","error":{"code":-1,"message":"the result can't be written: `) {
			t.Errorf("got %s", got)
		}
		p.close()
	})
}

// TestBadMessages: what can't be used is answered, if not too often, and the next
// message is read.
func TestBadMessages(t *testing.T) {
	each(t, func(t *testing.T, f form) {
		p := dial(t, f, echo, Options{MaxNameless: 2})
		long := strings.Repeat("x", 1<<20)
		for range 3 {
			p.send(`{"jsonrpc":"2.0",`)
		}
		p.send(`{"jsonrpc":"2.0","id":3,"method":"m","params":"`+long+`"}`, `{"jsonrpc":"2.0","id":4,"method":"m","params":[4]}`)
		for _, want := range []string{`"id":null,"error":{"code":-32700`, `"id":null,"error":{"code":-32700`, `"id":3,"error":{"code":-32600`, `"id":4,"result":[4]`} {
			if got := p.next(); !strings.Contains(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		p.close()
	})
}

// TestThen: what follows a reply follows it on the wire, too.
func TestThen(t *testing.T) {
	each(t, func(t *testing.T, f form) {
		var conn *Conn
		p := dial(t, f, funcs{request: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
			return Reply{Result: 1, Then: func() { _ = conn.Notify(context.WithoutCancel(ctx), "then", []int{2}) }}, nil
		}}, Options{DrainTimeout: time.Minute})
		conn = p.conn
		p.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
		p.want(`{"jsonrpc":"2.0","id":1,"result":1}`)
		p.want(`{"jsonrpc":"2.0","method":"then","params":[2]}`)
		p.close()
	})
}

func TestCalls(t *testing.T) {
	for _, prefix := range []string{"", "c-"} {
		each(t, func(t *testing.T, f form) {
			var conn *Conn
			p := dial(t, f, funcs{request: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
				var title string
				err := conn.Call(ctx, "ask", params, &title)
				return title, err
			}}, Options{Prefix: prefix, DrainTimeout: time.Minute})
			conn = p.conn
			id := func(n string) string {
				if prefix != "" {
					return `"` + prefix + n + `"`
				}
				return n
			}
			p.send(`{"jsonrpc":"2.0","id":1,"method":"a","params":["first"]}`)
			p.want(`{"jsonrpc":"2.0","method":"ask","params":["first"],"id":` + id("1") + `}`)
			p.send(`{"jsonrpc":"2.0","id":2,"method":"b","params":["second"]}`)
			p.want(`{"jsonrpc":"2.0","method":"ask","params":["second"],"id":` + id("2") + `}`)
			p.send(`{"jsonrpc":"2.0","id":` + id("2") + `,"error":{"code":-32601,"message":"no such method"}}`)
			p.want(failure("2", "ask: no such method (-32601)"))
			p.send(`{"jsonrpc":"2.0","id":`+id("1")+`,"result":"yes"}`, `{"jsonrpc":"2.0","id":`+id("1")+`,"result":"again"}`)
			p.want(`{"jsonrpc":"2.0","id":1,"result":"yes"}`)
			p.send(`{"jsonrpc":"2.0","id":3,"method":"c"}`)
			p.want(`{"jsonrpc":"2.0","method":"ask","params":null,"id":` + id("3") + `}`)
			p.send(`{"jsonrpc":"2.0","id":` + id("3") + `,"result":5}`)
			if got := p.next(); !strings.Contains(got, "bad result: ") {
				t.Errorf("got %s", got)
			}
			// Who doesn't wait any more tells the peer.
			p.send(`{"jsonrpc":"2.0","id":4,"method":"d"}`)
			p.next()
			p.send(`{"jsonrpc":"2.0","method":"cancel","params":{"request":4}}`)
			p.want(`{"jsonrpc":"2.0","method":"cancel","params":{"request":` + id("4") + `}}`)
			p.want(failure("4", "context canceled"))
			p.close()
		})
	}
}

// TestThenOfCalls: it is called once, before what came after the reply, however the
// call ends.
func TestThenOfCalls(t *testing.T) {
	inBubble(t, func(t *testing.T, f form) {
		var order []string
		p := dial(t, f, funcs{notify: func(_ context.Context, method string, _ json.RawMessage) { order = append(order, method) }}, Options{})
		then := func(result json.RawMessage, err error) { order = append(order, fmt.Sprintf("%s %v", result, err)) }
		start := func() *Pending {
			call, err := p.conn.Start(t.Context(), "x", nil, then)
			if err != nil {
				t.Fatal(err)
			}
			return call
		}
		start()
		p.next()
		p.send(`{"jsonrpc":"2.0","id":1,"result":1}`, `{"jsonrpc":"2.0","method":"after"}`)
		synctest.Wait()
		call := start()
		p.next()
		cancelled := make(chan string)
		go func() { cancelled <- p.next() }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := call.Wait(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if got, want := <-cancelled, `{"jsonrpc":"2.0","method":"cancel","params":{"request":2}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		start()
		p.next()
		p.close()
		if got, want := strings.Join(order, ", "), "1 <nil>, after,  context deadline exceeded,  the peer is gone"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if _, err := p.conn.Start(t.Context(), "x", nil, then); !errors.Is(err, errGone) {
			t.Errorf("a call after the end: %v", err)
		}
		if err := p.conn.Notify(t.Context(), "x", nil); !errors.Is(err, errGone) {
			t.Errorf("a notification after the end: %v", err)
		}
	})
}

// TestEnd: what ends a connection is told once, and how it ended is no secret.
func TestEnd(t *testing.T) {
	each(t, func(t *testing.T, f form) {
		for _, test := range []struct {
			name, send string
			want       error
		}{
			{"between messages", "", nil},
			{"by the last message", f.frame(`{"jsonrpc":"2.0","method":"exit"}`) + f.frame(`{"jsonrpc":"2.0","method":"more"}`), nil},
		} {
			told := 0
			h := funcs{
				notify: func(_ context.Context, method string, _ json.RawMessage) {
					if method == "more" {
						t.Error("a message after the last is handled")
					}
				},
				ended: func(err error) {
					if told++; !errors.Is(err, test.want) {
						t.Errorf("%s: told %v", test.name, err)
					}
				},
			}
			err := New(f.open(strings.NewReader(test.send), 1<<20), io.Discard, h, options(Options{Last: "exit"})).Run(t.Context())
			if !errors.Is(err, test.want) || told != 1 {
				t.Errorf("%s: got %v, told %d times", test.name, err, told)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		in, _ := io.Pipe() // nobody ever writes
		var once sync.Once
		started := make(chan struct{})
		conn := New(f.open(readFunc(func(p []byte) (int, error) {
			once.Do(func() { close(started) })
			return in.Read(p)
		}), 1<<20), io.Discard, funcs{}, options(Options{DrainTimeout: time.Millisecond, Abandon: true}))
		end := make(chan error)
		go func() { end <- conn.Run(ctx) }()
		<-started
		cancel()
		if err := <-end; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		_ = in.Close()
	})
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
