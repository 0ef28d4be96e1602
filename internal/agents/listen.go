package agents

import (
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// tellAbsent tells our own agent of an earlier process what a person did with its edits
// before it goes on. It keeps that.
func (m *Manager) tellAbsent(session, text string) {
	for _, run := range m.runs.openIn(session) {
		if run.Info().Agent != Builtin {
			continue // it would be started for it
		}
		err := m.Wake(run)
		if s, had := m.o.Sessions.Get(session); err == nil && had == nil {
			s.Tell(text)
		} else {
			m.log.Warn("an agent is not told what was done with its edits", "run", run.ID(), "error", errors.Join(err, had))
		}
	}
}

// Subscribe calls f for every event of every run from now on, each run's in order.
func (m *Manager) Subscribe(f func(conversation.Event)) (cancel func()) { return m.listeners.add(f) }
