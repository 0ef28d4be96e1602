package dispatch

import (
	"encoding/json"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// auditArguments bounds what a record keeps of a call's arguments, in bytes. A
// whole file that was written is told by the hashes of the change.
const auditArguments = 4 << 10

// audit writes the call down. What a call changed is written before its result
// is given; a read is written soon after.
func (c *call) audit() {
	log := c.d.o.Audit
	if log == nil || !c.set.Audit {
		return
	}
	if c.tool != nil && c.bound != nil && c.access() == tools.Read {
		// What waits to be written must not keep the call's result in memory.
		r, arguments, redact := c.auditRecord(), c.req.Arguments, c.d.o.Redact
		log.Add(func() auditlog.Record {
			r.Arguments = auditedArguments(arguments, redact)
			return r
		})
		return
	}
	r := c.auditRecord()
	r.Arguments = auditedArguments(c.req.Arguments, c.d.o.Redact)
	_ = log.Append(r) // it tells Options.Failed itself
}

// auditRecord is the record without the arguments.
func (c *call) auditRecord() auditlog.Record {
	r := auditlog.Record{
		Session: c.sessionID(), CallID: c.req.CallID, Tool: c.res.Tool,
		Outcome: c.res.Decision.Outcome, By: c.res.Decision.By, Rule: c.res.Decision.Rule,
		OK: c.res.OK, DurationMs: c.res.DurationMs, ApprovalMs: c.res.ApprovalMs,
	}
	if own := c.req.own; own != nil {
		r.Own = own.Agent + " " + own.Tool
	}
	if c.tool != nil && c.bound != nil {
		r.Access = string(c.access())
	}
	if c.res.Error != nil {
		r.Code = string(c.res.Error.Code)
	}
	for i, ch := range c.res.Changes {
		change := auditlog.Change{Path: ch.Path, Kind: ch.Kind, State: ch.State}
		if i < len(c.changes) {
			change.From, change.Before, change.After = c.changes[i].From, auditlog.Sum(c.changes[i].Before), auditlog.Sum(c.changes[i].After)
		}
		r.Changes = append(r.Changes, change)
	}
	return r
}

// auditedArguments are the arguments without secrets, and without long texts. A command line is cut
// when it is without secrets: what says that it has some may be at its end.
func auditedArguments(arguments json.RawMessage, r Redactor) json.RawMessage {
	record := recorded(arguments, r)
	return redactedArguments(arguments, r.Text, func(name string, list []string) []string {
		if isText(name) {
			list = shortened(list)
		}
		return shortened(record(name, list))
	})
}

func shortened(list []string) []string {
	for i, s := range list {
		if len(s) > auditArguments {
			list[i] = s[:headEnd(s, auditArguments)] + "…"
		}
	}
	return list
}
