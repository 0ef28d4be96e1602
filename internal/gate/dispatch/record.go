package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// record is what others learn of a call: the model by its result, people by events and by what
// it prints, the log and the audit log. It decides nothing.
type record struct {
	o       *Options
	metrics *metrics
	pages   *pages
	req     Request
	set     *Settings
	session *session.Session // nil until it is found
	tool    *tools.Tool      // likewise

	begun    time.Time
	bill     bill
	res      *Result
	notes    notes
	out      output
	changes  []workspace.Change // that were made
	crossed  []effects.Effect   // that were allowed
	reported bool               // the events say what was decided
	asked    time.Duration      // how long a person took
}

// newRecord begins the record of a call.
func newRecord(d *Dispatcher, req Request) record {
	set := d.o.Settings()
	return record{
		o: &d.o, metrics: d.metrics, pages: d.pages, req: req, set: set, begun: d.o.Now(), bill: newBill(req, set),
		res: &Result{CallID: req.CallID, Changes: []ChangeRef{}, Attempts: 1},
	}
}

// started publishes that the call has begun.
func (r *record) started() {
	if !r.o.Bus.Active() {
		return
	}
	s := &events.Started{Arguments: redactedArguments(r.req.Arguments, r.o.Redact.Text, recorded(r.req.Arguments, r.o.Redact))}
	if r.tool != nil {
		s.Access = string(r.tool.Access)
	}
	r.publish(events.Event{Type: events.ToolStarted, Started: s})
}

func (r *record) publish(e events.Event) {
	e.Session, e.CallID, e.Tool = r.sessionID(), r.req.CallID, r.res.Tool
	r.o.Bus.Publish(e)
}

func (r *record) sessionID() string {
	if r.session != nil {
		return r.session.ID
	}
	return r.req.Session
}

// emitVerdict publishes what became of a call that nobody is asked about.
func (r *record) emitVerdict(v policy.Verdict) {
	r.reported = true
	if !r.o.Bus.Active() {
		return
	}
	r.publish(events.Event{Type: events.PermissionRequested, Permission: &events.Permission{Outcome: string(v.Outcome), Rule: v.Rule, Reason: v.Reason}})
	r.publish(events.Event{Type: events.PermissionResolved, Permission: &events.Permission{Outcome: string(v.Outcome), By: v.By, Rule: v.Rule}})
}

// quick is how long a call that reads may take without another look at the
// secrets that there are.
const quick = 5 * time.Millisecond

// conclude makes the result and records it. access is the call's class, "" where its arguments
// were not understood.
func (r *record) conclude(access tools.Access, out tools.Result, err error) {
	if access != "" && access != tools.Read || r.o.Now().Sub(r.begun) > quick {
		r.o.Secrets.Refresh() // a command may have made secrets; what was read at once was known
	}
	r.finish(out, err)
	if !r.reported { // it ended before the policy was asked: its arguments were wrong, or there is no such tool
		v := policy.Verdict{Outcome: policy.Outcome(r.res.Decision.Outcome), By: r.res.Decision.By, Rule: r.res.Decision.Rule}
		if r.res.Error != nil {
			v.Reason = r.res.Error.Message
		}
		r.emitVerdict(v)
	}
	took := r.o.Now().Sub(r.begun)
	r.res.DurationMs, r.res.ApprovalMs = took.Milliseconds(), r.asked.Milliseconds()
	r.metrics.record(r.counted(), r.res, took-r.asked)
	r.log(took)
	r.audit(access)
}

// unknownTools is the name under which calls of tools are counted that there
// are not: whoever makes names up makes no end of them.
const unknownTools = "(unknown)"

// counted is the name under which the call is counted.
func (r *record) counted() string {
	if r.tool != nil {
		return r.tool.Name
	}
	if t, _, ok := r.o.Registry.Lookup(r.req.Name); ok {
		return t.Name // the session is not there, or tools are switched off
	}
	return unknownTools
}

// notesShare is the part of a result, one in so many bytes, that notes may
// take.
const notesShare = 4

// finish makes the envelope: failure or text, redacted, with what else the
// model must know, and cut.
func (r *record) finish(out tools.Result, err error) {
	r.out.flush()
	text := out.Text
	if err != nil {
		e := failure(err, r.res.Tool, r.tool)
		r.res.Error = &Failure{Code: e.Code, Message: r.o.Redact.Text(e.Message)}
		r.res.Structured = e.Structured
		text = e.Message
		if e.Detail != "" {
			detail := e.Detail
			if r.tool.Untrusted {
				detail = r.wrapped(detail)
			}
			text += "\n" + detail
		}
	} else {
		r.res.OK = true
		r.res.Structured = out.Structured
		images, left := tools.BoundImages(out.Images)
		if r.res.Images = images; left > 0 {
			r.notes.addf("%s left out: a result has at most %d, of %d MB each and 8 MB in all", tools.Count(left, "image"), tools.MaxImages, tools.MaxImageBytes>>20)
		}
	}
	if r.res.Decision.Outcome == "" || r.res.Decision.Outcome == string(policy.Ask) {
		r.res.Decision.Outcome = string(policy.Deny)
	}
	if r.res.Decision.By == "" {
		r.res.Decision.By = "rule"
	}
	if r.res.Decision.Rule == "" && r.res.Error != nil {
		r.res.Decision.Rule = string(r.res.Error.Code)
	}
	if r.tool != nil && (r.tool.Untrusted || out.Untrusted) && err == nil {
		text = r.wrapped(text)
	}
	text = r.o.Redact.Text(text)
	r.res.Structured = r.redactValue(r.res.Structured)
	if r.req.tool != nil || r.req.own != nil {
		for _, n := range r.notes {
			r.res.Notes = append(r.res.Notes, r.o.Redact.Text(n))
		}
	} else if r.req.unread && r.session != nil {
		for _, n := range r.notes {
			r.session.Tell(r.o.Redact.Text(n))
		}
	} else if r.session != nil && r.bill.resultBytes() > leastResult && !errors.Is(err, context.Canceled) { // nobody reads that result
		for _, n := range r.session.TakeNotes() {
			r.notes.add(r.o.Redact.Text(n))
		}
	}
	tail := ""
	if len(r.notes) > 0 {
		tail = "\n\n[" + strings.Join(r.notes, "]\n[") + "]"
	}
	most := r.bill.hold(len(text) + len(tail))
	if room := min(most/notesShare, most-leastResult) - len("…]"); room <= 0 {
		tail = ""
	} else if len(tail) > room {
		tail = cutNotes(tail, room) + "…]"
	}
	text, r.res.Truncated = r.pages.cut(r.session, text, most-len(tail))
	if r.res.Truncated != nil && most < r.bill.setting {
		r.res.Structured = nil // it may say what the budget has no room for
	}
	r.res.Content = text + tail
	r.bill.settle(len(r.res.Content))
}

// wrapped is a text from outside that can't pass for anything else.
func (r *record) wrapped(text string) string {
	hide := r.o.Redact
	if r.req.over != nil {
		return hide.Sanitize(text) // a person reads it
	}
	name := r.tool.Name
	if r.tool.Wrote == "run_command" {
		name = "" // it comes with each command, and says nothing that the call does not
	}
	return envelope(name, hide.Signs(text), hide.Defuse(hide.Sanitize(text)))
}

// log publishes the end of the call and writes its line in the log.
func (r *record) log(took time.Duration) {
	code := ""
	if r.res.Error != nil {
		code = string(r.res.Error.Code)
	}
	if r.o.Bus.Active() {
		done := &events.Completed{OK: r.res.OK, DurationMs: r.res.DurationMs, ApprovalMs: r.res.ApprovalMs, Bytes: len(r.res.Content)}
		if r.res.Error != nil {
			done.Code, done.Message = code, r.res.Error.Message
		}
		for _, ch := range r.res.Changes {
			done.Changes = append(done.Changes, events.Change{Path: ch.Path, Kind: ch.Kind, State: ch.State})
		}
		r.publish(events.Event{Type: events.ToolCompleted, Completed: done})
	}
	if !r.o.Log.Enabled(context.Background(), slog.LevelInfo) {
		return // naming it all costs more than most steps
	}
	r.o.Log.Info("call", "tool", r.res.Tool, "id", r.res.CallID, "session", r.sessionID(), "ok", r.res.OK, "error", code,
		"decision", r.res.Decision.Outcome, "by", r.res.Decision.By, "rule", r.res.Decision.Rule, "took", took, "bytes", len(r.res.Content))
}

// printed hands on what a call prints.
func (r *record) printed(chunk string) {
	r.publish(events.Event{Type: events.ToolOutput, Output: &events.Output{Chunk: chunk}})
	if r.req.Emit != nil {
		r.req.Emit(chunk)
	}
}
