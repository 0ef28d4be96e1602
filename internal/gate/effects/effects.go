// Package effects is the border of a session: what leaves it, as data, and one table that
// says what is done about each kind of effect.
package effects

import (
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// Kind is a road out of a session.
type Kind string

// The kinds.
const (
	Files   Kind = "files"   // texts of the workspace
	Output  Kind = "output"  // what git ignores, and dependencies
	Git     Kind = "git"     // commits, branches, tags, remotes
	Network Kind = "network" // what other machines get
	Port    Kind = "port"    // a server of the session, opened for the person's browser
	Process Kind = "process" // a program of a tool that runs outside a complete world
	Program Kind = "program" // a tool from outside: of MCP servers, plugins, settings
	Setting Kind = "setting" // settings of this server
)

// Kinds are all of them, in the order of the table.
func Kinds() []Kind {
	return []Kind{Files, Output, Git, Network, Port, Process, Program, Setting}
}

// Ruling is what is done about an effect.
type Ruling string

// The rulings, from the loosest to the strictest.
const (
	Free     Ruling = "free"     // nobody is asked
	Reviewed Ruling = "reviewed" // it waits in the review queue
	Asked    Ruling = "asked"    // a person is asked first
	Refused  Ruling = "refused"
)

// Effect is one thing that leaves a session.
type Effect struct {
	ID         string    `json:"id,omitempty"` // of one that happened
	At         time.Time `json:"at,omitzero"`  // likewise
	Session    string    `json:"session,omitempty"`
	Kind       Kind      `json:"kind"`
	What       string    `json:"what"`       // a sentence for people, without a full stop
	Reversible bool      `json:"reversible"` // a person can take it back
	Decision   Ruling    `json:"decision"`
	Rule       string    `json:"rule,omitempty"` // what decided
}

// table says what a mode does about each kind, by its stance.
var table = map[Kind][stances]Ruling{
	//        straight asks   holds     reads
	Files:   {Free, Asked, Reviewed, Refused},
	Output:  {Free, Asked, Reviewed, Refused},
	Git:     {Free, Asked, Reviewed, Refused},
	Network: {Free, Asked, Free, Asked},
	Port:    {Asked, Asked, Asked, Asked},
	Process: {Free, Asked, Asked, Refused},
	Program: {Free, Asked, Asked, Refused},
	Setting: {Asked, Asked, Asked, Refused},
}

// stance is what a mode does with changes, the column of the table.
type stance int

const (
	straight stance = iota // makes them
	asks                   // asks about each
	holds                  // keeps them in the review queue
	reads                  // makes none
	stances
)

// Columns are the headings of the table.
func Columns() []string {
	return []string{"edits are made at once", "edits are asked about", "edits wait for review", "only reads"}
}

func stanceOf(m policy.Mode) stance {
	switch {
	case m.OnlyReads():
		return reads
	case m.ToStore:
		return holds
	case m.Straight():
		return straight
	}
	return asks
}

// Row is a kind's row of the table.
func Row(k Kind) []Ruling {
	row := table[k]
	return row[:]
}

// Rule is what a mode does about an effect of a kind before rules of the user speak. waits
// says that it can wait in the review queue; one that can't is asked about instead.
func Rule(m policy.Mode, k Kind, waits bool) Ruling {
	row, known := table[k]
	if !known {
		return Asked
	}
	r := row[stanceOf(m)]
	if r == Reviewed && !waits {
		return Asked
	}
	return r
}

// Decided is what a verdict makes of an effect.
func Decided(o policy.Outcome, waits bool) Ruling {
	switch {
	case o == policy.Deny:
		return Refused
	case o == policy.Ask:
		return Asked
	case waits:
		return Reviewed
	}
	return Free
}

// Use is what is to run in a world.
type Use struct {
	Session string
	Shadow  bool // the session's root is a shadow workspace
	Git     bool // it runs git itself

	Background bool // it goes on after its call
}

// Condition is one of those that make a world complete: nothing of what runs in it leaves
// it without a decision.
type Condition struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	Why   string `json:"why,omitempty"` // it holds, or does not, or what it says
}

// Lacks names the first condition that does not hold; "" when all do.
func Lacks(list []Condition) string {
	for _, c := range list {
		if !c.Holds {
			return c.Name + ": " + c.Why
		}
	}
	return ""
}
