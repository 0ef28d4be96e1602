package live

import (
	"cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
)

// OfSessions are what the settings say about sessions.
type OfSessions struct {
	*Settings
	First string // the mode that comes before theirs; "": none does
}

// DefaultMode is the mode that a session begins in.
func (s OfSessions) DefaultMode() string { return cmp.Or(s.First, s.Now().String("mode")) }

// ValidMode reports whether there is a mode of that name.
func (s OfSessions) ValidMode(name string) bool {
	_, ok := s.Mode(name)
	return ok
}

// Floor is what the machine's settings say of all sessions.
func (s OfSessions) Floor() session.Floor {
	set := s.Now()
	number := func(key string) int64 {
		n, _ := set.Floor(key)
		v, _ := n.(int)
		return int64(v)
	}
	return session.Floor{Mode: set.FloorMode(), Budget: session.Budget{Tokens: number("budget.tokens"), Calls: number("budget.calls")}}
}

// Budget is what a session may use.
func (s OfSessions) Budget() session.Budget {
	set := s.Now()
	return session.Budget{Tokens: int64(set.Int("budget.tokens")), Calls: int64(set.Int("budget.calls"))}
}
