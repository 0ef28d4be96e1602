package attach

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/test/wine"
)

// echo answers what it is sent.
func echo(c peers.Peer, _ Wish) {
	_, _ = io.Copy(c, c)
	c.Close()
}

func hosted(t *testing.T, dir string, o Options) *Host {
	t.Helper()
	if o.Attached == nil {
		o.Attached = echo
	}
	h, err := Listen(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	if wine.Running() {
		// It lets a first client connect to the instance of the pipe that only holds the name.
		base, err := name(dir)
		if err != nil {
			t.Fatal(err)
		}
		c, err := dial(t.Context(), places(base)[0])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	return h
}

func TestAttach(t *testing.T) {
	dir, _ := workspace(t)
	if _, _, err := Dial(t.Context(), dir, Wish{}); !errors.Is(err, ErrNone) {
		t.Fatalf("before: %v", err)
	}
	h := hosted(t, dir, Options{Kind: Editor, Version: "v"})
	other := alias(t, dir)
	for _, d := range []string{dir, other} { // whatever the directory is called
		c, g, err := Dial(t.Context(), d, Wish{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if g.Kind != Editor || g.PID != os.Getpid() || g.Version != "v" {
			t.Errorf("greeting: %+v", g)
		}
		got := make([]byte, 3)
		if _, err := c.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "abc" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := Find(t.Context(), filepath.Dir(dir)); !errors.Is(err, ErrNone) {
		t.Errorf("another directory: %v", err)
	}
	if _, err := Listen(other, Options{Kind: Editor, Attached: echo}); !errors.Is(err, ErrTaken) {
		t.Errorf("a second host: %v", err)
	}
	h.Close()
	if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("after: %v", err)
	}
	hosted(t, dir, Options{Kind: Alone}) // while who was connected still is
	if g, err := Find(t.Context(), dir); err != nil || g.Kind != Alone {
		t.Errorf("the next one: %+v, %v", g, err)
	}
}

// TestOneHost: of many who begin at once, one is the host at any time.
func TestOneHost(t *testing.T) {
	dir, _ := workspace(t)
	var mu sync.Mutex
	hosts, most, turns := 0, 0, 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for done := false; !done; {
				h, err := Listen(dir, Options{Kind: Editor, Attached: echo})
				if errors.Is(err, ErrTaken) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				hosts, turns = hosts+1, turns+1
				most = max(most, hosts)
				mu.Unlock()
				mu.Lock()
				hosts--
				mu.Unlock()
				h.Close()
				done = true
			}
		})
	}
	all.Wait()
	if most != 1 || turns != 8 {
		t.Errorf("%d hosts at once, %d turns", most, turns)
	}
}

func TestLeave(t *testing.T) {
	dir, _ := workspace(t)
	if err := AskToLeave(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("nobody is there: %v", err)
	}
	for name, c := range map[string]struct {
		kind  Kind
		leave func() bool
		want  error
	}{
		"an editor":              {Editor, func() bool { return true }, ErrBusy},
		"an endpoint":            {Alone, func() bool { return true }, nil},
		"an endpoint with work":  {Alone, func() bool { return false }, ErrBusy},
		"one that never does it": {Alone, nil, ErrBusy},
	} {
		t.Run(name, func(t *testing.T) {
			h := hosted(t, dir, Options{Kind: c.kind, Leave: c.leave})
			err := AskToLeave(t.Context(), dir)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if _, err := Find(t.Context(), dir); errors.Is(err, ErrNone) != (c.want == nil) {
				t.Errorf("afterwards: %v", err)
			}
			h.Close()
		})
	}
	t.Run("one that hangs", func(t *testing.T) {
		stay := make(chan struct{})
		hosted(t, dir, Options{Kind: Alone, Leave: func() bool { <-stay; return false }})
		defer close(stay)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := AskToLeave(ctx, dir); err == nil {
			t.Error("it has left")
		}
	})
}

// TestWish: what is wished reaches the host as it was said.
func TestWish(t *testing.T) {
	dir, _ := workspace(t)
	got := make(chan Wish, 1)
	hosted(t, dir, Options{Kind: Editor, Attached: func(c peers.Peer, w Wish) { got <- w; c.Close() }})
	for _, want := range []Wish{{}, {Mode: "review"}, {Mode: "a mode of \"mine\"\n"}} {
		c, _, err := Dial(t.Context(), dir, want)
		if err != nil {
			t.Fatal(err)
		}
		if w := <-got; w != want {
			t.Errorf("%+v, want %+v", w, want)
		}
		c.Close()
	}
}

// TestPerson: a command line gets to where persons are let in, and agents don't.
func TestPerson(t *testing.T) {
	dir, _ := workspace(t)
	if _, _, err := DialPerson(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Fatalf("before: %v", err)
	}
	h := hosted(t, dir, Options{Kind: Editor})
	if _, _, err := DialPerson(t.Context(), dir); !errors.Is(err, ErrUnable) {
		t.Fatalf("a host that knows no command lines: %v", err)
	}
	h.Close()
	persons, wishes := make(chan bool, 1), make(chan Wish, 1)
	hosted(t, dir, Options{
		Kind:     Editor,
		Attached: func(p peers.Peer, w Wish) { wishes <- w; p.Close() },
		Person:   func(p peers.Peer) { persons <- p.Person(); p.Close() },
	})
	c, g, err := DialPerson(t.Context(), dir)
	if err != nil || !g.Person {
		t.Fatalf("%+v, %v", g, err)
	}
	c.Close()
	if !<-persons {
		t.Error("this process counts as one that the host has started")
	}
	c, _, err = Dial(t.Context(), dir, Wish{Session: "person"})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if w := <-wishes; w.Session != "person" || len(persons) > 0 {
		t.Errorf("an agent: %+v, %d persons", w, len(persons))
	}
}
