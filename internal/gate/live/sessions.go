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

// Budget is what a session may use.
func (s OfSessions) Budget() session.Budget {
	set := s.Now()
	return session.Budget{Tokens: int64(set.Int("budget.tokens")), Calls: int64(set.Int("budget.calls"))}
}
