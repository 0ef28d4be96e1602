package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCrash ends the agent in the middle of everything.
func TestCrash(t *testing.T) {
	w := newWorld()
	asked := make(chan bool)
	w.permit = func(ctx context.Context, r PermissionRequest) (string, error) {
		close(asked)
		<-ctx.Done()
		return "", ctx.Err()
	}
	c, a := dial(t, w.world(), Options{})
	s := open(t, c, a)
	_, end := prompting(t, s, a)
	a.request("1", "session/request_permission", permissionParams)
	<-asked
	got := a.ask("2", "terminal/create", `{"sessionId":"s1","command":"make"}`)
	if got.Error != nil {
		t.Fatal(got.line)
	}
	a.say("s1", "the last words")
	_, _ = io.WriteString(a.out, `{"jsonrpc":"2.0","method":"session/upd`)
	_ = a.out.Close()
	if e := get(t, end); !errors.Is(e.err, ErrGone) {
		t.Errorf("the prompt ended with %v", e.err)
	}
	if u := get(t, w.updates); u.Chunk.Content.Text != "the last words" {
		t.Errorf("got %s", u.Raw)
	}
	get(t, c.Done())
	get(t, w.terms[0].released)
	if _, err := s.Prompt(t.Context(), Text("more")); !errors.Is(err, ErrGone) {
		t.Errorf("a prompt after the end: %v", err)
	}
	if err := c.Call(t.Context(), "session/list", nil, nil); !errors.Is(err, ErrGone) {
		t.Errorf("a call after the end: %v", err)
	}
	if !errors.Is(c.Err(), ErrGone) {
		t.Errorf("ended with %v", c.Err())
	}
}

func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, a := dial(t, newWorld().world(), Options{})
		go func() { a.expect("initialize"); a.expect("$/cancel_request") }()
		if _, err := c.Initialize(t.Context()); !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v", err)
		}
		synctest.Wait() // what was sent so far is read
		// An agent that doesn't read: the write itself is late.
		began := time.Now()
		if err := c.Notify("_x", nil); err != nil {
			t.Error(err)
		}
		<-c.Done()
		if !errors.Is(c.Err(), ErrGone) || time.Since(began) > time.Minute {
			t.Errorf("after %v: %v", time.Since(began), c.Err())
		}
	})
}

func TestCancelIsWaitedForByTheNextPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, a := dial(t, newWorld().world(), Options{})
		s := open(t, c, a)
		ctx, stop := context.WithCancel(t.Context())
		end := make(chan error, 1)
		go func() {
			_, err := s.Prompt(ctx, Text("go"))
			end <- err
		}()
		prompt := a.expect("session/prompt")
		if _, err := s.Prompt(t.Context(), Text("too")); !errors.Is(err, ErrBusy) {
			t.Errorf("beside: %v", err)
		}
		began := time.Now()
		stop()
		if err := <-end; !errors.Is(err, context.Canceled) || time.Since(began) > 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		a.expect("session/cancel")
		if _, err := s.Prompt(t.Context(), Text("next")); !errors.Is(err, ErrTimeout) {
			t.Errorf("an agent that doesn't stop: %v", err)
		}
		go func() {
			synctest.Wait()
			a.reply(prompt, `{"stopReason":"cancelled"}`)
			a.reply(a.expect("session/prompt"), `{"stopReason":"end_turn"}`)
		}()
		stopped, err := s.Prompt(t.Context(), Text("next"))
		ended{stopped, err}.want(t, StopEndTurn)
	})
}

func TestCloseEndsEverything(t *testing.T) {
	w := newWorld()
	c, a := dial(t, w.world(), Options{})
	s := open(t, c, a)
	_, end := prompting(t, s, a)
	if got := a.ask("2", "terminal/create", `{"sessionId":"s1","command":"make"}`); got.Error != nil {
		t.Fatal(got.line)
	}
	a.request("3", "terminal/wait_for_exit", `{"sessionId":"s1","terminalId":"term-1"}`)
	c.Close()
	c.Close()
	if e := get(t, end); !errors.Is(e.err, ErrGone) || !strings.Contains(e.err.Error(), "closed") {
		t.Errorf("the prompt ended with %v", e.err)
	}
	get(t, c.Done())
	get(t, w.terms[0].released)
}

// TestAsksWithoutReading: an agent that asks and asks and reads no answer waits,
// and is given up.
func TestAsksWithoutReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, a := dial(t, newWorld().world(), Options{MaxUnsent: 10 << 10})
		open(t, c, a)
		sent := make(chan int, 1)
		go func() {
			n := 0
			for ; n < 100_000; n++ {
				if _, err := fmt.Fprintf(a.out, "{\"id\":%d,\"method\":\"none\"}\n", n); err != nil {
					break
				}
			}
			sent <- n
		}()
		<-c.Done()
		if n := <-sent; n == 100_000 || !strings.Contains(c.Err().Error(), "has not read its input") {
			t.Errorf("after %d requests: %v", n, c.Err())
		}
	})
}
