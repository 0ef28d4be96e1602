package dispatch

import (
	"context"
	"errors"
	"testing"
	"time"
)

// claimed runs claim on its own and gives the channel that closes when it is through.
func claimed(s *sequence, tu *turn, paths ...string) <-chan struct{} {
	done := make(chan struct{})
	go func() { s.claim(context.Background(), tu, paths); close(done) }()
	return done
}

func passes(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s: still waiting", what)
	}
}

func TestSameFileInOrder(t *testing.T) {
	var s sequence
	a, b, c := s.enter(), s.enter(), s.enter()
	passes(t, "first of x", claimed(&s, a, "x"))
	other := claimed(&s, c, "y")
	second := claimed(&s, b, "x")
	select {
	case <-second:
		t.Fatal("the second edit of x went on while the first was under way")
	default:
	}
	passes(t, "y, once its elders' files are known", other)
	s.leave(a)
	passes(t, "second of x", second)
	s.leave(b)
	s.leave(c)
	if len(s.waiting) != 0 {
		t.Fatalf("%d turns left over", len(s.waiting))
	}
}

func TestUnknownFilesWaitForAllBefore(t *testing.T) {
	var s sequence
	a, b := s.enter(), s.enter()
	passes(t, "x", claimed(&s, a, "x"))
	unknown := make(chan struct{})
	go func() { s.claim(context.Background(), b, nil); close(unknown) }()
	select {
	case <-unknown:
		t.Fatal("an edit that failed did not wait for the edit before it")
	default:
	}
	s.leave(a)
	passes(t, "unknown", unknown)
}

func TestClaimEndsWithContext(t *testing.T) {
	var s sequence
	a, b := s.enter(), s.enter()
	defer s.leave(a)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.claim(ctx, b, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("err = %v", err)
	}
	s.leave(b)
}

// TestStaleWithoutWaiting: an earlier edit that left between a tool's reading
// and its claim has changed what was read, though nobody had to wait for it.
func TestStaleWithoutWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		first, second []string
		stale         bool
	}{
		"the same file":       {[]string{"x"}, []string{"x"}, true},
		"another file":        {[]string{"y"}, []string{"x"}, false},
		"what failed":         {[]string{"y"}, nil, true},
		"after a failed one":  {nil, []string{"x"}, false},
		"both failed":         {nil, nil, false},
		"one file of several": {[]string{"x", "y"}, []string{"z", "y"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var s sequence
			a, b := s.enter(), s.enter()
			if stale, err := s.claim(context.Background(), a, c.first); stale || err != nil {
				t.Fatalf("first: %v, %v", stale, err)
			}
			s.leave(a)
			if stale, err := s.claim(context.Background(), b, c.second); stale != c.stale || err != nil {
				t.Fatalf("second: stale %v, %v; want %v", stale, err, c.stale)
			}
			if stale, _ := s.claim(context.Background(), b, c.second); stale {
				t.Error("stale twice for one change")
			}
			s.leave(b)
		})
	}
}
