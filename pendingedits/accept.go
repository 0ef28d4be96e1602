package pendingedits

import (
	"context"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// Accept applies what sel chooses to the base, all files together; when that
// fails, file by file, so that only the bad ones stay pending, with the reason.
// A file is accepted as it was chosen or not at all. It fails with
// workspace.ErrConflict, and has done nothing, when a hunk is not pending any
// more or an edit is newer than sel.Revision.
func (s *Store) Accept(ctx context.Context, sel Selection) (AcceptResult, error) {
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	s.mu.Lock()
	picks, failed, err := s.pick(sel)
	s.mu.Unlock()
	if err != nil {
		return AcceptResult{}, err
	}
	var ready []picked
	var changes []workspace.Change
	for _, p := range picks {
		c, err := p.change()
		if err != nil {
			failed = append(failed, Failure{p.e.name, err})
			continue
		}
		ready, changes = append(ready, p), append(changes, c)
	}
	errs := s.apply(ctx, "accept", changes)

	var res AcceptResult
	var notes []note
	item := undoItem{}
	var accepted []picked
	for i, p := range ready {
		if errs[i] != nil {
			failed = append(failed, Failure{p.e.name, errs[i]})
			continue
		}
		accepted = append(accepted, p)
		res.Accepted = append(res.Accepted, p.e.name)
		notes = append(notes, note{p.e.session, "The user accepted " + p.say() + "."})
		item.changes = append(item.changes, decided{changes[i], p.e.session, p.e.tool})
	}
	if accepted != nil {
		s.finish("accept", func() (record, error) {
			r, err := s.accepted(accepted)
			r.undo = []undoItem{item}
			return r, err
		})
	}
	s.tell(notes)
	res.Failed, res.Revision = failed, s.Revision()
	return res, nil
}

// apply makes the changes to the base with no lock held, and returns an error
// or nil for each.
func (s *Store) apply(ctx context.Context, op string, changes []workspace.Change) []error {
	errs := make([]error, len(changes))
	if len(changes) == 0 {
		return errs
	}
	err := s.opts.Fail(op + ".apply")
	if err == nil {
		err = s.base.Apply(ctx, changes...)
	}
	for i, c := range changes {
		errs[i] = err
		if err != nil && len(changes) > 1 && ctx.Err() == nil {
			errs[i] = s.base.Apply(ctx, c)
		}
	}
	return errs
}

// finish takes down what was done to the base. When that can't be written, it
// is done all the same: the live text shows it, and the user is told.
func (s *Store) finish(op string, what func() (record, error)) {
	err := s.opts.Fail(op + ".applied")
	if err == nil {
		s.mu.Lock()
		var r record
		var seq int64
		if r, err = what(); err == nil {
			seq, err = s.commit(op, r)
		}
		s.mu.Unlock()
		if err == nil {
			err = s.log.sync(op, seq)
		}
	}
	if err != nil && s.opts.Report != nil {
		s.opts.Report(fmt.Sprintf("the files are changed, but that could not be written down, so it may not be possible to undo it: %v", err))
	}
}

// accepted returns what is left of the entries. s.mu is held.
func (s *Store) accepted(picks []picked) (record, error) {
	var r record
	for _, p := range picks {
		e := s.entries[p.e.name]
		rest, less := p.left(e, true)
		switch {
		case less && rest == nil:
			r.drops = append(r.drops, p.e.name)
		case less:
			r.puts = append(r.puts, rest)
		case e != nil && (e.whole || p.e.whole):
			// Proposed anew while the editor was at it: the proposal stands, over
			// the file as it is now.
			g := s.stage(e.session, e.tool)
			g.want[e.name] = s.proposed(e)
			again, err := g.record()
			if err != nil {
				return record{}, err
			}
			r.puts, r.drops = append(r.puts, again.puts...), append(r.drops, again.drops...)
		}
	}
	return r, nil
}

// proposed is what e last was in the queue's view, as far as it is known.
func (s *Store) proposed(e *entry) []byte {
	if r := s.resolved[e.name]; r != nil && !e.whole {
		return r.text
	}
	return e.after
}

// Reject drops what sel chooses and tells the agent, with the reason if there
// is one. Nothing was done, so nothing is undone. Its errors are those of
// Accept, and fs.ErrNotExist for a name that has no edit.
func (s *Store) Reject(ctx context.Context, sel Selection, reason string) (RejectResult, error) {
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	res, notes, seq, err := s.reject(sel, reason)
	if err != nil {
		return RejectResult{}, err
	}
	if err := s.log.sync("reject", seq); err != nil {
		return RejectResult{}, err
	}
	s.tell(notes)
	return res, nil
}

func (s *Store) reject(sel Selection, reason string) (res RejectResult, notes []note, seq int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	picks, failed, err := s.pick(sel)
	if err == nil && len(failed) > 0 {
		err = failed[0].Err
	}
	if err != nil {
		return res, nil, 0, err
	}
	if reason == "" {
		reason = "no reason given"
	}
	var r record
	for _, p := range picks {
		if rest, _ := p.left(p.e, false); rest != nil {
			r.puts = append(r.puts, rest)
		} else {
			r.drops = append(r.drops, p.e.name)
		}
		res.Rejected = append(res.Rejected, p.e.name)
		notes = append(notes, note{p.e.session, "The user rejected " + p.say() + ": " + reason})
	}
	if picks != nil {
		seq, err = s.commit("reject", r)
	}
	slices.Sort(res.Rejected)
	res.Revision = s.revision
	return res, notes, seq, err
}

// Propose makes text the proposal for a file that has one: the user's own edit
// of it. Conflicts are over, because the user has seen both. It fails with
// fs.ErrNotExist when nothing is pending for the file.
func (s *Store) Propose(ctx context.Context, name string, text []byte) error {
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	n, seq, err := s.repropose(name, text)
	if err != nil {
		return err
	}
	if err := s.log.sync("propose", seq); err != nil {
		return err
	}
	s.tell([]note{n})
	return nil
}

func (s *Store) repropose(name string, text []byte) (note, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(name)
	if err != nil {
		return note{}, 0, err
	}
	name = e.name
	g := s.stage(e.session, e.tool)
	g.fresh = true
	if _, err := g.current(name); err != nil {
		return note{}, 0, err
	}
	g.want[name] = file(text)
	r, err := g.record()
	if err != nil {
		return note{}, 0, err
	}
	n := note{e.session, "The user changed your proposal for " + name + "; read the file again before you edit it."}
	if len(r.puts) == 0 {
		n.text = "The user changed your proposal for " + name + " back to what the file is; nothing is pending for it."
	}
	seq, err := s.commit("propose", r)
	return n, seq, err
}
