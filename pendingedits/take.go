package pendingedits

import (
	"context"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// TakeProposed has hunks that are in conflict take the place of what the user made of their lines: the
// user has seen both texts and wants the proposed one. They are pending as before; the ids
// returned are those to accept, with the hunks of ids that are in no conflict as they were. It
// fails with workspace.ErrConflict when a hunk is not pending any more, or can't be taken.
func TakeProposed(ctx context.Context, s *Store, ids []string) ([]string, error) {
	release, err := s.decide(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var taken []string
	for _, name := range conflicts(s, ids) {
		made := Decided{Change: workspace.Change{Path: name}}
		err := s.write("propose", func() (r record, err error) {
			var of []string
			r, of, err = planTakeProposed(&s.queue, ids, &made)
			taken = append(taken, of...)
			return r, err
		})
		announce(s.opts.Observer, Decision{What: "propose", Changes: []Decided{made}, Err: err}, nil)
		if err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := map[string]bool{}
	for _, e := range s.sorted() {
		for _, h := range e.parts() {
			pending[h.ID] = true
		}
	}
	left := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !pending[id] })
	return append(left, slices.DeleteFunc(taken, func(id string) bool { return !pending[id] })...), nil
}

// conflicts are the names of the edits that have one of these hunks, in conflict.
func conflicts(s *Store, ids []string) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.sorted() {
		if _, r := s.look(e, true); r != nil && slices.ContainsFunc(r.edit.Hunks, func(h Hunk) bool { return h.State == Conflict && slices.Contains(ids, h.ID) }) {
			names = append(names, e.name)
		}
	}
	return names
}

// planTakeProposed is what taking the hunks in conflict of the file of made, which it completes, comes to;
// now are the ids that they have then.
func planTakeProposed(q *queue, ids []string, made *Decided) (rec record, now []string, err error) {
	e, err := q.find(made.Path)
	if err != nil {
		return record{}, nil, err
	}
	e, r := q.look(e, true)
	if e == nil {
		return record{}, nil, errNothing // the user has made the same by now
	}
	*made = Decided{workspace.Change{Path: e.name}, e.session, e.tool}
	chosen := idSet{}
	for _, id := range ids {
		chosen[id] = true
	}
	g, text := q.stage(e.by()), e.after
	if e.whole && (e.isLink() || e.from != "" || r.live.trouble != nil) {
		return record{}, nil, fmt.Errorf("%s can't take the place of what is there; change the file or reject the edit: %w", e.name, workspace.ErrConflict)
	}
	if !e.whole {
		placed, with, ok := r.placed.Taken(chosen.has)
		if !ok {
			return record{}, nil, fmt.Errorf("%s: the lines can't be told apart any more; change the file or reject the edit: %w", e.name, workspace.ErrConflict)
		}
		g.taken, text = &placed, with
	}
	if rec, err = g.propose(e, text, made); err != nil {
		return record{}, nil, err
	}
	for _, put := range rec.puts {
		for _, h := range put.hunks {
			if !slices.ContainsFunc(e.hunks, func(old hunk.Hunk) bool { return old.ID == h.ID }) {
				now = append(now, h.ID)
			}
		}
	}
	return rec, now, nil
}

// withTaken is the live text with each hunk that can be applied or taken; nil is no file.
func (r *resolution) withTaken(e *entry) []byte {
	if e.whole {
		return e.after
	}
	_, text, _ := r.placed.Taken(func(hunk.Hunk) bool { return true })
	return text
}
