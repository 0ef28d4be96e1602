package lsp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// pair connects two connections by operating system pipes, as a server and its
// editor are, and runs both.
func pair(b testing.TB, server lsp.Handler) *lsp.Conn {
	b.Helper()
	sr, cw, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	cr, sw, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	srv := lsp.NewConn(sr, sw, server, lsp.Options{})
	client := lsp.NewConn(cr, cw, funcs{}, lsp.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ends := make(chan error, 2)
	go func() { ends <- srv.Run(ctx) }()
	go func() { ends <- client.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		<-ends
		<-ends
		for _, f := range []io.Closer{sr, sw, cr, cw} {
			_ = f.Close()
		}
	})
	return client
}

// funcs is a handler made of functions.
type funcs struct {
	notify  func(ctx context.Context, method string, params json.RawMessage)
	request func(ctx context.Context, method string, params json.RawMessage) (any, error)
}

func (f funcs) Notification(ctx context.Context, method string, params json.RawMessage) {
	if f.notify != nil {
		f.notify(ctx, method, params)
	}
}

func (f funcs) Request(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if f.request == nil {
		return nil, lsp.Errorf(lsp.MethodNotFound, "unknown method %q", method)
	}
	return f.request(ctx, method, params)
}

var echo = funcs{request: func(_ context.Context, _ string, params json.RawMessage) (any, error) {
	var p struct {
		Text string `json:"text"`
	}
	if err := lsp.Params(params, &p); err != nil {
		return nil, err
	}
	return p, nil
}}

func BenchmarkRoundTrip(b *testing.B) {
	for _, bench := range []struct {
		name string
		text string
	}{
		{"90B", strings.Repeat("x", 30)},
		{"1MiB", strings.Repeat("some text of a file\n", 1<<20/20)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			client := pair(b, echo)
			params := map[string]string{"text": bench.text}
			b.ReportAllocs()
			for b.Loop() {
				var result json.RawMessage
				if err := client.Call(context.Background(), "echo", params, &result); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkResult1MiB is a small request with a big result, for a client that
// only counts the bytes.
func BenchmarkResult1MiB(b *testing.B) {
	result := map[string]string{"content": strings.Repeat("some text of a file\n", 1<<20/20)}
	sr, cw, _ := os.Pipe()
	cr, sw, _ := os.Pipe()
	h := funcs{request: func(context.Context, string, json.RawMessage) (any, error) { return result, nil }}
	srv := lsp.NewConn(sr, sw, h, lsp.Options{})
	end := make(chan error, 1)
	go func() { end <- srv.Run(context.Background()) }()
	in := bufio.NewReaderSize(cr, 64<<10)
	for b.Loop() {
		if _, err := io.WriteString(cw, "Content-Length: 40\r\n\r\n"+`{"jsonrpc":"2.0","id":1,"method":"get" }`); err != nil {
			b.Fatal(err)
		}
		var n int
		if _, err := fmt.Fscanf(in, "Content-Length: %d\r\n\r\n", &n); err != nil {
			b.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, in, int64(n)); err != nil {
			b.Fatal(err)
		}
	}
	_ = cw.Close()
	<-end
}

// BenchmarkPipelined keeps 64 calls under way.
func BenchmarkPipelined(b *testing.B) {
	client := pair(b, echo)
	params := map[string]string{"text": strings.Repeat("x", 30)}
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			var result json.RawMessage
			if err := client.Call(context.Background(), "echo", params, &result); err != nil {
				b.Error(err)
			}
		}
	})
}
