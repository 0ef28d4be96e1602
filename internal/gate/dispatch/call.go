package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// call is one call on its way through the steps below.
type call struct {
	d   *Dispatcher
	req Request
	set *Settings

	session *session.Session
	mode    policy.Mode
	tool    *tools.Tool
	unseen  bool // the tool was not in the model's list
	bound   *tools.Bound
	see     workspace.Files
	to      workspace.View
	dest    Destinations

	begun     time.Time
	hooked    hooks.Outcome      // what hooks said before it was decided on
	line      *commandLine       // nil: none for a shell
	unlike    bool               // an agent does it itself, and no tool of ours does the same
	written   bool               // it is at what a program wrote that was allowed to run
	follows   bool               // it is at the changes that the run of a program led to
	changes   []workspace.Change // that were made
	ran       toolRun
	bill      bill
	res       *Result
	notes     notes
	out       output
	reported  bool          // the events say what was decided
	asked     time.Duration // how long a person took
	questions int           // that a person was asked
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
	begun := d.o.Now()
	d.o.Secrets.Refresh()
	if req.CallID == "" {
		req.CallID = newID("call_")
	}
	set := d.o.Settings()
	c := &call{d: d, req: req, set: set, begun: begun, bill: newBill(req, set), ran: toolRun{asking: make(chan writesAsked)}, res: &Result{CallID: req.CallID, Changes: []ChangeRef{}, Attempts: 1}}
	c.out.redact, c.out.show = d.o.Redact.Text, c.printed
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
	c.conclude(out, err)
	return c.res, ctx.Err()
}

// quick is how long a call that reads may take without another look at the
// secrets that there are.
const quick = 5 * time.Millisecond

// conclude makes the result and records it.
func (c *call) conclude(out tools.Result, err error) {
	if c.bound != nil && c.access() != tools.Read || c.d.o.Now().Sub(c.begun) > quick {
		c.d.o.Secrets.Refresh() // a command may have made secrets; what was read at once was known
	}
	c.finish(out, err)
	if !c.reported { // it ended before the policy was asked: its arguments were wrong, or there is no such tool
		v := policy.Verdict{Outcome: policy.Outcome(c.res.Decision.Outcome), By: c.res.Decision.By, Rule: c.res.Decision.Rule}
		if c.res.Error != nil {
			v.Reason = c.res.Error.Message
		}
		c.emitVerdict(v)
	}
	took := c.d.o.Now().Sub(c.begun)
	c.res.DurationMs, c.res.ApprovalMs = took.Milliseconds(), c.asked.Milliseconds()
	c.d.metrics.record(c.counted(), c.res, took-c.asked)
	c.record(took)
	c.audit()
}

// unknownTools is the name under which calls of tools are counted that there
// are not: whoever makes names up makes no end of them.
const unknownTools = "(unknown)"

// counted is the name under which the call is counted.
func (c *call) counted() string {
	if c.tool != nil {
		return c.tool.Name
	}
	if t, _, ok := c.d.o.Registry.Lookup(c.req.Name); ok {
		return t.Name // the session is not there, or tools are switched off
	}
	return unknownTools
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
		c.attachSchema()
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
	if c.queued() {
		return c.queueCommit(ctx)
	}
	tested := c.testing(ctx)
	out, changes, err := c.run(ctx)
	if report, ok := out.Structured.(tools.TestReport); ok && err == nil && c.ran.saw.Load() && tested != nil {
		tested(report.TestReport())
	}
	if c.req.over != nil {
		return out, err
	}
	if c.tool.Wrote != "" {
		c.takeOver(ctx, changes)
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
		return tools.Errorf(tools.InvalidArguments, "mode: there is no mode %q; name a built-in mode or one of the setting customModes", tools.Clip(c.req.Mode))
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

// emitVerdict publishes what became of a call that nobody is asked about.
func (c *call) emitVerdict(v policy.Verdict) {
	c.reported = true
	if !c.d.o.Bus.Active() {
		return
	}
	c.publish(events.Event{Type: events.PermissionRequested, Permission: &events.Permission{Outcome: string(v.Outcome), Rule: v.Rule, Reason: v.Reason}})
	c.publish(events.Event{Type: events.PermissionResolved, Permission: &events.Permission{Outcome: string(v.Outcome), By: v.By, Rule: v.Rule}})
}

// settle turns a verdict into permission to go on, asking where it says so.
func (c *call) settle(ctx context.Context, v policy.Verdict, changes []workspace.Change) error {
	switch v.Outcome {
	case policy.Allow:
		c.emitVerdict(v)
		return nil
	case policy.Deny:
		c.emitVerdict(v)
		if _, never := protection(c.to, changes, c.bound.Effects.Writes.Files); never != "" {
			return tools.Errorf(tools.ProtectedPath, "%s: %s (rule %s)", never, v.Reason, v.Rule)
		}
		return tools.Errorf(tools.Denied, "%s", v.Reason)
	}
	return c.ask(ctx, v, changes)
}

// notesShare is the part of a result, one in so many bytes, that notes may
// take.
const notesShare = 4

// finish makes the envelope: failure or text, redacted, with what else the
// model must know, and cut.
func (c *call) finish(out tools.Result, err error) {
	c.out.flush()
	c.noteAttempts(err != nil)
	text := out.Text
	if err != nil {
		e := failure(err, c.res.Tool, c.tool)
		c.res.Error = &Failure{Code: e.Code, Message: c.d.o.Redact.Text(e.Message)}
		c.res.Structured = e.Structured
		text = e.Message
		if e.Detail != "" {
			text += "\n" + c.fromOutside(e.Detail)
		}
	} else {
		c.res.OK = true
		c.res.Structured = out.Structured
		images, left := tools.BoundImages(out.Images)
		if c.res.Images = images; left > 0 {
			c.notes.addf("%s left out: a result has at most %d, of %d MB each and 8 MB in all", tools.Count(left, "image"), tools.MaxImages, tools.MaxImageBytes>>20)
		}
	}
	if c.res.Decision.Outcome == "" || c.res.Decision.Outcome == string(policy.Ask) {
		c.res.Decision.Outcome = string(policy.Deny)
	}
	if c.res.Decision.By == "" {
		c.res.Decision.By = "rule"
	}
	if c.res.Decision.Rule == "" && c.res.Error != nil {
		c.res.Decision.Rule = string(c.res.Error.Code)
	}
	if c.tool != nil && c.session != nil {
		activateNamed(c, text)
	}
	if c.tool != nil && (c.tool.Untrusted || out.Untrusted) && err == nil {
		text = c.wrapped(text)
	}
	text = c.d.o.Redact.Text(text)
	c.res.Structured = c.redactValue(c.res.Structured)
	if c.req.tool != nil || c.req.own != nil {
		for _, n := range c.notes {
			c.res.Notes = append(c.res.Notes, c.d.o.Redact.Text(n))
		}
	} else if c.req.unread && c.session != nil {
		for _, n := range c.notes {
			c.session.Tell(c.d.o.Redact.Text(n))
		}
	} else if c.session != nil && c.bill.resultBytes() > leastResult && !errors.Is(err, context.Canceled) { // nobody reads that result
		for _, n := range c.session.TakeNotes() {
			c.notes.add(c.d.o.Redact.Text(n))
		}
	}
	tail := ""
	if len(c.notes) > 0 {
		tail = "\n\n[" + strings.Join(c.notes, "]\n[") + "]"
	}
	most := c.bill.hold(len(text) + len(tail))
	if room := min(most/notesShare, most-leastResult) - len("…]"); room <= 0 {
		tail = ""
	} else if len(tail) > room {
		tail = tail[:headEnd(tail, room)] + "…]"
	}
	text, c.res.Truncated = c.d.pages.cut(c.session, text, most-len(tail))
	if c.res.Truncated != nil && most < c.bill.setting {
		c.res.Structured = nil // it may say what the budget has no room for
	}
	c.res.Content = text + tail
	c.bill.settle(len(c.res.Content))
}

// fromOutside wraps a text of a tool that brings what is outside.
func (c *call) fromOutside(text string) string {
	if !c.tool.Untrusted {
		return text
	}
	return c.wrapped(text)
}

// wrapped is a text from outside that can't pass for anything else.
func (c *call) wrapped(text string) string {
	hide := c.d.o.Redact
	if c.req.over != nil {
		return hide.Sanitize(text) // a person reads it
	}
	name := c.tool.Name
	if c.tool.Wrote == "run_command" {
		name = "" // it comes with each command, and says nothing that the call does not
	}
	return envelope(name, hide.Signs(text), hide.Defuse(hide.Sanitize(text)))
}

// failure gives err its code. A time-out of the tool is not the caller's
// cancellation, and the model is told which it was.
func failure(err error, name string, t *tools.Tool) *tools.Error {
	e := tools.AsError(err)
	switch {
	case e.Code == tools.Timeout && errors.Is(err, context.DeadlineExceeded):
		limit := tools.DefaultTimeout
		if t != nil && t.Timeout != 0 {
			limit = t.Timeout
		}
		return tools.Errorf(tools.Timeout, "%s was stopped after %v; narrow the call", name, limit)
	case e.Code == tools.Cancelled && errors.Is(err, context.Canceled):
		return tools.Errorf(tools.Cancelled, "%s was cancelled", name)
	}
	return e
}

// started publishes that the call has begun.
func (c *call) started() {
	if !c.d.o.Bus.Active() {
		return
	}
	s := &events.Started{Arguments: redactedArguments(c.req.Arguments, c.d.o.Redact.Text, recorded(c.req.Arguments, c.d.o.Redact))}
	if c.tool != nil {
		s.Access = string(c.tool.Access)
	}
	c.publish(events.Event{Type: events.ToolStarted, Started: s})
}

func (c *call) publish(e events.Event) {
	e.Session, e.CallID, e.Tool = c.sessionID(), c.req.CallID, c.res.Tool
	c.d.o.Bus.Publish(e)
}

func (c *call) sessionID() string {
	if c.session != nil {
		return c.session.ID
	}
	return c.req.Session
}

// author is who makes the call's own edits.
func (c *call) author() workspace.Author {
	return workspace.Author{Session: c.session.ID, Tool: c.tool.Name}
}

// record publishes the end of the call and writes its line in the log.
func (c *call) record(took time.Duration) {
	code := ""
	if c.res.Error != nil {
		code = string(c.res.Error.Code)
	}
	if c.d.o.Bus.Active() {
		done := &events.Completed{OK: c.res.OK, DurationMs: c.res.DurationMs, ApprovalMs: c.res.ApprovalMs, Bytes: len(c.res.Content)}
		if c.res.Error != nil {
			done.Code, done.Message = code, c.res.Error.Message
		}
		for _, ch := range c.res.Changes {
			done.Changes = append(done.Changes, events.Change{Path: ch.Path, Kind: ch.Kind, State: ch.State})
		}
		c.publish(events.Event{Type: events.ToolCompleted, Completed: done})
	}
	if !c.d.o.Log.Enabled(context.Background(), slog.LevelInfo) {
		return // naming it all costs more than most steps
	}
	c.d.o.Log.Info("call", "tool", c.res.Tool, "id", c.res.CallID, "session", c.sessionID(), "ok", c.res.OK, "error", code,
		"decision", c.res.Decision.Outcome, "by", c.res.Decision.By, "rule", c.res.Decision.Rule, "took", took, "bytes", len(c.res.Content))
}

// envelope wraps text from outside so that it can't pass for anything else:
// the closing tag is made impossible inside. tool "" is not named.
func envelope(tool string, signs []string, text string) string {
	const name = "untrusted_output"
	text = strings.ReplaceAll(text, "</"+name, "<\u2215"+name)
	flags := ""
	if len(signs) > 0 {
		flags = fmt.Sprintf(" flags=%q", strings.Join(signs, ","))
	}
	if tool != "" {
		flags = fmt.Sprintf(" tool=%q", tool) + flags
	}
	return fmt.Sprintf("<%s%s>\n%s\n</%s>", name, flags, strings.TrimSuffix(text, "\n"), name)
}
