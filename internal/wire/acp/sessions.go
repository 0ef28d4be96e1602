package acp

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"
)

// Bounds of what is kept of sessions whose ids are not known yet.
const (
	maxHeld      = 1024
	maxHeldBytes = 8 << 20
)

// sessions are those that are open, and updates of one that is being opened:
// they may come before its id.
type sessions struct {
	mu       sync.Mutex
	open     map[string]*Session
	opening  int // session/new under way
	held     []heldUpdate
	heldSize int
	stats    Stats
}

// heldUpdate is an update of a session whose id is not known yet.
type heldUpdate struct {
	session string
	raw     json.RawMessage
}

func (t *sessions) count(of func(*Stats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of(&t.stats)
}

// add opens a session.
func (t *sessions) add(s *Session) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[s.ID] != nil {
		return fmt.Errorf("a session %.100q is open already: close it first", s.ID)
	}
	t.open[s.ID] = s
	return nil
}

// remove closes a session, and gives back what it holds.
func (t *sessions) remove(s *Session) {
	t.mu.Lock()
	if t.open[s.ID] == s {
		delete(t.open, s.ID)
	}
	t.mu.Unlock()
	s.release()
}

func (t *sessions) get(id string) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[id]
}

// of is the session that an update is for. It is nil for one that is not open,
// whose update is kept while it may become open.
func (t *sessions) of(id string, update json.RawMessage) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.open[id]
	switch {
	case s != nil:
	case t.opening > 0 && len(t.held) < maxHeld && t.heldSize+len(update) <= maxHeldBytes:
		t.held = append(t.held, heldUpdate{id, update})
		t.heldSize += len(update)
	default:
		t.stats.Updates++
	}
	return s
}

// expect notes that a session is being opened.
func (t *sessions) expect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opening++
}

// opened returns what came for a session before its id was known; nil is one that
// was not opened. What is left when no session is being opened is dropped.
func (t *sessions) opened(s *Session) (its []json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opening--
	var rest []heldUpdate
	size := 0
	for _, u := range t.held {
		if s != nil && u.session == s.ID {
			its = append(its, u.raw)
		} else if t.opening > 0 {
			rest = append(rest, u)
			size += len(u.raw)
		} else {
			t.stats.Updates++
		}
	}
	t.held, t.heldSize = rest, size
	return its
}

// release gives back what the sessions hold, at the end of the connection.
func (t *sessions) release() {
	t.mu.Lock()
	all := maps.Clone(t.open)
	clear(t.open)
	t.mu.Unlock()
	for _, s := range all {
		s.release()
	}
}
