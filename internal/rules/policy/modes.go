package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Mode is a choice of view, destination and question. Whoever needs to know
// what a mode means reads its fields; nobody compares its name.
type Mode struct {
	Name   string
	Help   string // one sentence for people
	Advice string // what it asks of our own agent

	SeesPending bool // tools see the review queue over the buffers, else the buffers alone
	ToStore     bool // changes go to the review queue, else to the editor
	Batch       bool // with ToStore: accepted as a whole or not at all, and commits wait for that
	Behaviour   Behaviour

	// Permissions are a custom mode's own, by tool; they come before those of
	// the settings, but no allow overrides a deny.
	Permissions map[string]Outcome
}

// InShadow is the mode of a session that works in a shadow workspace: its
// changes go there, because the merge is what is reviewed. It asks as before.
func (m Mode) InShadow() Mode {
	m.SeesPending, m.ToStore, m.Batch = false, false, false
	return m
}

// Does is what the mode does with edits and with commands, and whether edits wait.
func (m Mode) Does() (edits, commands string, waits bool) {
	return string(m.Behaviour.Edits), string(m.Behaviour.Execs), m.ToStore
}

// Straight reports whether edits change the files, and nobody is asked about them.
func (m Mode) Straight() bool { return !m.ToStore && m.Behaviour.Edits == Allow }

// Holds reports whether no edit is made before a person has seen it in the review, whatever
// permissions say.
func (m Mode) Holds() bool { return m.keeps() >= keepsUnseen }

// OnlyReads reports whether nothing that changes anything runs, whoever allows it.
func (m Mode) OnlyReads() bool { return m.Behaviour.Edits == Deny && m.Behaviour.Execs == Deny }

// AtLeast reports whether a mode is no looser than another one in anything: what it reads
// and runs unasked, and what of its edits reaches the disk. Of two modes neither may be:
// manual asks about reads, and review keeps from the disk what a permission allows. New
// hosts are left to Hosts. What runs in a complete world does not count: nothing leaves it.
func (m Mode) AtLeast(other Mode) bool {
	return strict(m.Behaviour.Reads) >= strict(other.Behaviour.Reads) && strict(m.Behaviour.Execs) >= strict(other.Behaviour.Execs) &&
		m.keeps() >= other.keeps() && (m.Batch || !other.Batch || m.keeps() == keepsAll)
}

// Hosts is the mode that asks about new hosts where one of the two does: whoever takes
// another mode than the owner of the session has chosen opens no way out with it.
func (m Mode) Hosts(other Mode) Mode {
	if strict(other.Behaviour.NewHosts) > strict(m.Behaviour.NewHosts) {
		m.Behaviour.NewHosts = other.Behaviour.NewHosts
	}
	return m
}

// keepsUnseen is that no edit is made before it is accepted, keepsAll that none is made.
const (
	keepsUnseen = 2
	keepsAll    = 3
)

// keeps grows with what a mode keeps from the disk: an edit that waits, waits also where a
// permission answers the question about it.
func (m Mode) keeps() int {
	switch {
	case m.Behaviour.Edits == Deny:
		return keepsAll
	case m.ToStore:
		return keepsUnseen
	}
	return strict(m.Behaviour.Edits)
}

// strict grows from allow to deny.
func strict(o Outcome) int { return slices.Index([]Outcome{Allow, Ask, Deny}, o) }

// DefaultMode is the mode when none is named.
const DefaultMode = "cautious"

// Modes lists the built-in modes, roughly from the loosest to the strictest; see AtLeast.
func Modes() []Mode { return slices.Clone(modes[:]) }

// Names are those of the built-in modes, in that order.
func Names() []string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = m.Name
	}
	return names
}

const (
	held  = "Edits that wait for review are part of the files as you read them and as commands see them."
	asked = "Each question takes the user's time: make few changes, each whole, and none to try something out."
)

var modes = [...]Mode{
	{
		Name: "autonomous", Help: "Asks only about what can't be undone and what always asks.",
		Advice:    "Edits are written at once, and nobody looks at each: be careful with what can't be taken back.",
		Behaviour: Behaviour{Name: "autonomous", Reads: Allow, Edits: Allow, Execs: Allow, NewHosts: Allow},
	},
	{
		Name: "cautious", Help: "Asks before every edit, with the diff, and before everything that runs.",
		Advice:    asked,
		Behaviour: Behaviour{Name: "cautious", Reads: Allow, Edits: Ask, Execs: Ask, NewHosts: Ask},
	},
	{
		Name: "review", Help: "Keeps edits in a queue until they are accepted. Commands run unasked where nothing leaves the session; it asks about all others.",
		Advice:      held + " Nothing of them is on the user's disk yet, so do not ask the user to run anything over them.",
		SeesPending: true, ToStore: true,
		Behaviour: Behaviour{Name: "review", Reads: Allow, Edits: Allow, Execs: Ask, NewHosts: Allow, Inside: Allow},
	},
	{
		Name: "audit", Help: "Keeps edits and commits in a queue that is accepted as a whole or not at all. Commands run unasked where nothing leaves the session; it asks about all others.",
		Advice:      held + " They are accepted together or not at all: keep to one task, and queue its commit if one was asked for.",
		SeesPending: true, ToStore: true, Batch: true,
		Behaviour: Behaviour{Name: "audit", Reads: Allow, Edits: Allow, Execs: Ask, NewHosts: Allow, Inside: Allow},
	},
	{
		Name: "plan", Help: "Only reads, until the user has seen the plan and chooses another mode.",
		Advice:    held,
		Behaviour: Behaviour{Name: "plan", Reads: Allow, Edits: Deny, Execs: Deny, NewHosts: Ask},
	},
	{
		Name: "manual", Help: "Asks about everything, reads too.",
		Advice:    asked,
		Behaviour: Behaviour{Name: "manual", Reads: Ask, Edits: Ask, Execs: Ask, NewHosts: Ask},
	},
}

// Lookup returns the built-in mode with that name.
func Lookup(name string) (Mode, bool) {
	for i := range modes {
		if modes[i].Name == name {
			return modes[i], true
		}
	}
	return Mode{}, false
}

// Custom describes a mode that a user made from a built-in one.
type Custom struct {
	Name        string
	Description string
	Base        string // whose questions it asks: autonomous, cautious or manual; "" means cautious
	Destination string // where its edits go: editor or review; "" means editor
	Permissions map[string]Outcome
}

// Mode makes the row of c. It fails when a part of c is not as described, or
// when c takes the name of a built-in mode.
func (c Custom) Mode() (Mode, error) {
	if c.Name == "" {
		return Mode{}, fmt.Errorf("a custom mode needs a name")
	}
	if _, taken := Lookup(c.Name); taken {
		return Mode{}, fmt.Errorf("custom mode %s: the name is that of a built-in mode", c.Name)
	}
	base, ok := Lookup(cmp.Or(c.Base, DefaultMode))
	if !ok || base.ToStore || base.Behaviour.Edits == Deny {
		return Mode{}, fmt.Errorf("custom mode %s: the base must be autonomous, cautious or manual, not %q", c.Name, c.Base)
	}
	m := Mode{Name: c.Name, Help: c.Description, Behaviour: base.Behaviour, Permissions: maps.Clone(c.Permissions)}
	m.Behaviour.Name = c.Name
	switch c.Destination {
	case "", "editor":
	case "review":
		m.SeesPending, m.ToStore = true, true
	default:
		return Mode{}, fmt.Errorf("custom mode %s: the destination must be editor or review, not %q", c.Name, c.Destination)
	}
	for _, tool := range slices.Sorted(maps.Keys(c.Permissions)) {
		if o := c.Permissions[tool]; o != Allow && o != Ask && o != Deny {
			return Mode{}, fmt.Errorf("custom mode %s: %s must be allow, ask or deny, not %q", c.Name, tool, o)
		}
	}
	return m, nil
}
