package ports

import (
	"context"
	"slices"
	"sync"
	"time"
)

// every is how often ports are looked at while a program runs or listens.
const every = 2 * time.Second

// followers wakes each Follow when a port may have opened or closed.
type followers struct {
	mu      sync.Mutex
	running int // programs in the sessions
	wake    map[chan struct{}]bool
}

func (f *followers) changed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.wake {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (f *followers) ran(by int) {
	f.mu.Lock()
	f.running += by
	f.mu.Unlock()
	f.changed()
}

func (f *followers) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.running > 0
}

// Runs says that a program of a session runs until it is done.
func (p *Ports) Runs(done <-chan struct{}) {
	p.followers.ran(1)
	go func() {
		<-done
		p.followers.ran(-1)
	}()
}

// Follow calls changed with the ports of all sessions whenever they change, until ctx ends or End
// is called. It looks when a program begins or ends, and every two seconds while one runs or listens.
func (p *Ports) Follow(ctx context.Context, changed func([]Port)) {
	wake := make(chan struct{}, 1)
	f := &p.followers
	f.mu.Lock()
	if f.wake == nil {
		f.wake = map[chan struct{}]bool{}
	}
	f.wake[wake] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.wake, wake)
	}()
	look := time.NewTimer(0)
	defer look.Stop()
	for last := []Port(nil); ; {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-look.C:
		}
		if p.ended() {
			return
		}
		now := p.List("")
		if !slices.Equal(now, last) {
			changed(now)
			last = now
		}
		look.Stop()
		if len(now) > 0 || f.any() {
			look.Reset(every)
		}
	}
}
