package egress

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// places are the connections of a session. When all are taken, the one that was silent for
// the longest time makes place for a new one.
type places struct {
	mu  sync.Mutex
	all map[*conn]bool
	end bool
}

// Bounds of a session's connections.
const (
	maxPlaces = 512
	silentFor = 10 * time.Second // before one makes place
	idleFor   = time.Hour        // before one is closed in any case
)

// take takes a place; false is that there is none.
func (p *places) take(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end {
		return false
	}
	if p.all == nil {
		p.all = map[*conn]bool{}
	}
	c.moved()
	if len(p.all) >= maxPlaces {
		var oldest *conn
		for one := range p.all {
			if oldest == nil || one.rank() < oldest.rank() {
				oldest = one
			}
		}
		if oldest.spoke.Load() && time.Since(oldest.last()) < silentFor {
			return false
		}
		delete(p.all, oldest)
		go oldest.Close() //nolint:errcheck // it makes place
	}
	p.all[c] = true
	c.leave = func() {
		p.mu.Lock()
		delete(p.all, c)
		p.mu.Unlock()
	}
	return true
}

// list has all connections.
func (p *places) list() []*conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.all))
}

func (p *places) closeAll() {
	p.mu.Lock()
	p.end = true
	all := p.all
	p.all = nil
	p.mu.Unlock()
	for c := range all {
		_ = c.Close()
	}
}
