package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// TestClientThatDoesNotRead: replies wait and get through in the end, progress
// is dropped, cancellations still work.
func TestClientThatDoesNotRead(t *testing.T) {
	const n = 20
	started, causes := make(chan struct{}), make(chan error, 1)
	var conn *lsp.Conn
	var worked sync.WaitGroup
	var dropped atomic.Int64
	h := funcs{request: func(ctx context.Context, method string, _ json.RawMessage) (any, error) {
		if method == "wait" {
			close(started)
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil, ctx.Err()
		}
		defer worked.Done()
		for range 1000 {
			if errors.Is(conn.Notify(ctx, "$/progress", strings.Repeat("x", 1000)), lsp.ErrDropped) {
				dropped.Add(1)
			}
		}
		return strings.Repeat("x", 1<<20), nil
	}}
	w := dial(t, h, lsp.Options{MaxUnsent: 100_000})
	conn = w.conn
	worked.Add(n)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
	<-started
	for i := range n {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"progress"}`, 100+i))
	}
	worked.Wait()
	w.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
	if cause := <-causes; !errors.Is(cause, lsp.ErrCancelled) {
		t.Errorf("cause: %v", cause)
	}
	if dropped.Load() == 0 {
		t.Error("no progress was dropped")
	}
	for replies := 0; replies < n+1; {
		if !strings.Contains(w.read(), `"$/progress"`) {
			replies++
		}
	}
}

// TestClientThatNeverReads is given up.
func TestClientThatNeverReads(t *testing.T) {
	w := dial(t, echo, lsp.Options{WriteTimeout: time.Millisecond, DrainTimeout: time.Millisecond})
	w.send(`{"jsonrpc":"2.0","id":1,"method":"echo"}`)
	if err := <-w.end; err == nil || !strings.Contains(err.Error(), "has not read") {
		t.Errorf("Run: %v", err)
	}
}

// TestManyCalls: every one of 10,000 concurrent calls gets its own reply, once.
func TestManyCalls(t *testing.T) {
	const n = 10_000
	payload := strings.Repeat("x", 10_000)
	h := funcs{request: func(_ context.Context, _ string, params json.RawMessage) (any, error) {
		return json.RawMessage("[" + string(params) + `,"` + payload + `"]`), nil
	}}
	w := dial(t, h, lsp.Options{})
	go func() {
		for i := range n {
			b := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"read","params":%d}`, i, i)
			if _, err := fmt.Fprintf(w.in, "Content-Length: %d\r\n\r\n%s", len(b), b); err != nil {
				return
			}
		}
	}()
	seen := make([]bool, n)
	for range n {
		body := w.read()
		var id, param int
		if _, err := fmt.Sscanf(body[:min(len(body), 80)], `{"jsonrpc":"2.0","id":%d,"result":[%d,"xxx`, &id, &param); err != nil || len(body) < len(payload) {
			t.Fatalf("reply of %d bytes: %v", len(body), err)
		}
		if seen[id] {
			t.Fatalf("two replies to %d", id)
		}
		if id != param {
			t.Fatalf("the reply to %d has the result of %d", id, param)
		}
		seen[id] = true
	}
	_ = w.in.Close()
	if err := <-w.end; err != nil {
		t.Error(err)
	}
}

// TestLongRequests: requests that wait for another one do not keep it out,
// however many they are, and short ones wait for their turn.
func TestLongRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var running atomic.Int64
		w := dial(t, funcs{request: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
			if method == "release" {
				close(release)
				return method, nil
			}
			running.Add(1)
			<-release
			return method, nil
		}}, lsp.Options{Concurrency: 2})
		for i := range 4 {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"wait"}`, i))
		}
		synctest.Wait()
		if got := running.Load(); got != 2 {
			t.Errorf("%d work at once, want 2", got)
		}
		w.send(`{"jsonrpc":"2.0","id":"r","method":"release"}`)
		begin := time.Now()
		for range 5 {
			w.read()
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		_ = w.in.Close()
		if err := <-w.end; err != nil {
			t.Error(err)
		}
	})
}

// TestUnreadReplies: a peer that sends requests and reads no replies has only so
// many of them worked on, however long it does not read.
func TestUnreadReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var handled atomic.Int64
		w := dial(t, funcs{request: func(context.Context, string, json.RawMessage) (any, error) {
			handled.Add(1)
			return strings.Repeat("x", 1000), nil
		}}, lsp.Options{Concurrency: 2, MaxUnsent: 1000, WriteTimeout: time.Hour})
		const n = 50
		for i := range n {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, i))
		}
		<-time.After(time.Minute) // of the bubble's clock
		synctest.Wait()
		if got := handled.Load(); got > 10 {
			t.Errorf("%d requests were handled", got)
		}
		for range n {
			w.read()
		}
		if got := handled.Load(); got != n {
			t.Errorf("%d requests were handled in the end", got)
		}
		_ = w.in.Close()
		if err := <-w.end; err != nil {
			t.Error(err)
		}
	})
}

// TestPendingIsBounded: what would need too much memory is refused, not kept,
// and there is room again once the others are answered.
func TestPendingIsBounded(t *testing.T) {
	release := make(chan struct{})
	w := dial(t, funcs{request: func(context.Context, string, json.RawMessage) (any, error) {
		<-release
		return nil, nil
	}}, lsp.Options{MaxPending: 2300})
	for i := range 5 {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, i))
	}
	if diff := cmp.Diff(fail(-32802, "4", "too many requests are pending; try again later"), w.read()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	close(release)
	got := map[string]bool{}
	for range 4 {
		got[w.read()] = true
	}
	for i := range 4 {
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":null}`, i); !got[want] {
			t.Errorf("no %s among %v", want, got)
		}
	}
	w.send(`{"jsonrpc":"2.0","id":4,"method":"x"}`)
	for reply := w.read(); reply != `{"jsonrpc":"2.0","id":4,"result":null}`; reply = w.read() {
		if !strings.Contains(reply, "pending") { // the last of the others may not be forgotten yet
			t.Fatal(reply)
		}
		w.send(`{"jsonrpc":"2.0","id":4,"method":"x"}`)
	}
}
