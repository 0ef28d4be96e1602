package steps

import (
	"encoding/json"
	"sync"
)

// Record is the State of one agent. It is safe for concurrent use.
type Record struct {
	told func(before, now State) // after each change, in their order

	turn sync.Mutex // of changes: one is told before the next begins

	mu    sync.Mutex
	now   State
	keeps func(json.RawMessage) error // nil: it lives in memory alone
}

// NewRecord returns one of who has not begun. told, which may be nil, is called after
// each change and must not change the record.
func NewRecord(told func(before, now State)) *Record { return &Record{told: told} }

// Now is a copy of the state.
func (r *Record) Now() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now.clone()
}

// StepOpen reports whether a step is declared and not verified.
func (r *Record) StepOpen() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now.Open() != nil
}

// Change has f change the state, and returns it. When f fails, or the new state can't be
// kept, nothing changes.
func (r *Record) Change(f func(*State) error) (State, error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.mu.Lock()
	before, next, keeps := r.now, r.now.clone(), r.keeps
	r.mu.Unlock()
	if err := f(&next); err != nil {
		return State{}, err
	}
	if keeps != nil {
		data, err := json.Marshal(next)
		if err == nil {
			err = keeps(data)
		}
		if err != nil {
			return State{}, err
		}
	}
	r.mu.Lock()
	r.now = next
	r.mu.Unlock()
	if r.told != nil {
		r.told(before, next.clone())
	}
	return next.clone(), nil
}

// Keep puts the state in the place of what data, which is empty for who has not begun,
// says, and has keeps bring each later one to where data is from. Nobody is told.
func (r *Record) Keep(data json.RawMessage, keeps func(json.RawMessage) error) error {
	var next State
	if len(data) > 0 {
		if err := json.Unmarshal(data, &next); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.keeps = next, keeps
	return nil
}
