package agents

import (
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
)

// recall gives the session what its agent has set out to do, as the conversation has it,
// which keeps it from now on.
func (d *own) recall() error { return d.session.Work.Keep(d.Work(), d.KeepWork) }

// Has reports whether a session is that of a run that has not ended.
func (m *Manager) Has(session string) bool { return len(m.runs.openIn(session)) > 0 }

// tellWork tells what the agent of a run has set out to do, and how that changed; before
// is nil in a run that was told nothing.
func (m *Manager) tellWork(run *conversation.Run, before *steps.State) {
	d, ok := m.runs.driver(run).(*own)
	if !ok {
		return
	}
	now := d.session.Work.Now()
	if before == nil {
		before = &steps.State{End: now.End}
	}
	tell(run, *before, now)
}

// tell tells a change in a run: the list, and how it ended.
func tell(run *conversation.Run, before, now steps.State) {
	if n := len(now.Entries()); n > 0 || len(before.Entries()) > 0 {
		e := conversation.Event{Kind: conversation.Plan, Plan: make([]conversation.PlanEntry, 0, n)}
		for _, one := range now.Entries() {
			e.Plan = append(e.Plan, conversation.PlanEntry{Text: one.Text, Status: one.State})
		}
		_ = run.Emit(e) // after its end there is nobody to be told
	}
	if end := now.End; end != nil && (before.End == nil || *end != *before.End) {
		e := conversation.Event{Kind: conversation.Note, Reason: "complete", Text: end.Reason}
		if end.Aborted {
			e.Reason, e.Text = "aborted", end.Reason+"\n\n"+end.Learned
		}
		_ = run.Emit(e)
	}
}
