package commands

import (
	"context"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// agentBudgetArgs is a budget as clients give it.
type agentBudgetArgs struct {
	budgetArgs
	Steps   *int64   `json:"steps,omitempty"`   // requests to the model, for our own agent
	Seconds *int64   `json:"seconds,omitempty"` // of work, for our own agent
	Cost    *float64 `json:"cost,omitempty"`    // in US dollars, for our own agent
}

// IsZero reports whether nothing is bounded.
func (a agentBudgetArgs) IsZero() bool { return a == agentBudgetArgs{} }

func (a agentBudgetArgs) budget() (b loop.Budget) {
	if a.Tokens != nil {
		b.Tokens = *a.Tokens
	}
	if a.Calls != nil {
		b.Calls = *a.Calls
	}
	if a.Steps != nil {
		b.Steps = *a.Steps
	}
	if a.Seconds != nil {
		b.Time = time.Duration(*a.Seconds) * time.Second
	}
	if a.Cost != nil {
		b.Cost = *a.Cost
	}
	return b
}

func (a agentBudgetArgs) check() error {
	b := a.budget()
	if b.Tokens < 0 || b.Calls < 0 || b.Steps < 0 || b.Time < 0 || b.Cost < 0 {
		return client.InvalidParams("budget: its members must not be negative; 0 means no bound")
	}
	return nil
}

// compactAgent has an agent go on from a summary of its conversation.
func compactAgent(ctx context.Context, m *agents.Manager, a runArgs) (none, error) {
	return withRun(m, a.Run, func(r *conversation.Run) error { return m.Compact(ctx, r) })
}

type summaryArgs struct {
	Run     string `json:"run"`
	Summary int    `json:"summary"`        // ref of its event
	Text    string `json:"text,omitempty"` // that the agent goes on from; none: from what was before the summary
}

// summaryOfAgent changes or undoes the latest summary of a conversation.
func summaryOfAgent(_ context.Context, m *agents.Manager, a summaryArgs) (none, error) {
	return withRun(m, a.Run, func(r *conversation.Run) error { return m.Summary(r, a.Summary, a.Text) })
}
