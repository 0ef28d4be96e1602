package lsp_test

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"testing/synctest"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// TestNoGoroutineStays: however a connection ends, all that it started ends. The
// bubble fails when a goroutine is left; its clock makes time-outs immediate.
func TestNoGoroutineStays(t *testing.T) {
	const request = "Content-Length: 41\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"wait" }`
	for _, test := range []struct {
		name string
		end  func(in io.WriteCloser, out io.ReadCloser, cancel func())
	}{
		{"the client hangs up", func(in io.WriteCloser, out io.ReadCloser, _ func()) {
			_ = in.Close()
			_, _ = io.Copy(io.Discard, out)
		}},
		{"the client neither reads nor hangs up", func(io.WriteCloser, io.ReadCloser, func()) {}},
		{"the client's reading end is closed", func(_ io.WriteCloser, out io.ReadCloser, _ func()) { _ = out.Close() }},
		{"the context ends", func(_ io.WriteCloser, out io.ReadCloser, cancel func()) {
			cancel()
			_, _ = io.Copy(io.Discard, out)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sr, in := io.Pipe()
				out, sw := io.Pipe()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var conn *lsp.Conn
				stopped := false
				h := funcs{request: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
					_ = conn.Call(ctx, "question", nil, nil)
					<-ctx.Done()
					stopped = true
					return nil, ctx.Err()
				}}
				conn = lsp.NewConn(sr, sw, h, lsp.Options{})
				end := make(chan error, 1)
				go func() {
					end <- conn.Run(ctx)
					_ = sw.Close()
				}()
				if _, err := io.WriteString(in, request); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				test.end(in, out, cancel)
				<-end
				if !stopped {
					t.Error("the request still runs")
				}
			})
		})
	}
}
