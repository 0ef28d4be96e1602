package serve

import (
	"context"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/tools"
	agenttools "github.com/sidecar-ls/sidecar-ls/tools/agents"
)

// team is the agents of a client, for the tools by which one has others work.
type team struct{ a *Agents }

func (c team) agents() (agents.Team, error) {
	m, err := c.a.Manager()
	if err != nil {
		return nil, tools.Errorf(tools.Unavailable, "no agents can work for you here (%v); do the task yourself", err)
	}
	return m.Team(), nil
}

// Offers reports whether a tool has what it needs to work for a session: best_of a run of
// our own agent, in which people are asked; the others a model.
func (c team) Offers(session, tool string) bool {
	set := c.a.client.Settings.Now()
	m := c.a.Opened()
	own := m != nil && agents.IsOwn(m, session)
	switch tool {
	case "best_of":
		return own
	case "delegate_task":
		return set.String("backend.worker") != ""
	case "spawn_agent", "agent_list", "agent_send", "agent_wait", "agent_cancel":
		return own || set.String("backend.profile") != ""
	}
	return true
}

// Spawn implements agenttools.Team, as do its neighbours.
func (c team) Spawn(ctx context.Context, by agenttools.Caller, t agenttools.Task) (agenttools.Report, error) {
	team, err := c.agents()
	if err != nil {
		return agenttools.Report{}, err
	}
	return team.Spawn(ctx, by, t)
}

// Best has several agents do one task.
func (c team) Best(ctx context.Context, by agenttools.Caller, task string, n int) (agenttools.Choice, error) {
	team, err := c.agents()
	if err != nil {
		return agenttools.Choice{}, err
	}
	return team.Best(ctx, by, task, n)
}

// Delegate asks the user's own model.
func (c team) Delegate(ctx context.Context, by agenttools.Caller, task string) (agenttools.Report, error) {
	team, err := c.agents()
	if err != nil {
		return agenttools.Report{}, err
	}
	return team.Delegate(ctx, by, task)
}

// List lists sub-agents.
func (c team) List(by agenttools.Caller) ([]agenttools.Member, error) {
	team, err := c.agents()
	if err != nil {
		return nil, err
	}
	return team.List(by)
}

// Send tells a sub-agent something.
func (c team) Send(by agenttools.Caller, id, text string) error {
	team, err := c.agents()
	if err != nil {
		return err
	}
	return team.Send(by, id, text)
}

// Wait waits for sub-agents.
func (c team) Wait(ctx context.Context, by agenttools.Caller, ids []string, all bool, late time.Duration) ([]agenttools.Member, error) {
	team, err := c.agents()
	if err != nil {
		return nil, err
	}
	return team.Wait(ctx, by, ids, all, late)
}

// Cancel stops a sub-agent.
func (c team) Cancel(by agenttools.Caller, id string) (agenttools.Member, error) {
	team, err := c.agents()
	if err != nil {
		return agenttools.Member{}, err
	}
	return team.Cancel(by, id)
}

// Propose implements agenttools.Plans.
func (c team) Propose(ctx context.Context, by agenttools.Caller, plan string) (agenttools.Decision, error) {
	team, err := c.agents()
	if err != nil {
		return agenttools.Decision{}, err
	}
	return team.Propose(ctx, by, plan)
}
