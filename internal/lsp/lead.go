package lsp

import (
	"errors"
	"sync"
	"time"
)

// handOver is how long the reader may be busy with a request. A timer can't be
// much finer.
const handOver = time.Millisecond

// errHandedOver ends a reader whose place another one has taken.
var errHandedOver = errors.New("another goroutine reads on")

// lead says who reads. To have a request served elsewhere, another thread must
// be woken, which takes longer than most requests do. So the reader serves one
// itself when nothing more has come, and another goroutine reads on only when
// that takes long, or the request only waits.
type lead struct {
	mu      sync.Mutex
	serving *request // by the reader; nil while it reads
	since   time.Time
	watched bool        // timer is set
	timer   *time.Timer // calls Conn.watch
}

// read runs a reader, who becomes a worker when another one has taken its place.
func (c *Conn) read() {
	err := c.readOn(c.base)
	if !errors.Is(err, errHandedOver) {
		c.ended <- err
		return
	}
	c.worker(nil)
}

// serveHere serves a request from the reader, and returns whether this still is
// the reader.
func (c *Conn) serveHere(r *request) bool {
	l := &c.lead
	l.mu.Lock()
	l.serving, l.since = r, time.Now()
	if !l.watched {
		l.watched = true
		l.timer.Reset(handOver)
	}
	l.mu.Unlock()
	c.serve(r)
	return c.leave(r)
}

// leave ends the time in which r keeps the reader from reading, and returns
// whether it did so until now.
func (c *Conn) leave(r *request) bool {
	c.lead.mu.Lock()
	defer c.lead.mu.Unlock()
	if c.lead.serving != r {
		return false
	}
	c.lead.serving = nil
	return true
}

// watch reads on when the reader is busy for too long. It comes once in a while
// as long as the reader serves: setting a timer for each request would wake a
// thread too.
func (c *Conn) watch() {
	l := &c.lead
	l.mu.Lock()
	r, left := l.serving, handOver-time.Since(l.since)
	l.watched = r != nil && left > 0
	if l.watched {
		l.timer.Reset(left)
	}
	l.mu.Unlock()
	if r != nil && left <= 0 && c.leave(r) {
		c.read()
	}
}
