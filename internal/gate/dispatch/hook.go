package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Hooks hear of calls, and may hold them back: *hooks.Runner. names are what a
// matcher may call the tool.
type Hooks interface {
	// Ready waits until it is known which there are, and which tools come with them.
	Ready(ctx context.Context)
	Active(e hooks.Event, names ...string) bool
	Run(ctx context.Context, in hooks.Input, names ...string) hooks.Outcome
}

// ready waits until what users extend the server with is there: a hook must not miss the
// first call.
func (d *Dispatcher) ready(ctx context.Context) {
	if d.o.Hooks != nil {
		d.o.Hooks.Ready(ctx)
	}
}

// toldToHook bounds how much of a result a hook is told, in bytes.
const toldToHook = 256 << 10

// hook runs the hooks of an event; more adds to what they are told. What a person has run,
// what only takes over what programs wrote, and what an agent does itself, which its own hooks
// hear of, is not for them.
func (c *call) hook(ctx context.Context, e hooks.Event, more func(*hooks.Input)) hooks.Outcome {
	if c.d.o.Hooks == nil || c.req.over != nil || c.req.tool != nil || c.req.unread || c.req.own != nil {
		return hooks.Outcome{}
	}
	tool, src := c.req.Name, tools.Source{}
	if c.tool != nil {
		tool, src = c.tool.Name, c.tool.Source
	}
	theirs, names := hooks.Names(tool, src.Server, src.Tool)
	if !c.d.o.Hooks.Active(e, names...) {
		return hooks.Outcome{}
	}
	in := hooks.Input{Event: e, Session: c.sessionID(), Call: c.req.CallID, ToolName: theirs, OurTool: c.res.Tool}
	if main, err := c.d.o.Sessions.Get(session.Default); err == nil {
		in.Dir = main.Root // of a call that has no session
	}
	if c.session != nil {
		in.Dir, in.Mode, in.OurMode = c.session.Root, hooks.Mode(c.mode), c.mode.Name
	}
	if c.bound != nil {
		in.OurInput = redactedArguments(c.req.Arguments, c.d.o.Redact.Text, nil)
		in.Tool = hooks.Theirs(in.OurTool, c.see.Abs, in.OurInput)
	}
	if more != nil {
		more(&in)
	}
	return c.d.o.Hooks.Run(ctx, in, names...)
}

// heardBefore runs the hooks before anything is decided, and binds the call again
// where they changed its arguments.
func (c *call) heardBefore(ctx context.Context) error {
	c.hooked = c.hook(ctx, hooks.PreToolUse, nil)
	if err := ctx.Err(); err != nil {
		return err
	}
	c.notes.heard(c.hooked)
	if c.hooked.Halt != "" {
		c.hooked.Decision, c.hooked.Reason = hooks.Deny, c.hooked.Halt+"; stop here and tell the user"
	}
	changed := c.hooked.Input
	if changed == nil || c.hooked.Decision == hooks.Deny {
		return nil
	}
	if marker := []byte("[REDACTED:"); bytes.Contains(changed, marker) && !bytes.Contains(c.req.Arguments, marker) {
		return tools.Errorf(tools.Denied, "a hook of the user's (%s) changed arguments that hold a secret, which it is not shown; tell the user", c.hooked.By)
	}
	bound, err := c.tool.Bind(changed)
	if err != nil {
		return tools.Errorf(tools.Denied, "a hook of the user's changed the arguments to what %s does not take (%v); tell the user", c.tool.Name, err)
	}
	c.bound, c.req.Arguments, c.bill.arguments = bound, changed, len(changed)
	c.notes.add("A hook of the user's changed the arguments: " + c.d.shownCommand(string(changed)))
	return nil
}

// heard tells the model what hooks have to say besides.
func (n *notes) heard(o hooks.Outcome) {
	for _, text := range o.Context {
		n.add("A hook of the user's says: " + text)
	}
}

// hookReason is why hooks decided as they did, for people and models.
func hookReason(o hooks.Outcome) string {
	if o.Decision == "" {
		return ""
	}
	did := map[string]string{hooks.Allow: "allows", hooks.Ask: "asks about", hooks.Deny: "denies"}[o.Decision]
	text := "a hook of the user's (" + o.By + ") " + did + " this"
	if o.Reason != "" {
		text += ": " + strings.TrimSuffix(o.Reason, ".")
	}
	return text
}

// answeredByHook has hooks answer a question in the place of a person, where that is
// enough.
func (c *call) answeredByHook(ctx context.Context, v policy.Verdict) (answered bool, err error) {
	o := c.hook(ctx, hooks.PermissionRequest, func(in *hooks.Input) { in.Reason = c.d.o.Redact.Text(v.Reason) })
	c.notes.heard(o)
	verdict := policy.Verdict{Outcome: policy.Outcome(o.Decision), By: policy.ByRule, Rule: "hook." + o.Decision, Reason: hookReason(o)}
	switch {
	case ctx.Err() != nil:
		return true, ctx.Err()
	case o.Decision == hooks.Deny:
		err = tools.Errorf(tools.Denied, "%s", verdict.Reason)
	case o.Decision != hooks.Allow || v.Person:
		return false, nil
	}
	c.res.Decision = Decision{Outcome: o.Decision, By: verdict.By, Rule: verdict.Rule}
	c.emitVerdict(verdict)
	return true, err
}

// heardAfter tells hooks how the call ended, and returns what its result is then.
func (c *call) heardAfter(ctx context.Context, out tools.Result, err error) tools.Result {
	if ctx.Err() != nil {
		return out
	}
	if err == nil {
		return c.heardSuccess(ctx, out)
	}
	e := tools.AsError(err)
	event, told := hooks.PostToolUseFailure, func(in *hooks.Input) {
		in.Error, in.ErrorCode = c.d.o.Redact.Text(e.Message), string(e.Code)
	}
	why := func(in *hooks.Input) { in.Reason = c.d.o.Redact.Text(e.Message) }
	switch e.Code {
	case tools.Denied, tools.NotApproved:
		event, told = hooks.PermissionDenied, why
	case tools.BudgetExceeded:
		event, told = hooks.BudgetExceeded, why
	case tools.Disabled:
		event, told = hooks.ToolsDisabled, why
	}
	c.notes.heard(c.hook(ctx, event, told))
	return out
}

// heardSuccess tells hooks of a result, and returns what it is then.
func (c *call) heardSuccess(ctx context.Context, out tools.Result) tools.Result {
	o := c.hook(ctx, hooks.PostToolUse, func(in *hooks.Input) { in.Response = told(out, c.res.Changes, c.d.o.Redact.Text) })
	if o.Output != nil {
		out.Text, out.Structured = *o.Output, nil // it may say what the hook has hidden
		c.notes.add("A hook of the user's wrote this result.")
	}
	switch {
	case o.Halt != "":
		c.notes.add("A hook of the user's says: " + o.Halt + "; stop here and tell the user.")
	case o.Decision == hooks.Deny:
		c.notes.add("A hook of the user's objects: " + o.Reason)
	}
	c.notes.heard(o)
	return out
}

// told is a result as hooks are told it.
func told(out tools.Result, changes []ChangeRef, hide func(string) string) *hooks.Response {
	r := &hooks.Response{Content: hide(out.Text)}
	if n := len(r.Content); n > toldToHook {
		r.Content = r.Content[:headEnd(r.Content, toldToHook)] + "…"
	}
	if data, err := json.Marshal(out.Structured); err == nil && out.Structured != nil && len(data) <= toldToHook {
		r.Structured, _ = hideJSON(data, hide, nil)
	}
	for _, ch := range changes {
		r.Changes = append(r.Changes, ch.Path)
	}
	return r
}
