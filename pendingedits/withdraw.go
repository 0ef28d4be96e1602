package pendingedits

import (
	"context"
	"errors"
	"io/fs"
	"slices"
)

// Mark is a moment in the history of a queue; see Fate.
type Mark int64

// Mark is this moment.
func (s *guarded) Mark() Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Mark(s.lastItem)
}

// Fate says whether edits of a session wait for a file, and whether some were
// accepted since a moment. A decision that is being made is waited for.
func (s *guarded) Fate(ctx context.Context, session, name string, since Mark) (waits, accepted bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.quiet(ctx); err != nil {
		return false, false, err
	}
	switch e, err := s.find(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, false, err
	default:
		if e, _ = s.look(e, false); e != nil {
			waits = slices.Contains(e.owners(), session)
		}
	}
	for _, u := range s.undo {
		if u.id <= int64(since) || u.undone || u.applied {
			continue
		}
		accepted = accepted || slices.ContainsFunc(u.changes, func(d decided) bool { return d.Path == name && slices.Contains(d.sessions(), session) })
	}
	return waits, accepted, nil
}

// Withdraw takes back what a session has pending for a file, because its agent
// does not want it any more: nobody has decided on it. A hunk that another
// session has a part in stays.
func (s *Store) Withdraw(ctx context.Context, session, name string) error {
	release, err := s.decide(ctx)
	if err != nil {
		return err
	}
	defer release()
	var sel Selection
	edit, _, _ := s.Edit(name)
	for _, h := range edit.Hunks {
		if slices.Equal(h.Sessions, []string{session}) {
			sel.Hunks = append(sel.Hunks, h.ID)
		}
	}
	if len(sel.Hunks) == 0 {
		return nil
	}
	var o outcome
	err = s.write("withdraw", func() (r record, err error) {
		r, _, o, err = planReject(ctx, &s.queue, sel, "")
		r.rejected = nil // its agent does not want it
		return r, err
	})
	announce(s.opts.Observer, Decision{What: "withdraw", Changes: o.made, Err: err}, nil)
	if err == nil {
		s.makeCommits(ctx, ready(Selection{}, false))
	}
	return err
}
