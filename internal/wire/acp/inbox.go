package acp

import "sync"

// inbox holds messages that were read and not yet handled. It is bounded: the
// reader waits while it is full, so that an agent that floods waits in its own
// pipe.
type inbox struct {
	max int // bytes

	mu     sync.Mutex
	change sync.Cond
	queue  []message
	bytes  int
	full   bool // the reader has put the last one
	closed bool // nobody reads any more
}

// maxInbox bounds the number of messages; they cost memory also when empty.
const maxInbox = 4096

func newInbox(limit int) *inbox {
	b := &inbox{max: limit}
	b.change.L = &b.mu
	return b
}

func (b *inbox) put(m message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.closed && len(b.queue) > 0 && (b.bytes+m.size > b.max || len(b.queue) >= maxInbox) {
		b.change.Wait()
	}
	if b.closed {
		return false
	}
	b.queue = append(b.queue, m)
	b.bytes += m.size
	b.change.Broadcast()
	return true
}

// take returns the oldest message, or false at the end.
func (b *inbox) take() (message, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.closed && len(b.queue) == 0 && !b.full {
		b.change.Wait()
	}
	if b.closed || len(b.queue) == 0 {
		return message{}, false
	}
	m := b.queue[0]
	b.queue[0] = message{}
	b.queue = b.queue[1:]
	b.bytes -= m.size
	b.change.Broadcast()
	return m, true
}

// last says that no more will be put; what is there is still taken.
func (b *inbox) last() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.full = true
	b.change.Broadcast()
}

// close gives up what is there.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.queue, b.bytes = true, nil, 0
	b.change.Broadcast()
}
