package rpc

import (
	"errors"
	"io"
	"sync"
)

// maxAhead bounds the number of messages that are read ahead; they cost memory
// also when empty.
const maxAhead = 4096

// ahead holds messages that were read and are not handled yet. While it is full
// nothing is read, so that a peer that floods waits in its own pipe.
type ahead struct {
	Framing
	max  int           // bytes
	done chan struct{} // nil before the first Next; closed when nothing is read any more

	mu     sync.Mutex
	change sync.Cond
	queue  []came
	bytes  int
	closed bool
}

// came is what Framing.Next has returned.
type came struct {
	Message
	err error
}

// ReadAhead reads on while a message is handled, up to so many bytes, so that a
// slow handler doesn't hold up the peer.
func ReadAhead(f Framing, most int) Framing {
	a := &ahead{Framing: f, max: most}
	a.change.L = &a.mu
	return a
}

func (a *ahead) Next() (Message, error) {
	if a.done == nil {
		a.done = make(chan struct{})
		go a.read()
	}
	a.mu.Lock()
	for len(a.queue) == 0 && !a.closed {
		a.change.Wait()
	}
	if a.closed {
		a.mu.Unlock()
		<-a.done
		return Message{}, io.EOF
	}
	defer a.mu.Unlock()
	m := a.queue[0]
	a.queue[0] = came{}
	a.queue = a.queue[1:]
	a.bytes -= len(m.Raw)
	a.change.Broadcast()
	return m.Message, m.err
}

func (a *ahead) read() {
	defer close(a.done)
	for {
		m, err := a.Framing.Next()
		a.mu.Lock()
		for !a.closed && len(a.queue) > 0 && (a.bytes+len(m.Raw) > a.max || len(a.queue) >= maxAhead) {
			a.change.Wait()
		}
		a.queue = append(a.queue, came{m, err})
		a.bytes += len(m.Raw)
		a.change.Broadcast()
		closed := a.closed
		a.mu.Unlock()
		var bad *Error
		if closed || err != nil && !errors.As(err, &bad) {
			return
		}
	}
}

// Close gives up what is there.
func (a *ahead) Close() {
	a.Framing.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed, a.queue, a.bytes = true, nil, 0
	a.change.Broadcast()
}
