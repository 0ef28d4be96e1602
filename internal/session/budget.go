package session

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// Budget bounds a session. Zero means no bound.
type Budget struct {
	Tokens int64
	Calls  int64
}

// Reservation is a call that has been counted and the tokens that are held for
// it. It must be settled once; settling it again does nothing.
type Reservation struct {
	session *Session
	tokens  int64
	once    sync.Once
}

// Reserve counts a call and holds tokens for it (an estimate; 0 is fine). It
// fails with ErrBudget when the session has no call or not so many tokens
// left, also counting what is held for calls that run now.
func (s *Session) Reserve(tokens int64) (*Reservation, error) {
	tokens = max(tokens, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.budget.Calls; b > 0 && s.calls >= b {
		return nil, fmt.Errorf("%w: all %d calls of session %s are used; finish with what you have", ErrBudget, b, s.ID)
	}
	if b := s.budget.Tokens; b > 0 {
		left := b - s.tokens - s.reserved
		if left <= 0 || tokens > left {
			return nil, fmt.Errorf("%w: session %s has %d of %d tokens left; finish with what you have", ErrBudget, s.ID, max(left, 0), b)
		}
	}
	s.calls++
	s.reserved += tokens
	return &Reservation{session: s, tokens: tokens}, nil
}

// Settle gives back what was held and counts the tokens that were used, which
// may be more than were held.
func (r *Reservation) Settle(used int64) {
	r.once.Do(func() {
		r.session.mu.Lock()
		defer r.session.mu.Unlock()
		r.session.reserved -= r.tokens
		r.session.tokens += max(used, 0)
	})
}

// cut shortens s to at most n bytes without splitting a rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "…"
	n -= len(mark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}
