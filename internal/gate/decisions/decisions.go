// Package decisions records what became of the review queue, as calls are
// recorded.
package decisions

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Recorder records decisions.
type Recorder struct {
	Log     *auditlog.Log // nil: nothing is recorded
	Hide    *redact.Redactor
	Enabled func() bool // by the settings
}

// Decided writes one line for each session whose edits a decision was about. Its
// failure is the log's to report.
func (r Recorder) Decided(d pendingedits.Decision) {
	if r.Log != nil && r.Enabled() {
		record(r.Log, r.Hide, d)
	}
}

// DecidedOutput writes one line for each session whose held output was accepted, dropped, or
// replaced by what was built afresh.
// whole says that all of it was.
func (r Recorder) DecidedOutput(what string, of []workspace.Held, whole bool, err error) {
	if r.Log == nil || !r.Enabled() {
		return
	}
	for _, held := range of {
		one := auditlog.Record{
			Session: held.Session, CallID: newID(), Tool: "sidecar.review.output", Access: string(tools.Edit), Outcome: "allow", By: "user", OK: err == nil && whole,
		}
		if what != "accept" {
			one.Outcome = "deny"
		}
		if err != nil {
			one.Code = string(tools.AsError(err).Code)
		}
		one.Arguments, _ = json.Marshal(map[string]any{"action": what, "files": held.Files, "bytes": held.Bytes})
		if what == "accept" {
			one.Crosses = []auditlog.Crossing{{Kind: string(effects.Output), What: "Write " + tools.Count(held.Files, "file") + " of output", Decision: string(effects.Reviewed), Rule: "person"}}
		}
		for _, name := range held.Names {
			one.Changes = append(one.Changes, auditlog.Change{Path: r.Hide.Text(name), Kind: "output", State: outputStates[what]})
		}
		_ = r.Log.Append(one)
	}
}

// OpenedPort writes one line for a port of a session that a person opened.
func (r Recorder) OpenedPort(session string, port int) {
	r.did(auditlog.Record{Session: session, Tool: "sidecar.session.openPort", Access: string(tools.Exec)}, auditlog.Crossing{
		Kind: string(effects.Port), What: fmt.Sprintf("Open port %d in your browser", port), Reversible: true,
	})
}

// Reached writes one line for a host that a command reached, with what went there and came
// back, or that it did not reach.
func (r Recorder) Reached(one Reach) {
	if r.Log == nil || !r.Enabled() {
		return
	}
	rec := auditlog.Record{Session: one.Session, CallID: newID(), Tool: "sidecar.network", Access: string(tools.Exec), Outcome: "allow", By: one.By, Rule: "network.host", OK: true}
	who := one.Program
	if who == "" {
		who = "a program"
	}
	rec.Arguments, _ = json.Marshal(map[string]any{"host": one.Host, "program": who, "command": r.Hide.Text(one.Line), "sent": one.Sent, "received": one.Received})
	if one.Refused != "" {
		rec.Outcome, rec.OK, rec.Code = "deny", false, string(tools.Denied)
		_ = r.Log.Append(rec)
		return
	}
	what := fmt.Sprintf("%s reached %s: %s sent, %s received", who, one.Host, size(one.Sent), size(one.Received))
	decision := effects.Free
	if one.By == "user" {
		decision = effects.Asked
	}
	rec.Crosses = []auditlog.Crossing{{Kind: string(effects.Network), What: what, Decision: string(decision), Rule: rec.Rule}}
	_ = r.Log.Append(rec)
}

// Reach is how a command reached a host.
type Reach struct {
	Session, Host, Program, Line string

	By             string // what decided: setting or user
	Refused        string // why it was not reached; "": it was
	Sent, Received int64  // bytes
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// Committed writes one line for a commit that was made because its files were accepted.
func (r Recorder) Committed(c pendingedits.CommitRequest) {
	title, _, _ := strings.Cut(c.Message, "\n")
	what := "Commit: " + r.Hide.Text(title)
	switch {
	case c.Ref.Kind != "":
		what = r.Hide.Text(title)
	case c.Forward != "":
		what = "Move the branch to the commit " + c.Forward
	case c.Branch != "":
		what = "Commit on the branch " + r.Hide.Text(c.Branch+": "+title)
	}
	r.did(auditlog.Record{Session: "default", Tool: "sidecar.review.accept", Access: string(tools.Exec)}, auditlog.Crossing{
		Kind: string(effects.Git), What: what, Reversible: true,
	})
}

// did writes a line for what a person did.
func (r Recorder) did(one auditlog.Record, c auditlog.Crossing) {
	if r.Log == nil || !r.Enabled() {
		return
	}
	one.CallID, one.Outcome, one.By, one.OK = newID(), "allow", "user", true
	c.Decision, c.Rule = string(effects.Asked), "person"
	if c.Kind == string(effects.Git) {
		c.Decision = string(effects.Reviewed)
	}
	one.Crosses = []auditlog.Crossing{c}
	_ = r.Log.Append(one)
}

// outputStates are what became of output.
var outputStates = map[string]string{"accept": "applied", "drop": "dropped", "replace": "replaced"}

func newID() string { return "decision_" + strings.ToLower(rand.Text()[:16]) }

func record(log *auditlog.Log, hide *redact.Redactor, d pendingedits.Decision) {
	whole := auditlog.Record{
		CallID: newID(), Tool: "sidecar.review." + d.What, Access: string(tools.Edit),
		Outcome: "allow", By: "user", OK: d.Err == nil && len(d.Failed) == 0,
	}
	switch d.What {
	case "reject":
		whole.Outcome = "deny"
	case "withdraw":
		whole.By = "agent"
	}
	if d.Reason != "" {
		whole.Arguments, _ = json.Marshal(map[string]string{"reason": hide.Text(d.Reason)})
	}
	err := d.Err
	var failed []auditlog.Change
	for _, f := range d.Failed {
		failed = append(failed, auditlog.Change{Path: hide.Text(f.Name), State: "failed"})
		err = errors.Join(err, f.Err)
	}
	if err != nil {
		whole.Code = string(tools.AsError(err).Code)
	}
	records := []*auditlog.Record{}
	by := map[string]*auditlog.Record{}
	for _, ch := range d.Changes {
		r := by[ch.Session]
		if r == nil {
			one := whole
			r, one.Session = &one, ch.Session
			by[ch.Session], records = r, append(records, r)
		}
		r.Changes = append(r.Changes, auditlog.Change{
			Path: hide.Text(ch.Path), From: hide.Text(ch.From), Kind: ch.Kind(), State: states[d.What],
			Before: auditlog.Sum(ch.Before), After: auditlog.Sum(ch.After),
		})
	}
	if len(records) == 0 {
		records = append(records, &whole)
	}
	records[0].Changes = append(records[0].Changes, failed...)
	for _, r := range records {
		if states[d.What] == "applied" && len(r.Changes) > 0 {
			r.Crosses = []auditlog.Crossing{{Kind: string(effects.Files), What: verbs[d.What] + " " + filesOf(r.Changes), Reversible: true, Decision: string(effects.Reviewed), Rule: "person"}}
		}
		if r.Session == "" {
			r.Session = "default"
		}
		_ = log.Append(*r)
	}
}

// states are what became of the changes that were decided on.
var states = map[string]string{"accept": "applied", "undo": "applied", "redo": "applied", "reject": "rejected", "withdraw": "withdrawn", "propose": "pending", "restore": "pending"}

// verbs say what a decision did to files.
var verbs = map[string]string{"accept": "Accept the changes of", "undo": "Take back the changes of", "redo": "Make again the changes of"}

// filesOf names a file, or counts several.
func filesOf(changes []auditlog.Change) string {
	if len(changes) == 1 {
		return "`" + changes[0].Path + "`"
	}
	return tools.Count(len(changes), "file")
}
