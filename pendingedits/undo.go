package pendingedits

import (
	"context"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
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
func (s *guarded) turnItem(ctx context.Context, id int64) (UndoResult, error) {
	s.mu.Lock()
	at := slices.IndexFunc(s.undo, func(u undoItem) bool { return u.id == id })
	if at < 0 {
		s.mu.Unlock()
		return UndoResult{}, nil
	}
	item := s.undo[at]
	in := planTurn(&s.queue, item)
	s.mu.Unlock()
	what := "undo"
	text := "The user took back accepting %s; it is pending again."
	switch {
	case item.applied && item.undone:
		what, text = "redo", "The user made your edit of %s again that was taken back; read it again before you edit it."
	case item.applied:
		text = "The user took back your edit of %s; read it again before you edit it."
	case item.undone:
		what, text = "redo", "The user accepted %s again."
	}
	err := s.carryOut(ctx, in, "the batch goes back as a whole, and %s can't: %w")
	o := in.outcome(func(st step, _ string) string { return fmt.Sprintf(text, st.name) })
	if err != nil {
		announce(s.opts.Observer, Decision{What: what, Failed: o.failed, Err: err}, nil)
		return UndoResult{}, err
	}
	res := UndoResult{Restored: o.names, Failed: o.failed}
	for _, st := range in.steps {
		if st.err == nil && st.change.After == nil {
			res.Deleted = append(res.Deleted, st.name)
		}
	}
	if item.batch && len(o.names) > 0 {
		o.notes = []note{{in.session, fmt.Sprintf(text, "your batch ("+listed(o.names)+")")}}
		for _, c := range item.commits {
			res.Commits = append(res.Commits, CommitResult{Message: c.message, ID: c.made})
		}
	}
	announce(s.opts.Observer, Decision{What: what, Changes: o.made, Failed: o.failed}, o.notes)
	res.Revision = s.Revision()
	return res, nil
}

// planTurn is how to take an item back, or make it again.
func planTurn(q *queue, item undoItem) *intent {
	in := &intent{op: "undo", batch: item.batch, session: item.of(), item: &item}
	for _, d := range slices.Backward(item.changes) {
		b, err := planBack(q, nil, d, item)
		// In what takes the change back, the text without it is the one after.
		without := b.change.After
		if item.undone {
			without = b.change.Before
		}
		in.steps = append(in.steps, step{name: b.name, change: decided{b.change, d.session, d.tool, d.following(item.undone, without)}, idle: !b.needed, err: err, back: b})
	}
	return in
}

// planBack finds out how to take d back, or make it again, when files are what ahead
// says, or else as they are.
func planBack(q *queue, ahead map[string][]byte, d decided, item undoItem) (backward, error) {
	b := backward{of: d, batch: item.batch, name: d.Path, seen: map[string][]byte{}}
	if (item.undone || item.applied) && d.From != "" {
		b.name = d.From
	}
	if !item.applied {
		if err := q.mayTouch(Proposer{Session: d.session, Tool: d.tool, Batch: item.batch}, d.Path, d.From); err != nil {
			return b, err
		}
	}
	if d.Link() {
		return planLinkBack(q, b)
	}
	tied := q.tied(d.Path, d.From)
	if item.applied {
		tied = nil // nothing becomes pending
	}
	looking := q.stage(Proposer{})
	looking.tied = tied
	for _, name := range tied {
		text, err := looking.current(name)
		if err != nil {
			return b, err
		}
		b.seen[name] = text
		// What would be pending again could take the place of a conflict.
		if e := q.entries[name]; e != nil && q.resolved[name].edit.State == Conflict {
			return b, fmt.Errorf("an edit of %s is in conflict with the user's changes; reject or change it first: %w", name, workspace.ErrConflict)
		}
	}
	now, known := ahead[d.Path]
	if !known {
		var err error
		if now, err = readFile(q.base, d.Path, q.moving()); err != nil {
			return b, err
		}
	}
	changed := fmt.Errorf("the file was changed since, where the edit is: %w", workspace.ErrConflict)
	b.change = workspace.Change{Path: d.Path, Before: now, After: d.Before, Mode: d.Mode}
	chmod := false
	if d.changesMode() {
		b.change.Mode = 0
		if chmod = workspace.IsExec(modeOf(q.base, d.Path)) == workspace.IsExec(d.Mode); chmod {
			b.change.Mode = opposite(d.Mode)
		}
	}
	if d.From != "" {
		b.change.Path, b.change.From = d.From, d.Path
	}
	switch {
	case d.From == "" && hunk.Same(now, d.Before) && !chmod:
		if q.entries[d.Path] == nil && !item.undone {
			b.seen[d.Path] = d.After // it is pending again all the same
		}
		return b, nil
	case d.Before == nil || d.After == nil: // a file that was made or deleted
		b.needed = hunk.Same(now, d.After)
		if !b.needed {
			return b, changed
		}
		return b, nil
	case now == nil:
		return b, changed
	}
	merged, ok := hunk.Merge(d.After, now, d.Before)
	if !ok {
		return b, changed
	}
	b.change.After, b.needed = merged, d.From != "" || !hunk.Same(merged, now) || chmod
	return b, nil
}

// pendingAgain returns the entries that make the queue's view what it was: so
// what was taken back is pending, and nothing is that was accepted again.
func (s *queue) pendingAgain(done []backward, undone bool) (record, error) {
	var r record
	for _, b := range done {
		if b.of.Link() {
			s.linkAgain(b, undone, &r)
			continue
		}
		g := s.stage(Proposer{Session: b.of.session, Tool: b.of.tool, Batch: b.batch})
		g.again = map[string][]hunk.Owned{}
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
