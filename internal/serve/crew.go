package serve

import (
	"context"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/tools"
	team "github.com/sidecar-ls/sidecar-ls/tools/agents"
)

// crew is the agents of a client, for the tools by which one has others work.
type crew struct{ a *Agents }

func (c crew) manager() (*agents.Manager, error) {
	m, err := c.a.Manager()
	if err != nil {
		return nil, tools.Errorf(tools.Unavailable, "no agents can work for you here (%v); do the task yourself", err)
	}
	return m, nil
}

// Spawn implements team.Team, as do its neighbours.
func (c crew) Spawn(ctx context.Context, by team.Caller, t team.Task) (team.Report, error) {
	m, err := c.manager()
	if err != nil {
		return team.Report{}, err
	}
	return m.Spawn(ctx, by, t)
}

// Best has several agents do one task.
func (c crew) Best(ctx context.Context, by team.Caller, task string, n int) (team.Choice, error) {
	m, err := c.manager()
	if err != nil {
		return team.Choice{}, err
	}
	return m.Best(ctx, by, task, n)
}

// Delegate asks the user's own model.
func (c crew) Delegate(ctx context.Context, by team.Caller, task string) (team.Report, error) {
	m, err := c.manager()
	if err != nil {
		return team.Report{}, err
	}
	return m.Delegate(ctx, by, task)
}

// List lists sub-agents.
func (c crew) List(by team.Caller) ([]team.Member, error) {
	m, err := c.manager()
	if err != nil {
		return nil, err
	}
	return m.ListTeam(by)
}

// Send tells a sub-agent something.
func (c crew) Send(by team.Caller, id, text string) error {
	m, err := c.manager()
	if err != nil {
		return err
	}
	return m.Send(by, id, text)
}

// Wait waits for sub-agents.
func (c crew) Wait(ctx context.Context, by team.Caller, ids []string, all bool, late time.Duration) ([]team.Member, error) {
	m, err := c.manager()
	if err != nil {
		return nil, err
	}
	return m.Wait(ctx, by, ids, all, late)
}

// Cancel stops a sub-agent.
func (c crew) Cancel(by team.Caller, id string) (team.Member, error) {
	m, err := c.manager()
	if err != nil {
		return team.Member{}, err
	}
	return m.CancelChild(by, id)
}

// Propose implements team.Plans.
func (c crew) Propose(ctx context.Context, by team.Caller, plan string) (team.Decision, error) {
	m, err := c.manager()
	if err != nil {
		return team.Decision{}, err
	}
	return m.Propose(ctx, by, plan)
}
