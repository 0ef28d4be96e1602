package loop

import (
	"encoding/json"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
)

// KeepWork stores the steps and todos of the agent.
func (a *Agent) KeepWork(state json.RawMessage) error {
	return a.keep(Item{Kind: Worked, Work: state})
}

// Work is what was kept last; nil: nothing was, or it was rewound.
func (a *Agent) Work() json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.transcript.work
}

// workText lists the steps and todos of the agent for its model; "" if there are none.
func (t *transcript) workText() string {
	var s steps.State
	if json.Unmarshal(t.work, &s) != nil {
		return ""
	}
	if s.End != nil {
		s.Steps = nil
	}
	return s.Words()
}

// WasAnswered reports whether people have answered, before a restart, what a call at the
// gate is about to ask them.
func (a *Agent) WasAnswered(call string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.given[a.Key(call)]
	return ok
}
