package dispatch

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// call is one call on its way through the steps below.
type call struct {
	record
	d *Dispatcher

	mode   policy.Mode
	unseen bool // the tool was not in the model's list
	bound  *tools.Bound
	see    workspace.Files
	to     workspace.View
	dest   Destinations

	hooked    hooks.Outcome // what hooks said before it was decided on
	line      *commandLine  // nil: none for a shell
	border    border        // what it runs would leave the session there
	unlike    bool          // an agent does it itself, and no tool of ours does the same
	written   bool          // it is at what a program wrote that was allowed to run
	asUsual   bool          // no rule allows it by its packages
	follows   bool          // it is at the changes that the run of a program led to
	ran       toolRun
	questions int // that a person was asked
}

// Unserved is the result of a call that no dispatcher can take.
func Unserved(req Request, err *tools.Error) *Result {
	return &Result{
		CallID: cmp.Or(req.CallID, newID("call_")), Tool: req.Name, Content: err.Message, Error: &Failure{err.Code, err.Message},
		Decision: Decision{Outcome: "deny", By: policy.ByRule, Rule: string(err.Code)}, Changes: []ChangeRef{}, Attempts: 1,
	}
}

// Call runs one tool call. Whatever goes wrong with the call is a Result that
// is not OK; the error is ctx's, when the caller gave up.
func (d *Dispatcher) Call(ctx context.Context, req Request) (*Result, error) {
	if !d.running.begin() {
		return nil, ErrRetired
	}
	defer d.running.end()
	d.ready(ctx)
	if req.CallID == "" {
		req.CallID = newID("call_")
	}
	c := &call{record: newRecord(d, req), d: d, ran: toolRun{asking: make(chan writesAsked)}}
	c.out.redact, c.out.show = d.o.Redact.Text, c.printed
	d.o.Secrets.Refresh()
	known := c.lookUp()
	if c.tool == nil {
		c.res.Tool = d.o.Redact.Text(req.Name)
	}
	if known == nil {
		c.activate()
	}
	c.started()
	defer c.ran.last.do()
	out, err := c.guarded(ctx, known)
	if err == nil {
		err = ctx.Err()
	}
	out = c.heardAfter(ctx, out, err)
	if c.res.Attempts = max(int(c.ran.attempts.Load()), 1); err != nil && c.res.Attempts > 1 {
		c.notes.addf("It was attempted %d times.", c.res.Attempts)
	}
	activateNamed(c, out, err)
	access := tools.Access("")
	if c.bound != nil {
		access = c.access()
	}
	if n := c.ran.output.Load(); n > 0 {
		c.cross(outputWritten(n))
	}
	c.conclude(access, out, err)
	return c.res, ctx.Err()
}

// guarded is steps with a crash turned into an error: a tool that panics ends
// its call, not the server.
func (c *call) guarded(ctx context.Context, known error) (out tools.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.d.o.Log.Error("call crashed", "tool", c.req.Name, "call", c.req.CallID, "panic", r, "stack", string(debug.Stack()))
			err = crashed(c.req.Name, r)
		}
	}()
	if known != nil {
		return tools.Result{}, known
	}
	return c.steps(ctx)
}

func crashed(name string, r any) error {
	return tools.Errorf(tools.Internal, "%s crashed (%v); the log has the details; try another way", name, r)
}

func (c *call) steps(ctx context.Context) (tools.Result, error) {
	if err := c.bill.reserve(c.session); err != nil {
		return tools.Result{}, err
	}
	bound, err := c.tool.Bind(c.req.Arguments)
	if err != nil {
		if c.unseen {
			c.notes.add("The arguments of " + c.tool.Name + ": " + string(c.tool.InputSchema()))
		}
		return tools.Result{}, err
	}
	c.bound = bound
	for _, r := range bound.Repairs {
		c.notes.add("Argument repaired: " + r)
	}
	c.see, c.to, c.dest = c.d.views(c.session, c.mode, c.author(), c.set)
	if c.req.over != nil {
		c.see = reading{workspace.Guard(c.req.over, c.set.SensitiveOK)}
	}
	if err := c.heardBefore(ctx); err != nil {
		return tools.Result{}, err
	}
	if err := c.bound.Plan(ctx, c.see); err != nil {
		return tools.Result{}, err
	}
	c.line = readLine(ctx, c)
	c.border = lookAtBorder(ctx, c)

	if c.req.own != nil {
		return tools.Result{Text: permitted}, c.permit(ctx)
	}
	if c.tool.Access == tools.Edit {
		out, err := c.edit(ctx)
		if err == nil {
			c.check(ctx)
		} else {
			c.contested(err)
		}
		return out, err
	}
	v := c.decide(nil)
	if c.req.over != nil && v.Outcome == policy.Ask {
		v = policy.Verdict{Outcome: policy.Allow, By: policy.ByUser, Rule: v.Rule, Reason: "a person had it run"}
		c.res.Decision = Decision{Outcome: string(v.Outcome), By: v.By, Rule: v.Rule}
	}
	if err := c.settle(ctx, v, nil); err != nil {
		return tools.Result{}, err
	}
	if err := sameInstall(ctx, c); err != nil {
		return tools.Result{}, err
	}
	if c.queued() {
		return c.queueCommit(ctx)
	}
	var tested func(tools.Report) // who wants to know what tests say about what is pending
	if c.tool.Tests && c.mode.SeesPending && c.req.over == nil {
		tested = c.dest.Testing(ctx)
	}
	out, changes, err := c.run(ctx)
	if errors.Is(err, tools.ErrNotFrozen) {
		if err = again(ctx, c); err == nil {
			out, changes, err = c.run(ctx)
		}
	}
	if report, ok := out.Structured.(tools.TestReport); ok && err == nil && c.ran.saw.Load() && tested != nil {
		tested(report.TestReport())
	}
	if c.req.over != nil {
		return out, err
	}
	if c.tool.Wrote != "" {
		c.applyWritten(ctx, changes)
		c.notes.add(queueCommits(ctx, c.dest, c.session, c.mode.Batch, c.ran.commits.take())...)
		changes = nil
	}
	if !c.mode.SeesPending && c.line == nil {
		c.notes.notePending(c.see, c.dest, c.author(), c.bound.Effects.Paths)
	}
	if !c.ran.saw.Load() && (c.tool.Access == tools.Exec || c.tool.SeesDisk) {
		c.notes.noteUnseen(c.see, c.tool.MaySee)
	}
	if err != nil || len(changes) == 0 {
		return out, err
	}
	if out, err = c.follow(ctx, out, changes); err == nil {
		c.check(ctx)
	}
	return out, err
}

// lookUp finds the session, its mode and the tool.
func (c *call) lookUp() error {
	s, err := c.d.o.Sessions.Get(c.req.Session)
	if !c.set.Enabled {
		return tools.Errorf(tools.Disabled, "tools are switched off by the setting tools.enabled")
	}
	if err != nil {
		return tools.Errorf(tools.InvalidArguments, "session: %v", err)
	}
	c.session = s
	m, ok := c.d.modeOf(s, c.req.Mode, c.set)
	if ok && c.req.unsure && !m.Holds() {
		m, ok = c.d.modeOf(s, heldMode, c.set)
	}
	switch {
	case !ok && c.req.Mode != "":
		return tools.Errorf(tools.InvalidArguments, "mode: %s", tools.NoSuch("mode", c.req.Mode, slices.Concat(policy.Names(), slices.Sorted(maps.Keys(c.set.Modes)))))
	case !ok:
		return tools.Errorf(tools.Unavailable, "the mode %q is no longer defined; set another one", s.Mode())
	}
	if s.Shadow != "" {
		m = m.InShadow()
	}
	c.mode = m
	if c.tool = c.req.tool; c.tool != nil {
		c.res.Tool = c.tool.Name
		return nil
	}
	t, repaired, ok := c.d.o.Registry.Lookup(c.req.Name)
	if !ok {
		return c.d.o.Registry.Unknown(c.req.Name)
	}
	if repaired != "" {
		c.notes.add(repaired)
	}
	c.tool, c.res.Tool = t, t.Name
	if !c.d.allows(s, t) {
		return notAllowed(t)
	}
	return nil
}

// settle turns a verdict into permission to go on, asking where it says so.
func (c *call) settle(ctx context.Context, v policy.Verdict, changes []workspace.Change) error {
	switch v.Outcome {
	case policy.Allow:
		c.emitVerdict(v)
		if n, ok := c.d.o.Approver.(Noticer); ok && v.Rule == policy.WorldComplete {
			n.Unasked()
		}
		c.cross(crosses(c, v, changes)...)
		return nil
	case policy.Deny:
		c.emitVerdict(v)
		if _, never := protection(c.to, changes, c.bound.Effects.Writes.Files); never != "" {
			return tools.Errorf(tools.ProtectedPath, "%s: %s (rule %s)", never, v.Reason, v.Rule)
		}
		return tools.Errorf(tools.Denied, "%s", v.Reason)
	}
	err := c.ask(ctx, v, changes)
	if err == nil {
		c.cross(crosses(c, v, changes)...)
	}
	return err
}

// author is who makes the call's own edits.
func (c *call) author() workspace.Author {
	return workspace.Author{Session: c.session.ID, Tool: c.tool.Name}
}
