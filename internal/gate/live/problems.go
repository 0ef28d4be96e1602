package live

import (
	"slices"
	"sync"
)

// Problems are what is wrong, in words for the user: at the start, and with the
// settings as they are loaded later. Each is reported once, as long as it lasts.
// The zero value has none.
type Problems struct {
	mu    sync.Mutex
	start []string // what went wrong at the start, and no load has reported
	shown bool     // the start is over
	last  []string // what the settings had wrong when they were last loaded
}

// Add adds problems of the start, and returns whether that is over: then they are
// the caller's to report.
func (p *Problems) Add(texts ...string) (late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.shown {
		p.start = append(p.start, texts...)
	}
	return p.shown
}

// Show returns those of the start, which is over then. The first load reports them
// too.
func (p *Problems) Show() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	return slices.Clone(p.start)
}

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
