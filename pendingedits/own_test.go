package pendingedits_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// another opens the queue of a bench as another process would.
func (b *bench) another(wait time.Duration, room func(context.Context)) *pendingedits.Store {
	b.t.Helper()
	s, err := pendingedits.Open(b.state, b.disk, pendingedits.Options{Wait: wait, Room: room})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() })
	return s
}

func hold(t *testing.T, s *pendingedits.Store, name, before, after string) error {
	t.Helper()
	c := workspace.Change{Path: name, After: []byte(after)}
	if before != absent {
		c.Before = []byte(before)
	}
	return s.For(agent).Apply(t.Context(), c)
}

func pendingNames(s *pendingedits.Store) (names []string) {
	for _, e := range s.List("").Edits {
		names = append(names, e.Name)
	}
	return names
}

// TestOthersEdits: what another process has put into a queue that was not there
// yet is part of it, and edits go on.
func TestOthersEdits(t *testing.T) {
	b := newBench(t, "a", "one\n", "b", "one\n")
	first := b.store // which has no directory
	other := b.another(0, nil)
	if err := hold(t, other, "a", "one\n", "two\n"); err != nil {
		t.Fatal(err)
	}
	if err := hold(t, first, "b", "one\n", "two\n"); !errors.Is(err, pendingedits.ErrLocked) || !errors.Is(err, workspace.ErrInUse) {
		t.Errorf("while it has the queue: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := hold(t, first, "b", "one\n", "two\n"); err != nil {
		t.Errorf("after that: %v", err)
	}
	if got := pendingNames(first); len(got) != 2 {
		t.Errorf("pending: %v", got)
	}
	if err := hold(t, first, "a", "two\n", "three\n"); err != nil { // on top of the other's
		t.Error(err)
	}
	b.reopen()
	if got := b.seen("a") + b.seen("b"); got != "three\ntwo\n" {
		t.Errorf("after a restart: %q", got)
	}
}

// TestWaitsForTheQueue: a store that may wait is opened while another process
// has the queue; who looks is told so, an edit waits until it is free, and asks
// for that.
func TestWaitsForTheQueue(t *testing.T) {
	b := newBench(t, "a", "one\n", "b", "one\n")
	if err := hold(t, b.store, "a", "one\n", "two\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := pendingedits.Open(b.state, b.disk, pendingedits.Options{}); !errors.Is(err, pendingedits.ErrLocked) {
		t.Errorf("one that may not wait: %v", err)
	}
	impatient := b.another(time.Millisecond, nil)
	if err := hold(t, impatient, "b", "one\n", "two\n"); !errors.Is(err, pendingedits.ErrLocked) {
		t.Errorf("one that waits for a moment: %v", err)
	}
	if err := impatient.Locked(); !errors.Is(err, pendingedits.ErrLocked) {
		t.Errorf("who looks: %v", err)
	} else if want := fmt.Sprintf("another editor or shell (process %d) has this project's review: decide there, or close it; then this one takes over", os.Getpid()); err.Error() != want {
		t.Errorf("who looks is told %q, want %q", err, want)
	}
	for what, decide := range map[string]func() error{
		"accept": func() error { _, err := impatient.Accept(t.Context(), pendingedits.Selection{}); return err },
		"reject": func() error { _, err := impatient.Reject(t.Context(), pendingedits.Selection{}, ""); return err },
		"undo":   func() error { _, err := impatient.Undo(t.Context()); return err },
	} {
		if err := decide(); !errors.Is(err, pendingedits.ErrLocked) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	patient := b.another(time.Hour, func(context.Context) { cancel() })
	if err := patient.For(agent).Apply(ctx, workspace.Change{Path: "b", Before: []byte("one\n"), After: []byte("two\n")}); !errors.Is(err, context.Canceled) {
		t.Errorf("one that is cancelled: %v", err)
	}
	if err := patient.Close(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	polite := b.another(time.Hour, func(context.Context) {
		once.Do(func() {
			if err := b.store.Close(); err != nil {
				t.Error(err)
			}
		})
	})
	if err := hold(t, polite, "b", "one\n", "two\n"); err != nil {
		t.Errorf("one that asks: %v", err)
	}
	if got := pendingNames(polite); len(got) != 2 || polite.Locked() != nil {
		t.Errorf("pending: %v, %v", got, polite.Locked())
	}
}

// TestTakesTheQueueByItself: a store that nobody uses takes the queue once
// another process gives it free, and tells that it changed.
func TestTakesTheQueueByItself(t *testing.T) {
	b := newBench(t, "a", "one\n")
	if err := hold(t, b.store, "a", "one\n", "two\n"); err != nil {
		t.Fatal(err)
	}
	changed := make(chan struct{}, 1)
	s, err := pendingedits.Open(b.state, b.disk, pendingedits.Options{Wait: time.Hour, Observer: &observer{changed: func() { changed <- struct{}{} }}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	<-changed
	if got := pendingNames(s); len(got) != 1 {
		t.Errorf("pending: %v", got)
	}
}

// TestManyMakeTheQueue: of several stores that make the first edit of a
// workspace at once, none loses its own.
func TestManyMakeTheQueue(t *testing.T) {
	b := newBench(t)
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			s, err := pendingedits.Open(b.state, b.disk, pendingedits.Options{Wait: time.Hour})
			if err != nil {
				t.Error(err)
				return
			}
			if err := hold(t, s, name, absent, "x\n"); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := pendingNames(b.store); len(got) != 4 {
		t.Errorf("pending: %v", got)
	}
}
