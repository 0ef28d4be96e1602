package session

import (
	"fmt"
	"math"
	"sync"
	"unicode/utf8"
)

// Budget bounds a session. Zero means no bound.
type Budget struct {
	Tokens int64
	Calls  int64
}

// purse is what was used of a budget.
type purse struct {
	mu       sync.Mutex
	calls    int64
	tokens   int64 // used by settled calls
	reserved int64 // held by running calls
}

func (p *purse) used() (calls, tokens int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls, p.tokens
}

// budget is what bounds the session: each bound that it was opened with, else
// that of the settings now.
func (s *Session) budget() Budget {
	if s.under != nil {
		return s.under.budget()
	}
	var b Budget
	if s.store.opts.Settings != nil {
		b = s.store.opts.Settings.Budget()
	}
	if s.ownTokens != nil {
		b.Tokens = *s.ownTokens
	}
	if s.ownCalls != nil {
		b.Calls = *s.ownCalls
	}
	floor := s.store.floor().Budget
	return Budget{Tokens: smaller(b.Tokens, floor.Tokens), Calls: smaller(b.Calls, floor.Calls)}
}

// smaller is the smaller of two bounds; 0 is none.
func smaller(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Reservation is a call that has been counted and the tokens that are held for
// it. It must be settled once; settling it again does nothing.
type Reservation struct {
	purse  *purse
	budget int64 // of tokens, when it was made; 0: no bound
	tokens int64 // that are held
	once   sync.Once
}

// Reserve counts a call and holds tokens for it (an estimate; 0 is fine). It
// fails with ErrBudget when the session has no call or not so many tokens
// left, also counting what is held for calls that run now.
func (s *Session) Reserve(tokens int64) (*Reservation, error) {
	budget := s.budget()
	p := s.purse
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := budget.Calls; b > 0 && p.calls >= b {
		return nil, fmt.Errorf("%w: all %d calls of session %s are used; finish with what you have", ErrBudget, b, s.ID)
	}
	r, err := s.reserve(tokens, budget.Tokens)
	if err == nil {
		p.calls++
	}
	return r, err
}

// ReserveTokens is Reserve for what is no call of its own, such as one more
// page of a result.
func (s *Session) ReserveTokens(tokens int64) (*Reservation, error) {
	budget := s.budget()
	s.purse.mu.Lock()
	defer s.purse.mu.Unlock()
	return s.reserve(tokens, budget.Tokens)
}

// reserve holds tokens of a budget. It needs the purse's mu.
func (s *Session) reserve(tokens, budget int64) (*Reservation, error) {
	tokens = max(tokens, 0)
	if budget > 0 {
		left := budget - s.purse.tokens - s.purse.reserved
		if left <= 0 || tokens > left {
			return nil, fmt.Errorf("%w: of its %d tokens session %s has %d left, too few for this; finish with what you have", ErrBudget, budget, s.ID, max(left, 0))
		}
	}
	s.purse.reserved += tokens
	return &Reservation{purse: s.purse, budget: budget, tokens: tokens}, nil
}

// Left is how many tokens the call may use: those that are held for it, and
// what nobody holds.
func (r *Reservation) Left() int64 {
	r.purse.mu.Lock()
	defer r.purse.mu.Unlock()
	return r.left()
}

func (r *Reservation) left() int64 {
	if r.budget == 0 {
		return math.MaxInt64
	}
	return max(r.tokens+r.budget-r.purse.tokens-r.purse.reserved, 0)
}

// Hold holds tokens for the call instead of what was held for it, or as many as
// there are. It returns how many that is.
func (r *Reservation) Hold(tokens int64) int64 {
	r.purse.mu.Lock()
	defer r.purse.mu.Unlock()
	held := max(min(tokens, r.left()), 0)
	r.purse.reserved += held - r.tokens
	r.tokens = held
	return held
}

// Settle gives back what was held and counts the tokens that were used, which
// may be more than were held.
func (r *Reservation) Settle(used int64) {
	r.once.Do(func() {
		r.purse.mu.Lock()
		defer r.purse.mu.Unlock()
		r.purse.reserved -= r.tokens
		r.purse.tokens += max(used, 0)
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
