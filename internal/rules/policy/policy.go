// Package policy says whether a call may be made: facts in, allow, ask or deny
// out, with the name of the rule that decided. It is pure: it reads no file,
// knows no tool by name, and asks nobody.
package policy

// Outcome is what a decision comes to. Nobody to ask turns Ask into Deny, but
// that is for the caller to do.
type Outcome string

// The outcomes. The empty outcome means that nothing was said.
const (
	Allow Outcome = "allow"
	Ask   Outcome = "ask"
	Deny  Outcome = "deny"
)

// The access classes of a call, as package tools names them.
const (
	read = "read"
	edit = "edit"
)

// Facts are all that a decision depends on.
type Facts struct {
	Tool   string // for the reason only
	Access string // read, edit or exec; anything else counts as exec

	AlwaysAsk     bool // the tool asks in every mode
	Leaves        bool // a command wants to reach another host
	Irrecoverable bool // what would be done can't be undone
	Never         bool // writes a path that nobody may write
	Protected     bool // writes a path for which a person is always asked
	ToStore       bool // an edit that waits in the review queue
	Written       bool // an edit that a program made that was allowed to run
	Queued        bool // a commit that waits until the batch it is made of is accepted
	NoStep        bool // the agent has to declare a step before it changes something, and none is open

	// Command is what the reading of a shell's command line comes to: a deny, a
	// question or an allow of the user's rules and the paths that it names; ""
	// when the mode decides.
	Command       Outcome
	CommandReason string

	// Inside reports that what runs stays in a complete world of its session: what leaves it
	// is decided when it leaves. Lacks names in words what a world lacks for that; "" for a
	// call that runs elsewhere in any case.
	Inside bool
	Lacks  string

	// Unconfined says in words what confines a command less than it should, for
	// a machine whose sandbox holds only a part; "" when nothing does.
	Unconfined string

	// NewHosts are the servers that a call chose itself and that nobody has
	// allowed in this session, with commas; "" for none.
	NewHosts string

	// OwnTool says why a person is asked about what an agent does with a tool of its own,
	// past the review; "" when that does not matter.
	OwnTool string

	// Hook is what the user's hooks say about the call; "" is nothing.
	Hook       Outcome
	HookReason string

	Permission     Outcome   // what the settings say about the tool
	DeniedBy       string    // whose settings deny it; "": the user's
	ModePermission Outcome   // what the mode itself says about the tool
	Proposes       bool      // who calls has propose_plan
	Behaviour      Behaviour // the mode's own row; the zero row asks about everything

	AllowedBefore bool // a person allowed exactly this for the session
	Trusted       bool // the user has not said that the workspace is not trusted

	Locked string // why nothing that changes or runs is allowed; "": it is
}

// Behaviour is what a mode does when no rule has spoken. An empty outcome
// asks.
type Behaviour struct {
	Name                string // of the mode
	Reads, Edits, Execs Outcome
	NewHosts            Outcome // a server that the session has not been at
	Inside              Outcome // what runs in a complete world and stays there; empty is as Execs says
}

// row is what the mode does with that access, and the access in words.
func (b Behaviour) row(access string) (o Outcome, kind, what string) {
	switch access {
	case read:
		return b.Reads, "reads", "reads"
	case edit:
		return b.Edits, "edits", "edits"
	}
	return b.Execs, "execs", "commands"
}

// WorldComplete is the rule by which something runs unasked because it can't leave its world
// without a decision. Who runs it makes sure of that once more.
const WorldComplete = "world.complete"

// Who decided.
const (
	ByRule = "rule" // a fixed rule or a setting
	ByMode = "mode" // the row of the mode
	ByUser = "user" // a person, earlier in this session
)

// Verdict is a decision and its reason.
type Verdict struct {
	Outcome Outcome
	Rule    string // stable name of the rule, such as "path.never" or "mode.cautious.edits"
	By      string // ByRule, ByMode or ByUser
	Reason  string // a sentence without a full stop, for people and models

	// Person reports, for Ask, that nothing but a person's answer counts, no hook's
	// either.
	Person bool

	// Remember reports, for Ask, that the answer may hold for the session:
	// AllowedBefore will then count.
	Remember bool
}

// Decide finds the first rule that speaks about f. A deny, wherever it comes
// from, is found before any allow; what always asks is found before anything
// that a person could have allowed in advance.
func Decide(f Facts) Verdict {
	for _, r := range rules {
		if r.when(f) {
			return Verdict{Outcome: r.outcome, Rule: r.name, By: r.by, Reason: r.reason(f), Person: r.person, Remember: r.remember}
		}
	}
	return byMode(f)
}

func byMode(f Facts) Verdict {
	o, kind, what := f.Behaviour.row(f.Access)
	name := f.Behaviour.Name
	if name == "" {
		name = "unknown"
	}
	v := Verdict{Outcome: o, Rule: "mode." + name + "." + kind, By: ByMode}
	does := "the mode " + name
	if o == Allow {
		v.Reason = does + " allows " + what
		return v
	}
	v.Outcome, v.Remember = Ask, true
	v.Reason = does + " asks before " + what
	if f.Lacks != "" && f.Behaviour.Inside == Allow {
		v.Reason += " where something could leave the session (" + f.Lacks + ")"
	}
	return v
}
