package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// border is where what a call runs would leave its session.
type border struct {
	conditions []effects.Condition // of its world; nil: nobody asked
	inside     bool                // all of them hold: what runs there stays there
	lacks      string              // else what is missing
}

// lookAtBorder finds out whether what the call runs stays in a complete world. It is asked
// only where that changes the decision.
func lookAtBorder(ctx context.Context, c *call) border {
	switch {
	case c.mode.Behaviour.Inside != policy.Allow || !c.tool.InWorld || c.d.o.Confined == nil || c.req.over != nil, c.bound.Effects.OnDisk, c.bound.Effects.ReadOnly:
		return border{}
	case c.line != nil && !c.line.runs():
		return border{} // it only looks
	case c.req.own != nil:
		return border{lacks: "files: " + c.req.own.Agent + " runs it itself"}
	case c.req.RunBy != "":
		return border{lacks: "files: " + c.req.RunBy + " runs it itself"}
	case c.set.AskCommands:
		return border{lacks: "setting: sidecar.commands.ask is always"}
	case c.line != nil && c.line.hidden != "":
		return border{}
	}
	list := conditions(ctx, c)
	b := border{conditions: list, lacks: effects.Lacks(list)}
	b.inside = b.lacks == ""
	return b
}

// conditions are those of the world that the call would run in.
func conditions(ctx context.Context, c *call) []effects.Condition {
	list := c.d.o.Confined.Complete(ctx, effects.Use{Session: c.session.ID, Shadow: c.session.Shadow != "", Git: c.line.runsGit() || c.tool.Category == "git", Background: c.bound.Effects.Background})
	return append(list,
		effects.Condition{Name: "rules", Holds: true, Why: "your deny and ask rules, hooks and required steps decide first"},
		effects.Condition{Name: "record", Holds: c.set.Audit, Why: map[bool]string{true: "each command is in the audit log", false: "the setting sidecar.audit.enabled is off"}[c.set.Audit]})
}

// looks says how a line runs that only looks by its words. Commands that ran unasked may have
// left functions and settings by which the words mean something else: so it runs as these do
// where its world is complete, and else without what they left.
func looks(ctx context.Context, c *call) (kind tools.Looks, unasked bool) {
	switch {
	case c.line == nil || c.line.runs() || !c.tool.InWorld:
		return "", false
	case c.line.runsGit():
		return tools.LooksHistory, false
	case c.mode.Behaviour.Inside != policy.Allow || c.d.o.Confined == nil:
		return tools.LooksFiles, false
	case c.req.over == nil && c.req.own == nil && effects.Lacks(conditions(ctx, c)) == "":
		return tools.LooksFiles, true
	}
	return tools.LooksClean, false
}

// staysInside reports whether all of the call happens to a complete world. What programs
// wrote there is decided on afterwards, as edits.
func staysInside(c *call) bool {
	return c.border.inside && !c.follows
}

// runsGit reports whether the line shows that it runs git, or something that is not known.
func (l *commandLine) runsGit() bool {
	if l == nil {
		return false
	}
	return slices.ContainsFunc(l.Line.Commands, func(c shell.Command) bool { return readers[c.Program()] })
}

// readers are programs that read what a repository keeps of former files.
var readers = map[string]bool{"git": true, "gh": true, "glab": true, "hub": true, "jj": true, "tig": true, "lazygit": true, "git-lfs": true, "gitk": true}

// inside is what of a line's reading still counts where what it runs can't leave its world:
// the user's rules, and files that may hold secrets. What it would write is decided on when
// it has been written.
func (l *commandLine) inside() policy.Outcome {
	worst := policy.Allow
	for _, p := range l.Parts {
		switch {
		case p.Outcome == policy.Deny:
			return policy.Deny
		case p.Outcome == policy.Ask && p.Rule != "path.protected":
			worst = policy.Ask
		}
	}
	if worst == policy.Allow {
		return ""
	}
	return worst
}

// published are git tools whose effect others may have seen before it is undone.
var published = map[string]bool{"git_push": true}

// crosses is what of the call would leave its session, as it was decided.
func crosses(c *call, v policy.Verdict, changes []workspace.Change) []effects.Effect {
	list := []effects.Effect{}
	add := func(k effects.Kind, what string, reversible, waits bool) {
		list = append(list, effects.Effect{
			Session: c.session.ID, Kind: k, What: c.d.o.Redact.Visible(c.d.o.Redact.Text(what)), Reversible: reversible,
			Decision: effects.Decided(v.Outcome, waits), Rule: v.Rule,
		})
	}
	e := c.bound.Effects
	if len(e.Hosts) > 0 && !asksForHost(c) { // what a command then reaches is written down when it has
		add(effects.Network, "Send a request to "+strings.Join(e.Hosts, ", "), false, false)
	}
	switch access := c.access(); {
	case staysInside(c) || access == tools.Read:
	case access == tools.Edit:
		if what := changesInWords(changes); what != "" {
			add(effects.Files, what, true, c.mode.ToStore)
		}
	case c.tool.Source.Kind != tools.SourceBuiltin || c.tool.Category == "custom":
		add(effects.Program, "Call "+c.tool.Name, false, false)
	case c.tool.Category == "git":
		add(effects.Git, statement(title(c.tool, changes, e)), !published[c.tool.Name] && e.Irrecoverable == "", waits(c))
	case c.tool.AlwaysAsk && c.tool.Category == "system":
		add(effects.Setting, statement(title(c.tool, changes, e)), true, false)
	case e.Command != "":
		add(effects.Process, statement(title(c.tool, changes, e))+" where it could change more than this session", irrecoverable(e, c.line) == "" && keeps(c), false)
	}
	return list
}

// statement is a title without its question mark.
func statement(title string) string { return strings.TrimSuffix(title, "?") }

// changesInWords says which files change; "" for none.
func changesInWords(changes []workspace.Change) string {
	switch len(changes) {
	case 0:
		return ""
	case 1:
		if ch := changes[0]; ch.From != "" {
			return fmt.Sprintf("Move `%s` to `%s`", ch.From, ch.Path)
		}
		return fmt.Sprintf("%s `%s`", verbs[changes[0].Kind()], changes[0].Path)
	}
	return fmt.Sprintf("Change %d files", len(changes))
}

// outputWritten is an effect: a program of the call wrote what git ignores to the workspace.
func outputWritten(files int64) effects.Effect {
	return effects.Effect{Kind: effects.Output, What: "Write " + tools.Count(int(files), "file") + " of output", Decision: effects.Free, Rule: "command.wrote"}
}

// cross notes effects that were allowed, each once: a call may be decided on again on its way.
// Two groups of files may have the same words.
func (r *record) cross(list ...effects.Effect) {
	for _, e := range list {
		if !slices.ContainsFunc(r.crossed, func(old effects.Effect) bool {
			return e.Kind != effects.Files && old.Kind == e.Kind && old.What == e.What
		}) {
			r.crossed = append(r.crossed, e)
		}
	}
}

// crossings are the effects of a call as the audit log keeps them.
func (r *record) crossings() []auditlog.Crossing {
	var out []auditlog.Crossing
	files := false
	for _, e := range r.crossed {
		files = files || e.Kind == effects.Files
		out = append(out, auditlog.Crossing{Kind: string(e.Kind), What: e.What, Reversible: e.Reversible, Decision: string(e.Decision), Rule: e.Rule})
	}
	var applied []workspace.Change // by a program that was allowed to run
	for i, ch := range r.res.Changes {
		if !files && ch.State == "applied" && i < len(r.changes) {
			applied = append(applied, r.changes[i])
		}
	}
	if what := changesInWords(applied); what != "" {
		out = append(out, auditlog.Crossing{Kind: string(effects.Files), What: r.o.Redact.Text(what), Reversible: true, Decision: string(effects.Free), Rule: "command.wrote"})
	}
	return out
}
