package live

import (
	"slices"
	"sync"
)

// Problems reports each problem once, as long as it lasts.
type Problems struct {
	mu    sync.Mutex
	start []string // what went wrong at the start, not reported yet
	last  []string // what the settings had wrong when they were last loaded
}

// NewProblems returns those of a start, which the first load reports too.
func NewProblems(start []string) *Problems { return &Problems{start: start} }

// Of loads the settings, one load at a time, and returns the problems that were
// not reported before.
func (p *Problems) Of(load func() []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := load()
	var fresh []string
	for _, text := range slices.Concat(p.start, now) {
		if !slices.Contains(p.last, text) && !slices.Contains(fresh, text) {
			fresh = append(fresh, text)
		}
	}
	p.start, p.last = nil, now
	return fresh
}
