package dispatch

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/session"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// decide asks the policy about the call, with the changes it would make.
func (c *call) decide(changes []workspace.Change) policy.Verdict {
	protected, never := c.protection(changes)
	f := policy.Facts{
		Tool:           c.tool.Name,
		Access:         string(c.access()),
		AlwaysAsk:      c.tool.AlwaysAsk,
		Irrecoverable:  c.bound.Effects.Irrecoverable != "",
		Permission:     c.set.Permissions[c.tool.Name],
		ModePermission: c.mode.Permissions[c.tool.Name],
		Behaviour:      c.mode.Behaviour,
		Protected:      protected != "",
		Never:          never != "",
		ToStore:        c.mode.ToStore,
		Written:        c.written,
		Queued:         c.queued(),
		NoStep:         c.noStep(),
		OwnTool:        c.ownReason(),
		NewHosts:       strings.Join(c.newHosts(), ", "),
		AllowedBefore:  c.remembered(changes),
		Trusted:        c.set.Trusted,
		Hook:           policy.Outcome(c.hooked.Decision),
		HookReason:     hookReason(c.hooked),
	}
	c.lineFacts(&f)
	v := c.lineVerdict(policy.Decide(f))
	c.res.Decision = Decision{Outcome: string(v.Outcome), By: v.By, Rule: v.Rule}
	return v
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
	if c.bound.Effects.ReadOnly || c.onlyReads() {
		return tools.Read
	}
	return c.tool.Access
}

// protection returns the first path among changes, and what they lead to, that
// is asked about, and the first that nobody may write. A new file with the name of a secret counts: what is written there
// can't be read back.
func (c *call) protection(changes []workspace.Change) (ask, never string) {
	for _, name := range touched(changes) {
		worst := workspace.Protected(name)
		if real, err := c.to.RealName(name); err == nil {
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
