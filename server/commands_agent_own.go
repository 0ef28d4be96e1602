package server

import (
	"context"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// AgentBudget bounds what our own agent may use with its sub-agents. Zero is no bound.
type AgentBudget struct {
	Tokens int64         // of the model: read, written and cached
	Calls  int64         // of tools
	Steps  int64         // requests to the model
	Time   time.Duration // of work; what people take does not count
	Cost   float64       // in US dollars, where the model's price is known
}

// agentBudgetArgs is a budget as clients give it.
type agentBudgetArgs struct {
	budgetArgs
	Steps   *int64   `json:"steps,omitempty"`   // requests to the model, for our own agent
	Seconds *int64   `json:"seconds,omitempty"` // of work, for our own agent
	Cost    *float64 `json:"cost,omitempty"`    // in US dollars, for our own agent
}

// IsZero reports whether nothing is bounded.
func (a agentBudgetArgs) IsZero() bool { return a == agentBudgetArgs{} }

func (a agentBudgetArgs) budget() (b AgentBudget) {
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
		return invalidParams("budget: its members must not be negative; 0 means no bound")
	}
	return nil
}

// runOf is a run, and the agents that it is one of.
func (s *Server) runOf(id string) (*conversation.Run, Agents, error) {
	r, err := s.run(id)
	if err != nil {
		return nil, nil, err
	}
	m, err := s.agents()
	return r, m, err
}

type budgetOfAgentArgs struct {
	Run    string          `json:"run"`
	Budget agentBudgetArgs `json:"budget"`
}

// budgetOfAgent bounds what an agent may use; what it has used counts.
func (s *Server) budgetOfAgent(_ context.Context, a budgetOfAgentArgs) (none, error) {
	r, m, err := s.runOf(a.Run)
	if err == nil {
		err = a.Budget.check()
	}
	if err != nil {
		return none{}, err
	}
	if err := m.Budget(r, a.Budget.budget()); err != nil {
		return none{}, invalidParams("%v", err)
	}
	return none{}, nil
}

// compactAgent has an agent go on from a summary of its conversation.
func (s *Server) compactAgent(ctx context.Context, a runArgs) (none, error) {
	r, m, err := s.runOf(a.Run)
	if err != nil {
		return none{}, err
	}
	if err := m.Compact(ctx, r); err != nil {
		return none{}, invalidParams("%v", err)
	}
	return none{}, nil
}

type summaryArgs struct {
	Run     string `json:"run"`
	Summary int    `json:"summary"`        // ref of its event
	Text    string `json:"text,omitempty"` // that the agent goes on from; none: from what was before the summary
}

// summaryOfAgent changes or undoes the latest summary of a conversation.
func (s *Server) summaryOfAgent(_ context.Context, a summaryArgs) (none, error) {
	r, m, err := s.runOf(a.Run)
	if err != nil {
		return none{}, err
	}
	if err := m.Summary(r, a.Summary, a.Text); err != nil {
		return none{}, invalidParams("%v", err)
	}
	return none{}, nil
}
