package pendingedits

import (
	"context"
	"slices"
)

// Accept applies what sel chooses to the base, all files together; when that
// fails, file by file, so that only the bad ones stay pending, with the reason.
// A file is accepted as it was chosen or not at all. It fails with
// workspace.ErrConflict, and has done nothing, when a hunk is not pending any
// more or an edit is newer than sel.Revision.
func (s *Store) Accept(ctx context.Context, sel Selection) (AcceptResult, error) {
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	defer s.hold()()
	s.mu.Lock()
	picks, failed, err := s.pick(sel)
	s.mu.Unlock()
	if err != nil {
		return AcceptResult{}, err
	}
	var ready []picked
	var changes []decided
	for _, p := range picks {
		c, err := p.change()
		if err != nil {
			failed = append(failed, Failure{p.e.name, err})
			continue
		}
		ready, changes = append(ready, p), append(changes, decided{c, p.e.session, p.e.tool})
	}

	var res AcceptResult
	var notes []note
	errs, err := s.change(ctx, "accept", changes, func(failed []error) (record, error) {
		var done []picked
		item := undoItem{}
		for i, p := range ready {
			if failed == nil || failed[i] == nil {
				done = append(done, p)
				item.changes = append(item.changes, changes[i])
			}
		}
		r := s.accepted(done)
		if done != nil {
			r.undo = []undoItem{item}
		}
		return r, nil
	})
	if err != nil {
		return AcceptResult{}, err
	}
	for i, p := range ready {
		if errs[i] != nil {
			failed = append(failed, Failure{p.e.name, errs[i]})
			continue
		}
		res.Accepted = append(res.Accepted, p.e.name)
		notes = append(notes, note{p.e.session, "The user accepted " + p.say() + "."})
	}
	s.tell(notes)
	res.Failed, res.Revision = failed, s.Revision()
	return res, nil
}

// accepted returns what is left of the entries. s.mu is held.
func (s *Store) accepted(picks []picked) record {
	var r record
	for _, p := range picks {
		e := s.entries[p.e.name]
		rest, less := p.left(e, true)
		switch {
		case less && rest == nil:
			r.drops = append(r.drops, p.e.name)
		case less:
			r.puts = append(r.puts, rest)
		}
	}
	return r
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
