package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// decide asks the policy about the call, with the changes it would make.
func (c *call) decide(changes []workspace.Change) policy.Verdict {
	protected, never := protection(c.to, changes, c.bound.Effects.Writes.Files)
	before := c.approvals()
	f := policy.Facts{
		Tool:           c.tool.Name,
		Access:         string(c.access()),
		AlwaysAsk:      c.tool.AlwaysAsk,
		Leaves:         asksForHost(c),
		Irrecoverable:  c.bound.Effects.Irrecoverable != "",
		Permission:     c.set.Permissions[c.tool.Name],
		ModePermission: c.mode.Permissions[c.tool.Name],
		Proposes:       offered(c, "propose_plan"),
		Behaviour:      c.mode.Behaviour,
		Protected:      protected != "",
		Never:          never != "",
		ToStore:        c.mode.ToStore,
		Written:        c.written,
		Queued:         waits(c),
		NoStep:         c.noStep(),
		OwnTool:        c.ownReason(),
		NewHosts:       strings.Join(before.newHosts(), ", "),
		AllowedBefore:  before.cover(changes),
		Trusted:        c.set.Trusted,
		Locked:         locked(c),
		DeniedBy:       deniedBy(c),
		Hook:           policy.Outcome(c.hooked.Decision),
		HookReason:     hookReason(c.hooked),
	}
	if (c.line.runs() || c.bound.Effects.Confined) && c.d.o.Confined != nil {
		f.Unconfined = c.d.o.Confined.Weak()
	}
	c.line.facts(&f)
	if f.Inside, f.Lacks = staysInside(c), c.border.lacks; f.Inside {
		f.Irrecoverable, f.Protected = false, false // it happens to the world alone
		if c.line != nil {
			f.Command = c.line.inside()
		}
	}
	v := c.line.verdict(policy.Decide(f))
	c.res.Decision = Decision{Outcome: string(v.Outcome), By: v.By, Rule: v.Rule}
	return v
}

// asksForHost reports whether the call is the question whether a command may reach a host.
func asksForHost(c *call) bool { return c.req.tool != nil && c.tool.Name == reachTool }

// deniedBy names whose settings deny the tool, where that is not the user.
func deniedBy(c *call) string {
	if c.set.DeniedBy == nil {
		return ""
	}
	return c.set.DeniedBy(c.tool.Name)
}

// locked says why the settings allow nothing but looking; "" where they allow more, and for
// tools that only look. A command line that only looks runs all the same.
func locked(c *call) string {
	if c.tool.Access == tools.Read && !c.follows {
		return ""
	}
	return c.set.Locked
}

// offered reports whether the caller's model is offered a tool.
func offered(c *call, name string) bool {
	t, _, ok := c.d.o.Registry.Lookup(name)
	return ok && c.d.allows(c.session, t) && !c.d.forbidden(c.session, c.set, t) && c.d.offers(c.session.ID, t)
}

// noStep reports whether an agent calls that has to declare a step first and has none
// open. The default session is people's, and so is a program that they run.
func (c *call) noStep() bool {
	agents := c.session.ID != session.Default && c.req.over == nil && c.req.tool == nil
	return agents && c.set.Steps && !c.session.Work.StepOpen()
}

// access is the tool's class, read for a call that changes nothing, and edit
// for the changes that follow a run.
func (c *call) access() tools.Access {
	if c.follows {
		return tools.Edit
	}
	if c.bound.Effects.ReadOnly || c.line.onlyReads() {
		return tools.Read
	}
	return c.tool.Access
}

// protection returns the first path among changes, and what they lead to, that
// is asked about, and the first that nobody may write. A new file with the name of a secret counts: what is written there
// can't be read back.
func protection(files workspace.View, changes []workspace.Change, writes []tools.Written) (ask, never string) {
	names := touched(changes)
	for _, w := range writes {
		names = append(names, w.Path)
		if never == "" && w.Link != "" && leadsOut(w) {
			never = w.Path + ", a link that leads out of the workspace or to what is protected"
		}
	}
	for _, name := range names {
		worst := workspace.Protected(name)
		if real, err := files.RealName(name); err == nil {
			worst = max(worst, workspace.Protected(real))
		}
		if ask == "" && (worst == workspace.AskFirst || workspace.Sensitive(name)) {
			ask = name
		}
		if never == "" && worst == workspace.Never {
			never = name
		}
	}
	return ask, never
}

// leadsOut reports whether a file becomes a link that no tool makes.
func leadsOut(w tools.Written) bool { return workspace.LeadsOut(w.Path, w.Link) }

// minded reports whether who may write a file is for a person to say, or for nobody.
func minded(w tools.Written) bool {
	return workspace.Protected(w.Path) != workspace.NotProtected || workspace.Sensitive(w.Path) || w.Link != "" && leadsOut(w)
}

// mayWrite decides about what the run of a tool writes besides its effects, as far as
// it is a person's to say: what allowed the run allows the rest.
func (c *call) mayWrite(ctx context.Context, w tools.Writes) error {
	if !slices.ContainsFunc(w.Files, minded) {
		return nil
	}
	before := c.bound.Effects
	c.bound.Effects.Writes = w
	defer func() { c.bound.Effects = before }()
	return c.settle(ctx, c.decide(nil), nil)
}

// maxWrites bounds the files that a question names.
const maxWrites = 40

// writesText is what a person is shown of what is written: first what is theirs to
// decide.
func writesText(files []tools.Written) string {
	if len(files) == 0 {
		return ""
	}
	line := func(f tools.Written) string {
		if f.Link == "" {
			return f.Path
		}
		return f.Path + " → " + f.Link
	}
	var first, rest []string
	for _, f := range files {
		if minded(f) {
			first = append(first, line(f))
		} else {
			rest = append(rest, line(f))
		}
	}
	var b strings.Builder
	room := maxWrites
	list := func(head string, names []string) {
		if len(names) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:\n", head)
		shown := names[:min(len(names), room)]
		room -= len(shown)
		for _, name := range shown {
			fmt.Fprintf(&b, "  %s\n", name)
		}
		if more := len(names) - len(shown); more > 0 {
			fmt.Fprintf(&b, "  and %d more\n", more)
		}
	}
	list("Writes, though other programs run or obey it, or it may hold secrets", first)
	list("Writes", rest)
	return b.String()
}
