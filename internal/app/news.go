package app

import (
	"slices"
	"sync"
)

// news tells each problem once, as long as it lasts.
type news struct {
	mu    sync.Mutex
	start []string // what went wrong at the start, not told yet
	last  []string // what the settings had wrong when they were last loaded
}

// of loads the settings, one load at a time, and returns the problems that
// were not told before.
func (n *news) of(load func() []string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := load()
	var fresh []string
	for _, p := range slices.Concat(n.start, now) {
		if !slices.Contains(n.last, p) && !slices.Contains(fresh, p) {
			fresh = append(fresh, p)
		}
	}
	n.start, n.last = nil, now
	return fresh
}
