package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/lsp"
)

// TestReaderHandsOver: a request that the reader serves itself keeps messages
// behind it waiting for a moment at most, and not at all while it only waits.
// The clock is the bubble's.
func TestReaderHandsOver(t *testing.T) {
	for method, most := range map[string]time.Duration{"works": time.Millisecond, "waits": 0, "calls": 0} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sr, in := io.Pipe()
				out, sw := io.Pipe()
				go func() { _, _ = io.Copy(io.Discard, out) }()
				told := make(chan struct{})
				over := make(chan struct{})
				var conn *lsp.Conn
				h := funcs{
					notify: func(context.Context, string, json.RawMessage) { close(told) },
					request: func(ctx context.Context, method string, _ json.RawMessage) (any, error) {
						switch method {
						case "waits":
							defer lsp.Waiting(ctx)()
						case "calls":
							go func() { _ = conn.Call(ctx, "question", nil, nil) }()
						}
						<-told
						close(over)
						return nil, nil
					},
				}
				conn = lsp.NewConn(sr, sw, h, lsp.Options{})
				end := make(chan error, 1)
				go func() { end <- conn.Run(t.Context()) }()
				begin := time.Now()
				for _, body := range []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, method), `{"jsonrpc":"2.0","method":"go on"}`} {
					if _, err := fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
						t.Fatal(err)
					}
				}
				<-over
				if took := time.Since(begin); took > most {
					t.Errorf("the next message waited for %v, at most %v is right", took, most)
				}
				_ = in.Close()
				if err := <-end; err != nil {
					t.Error(err)
				}
				_ = sw.Close()
			})
		})
	}
}
