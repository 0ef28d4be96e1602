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
func (r *record) audit(access tools.Access) {
	log := r.o.Audit
	if log == nil || !r.set.Audit {
		return
	}
	line := r.auditRecord(access)
	arguments, redact := r.req.Arguments, r.o.Redact
	if access == tools.Read {
		// What waits to be written must not keep the call's result in memory.
		log.Add(func() auditlog.Record {
			line.Arguments = auditedArguments(arguments, redact)
			return line
		})
		return
	}
	line.Arguments = auditedArguments(arguments, redact)
	_ = log.Append(line) // it tells Options.Failed itself
}

// auditRecord is the record without the arguments.
func (r *record) auditRecord(access tools.Access) auditlog.Record {
	line := auditlog.Record{
		Session: r.sessionID(), CallID: r.req.CallID, Tool: r.res.Tool, Access: string(access),
		Outcome: r.res.Decision.Outcome, By: r.res.Decision.By, Rule: r.res.Decision.Rule,
		OK: r.res.OK, DurationMs: r.res.DurationMs, ApprovalMs: r.res.ApprovalMs,
	}
	if own := r.req.own; own != nil {
		line.Own = own.Agent + " " + own.Tool
	}
	line.Crosses = r.crossings()
	if r.res.Error != nil {
		line.Code = string(r.res.Error.Code)
	}
	for i, ch := range r.res.Changes {
		change := auditlog.Change{Path: ch.Path, Kind: ch.Kind, State: ch.State}
		if i < len(r.changes) {
			change.From, change.Before, change.After = r.changes[i].From, auditlog.Sum(r.changes[i].Before), auditlog.Sum(r.changes[i].After)
		}
		line.Changes = append(line.Changes, change)
	}
	return line
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
