package serve

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/setup"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// clients are the agents and editors of the user, as the server knows them.
type clients struct{ editor }

func (c editor) setup() server.Setup {
	if c.server.o.Setup == nil {
		return nil
	}
	return clients{c}
}

// here looks in the first folder, if one is open.
func (c clients) here() (setup.Env, error) {
	dir := ""
	if w := c.Workspace(); w != nil {
		dir = w.Disk.Folders()[0].Dir
	}
	return c.server.o.Setup(dir)
}

func (c clients) List(ctx context.Context) ([]server.SetupClient, error) {
	env, err := c.here()
	if err != nil {
		return nil, err
	}
	var out []server.SetupClient
	for _, cl := range env.List(ctx, true) {
		s := server.SetupClient{Name: cl.Name, Title: cl.Title, Found: cl.Found, Version: cl.Version}
		for _, r := range cl.Roads {
			s.Roads = append(s.Roads, server.SetupRoad(r))
		}
		out = append(out, s)
	}
	return out, nil
}

func (c clients) Plan(client string, o server.SetupOptions) (server.SetupPlan, error) {
	return c.plan(setup.Env.Plan, client, o)
}

func (c clients) PlanUndo(client string, o server.SetupOptions) (server.SetupPlan, error) {
	return c.plan(setup.Env.PlanUndo, client, o)
}

// plan makes a plan. Keys of other programs are kept out of its diffs.
func (c clients) plan(f func(setup.Env, string, setup.Options) (*setup.Plan, error), client string, o server.SetupOptions) (server.SetupPlan, error) {
	env, err := c.here()
	if err != nil {
		return server.SetupPlan{}, err
	}
	p, err := f(env, client, setup.Options(o))
	if err != nil {
		return server.SetupPlan{}, err
	}
	out := server.SetupPlan{Title: p.Title, Replaces: p.Foreign, Left: p.Left, Notes: p.Notes, Apply: p.Apply}
	for _, ch := range p.Changes {
		out.Changed = append(out.Changed, server.SetupChange{Path: ch.Path, Target: ch.Target, Diff: c.Hide.Text(ch.Diff)})
	}
	return out, nil
}
