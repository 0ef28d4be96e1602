package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestPeerThatDoesNotRead: replies wait and get through in the end, what is lossy
// is dropped, cancellations still work.
func TestPeerThatDoesNotRead(t *testing.T) {
	each(t, func(t *testing.T, f form) {
		const n = 20
		started, causes := make(chan struct{}), make(chan error, 1)
		var conn *Conn
		var worked sync.WaitGroup
		var dropped atomic.Int64
		p := dial(t, f, funcs{request: func(ctx context.Context, method string, _ json.RawMessage) (any, error) {
			if method == "wait" {
				close(started)
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return nil, ctx.Err()
			}
			defer worked.Done()
			for range 1000 {
				if errors.Is(conn.Notify(ctx, "progress", strings.Repeat("x", 1000)), ErrDropped) {
					dropped.Add(1)
				}
			}
			return strings.Repeat("x", 1<<20), nil
		}}, Options{MaxUnsent: 100_000, Lossy: map[string]bool{"progress": true}})
		conn = p.conn
		worked.Add(n)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
		<-started
		for i := range n {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"progress"}`, 100+i))
		}
		worked.Wait()
		p.send(`{"jsonrpc":"2.0","method":"cancel","params":{"request":1}}`)
		if cause := <-causes; !errors.Is(cause, ErrCancelled) {
			t.Errorf("cause: %v", cause)
		}
		if dropped.Load() == 0 {
			t.Error("no progress was dropped")
		}
		for replies := 0; replies < n+1; {
			if !strings.Contains(p.next(), `"progress"`) {
				replies++
			}
		}
	})
}

// TestPeerThatNeverReads is given up.
func TestPeerThatNeverReads(t *testing.T) {
	inBubble(t, func(t *testing.T, f form) {
		p := dial(t, f, echo, Options{WriteTimeout: time.Minute, DrainTimeout: time.Second})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"echo"}`)
		var write *WriteError
		if err := <-p.end; !errors.As(err, &write) || write.Unread != time.Minute {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestAsksWithoutReading: a peer whose requests are refused and that reads no answer
// waits, and is given up.
func TestAsksWithoutReading(t *testing.T) {
	inBubble(t, func(t *testing.T, f form) {
		p := dial(t, f, funcs{prepare: func(*Request) error { return Errorf(MethodNotFound, "none") }}, Options{MaxUnsent: 10 << 10})
		sent := make(chan int, 1)
		go func() {
			n := 0
			for ; n < 100_000; n++ {
				if _, err := io.WriteString(p.in, p.frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"none"}`, n))); err != nil {
					break
				}
			}
			sent <- n
		}()
		synctest.Wait()
		p.conn.out.mu.Lock()
		unsent := p.conn.out.unsent
		p.conn.out.mu.Unlock()
		if unsent < 20<<10 || unsent > 21<<10 {
			t.Errorf("%d bytes are unsent", unsent)
		}
		var write *WriteError
		if err := <-p.end; !errors.As(err, &write) || write.Unread == 0 {
			t.Errorf("Run: %v", err)
		}
		if n := <-sent; n == 100_000 {
			t.Error("all requests were taken")
		}
	})
}

// TestManyCalls: every one of 10,000 concurrent calls gets its own reply, once.
func TestManyCalls(t *testing.T) {
	each(t, func(t *testing.T, f form) {
		const n = 10_000
		payload := strings.Repeat("x", 1000)
		p := dial(t, f, funcs{request: func(_ context.Context, _ string, params json.RawMessage) (any, error) {
			return json.RawMessage("[" + string(params) + `,"` + payload + `"]`), nil
		}}, Options{Concurrency: 64})
		go func() {
			for i := range n {
				if _, err := io.WriteString(p.in, p.frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"read","params":%d}`, i, i))); err != nil {
					return
				}
			}
		}()
		seen := make([]bool, n)
		for range n {
			body := p.next()
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
		p.close()
	})
}

// TestLongRequests: requests that wait for another one do not keep it out,
// however many they are, and short ones wait for their turn.
func TestLongRequests(t *testing.T) {
	inBubble(t, func(t *testing.T, f form) {
		release := make(chan struct{})
		var running atomic.Int64
		p := dial(t, f, funcs{request: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
			if method == "release" {
				close(release)
				return method, nil
			}
			running.Add(1)
			<-release
			return method, nil
		}}, Options{Concurrency: 2})
		for i := range 4 {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"wait"}`, i))
		}
		synctest.Wait()
		if got := running.Load(); got != 2 {
			t.Errorf("%d work at once, want 2", got)
		}
		p.send(`{"jsonrpc":"2.0","id":"r","method":"release"}`)
		begin := time.Now()
		for range 5 {
			p.next()
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		p.close()
	})
}

// TestUnreadReplies: a peer that sends requests and reads no replies has only so
// many of them worked on, however long it does not read.
func TestUnreadReplies(t *testing.T) {
	inBubble(t, func(t *testing.T, f form) {
		var handled atomic.Int64
		p := dial(t, f, funcs{request: func(context.Context, string, json.RawMessage) (any, error) {
			handled.Add(1)
			return strings.Repeat("x", 1000), nil
		}}, Options{Concurrency: 2, MaxUnsent: 1000, WriteTimeout: time.Hour})
		const n = 50
		for i := range n {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, i))
		}
		<-time.After(time.Minute) // of the bubble's clock
		synctest.Wait()
		if got := handled.Load(); got > 10 {
			t.Errorf("%d requests were handled", got)
		}
		for range n {
			p.next()
		}
		if got := handled.Load(); got != n {
			t.Errorf("%d requests were handled in the end", got)
		}
		p.close()
	})
}

// TestPendingIsBounded: what would need too much memory is refused, not kept,
// and there is room again once the others are answered.
func TestPendingIsBounded(t *testing.T) {
	for _, o := range []Options{{MaxPending: 2300}, {MaxRequests: 4}} {
		inBubble(t, func(t *testing.T, f form) {
			release := make(chan struct{})
			p := dial(t, f, funcs{request: func(context.Context, string, json.RawMessage) (any, error) {
				<-release
				return nil, nil
			}}, o)
			for i := range 5 {
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, i))
			}
			p.want(failure("4", "4 requests are open"))
			close(release)
			got := map[string]bool{}
			for range 4 {
				got[p.next()] = true
			}
			for i := range 4 {
				if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":null}`, i); !got[want] {
					t.Errorf("no %s among %v", want, got)
				}
			}
			synctest.Wait()
			p.send(`{"jsonrpc":"2.0","id":4,"method":"x"}`)
			p.want(`{"jsonrpc":"2.0","id":4,"result":null}`)
			p.close()
		})
	}
}

// TestUnreadAnswersArePending: requests whose answers nobody reads count, too.
func TestUnreadAnswersArePending(t *testing.T) {
	inBubble(t, func(t *testing.T, f form) {
		var handled atomic.Int32
		p := dial(t, f, funcs{request: func(_ context.Context, _ string, params json.RawMessage) (any, error) {
			handled.Add(1)
			return params, nil
		}}, Options{MaxPending: 4 << 10, MaxUnsent: 1 << 10})
		go func() {
			for i := range 100 {
				if _, err := io.WriteString(p.in, p.frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"echo","params":[%q]}`, i, strings.Repeat("x", 1<<10)))); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if n := handled.Load(); n < 2 || n > 8 {
			t.Errorf("%d requests were handled", n)
		}
		var write *WriteError
		if err := <-p.end; !errors.As(err, &write) {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestReadAhead: a peer that sends more than is handled waits in its pipe, and nothing
// is lost.
func TestReadAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan bool)
		n := 0
		sr, in := io.Pipe()
		form := ReadAhead(Lines(sr, 1<<20, nil), 64<<10)
		conn := New(form, io.Discard, funcs{notify: func(context.Context, string, json.RawMessage) {
			if n++; n == 1 {
				<-hold
			}
		}}, options(Options{}))
		end := make(chan error, 1)
		go func() { end <- conn.Run(context.Background()) }()
		const flood = 4000
		line := fmt.Sprintf("{\"method\":\"x\",\"params\":[%q]}\n", strings.Repeat("z", 1000))
		var sent atomic.Int64
		go func() {
			for range flood {
				_, _ = io.WriteString(in, line)
				sent.Add(1)
			}
			_ = in.Close()
		}()
		synctest.Wait()
		a := form.(*ahead)
		a.mu.Lock()
		bytes := a.bytes
		a.mu.Unlock()
		if bytes > 64<<10 || bytes < 60<<10 || sent.Load() > 400 {
			t.Errorf("%d bytes are held, %d messages are sent", bytes, sent.Load())
		}
		close(hold)
		if err := <-end; err != nil || n != flood {
			t.Errorf("%d messages were handled: %v", n, err)
		}
	})
}
