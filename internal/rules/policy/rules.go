package policy

import "cmp"

// rule is one row of the order of decision.
type rule struct {
	name     string
	outcome  Outcome
	by       string
	person   bool
	remember bool
	when     func(Facts) bool
	reason   func(Facts) string
}

func says(text string) func(Facts) string { return func(Facts) string { return text } }

// rules are tried from the top; the mode's row comes after the last of them.
var rules = [...]rule{
	{
		name: "machine.locked", outcome: Deny, by: ByRule,
		when:   func(f Facts) bool { return f.Locked != "" },
		reason: func(f Facts) string { return f.Locked },
	},
	{
		name: "path.never", outcome: Deny, by: ByRule,
		when:   func(f Facts) bool { return f.Never && f.Access != read },
		reason: says("the path is never written by a tool; leave it to the user"),
	},
	{
		name: "workspace.untrusted", outcome: Deny, by: ByRule,
		when:   func(f Facts) bool { return !f.Trusted && f.Access != read },
		reason: says("the user does not trust this workspace, so tools only read in it; what edits or runs needs its trust"),
	},
	{
		name: "permission.deny", outcome: Deny, by: ByRule,
		when:   func(f Facts) bool { return f.Permission == Deny },
		reason: func(f Facts) string { return cmp.Or(f.DeniedBy, "the settings") + " deny " + f.Tool },
	},
	{
		name: "permission.mode.deny", outcome: Deny, by: ByRule,
		when:   func(f Facts) bool { return f.ModePermission == Deny },
		reason: func(f Facts) string { return "the mode " + f.Behaviour.Name + " denies " + f.Tool },
	},
	{
		name: "hook.deny", outcome: Deny, by: ByRule,
		when:   func(f Facts) bool { return f.Hook == Deny },
		reason: func(f Facts) string { return f.HookReason },
	},
	{
		name: "command.deny", outcome: Deny, by: ByRule,
		when:   func(f Facts) bool { return f.Command == Deny },
		reason: func(f Facts) string { return f.CommandReason },
	},
	{
		name: "mode.deny", outcome: Deny, by: ByMode,
		when: func(f Facts) bool { o, _, _ := f.Behaviour.row(f.Access); return o == Deny },
		reason: func(f Facts) string {
			next := "tell the user what you would do, and go on when the user has chosen another mode"
			if f.Proposes {
				next = "propose it with propose_plan, and go on when the user has approved it"
			}
			return "the mode " + f.Behaviour.Name + " only reads; " + next
		},
	},
	{
		// What a program wrote was decided on when it was allowed to run.
		name: "step.required", outcome: Deny, by: ByRule,
		when:   func(f Facts) bool { return f.NoStep && !f.Written && f.Access != read },
		reason: says("the user wants each change to be part of a step, and none is open: declare what you do next with declare_step, do it, and say with verify_step what came of it; reads need no step"),
	},
	{
		name: "always-ask", outcome: Ask, by: ByRule, person: true,
		when:   func(f Facts) bool { return f.AlwaysAsk },
		reason: func(f Facts) string { return f.Tool + " asks in every mode" },
	},
	{
		name: "network.host", outcome: Ask, by: ByRule, person: true, remember: true,
		when:   func(f Facts) bool { return f.Leaves },
		reason: says("no command reaches a host before a person or sidecar.sandbox.network allows it, in every mode"),
	},
	{
		name: "path.protected", outcome: Ask, by: ByRule, person: true,
		when:   func(f Facts) bool { return f.Protected && f.Access != read },
		reason: says("the file may hold secrets, or be run or obeyed by other programs, so a person is asked in every mode"),
	},
	{
		name: "irrecoverable", outcome: Ask, by: ByRule, person: true,
		when:   func(f Facts) bool { return f.Irrecoverable },
		reason: says("it can't be undone, so a person is asked in every mode"),
	},
	{
		name: "command.ask", outcome: Ask, by: ByRule, person: true,
		when:   func(f Facts) bool { return f.Command == Ask },
		reason: func(f Facts) string { return f.CommandReason },
	},
	{
		name: "hook.ask", outcome: Ask, by: ByRule, person: true,
		when:   func(f Facts) bool { return f.Hook == Ask && !f.Written },
		reason: func(f Facts) string { return f.HookReason },
	},
	{
		name: "own-tool", outcome: Ask, by: ByRule, person: true,
		when:   func(f Facts) bool { return f.OwnTool != "" },
		reason: func(f Facts) string { return f.OwnTool },
	},
	{
		// Whoever let it run was asked about that, and not about each file.
		name: "command.wrote", outcome: Allow, by: ByRule,
		when:   func(f Facts) bool { return f.Written && f.Access == edit },
		reason: says("a command that was allowed to run wrote it"),
	},
	{
		name: "permission.mode.allow", outcome: Allow, by: ByRule,
		when:   func(f Facts) bool { return f.ModePermission == Allow },
		reason: func(f Facts) string { return "the mode " + f.Behaviour.Name + " allows " + f.Tool },
	},
	{
		name: "permission.mode.ask", outcome: Ask, by: ByRule,
		when:   func(f Facts) bool { return f.ModePermission == Ask },
		reason: func(f Facts) string { return "the mode " + f.Behaviour.Name + " asks about " + f.Tool },
	},
	{
		name: "permission.allow", outcome: Allow, by: ByRule,
		when:   func(f Facts) bool { return f.Permission == Allow },
		reason: func(f Facts) string { return "the settings allow " + f.Tool },
	},
	{
		name: "permission.ask", outcome: Ask, by: ByRule,
		when:   func(f Facts) bool { return f.Permission == Ask },
		reason: func(f Facts) string { return "the settings ask about " + f.Tool },
	},
	{
		name: "command.allow", outcome: Allow, by: ByRule,
		when:   func(f Facts) bool { return f.Command == Allow },
		reason: func(f Facts) string { return f.CommandReason },
	},
	{
		name: "hook.allow", outcome: Allow, by: ByRule,
		when:   func(f Facts) bool { return f.Hook == Allow },
		reason: func(f Facts) string { return f.HookReason },
	},
	{
		name: "allowed-for-session", outcome: Allow, by: ByUser,
		when:   func(f Facts) bool { return f.AllowedBefore },
		reason: says("a person allowed this for the session"),
	},
	{
		// After everything that a person decided beforehand.
		name: WorldComplete, outcome: Allow, by: ByMode,
		when: func(f Facts) bool {
			return f.Inside && f.Behaviour.Inside == Allow && f.Unconfined == "" && f.Access != read && f.Access != edit
		},
		reason: says("nothing of it leaves its session without a decision"),
	},
	{
		name: "sandbox.weak", outcome: Ask, by: ByRule, remember: true,
		when: func(f Facts) bool {
			return f.Unconfined != "" && !f.Queued && f.Access != read && f.Access != edit
		},
		reason: func(f Facts) string {
			return "commands are not fully confined here (" + f.Unconfined + "), so every one that does more than look is asked about"
		},
	},
	{
		name: "host.new", outcome: Ask, by: ByRule, remember: true,
		when:   func(f Facts) bool { return f.NewHosts != "" && f.Behaviour.NewHosts != Allow },
		reason: func(f Facts) string { return "nobody has allowed " + f.NewHosts + " in this session yet" },
	},
	{
		// The question comes later, when the edit is accepted.
		name: "review-queue", outcome: Allow, by: ByMode,
		when:   func(f Facts) bool { return f.ToStore && f.Access == edit },
		reason: says("the edit waits in the review queue until a person accepts it"),
	},
	{
		name: "commit-queue", outcome: Allow, by: ByMode,
		when:   func(f Facts) bool { return f.Queued },
		reason: says("the commit waits until a person accepts the batch that it is made of"),
	},
}
