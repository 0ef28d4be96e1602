package pendingedits

import (
	"context"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// backward is what taking a change back needs.
type backward struct {
	of     decided
	batch  bool
	change workspace.Change
	name   string            // of the file, as its pending edit is called
	needed bool              // false: somebody took it back already
	seen   map[string][]byte // by name, in the queue's view before
}

// turnItem takes one item back, or makes it again if it was taken back.
// s.reviewing and hold are held.
func (s *Store) turnItem(ctx context.Context, id int64) (UndoResult, error) {
	s.mu.Lock()
	at := slices.IndexFunc(s.undo, func(u undoItem) bool { return u.id == id })
	if at < 0 {
		defer s.mu.Unlock()
		return UndoResult{}, nil
	}
	item := s.undo[at]
	what := "undo"
	if item.undone {
		what = "redo"
	}
	var res UndoResult
	var steps []backward
	var changes []decided
	var stuck []decided
	for _, d := range slices.Backward(item.changes) {
		b, err := s.backward(d, item)
		if err != nil {
			res.Failed = append(res.Failed, Failure{b.name, err})
			stuck = append(stuck, d)
			continue
		}
		steps = append(steps, b)
		if b.needed {
			// In what takes the change back, the text without it is the one after.
			without := b.change.After
			if item.undone {
				without = b.change.Before
			}
			changes = append(changes, decided{b.change, d.session, d.tool, d.following(item.undone, without)})
		}
	}
	s.mu.Unlock()
	if item.batch && stuck != nil {
		why := fmt.Errorf("the batch goes back as a whole, and %s can't: %w", res.Failed[0].Name, res.Failed[0].Err)
		for _, b := range steps {
			res.Failed = append(res.Failed, Failure{b.name, why})
		}
		res.Revision = s.Revision()
		s.decided(Decision{What: what, Failed: res.Failed})
		return res, nil
	}

	// outcome also tells which steps were done.
	var done []backward
	outcome := func(failed []error) (record, error) {
		done = nil
		stay, again := item, item
		again.undone, again.redone, again.turn = !item.undone, item.undone, 0
		stay.changes, again.changes = slices.Clone(stuck), nil
		n := 0
		for _, b := range steps {
			if b.needed {
				n++
				if failed != nil && failed[n-1] != nil {
					stay.changes = append(stay.changes, b.of)
					continue
				}
				again.changes = append(again.changes, changes[n-1])
			}
			done = append(done, b)
		}
		if done == nil {
			return record{}, nil
		}
		r := record{quiet: true}
		var err error
		if !item.applied {
			r, err = s.pendingAgain(done, item.undone)
		}
		r.gone = []int64{item.id}
		if stay.changes != nil && again.changes != nil {
			again.id = 0 // they are two from now on
		}
		for _, u := range []undoItem{stay, again} {
			if u.changes != nil {
				slices.Reverse(u.changes)
				r.undo = append(r.undo, u)
			}
		}
		if !item.applied {
			r.commits = s.landed(item.of(), again.changes, again.undone)
		}
		return r, err
	}
	errs, err := s.change(ctx, "undo", changes, item.batch, outcome)
	if err == nil && changes == nil && steps != nil {
		err = s.write("undo", outcome, nil, func(*record) {})
	}
	if err != nil {
		s.decided(Decision{What: what, Failed: res.Failed, Err: err})
		return UndoResult{}, err
	}
	var notes []note
	var made []Decided
	text := "The user took back accepting %s; it is pending again."
	switch {
	case item.applied && item.undone:
		text = "The user made your edit of %s again that was taken back; read it again before you edit it."
	case item.applied:
		text = "The user took back your edit of %s; read it again before you edit it."
	case item.undone:
		text = "The user accepted %s again."
	}
	for _, b := range done {
		res.Restored = append(res.Restored, b.name)
		for _, session := range b.of.sessions() {
			notes = append(notes, note{session, fmt.Sprintf(text, b.name)})
		}
	}
	slices.Sort(res.Restored)
	if item.batch && done != nil {
		notes = []note{{item.changes[0].session, fmt.Sprintf(text, "your batch ("+listed(res.Restored)+")")}}
		for _, c := range item.commits {
			res.Commits = append(res.Commits, CommitResult{Message: c.message, ID: c.made})
		}
	}
	for _, b := range steps {
		if !b.needed {
			continue
		}
		if err := errs[0]; err != nil {
			res.Failed = append(res.Failed, Failure{b.name, err})
		} else {
			told := b.of
			told.Change = b.change
			made = append(made, told.told()...)
		}
		errs = errs[1:]
	}
	s.decided(Decision{What: what, Changes: made, Failed: res.Failed})
	s.notify(notes)
	res.Revision = s.Revision()
	return res, nil
}

// backward finds out how to take d back now. s.mu is held.
func (s *Store) backward(d decided, item undoItem) (backward, error) {
	b := backward{of: d, batch: item.batch, name: d.Path, seen: map[string][]byte{}}
	if (item.undone || item.applied) && d.From != "" {
		b.name = d.From
	}
	if !item.applied {
		if err := s.mayTouch(Proposer{Session: d.session, Tool: d.tool, Batch: item.batch}, d.Path, d.From); err != nil {
			return b, err
		}
	}
	if d.Link() {
		return s.backwardLink(b)
	}
	tied := s.tied(d.Path, d.From)
	if item.applied {
		tied = nil // nothing becomes pending
	}
	looking := s.stage(Proposer{})
	looking.tied = tied
	for _, name := range tied {
		text, err := looking.current(name)
		if err != nil {
			return b, err
		}
		b.seen[name] = text
		// What would be pending again could take the place of a conflict.
		if e := s.entries[name]; e != nil && s.resolved[name].edit.State == Conflict {
			return b, fmt.Errorf("an edit of %s is in conflict with the user's changes; reject or change it first: %w", name, workspace.ErrConflict)
		}
	}
	now, err := s.peek(d.Path)
	if err != nil {
		return b, err
	}
	changed := fmt.Errorf("the file was changed since, where the edit is: %w", workspace.ErrConflict)
	b.change = workspace.Change{Path: d.Path, Before: now, After: d.Before, Mode: d.Mode}
	chmod := false
	if d.changesMode() {
		b.change.Mode = 0
		if chmod = workspace.IsExec(s.mode(d.Path)) == workspace.IsExec(d.Mode); chmod {
			b.change.Mode = opposite(d.Mode)
		}
	}
	if d.From != "" {
		b.change.Path, b.change.From = d.From, d.Path
	}
	switch {
	case d.From == "" && same(now, d.Before) && !chmod:
		if s.entries[d.Path] == nil && !item.undone {
			b.seen[d.Path] = d.After // it is pending again all the same
		}
		return b, nil
	case d.Before == nil || d.After == nil: // a file that was made or deleted
		b.needed = same(now, d.After)
		if !b.needed {
			return b, changed
		}
		return b, nil
	case now == nil:
		return b, changed
	}
	merged, ok := merge(d.After, now, d.Before)
	if !ok {
		return b, changed
	}
	b.change.After, b.needed = merged, d.From != "" || !same(merged, now) || chmod
	return b, nil
}

// tied returns the names, and those that pending renames tie to them.
func (s *Store) tied(names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, name)
		for _, e := range []*entry{s.entries[name], s.from[name]} {
			if e != nil {
				all = append(all, e.name, e.from)
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" })
}

// pendingAgain returns the entries that make the queue's view what it was: so
// what was taken back is pending, and nothing is that was accepted again. s.mu
// is held.
func (s *Store) pendingAgain(done []backward, undone bool) (record, error) {
	var r record
	for _, b := range done {
		if b.of.Link() {
			s.linkAgain(b, undone, &r)
			continue
		}
		g := s.stage(Proposer{Session: b.of.session, Tool: b.of.tool, Batch: b.batch})
		g.again = map[string][]owned{}
		if !undone {
			g.again[b.name] = b.of.credits(b.change.After)
		}
		for name, before := range b.seen {
			if e := s.entries[name]; e != nil {
				g.by = e.by()
			}
			g.want[name] = before
		}
		if b.needed { // the base as it will be, or is by now
			g.base[b.change.Path] = b.change.After
			if b.change.From != "" {
				g.base[b.change.From] = nil
			}
		}
		if b.of.From != "" {
			g.from[b.of.Path] = b.of.From
		}
		switch {
		case b.of.changesMode():
			g.modeAgain(b, undone)
		case b.of.Before == nil && b.of.Mode != 0:
			g.mode[b.of.Path] = b.of.Mode
		}
		again, err := g.record()
		if err != nil {
			return record{}, err
		}
		r.puts, r.drops = append(r.puts, again.puts...), append(r.drops, again.drops...)
	}
	return r, nil
}
