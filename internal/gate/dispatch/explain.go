package dispatch

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Explain says what would be decided about a call, and why. Nothing is run
// but an edit's computation, which changes nothing. A call that could not be
// made at all (unknown tool, bad arguments) is denied with that reason.
func (d *Dispatcher) Explain(ctx context.Context, req Request) (e Explanation, err error) {
	d.ready(ctx)
	d.o.Secrets.Refresh()
	c := &call{record: newRecord(d, req), d: d}
	c.res.Tool = req.Name
	defer func() { e.Floor = c.set.Floor }()
	refuse := func(err error) (Explanation, error) {
		if ctx.Err() != nil {
			return Explanation{}, ctx.Err()
		}
		e := tools.AsError(err)
		return Explanation{Decision: policy.Deny, Rule: string(e.Code), Reason: d.o.Redact.Text(e.Message), Crosses: []effects.Effect{}}, nil
	}
	if err := c.lookUp(); err != nil {
		return refuse(err)
	}
	bound, err := c.tool.Bind(req.Arguments)
	if err != nil {
		return refuse(err)
	}
	c.bound = bound
	c.see, c.to, c.dest = d.views(c.session, c.mode, c.author(), c.set)
	if err := bound.Plan(ctx, c.see); err != nil {
		return refuse(err)
	}
	c.line = readLine(ctx, c)
	c.border = lookAtBorder(ctx, c)
	if err := c.reachable(); err != nil {
		return refuse(err)
	}
	v := c.decide(nil)
	if c.tool.Access != tools.Edit || v.Outcome == policy.Deny {
		return Explanation{Decision: v.Outcome, Rule: v.Rule, Reason: v.Reason, Effects: c.effects(nil), Parts: c.line.parts(d.o.Redact.Text), Crosses: crosses(c, v, nil), Conditions: c.border.conditions}, nil
	}
	_, changes, err := c.compute(ctx)
	if err != nil {
		return refuse(err)
	}
	v = c.decide(changes)
	return Explanation{Decision: v.Outcome, Rule: v.Rule, Reason: v.Reason, Effects: c.effects(changes), Crosses: crosses(c, v, changes)}, nil
}

// reachable fails where the call names a file that it may not see. The tool would find
// that out itself.
func (c *call) reachable() error {
	for _, name := range c.bound.Effects.Paths {
		resolved, err := c.see.Resolve(name)
		if err != nil {
			return err
		}
		if _, err := c.see.Stat(resolved); errors.Is(err, workspace.ErrSensitive) {
			return err
		}
	}
	return nil
}
