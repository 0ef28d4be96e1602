package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestNoGoroutineStays: however a connection ends, all that it started ends. The
// bubble fails when a goroutine is left; its clock makes time-outs immediate.
func TestNoGoroutineStays(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(in io.WriteCloser, out io.ReadCloser, cancel func())
	}{
		{"the peer hangs up", func(in io.WriteCloser, out io.ReadCloser, _ func()) {
			_ = in.Close()
			_, _ = io.Copy(io.Discard, out)
		}},
		{"the peer neither reads nor hangs up", func(io.WriteCloser, io.ReadCloser, func()) {}},
		{"the peer's reading end is closed", func(_ io.WriteCloser, out io.ReadCloser, _ func()) { _ = out.Close() }},
		{"the context ends", func(_ io.WriteCloser, out io.ReadCloser, cancel func()) {
			cancel()
			_, _ = io.Copy(io.Discard, out)
		}},
	} {
		for _, drain := range []time.Duration{0, 5 * time.Second} {
			t.Run(test.name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, f form) {
					sr, in := io.Pipe()
					out, sw := io.Pipe()
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					var conn *Conn
					stopped := false
					called := make(chan error, 1)
					conn = New(f.open(sr, 1<<20), sw, funcs{request: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
						called <- conn.Call(context.WithoutCancel(ctx), "question", nil, nil)
						<-ctx.Done()
						stopped = true
						return nil, ctx.Err()
					}}, options(Options{DrainTimeout: drain}))
					end := make(chan error, 1)
					go func() {
						end <- conn.Run(ctx)
						_ = sw.Close()
					}()
					if _, err := io.WriteString(in, f.frame(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					test.end(in, out, cancel)
					<-end
					if !stopped {
						t.Error("the request still runs")
					}
					if err := <-called; !errors.Is(err, errGone) {
						t.Errorf("its call got %v", err)
					}
				})
			})
		}
	}
}

// TestEndIsWaitedFor: Run returns after what it has started, unless that is abandoned.
func TestEndIsWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, f form) {
		for _, abandon := range []bool{false, true} {
			release := make(chan bool)
			p := dial(t, f, funcs{request: func(context.Context, string, json.RawMessage) (any, error) {
				<-release
				return nil, nil
			}}, Options{DrainTimeout: time.Second, Abandon: abandon})
			p.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
			_ = p.in.Close()
			<-time.After(time.Minute)
			select {
			case <-p.end:
				if !abandon {
					t.Error("Run has returned while a request works")
				}
				close(release)
			default:
				if abandon {
					t.Error("Run waits for a request that never ends")
				}
				close(release)
				<-p.end
			}
		}
	})
}
