package agents

import "sync"

// offers caches the capabilities of agents by profile. An agent has some after its first start.
type offers struct {
	mu    sync.Mutex
	known map[string]Info
}

// get returns the capabilities of an agent; ok is false before its first start.
func (o *offers) get(profile string) (i Info, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i, ok = o.known[profile]
	return i, ok
}

// set stores the capabilities of an agent.
func (o *offers) set(profile string, i Info) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[string]Info{}
	}
	o.known[profile] = i
}
