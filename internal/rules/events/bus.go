package events

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what waits for one subscriber. Output beyond its own bound is
// dropped. Other events never are: a subscriber that is further behind than
// maxBehind is cut off, since a story with holes is worse than one that ends.
const (
	maxOutputs     = 256
	maxOutputBytes = 1 << 20
	maxBehind      = 1 << 17
)

// Bus hands events to subscribers. Make one with NewBus. A nil *Bus has no
// subscribers.
type Bus struct {
	subs    atomic.Pointer[[]*subscriber] // replaced, never changed; nil when there are none
	mu      sync.Mutex                    // held to replace subs
	closed  bool
	running sync.WaitGroup // the goroutines that deliver
}

// NewBus returns a bus without subscribers.
func NewBus() *Bus { return &Bus{} }

// Active reports whether anybody listens, so that a publisher can save itself
// the making of an event.
func (b *Bus) Active() bool { return b != nil && b.subs.Load() != nil }

// Publish hands e to every subscriber and returns without waiting for any.
// What is published must not be changed afterwards.
func (b *Bus) Publish(e Event) {
	if !b.Active() {
		return
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if subs := b.subs.Load(); subs != nil {
		for _, s := range *subs {
			s.push(e)
		}
	}
}

// Subscribe calls f for every event from now on, one at a time, in the order
// in which they were published, until cancel is called. A call of f that is
// under way when cancel is called goes on; cancel does not wait for it, so f
// may call it.
func (b *Bus) Subscribe(f func(Event)) (cancel func()) {
	s := &subscriber{f: f, running: &b.running}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return func() {}
	}
	subs := []*subscriber{s}
	if old := b.subs.Load(); old != nil {
		subs = append(slices.Clone(*old), s)
	}
	b.subs.Store(&subs)
	return func() {
		b.remove(s)
		s.end()
	}
}

func (b *Bus) remove(s *subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.subs.Load()
	if old == nil {
		return
	}
	subs := slices.DeleteFunc(slices.Clone(*old), func(t *subscriber) bool { return t == s })
	if len(subs) == 0 {
		b.subs.Store(nil)
		return
	}
	b.subs.Store(&subs)
}

// Close lets no further event in and waits until the subscribers have got
// what was published before, or until ctx ends; it then returns ctx.Err().
func (b *Bus) Close(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	var subs []*subscriber
	if old := b.subs.Swap(nil); old != nil {
		subs = *old
	}
	b.mu.Unlock()
	for _, s := range subs {
		s.finish()
	}
	done := make(chan struct{})
	go func() {
		b.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		for _, s := range subs {
			s.end()
		}
		return ctx.Err()
	}
}

// subscriber is a queue and, while it holds anything, a goroutine that empties
// it. An idle subscriber has no goroutine.
type subscriber struct {
	f       func(Event)
	running *sync.WaitGroup

	mu      sync.Mutex
	queue   []Event
	ended   bool // nothing more is accepted
	busy    bool // a goroutine is delivering
	outputs int  // ToolOutput events in queue
	bytes   int  // of their chunks
	dropped int  // chunks dropped since the last one that was queued
}

func (s *subscriber) push(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if e.Output != nil {
		if s.outputs >= maxOutputs || s.outputs > 0 && s.bytes+len(e.Chunk) > maxOutputBytes {
			s.dropped++
			return
		}
		if s.dropped > 0 {
			e.Output = &Output{Chunk: e.Chunk, Dropped: s.dropped}
			s.dropped = 0
		}
		s.outputs++
		s.bytes += len(e.Chunk)
	}
	s.queue = append(s.queue, e)
	if len(s.queue)-s.outputs > maxBehind {
		s.ended = true
		s.queue, s.outputs, s.bytes = nil, 0, 0
		return
	}
	if !s.busy {
		s.busy = true
		s.running.Add(1)
		go s.deliver()
	}
}

func (s *subscriber) deliver() {
	defer s.running.Done()
	for {
		e, ok := s.next()
		if !ok {
			return
		}
		s.f(e)
	}
}

func (s *subscriber) next() (Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.queue, s.busy = nil, false
		return Event{}, false
	}
	e := s.queue[0]
	s.queue[0] = Event{}
	s.queue = s.queue[1:]
	if e.Output != nil {
		s.outputs--
		s.bytes -= len(e.Chunk)
	}
	return e, true
}

// finish accepts nothing more but delivers what is queued; end forgets that too.
func (s *subscriber) finish() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
}

func (s *subscriber) end() {
	s.mu.Lock()
	s.ended = true
	s.queue, s.outputs, s.bytes = nil, 0, 0
	s.mu.Unlock()
}
