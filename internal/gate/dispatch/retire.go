package dispatch

import (
	"errors"
	"sync"
)

// ErrRetired is returned by Call when another dispatcher has come in the place
// of this one, and its last call has ended.
var ErrRetired = errors.New("the workspace folders have just been changed; call again")

// running counts the calls that are on their way.
type running struct {
	mu      sync.Mutex
	calls   int
	retired chan struct{} // closed with the last call; nil while more may come
}

func (r *running) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.retired != nil && r.calls == 0 {
		return false
	}
	r.calls++
	return true
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls--; r.calls == 0 && r.retired != nil {
		close(r.retired)
	}
}

// Retire says that another dispatcher takes the calls from now on. The channel
// is closed when those that are on their way have ended.
func (d *Dispatcher) Retire() <-chan struct{} {
	r := &d.running
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.retired == nil {
		r.retired = make(chan struct{})
		if r.calls == 0 {
			close(r.retired)
		}
	}
	return r.retired
}
