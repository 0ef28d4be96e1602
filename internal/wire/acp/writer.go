package acp

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// writer sends lines in the order in which they were handed over. A goroutine of
// its own writes, so that an agent that doesn't read blocks nobody who has
// something else to do.
type writer struct {
	w       io.Writer
	limit   int
	timeout time.Duration

	mu     sync.Mutex
	queue  [][]byte
	unsent int
	wake   chan struct{} // has one element when there is something to do
	space  chan struct{} // closed when unsent falls under the limit; nil when nobody waits
	dead   chan struct{} // closed at the end
	err    error
}

func newWriter(w io.Writer, limit int, timeout time.Duration) *writer {
	return &writer{w: w, limit: limit, timeout: timeout, wake: make(chan struct{}, 1), dead: make(chan struct{})}
}

// send queues a line. It waits while too much is unsent, unless it is urgent:
// cancellations have to get into the queue at once.
func (o *writer) send(ctx context.Context, line []byte, urgent bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && !urgent && o.unsent > o.limit {
		if o.space == nil {
			o.space = make(chan struct{})
		}
		space := o.space
		o.mu.Unlock()
		select {
		case <-space:
		case <-o.dead:
		case <-ctx.Done():
		}
		o.mu.Lock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if o.err != nil {
		return o.err
	}
	o.queue = append(o.queue, line)
	o.unsent += len(line)
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return nil
}

// run writes until the end of the connection and returns why it ended.
func (o *writer) run() error {
	for {
		select {
		case <-o.wake:
		case <-o.dead:
			return o.err
		}
		o.mu.Lock()
		lines := o.queue
		o.queue = nil
		o.mu.Unlock()
		for _, line := range lines {
			if err := o.write(line); err != nil {
				return err
			}
		}
	}
}

// write writes one line. A line that the agent doesn't take in time ends the
// connection: it will take no other one either.
func (o *writer) write(line []byte) error {
	late := time.AfterFunc(o.timeout, func() {
		o.fail(fmt.Errorf("%w: it has not read its input for %v", ErrGone, o.timeout))
		closeStream(o.w)
	})
	_, err := o.w.Write(line)
	late.Stop()
	if err != nil {
		o.fail(fmt.Errorf("%w: writing to it failed: %w", ErrGone, err))
		return o.err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unsent -= len(line)
	if o.space != nil && o.unsent <= o.limit {
		close(o.space)
		o.space = nil
	}
	return o.err
}

// fail ends the writer, with the first error that there is.
func (o *writer) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
		o.queue = nil
		close(o.dead)
	}
}

func closeStream(stream any) {
	if closer, ok := stream.(io.Closer); ok {
		_ = closer.Close()
	}
}
