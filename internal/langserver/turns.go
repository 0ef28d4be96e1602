package langserver

import (
	"context"
	"sync"
)

// turns lets questions that somebody waits for go before those that nobody
// does: the latter wait for a quiet moment, and are given up when it ends.
type turns struct {
	mu     sync.Mutex
	asking int           // that somebody waits for
	quiet  chan struct{} // closed when asking is 0 again; nil while it is
	yield  map[*context.CancelFunc]bool
}

// foreground is called around a question that somebody waits for.
func (p *Pool) foreground() (done func()) {
	t := &p.turns
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asking++; t.quiet == nil {
		t.quiet = make(chan struct{})
	}
	for cancel := range t.yield {
		(*cancel)()
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.asking--; t.asking == 0 {
			close(t.quiet)
			t.quiet = nil
		}
	}
}

// background waits until nobody asks, and returns a context that ends when
// somebody does.
func (p *Pool) background(ctx context.Context) (context.Context, func(), error) {
	t := &p.turns
	for {
		t.mu.Lock()
		wait := t.quiet
		if wait == nil {
			ctx, cancel := context.WithCancel(ctx)
			if t.yield == nil {
				t.yield = map[*context.CancelFunc]bool{}
			}
			t.yield[&cancel] = true
			t.mu.Unlock()
			return ctx, func() {
				t.mu.Lock()
				delete(t.yield, &cancel)
				t.mu.Unlock()
				cancel()
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}
