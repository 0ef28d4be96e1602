package pendingedits

import (
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Decision is what a person did with the queue, or an agent that took something
// back, for whoever keeps a record.
type Decision struct {
	What    string // accept, reject, undo, redo, propose or withdraw
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

// decided tells of a decision. What decides nothing is not told.
func (s *Store) decided(d Decision) {
	if len(d.Changes) == 0 && len(d.Failed) == 0 && d.Err == nil {
		return
	}
	s.opts.Observer.Decided(d)
}

// told is a change as others are told of it, once for each session.
func (d decided) told() (all []Decided) {
	for _, session := range d.sessions() {
		all = append(all, Decided{d.Change, session, d.tool})
	}
	return all
}

// rejected is what p would have changed.
func (p picked) rejected() decided {
	c, err := p.change()
	if err != nil {
		c = workspace.Change{Path: p.e.name, From: p.e.from}
	}
	return p.decided(c)
}

// decided is what p changes, and whose it was.
func (p picked) decided(c workspace.Change) decided {
	d := decided{Change: c, session: p.e.session, tool: p.e.tool}
	alone := []string{d.session}
	for _, h := range p.e.parts() {
		if !p.ids.has(h) || slices.Equal(h.by, alone) {
			continue
		}
		d.owners = p.owners()
		break
	}
	if all := d.sessions(); !slices.Contains(all, d.session) {
		d.session = all[0]
	}
	return d
}

// owners says which part of the live text is whose.
func (p picked) owners() (parts []owned) {
	for i, h := range p.e.parts() {
		switch {
		case !p.ids.has(h):
		case p.e.whole, h.id == p.e.modeID:
			parts = append(parts, everywhere(h.by...)...)
		default:
			if p.e.modeID != "" {
				i--
			}
			start := p.r.at[i].start
			parts = append(parts, owned{start, start + len(h.old), h.by})
		}
	}
	return parts
}
