package agents

import "sync"

// offers are what agents say of themselves, by profile, once one was started.
type offers struct {
	mu    sync.Mutex
	known map[string]Info
}

// of is what an agent said of itself.
func (o *offers) of(profile string) (Info, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i, ok := o.known[profile]
	return i, ok
}

// learn keeps what an agent offers.
func (o *offers) learn(profile string, i Info) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[string]Info{}
	}
	o.known[profile] = i
}
