package agents

import (
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// ModeSet has the runs of a session keep its mode, which they have again after a restart,
// and tells our own agent, whose instructions say what the mode was at the beginning.
func (m *Manager) ModeSet(session, mode string) {
	m.modeIs(session, mode, func(run *conversation.Run) {
		if s, err := m.o.Sessions.Get(session); err == nil && run.Info().Agent == Builtin {
			s.Tell(modeWords(mode, m.o.Mode(mode)))
		}
	})
}

// modeWords are what an agent is told whose mode a person has set.
func modeWords(name string, mode policy.Mode) string {
	words := fmt.Sprintf("The mode is %s from now on, whatever was said of it before: %s", name, mode.Help)
	if mode.OnlyReads() {
		words += " Nothing may be changed until the user has approved a plan."
	}
	return words
}

// modeIs is ModeSet with what is done for each run whose mode was another one.
func (m *Manager) modeIs(session, mode string, changed func(*conversation.Run)) {
	m.team.modeBelow(session)
	for _, run := range m.runs.in(session) {
		if i := run.Info(); i.State == conversation.Ended || i.Mode == mode {
			continue
		}
		changed(run)
		if err := run.Emit(conversation.Event{Kind: conversation.Note, Reason: "mode", Mode: mode}); err != nil {
			m.log.Warn("the mode of a run is not kept", "run", run.ID(), "error", err)
		}
	}
}
