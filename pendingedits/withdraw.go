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
func (s *Store) Mark() Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Mark(s.lastItem)
}

// Fate says whether edits of a session wait for a file, and whether some were
// accepted since a moment. A decision that is being made is waited for.
func (s *Store) Fate(ctx context.Context, session, name string, since Mark) (waits, accepted bool, err error) {
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
		if e, _ = s.resolve(e, false); e != nil {
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
	if err := s.own(ctx, true); err != nil {
		return err
	}
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	if err := s.endDoubt(ctx); err != nil {
		return err
	}
	defer func() { s.made = nil }() // it may be giant
	sel := Selection{Hunks: s.alone(session, name)}
	if len(sel.Hunks) == 0 {
		return nil
	}
	_, _, seq, err := s.reject(ctx, sel, "")
	if err == nil {
		err = s.log.sync("withdraw", seq)
	}
	s.decided(Decision{What: "withdraw", Changes: s.made, Err: err})
	if err != nil {
		return err
	}
	s.makeReady(ctx, Selection{}, false)
	return nil
}

// alone are the ids of the hunks of a file that are a session's and nobody
// else's.
func (s *Store) alone(session, name string) (ids []string) {
	edit, _, ok := s.Edit(name)
	if !ok {
		return nil
	}
	for _, h := range edit.Hunks {
		if slices.Equal(h.Sessions, []string{session}) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}
