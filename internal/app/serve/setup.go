package serve

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/setup"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
)

// clients are the agents and editors of the user, as the server knows them.
type clients struct{ editor }

func (c editor) setup() commands.Setup {
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

func (c clients) List(ctx context.Context) ([]commands.SetupClient, error) {
	env, err := c.here()
	if err != nil {
		return nil, err
	}
	var out []commands.SetupClient
	for _, cl := range env.List(ctx, true) {
		s := commands.SetupClient{Name: cl.Name, Title: cl.Title, Found: cl.Found, Version: cl.Version}
		for _, r := range cl.Roads {
			s.Roads = append(s.Roads, commands.SetupRoad(r))
		}
		out = append(out, s)
	}
	return out, nil
}

func (c clients) Plan(client string, o commands.SetupOptions) (commands.SetupPlan, error) {
	return c.plan(setup.Env.Plan, client, o)
}

func (c clients) PlanUndo(client string, o commands.SetupOptions) (commands.SetupPlan, error) {
	return c.plan(setup.Env.PlanUndo, client, o)
}

// plan makes a plan. Keys of other programs are kept out of its diffs.
func (c clients) plan(f func(setup.Env, string, setup.Options) (*setup.Plan, error), client string, o commands.SetupOptions) (commands.SetupPlan, error) {
	env, err := c.here()
	if err != nil {
		return commands.SetupPlan{}, err
	}
	p, err := f(env, client, setup.Options{Roads: o.Roads, Project: o.Project, OnlyOurs: o.OnlyOurs})
	if err != nil {
		return commands.SetupPlan{}, err
	}
	out := commands.SetupPlan{Title: p.Title, Replaces: p.Foreign, Left: p.Left, Notes: p.Notes, Apply: p.Apply}
	for _, ch := range p.Changes {
		out.Changed = append(out.Changed, commands.SetupChange{Path: ch.Path, Target: ch.Target, Diff: c.Hide.Text(ch.Diff)})
	}
	return out, nil
}
