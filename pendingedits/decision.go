package pendingedits

import "github.com/sidecar-ls/sidecar-ls/internal/workspace"

// Decision is what a person did with the queue, for whoever keeps a record.
type Decision struct {
	What    string // accept, reject, undo or propose
	Reason  string // of a reject
	Changes []Decided
	Failed  []Failure
	Err     error // nothing was done
}

// Decided is a change that a person decided on. For accept and undo it was
// made to the base; for reject it is what would have been made, without its
// content if it was in conflict; for propose, it is the proposal's.
type Decided struct {
	workspace.Change
	Session, Tool string // who had proposed it
}

// decided tells of a decision. What decides nothing is not told.
func (s *Store) decided(d Decision) {
	if s.opts.Decided == nil || len(d.Changes) == 0 && len(d.Failed) == 0 && d.Err == nil {
		return
	}
	s.opts.Decided(d)
}

// told is a change as others are told of it.
func (d decided) told() Decided { return Decided{d.Change, d.session, d.tool} }

// rejected is what p would have changed.
func (p picked) rejected() Decided {
	c, err := p.change()
	if err != nil {
		c = workspace.Change{Path: p.e.name, From: p.e.from}
	}
	return Decided{c, p.e.session, p.e.tool}
}
