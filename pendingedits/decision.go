package pendingedits

import "github.com/sidecar-ls/sidecar-ls/internal/files/workspace"

// Decision is what a person did with the queue, or an agent that took something
// back, for whoever keeps a record.
type Decision struct {
	What    string // accept, reject, undo, redo, propose, withdraw or restore (what was rejected)
	Reason  string // of a reject
	Changes []Decided
	Failed  []Failure
	Err     error // nothing was done
}

// Decided is a change that a person decided on. For accept, undo and redo it was
// made to the base; for reject and withdraw it is what would have been made, without its
// content if it was in conflict; for propose, it is the proposal's.
type Decided struct {
	workspace.Change
	Session, Tool string // who had proposed it
}

// announce tells of a decision, and agents what was done with their edits. What decides nothing
// is not told.
func announce(to Observer, d Decision, notes []note) {
	if len(d.Changes) > 0 || len(d.Failed) > 0 || d.Err != nil {
		to.Decided(d)
	}
	for _, n := range notes {
		to.Notify(n.session, n.text)
	}
}

type note struct{ session, text string }

// told is a change as others are told of it, once for each session.
func (d decided) told() (all []Decided) {
	for _, session := range d.sessions() {
		all = append(all, Decided{d.Change, session, d.tool})
	}
	return all
}
