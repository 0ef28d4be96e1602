package dispatch

import (
	"context"
	"encoding/json"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Own is what an agent would do with a tool of its own, which nothing here runs.
type Own struct {
	Session   string
	Mode      string          // of this call; "" means that of the session
	Agent     string          // its program, for people
	Tool      string          // as the agent calls it
	Arguments json.RawMessage // likewise

	// As is the tool of ours that does the same, and With its arguments; "": there is none.
	As   string
	With json.RawMessage
}

// Permit decides about what an agent would do with a tool of its own, as about a call
// of the tool of ours that does the same, and asks a person where that is needed.
// Nothing is run or changed; the record says whose tool it was. What there is no tool
// of ours for is always asked about.
func (d *Dispatcher) Permit(ctx context.Context, o Own) (*Result, error) {
	r := Request{Name: o.As, Arguments: o.With, Session: o.Session, Mode: o.Mode, own: &o}
	if t, _, ok := d.o.Registry.Lookup(o.As); o.As != "" && ok {
		if _, err := t.Bind(o.With); err == nil || refuses(err) {
			return d.Call(ctx, r)
		}
	}
	t, err := tools.Raw(tools.Def{Name: "own_tool", Title: o.Agent + " uses its own " + o.Tool, Description: "What an agent does with a tool of its own."},
		tools.Source{Kind: tools.SourceBuiltin}, tools.Exec, json.RawMessage(`{"type":"object"}`),
		func(context.Context, *tools.Call, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil })
	if err != nil {
		return nil, err
	}
	r.Name, r.Arguments, r.tool = t.Name, o.Arguments, t
	return d.Call(ctx, r)
}

// permitted is the text of a result that allows something.
const permitted = "allowed"

// permit decides, asks, and does nothing.
func (c *call) permit(ctx context.Context) error {
	if err := c.reachable(); err != nil {
		return err
	}
	c.unlike = c.req.tool != nil
	v := c.decide(nil)
	var changes []workspace.Change
	if c.tool.Access == tools.Edit && v.Outcome != policy.Deny {
		var err error
		_, changes, err = c.compute(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && refuses(err):
			return err
		case err != nil: // whether it works is the agent's business
			c.unlike = true
		}
		v = c.decide(changes)
	}
	return c.settle(ctx, v, changes)
}

// ownReason is why a person is asked about what an agent does itself; "": that does not
// matter.
func (c *call) ownReason() string {
	switch {
	case c.req.own == nil:
	case c.unlike:
		return c.req.own.Agent + " would do this itself, and what it would change is not known here"
	case c.mode.ToStore && c.access() == tools.Edit:
		return c.req.own.Agent + " would write this itself, so that it does not wait for review"
	}
	return ""
}

// refuses reports whether an error says that something may not be done, not that it
// can't be.
func refuses(err error) bool {
	switch tools.AsError(err).Code {
	case tools.ProtectedPath, tools.SensitivePath, tools.OutsideWorkspace, tools.Denied, tools.NotApproved:
		return true
	}
	return false
}
