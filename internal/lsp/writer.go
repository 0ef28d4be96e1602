package lsp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	coalesceBytes = 64 << 10  // small frames go out together up to this
	writeBytes    = 256 << 10 // one write; each has the whole time-out
)

// outgoing is a sealed frame and the buffer that it is in.
type outgoing struct {
	data []byte
	buf  *bytes.Buffer
}

// writer sends frames in the order in which they were handed over. One goroutine
// writes, so that nobody else ever blocks in the peer's pipe.
type writer struct {
	w       io.Writer
	limit   int
	timeout time.Duration
	dead    chan struct{} // closed when writing has failed

	mu     sync.Mutex
	wake   sync.Cond
	queue  []outgoing
	unsent int
	space  chan struct{} // closed when unsent is under the limit again; nil when nobody waits
	closed bool          // no more frames, run ends after the last
	err    error         // why dead is closed
}

func newWriter(w io.Writer, limit int, timeout time.Duration) *writer {
	out := &writer{w: w, limit: limit, timeout: timeout, dead: make(chan struct{})}
	out.wake.L = &out.mu
	return out
}

// crowded reports whether the peer is behind so far that what can be lost
// should be.
func (o *writer) crowded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unsent > o.limit/2
}

// send queues a frame, waiting while more than limit bytes are unsent. The
// buffer is not the caller's any more.
func (o *writer) send(ctx context.Context, buf *bytes.Buffer, limit int) error {
	frame := outgoing{sealFrame(buf.Bytes()), buf}
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && !o.closed && o.unsent > limit {
		if o.space == nil {
			o.space = make(chan struct{})
		}
		space := o.space
		o.mu.Unlock()
		var err error
		select {
		case <-space:
		case <-o.dead:
		case <-ctx.Done():
			err = ctx.Err()
		}
		o.mu.Lock()
		if err != nil {
			return err
		}
	}
	if o.err != nil || o.closed {
		return ErrPeerGone
	}
	o.queue = append(o.queue, frame)
	o.unsent += len(frame.data)
	o.wake.Signal()
	return nil
}

// run writes until close or failure.
func (o *writer) run() {
	watchdog := time.AfterFunc(o.timeout, func() {
		o.fail(fmt.Errorf("the client has not read for %v", o.timeout))
	})
	watchdog.Stop()
	defer watchdog.Stop()
	write := func(p []byte) error {
		for len(p) > 0 {
			n := min(len(p), writeBytes)
			watchdog.Reset(o.timeout)
			_, err := o.w.Write(p[:n])
			watchdog.Stop()
			if err != nil {
				return err
			}
			o.sent(n)
			p = p[n:]
		}
		return nil
	}
	var frames []outgoing
	joined := make([]byte, 0, coalesceBytes)
	for {
		frames = o.take(frames)
		if frames == nil {
			return
		}
		for i := 0; i < len(frames); {
			p := frames[i].data
			next := i + 1
			if next < len(frames) && len(p)+len(frames[next].data) <= coalesceBytes {
				joined = joined[:0]
				for next = i; next < len(frames) && len(joined)+len(frames[next].data) <= coalesceBytes; next++ {
					joined = append(joined, frames[next].data...)
				}
				p = joined
			}
			if err := write(p); err != nil {
				o.fail(err)
				return
			}
			for ; i < next; i++ {
				freeFrame(frames[i].buf)
			}
		}
	}
}

// take waits for frames and returns all of them, nil at the end. It takes the
// last batch back for its memory.
func (o *writer) take(used []outgoing) []outgoing {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.closed && o.err == nil {
		o.wake.Wait()
	}
	if o.err != nil || len(o.queue) == 0 {
		return nil
	}
	frames := o.queue
	clear(used)
	o.queue = used[:0]
	return frames
}

func (o *writer) sent(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unsent -= n
	if o.space != nil && o.unsent <= o.limit {
		close(o.space)
		o.space = nil
	}
}

// fail declares the peer gone.
func (o *writer) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	o.err = err
	o.queue = nil
	close(o.dead)
	o.wake.Signal()
}

// close lets run end after what is queued.
func (o *writer) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.wake.Signal()
}
