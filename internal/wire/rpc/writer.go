package rpc

import (
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

// WriteError is why the peer can't be written to.
type WriteError struct {
	Err    error
	Unread time.Duration // how long it has not read, if it is that
}

func (e *WriteError) Error() string { return e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// outgoing is a frame on its way.
type outgoing struct {
	data []byte // the sealed frame
	*frame
}

// writer sends frames in the order in which they were handed over. A goroutine
// of its own writes, so that nobody else has to block in the peer's pipe; only a
// sender who may do so writes a small frame himself when nothing is before it,
// which saves the way through another thread.
type writer struct {
	w        io.Writer
	form     Framing
	gone     error // what a sender gets at the end
	limit    int
	timeout  time.Duration // 0: a write takes as long as it takes
	dead     chan struct{} // closed when writing has failed
	watchdog *time.Timer   // calls watch

	mu      sync.Mutex
	wake    sync.Cond // of run
	queue   []outgoing
	busy    bool      // somebody writes
	since   time.Time // when the write under way began; zero between writes
	watched bool      // watchdog is set
	unsent  int
	space   chan struct{} // closed when unsent is under the limit again; nil when nobody waits
	closed  bool          // no more frames, run ends after the last
	err     error         // why dead is closed
}

func newWriter(w io.Writer, form Framing, o *Options) *writer {
	out := &writer{w: w, form: form, gone: o.Gone, limit: o.MaxUnsent, timeout: o.WriteTimeout, dead: make(chan struct{})}
	out.wake.L = &out.mu
	out.watchdog = time.AfterFunc(time.Hour, out.watch)
	out.watchdog.Stop()
	return out
}

// How a frame is sent.
type how int

const (
	sendQueued how = iota
	sendDirect     // it may be written before send returns, which can take as long as the peer does not read
	sendLossy      // it is dropped when the peer is far behind
)

// send queues a frame, waiting while more than limit bytes are unsent. The
// buffer is not the caller's any more.
func (o *writer) send(ctx context.Context, f *frame, limit int, by how) error {
	out := outgoing{data: o.form.seal(&f.buf), frame: f}
	o.mu.Lock()
	defer o.mu.Unlock()
	if by == sendLossy && o.unsent > o.limit/2 {
		f.free()
		return ErrDropped
	}
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
		return o.gone
	}
	o.unsent += len(out.data)
	if by != sendDirect || o.busy || len(o.queue) > 0 || len(out.data) > coalesceBytes {
		o.queue = append(o.queue, out)
		o.wake.Signal()
		return nil
	}
	o.busy = true
	o.write(out.data)
	o.busy = false
	f.free()
	if len(o.queue) > 0 || o.closed || o.err != nil {
		o.wake.Signal()
	}
	return nil
}

// run writes until close or failure.
func (o *writer) run() {
	defer o.watchdog.Stop()
	var frames []outgoing
	joined := make([]byte, 0, coalesceBytes)
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for o.err == nil && (o.busy || len(o.queue) == 0 && !o.closed) {
			o.wake.Wait()
		}
		if o.err != nil || len(o.queue) == 0 {
			return
		}
		clear(frames)
		frames, o.queue = o.queue, frames[:0]
		o.busy = true
		for i := 0; i < len(frames) && o.err == nil; {
			p := frames[i].data
			next := i + 1
			if next < len(frames) && len(p)+len(frames[next].data) <= coalesceBytes {
				joined = joined[:0]
				for next = i; next < len(frames) && len(joined)+len(frames[next].data) <= coalesceBytes; next++ {
					joined = append(joined, frames[next].data...)
				}
				p = joined
			}
			o.write(p)
			for ; i < next; i++ {
				frames[i].free()
			}
		}
		o.busy = false
	}
}

// write writes p, or fails. It needs mu and lets go of it meanwhile; that nobody
// else writes is up to busy.
func (o *writer) write(p []byte) {
	for len(p) > 0 && o.err == nil {
		n := min(len(p), writeBytes)
		o.since = time.Now()
		if !o.watched && o.timeout > 0 {
			o.watched = true
			o.watchdog.Reset(o.timeout)
		}
		o.mu.Unlock()
		_, err := o.w.Write(p[:n])
		o.mu.Lock()
		o.since = time.Time{}
		if err != nil {
			o.failed(&WriteError{Err: err})
			return
		}
		p = p[n:]
		o.unsent -= n
		if o.space != nil && o.unsent <= o.limit {
			close(o.space)
			o.space = nil
		}
	}
}

// watch fails when the write under way is too old. It comes once in a time-out
// while there are writes: setting a timer for each would cost more than a short
// write does.
func (o *writer) watch() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.watched = !o.since.IsZero(); !o.watched {
		return
	}
	if left := o.timeout - time.Since(o.since); left > 0 {
		o.watchdog.Reset(left)
		return
	}
	o.failed(&WriteError{Err: fmt.Errorf("it has not read for %v", o.timeout), Unread: o.timeout})
}

// fail declares the peer gone.
func (o *writer) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed(err)
}

// failed is fail for who has mu.
func (o *writer) failed(err error) {
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
