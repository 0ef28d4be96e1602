package pendingedits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// ErrNoItem says that there is no such entry in the history, or that it can't be
// taken back, or made again, as it is.
var ErrNoItem = errors.New("no such entry")

// Last stands, in place of an id, for the newest decision that is not taken back: asked for again
// and again, it goes back one by one.
const Last = "last"

// Undo is UndoTo the newest.
func (s *Store) Undo(ctx context.Context) (UndoResult, error) { return s.UndoTo(ctx, "") }

// UndoTo takes back what was accepted, or applied without review: the files
// become what they were, with what the user wrote since merged, and what had
// been accepted is pending again; a batch goes back as a whole or not at all, and the
// commits that were made of it stay. A file that was changed since where the
// edit is stays as it is.
//
// With the id of an entry of History, everything from the newest down to it is
// taken back; without, the newest, or nothing if that can't be, except right after an
// accept was taken back: that accept is made again then. With Last, what was made or made
// again last and is not taken back, or a rejection that is newer, which is pending again
// then. When there is nothing to take back it does nothing.
func (s *Store) UndoTo(ctx context.Context, id string) (UndoResult, error) {
	return s.turn(ctx, id, true)
}

// RedoTo makes again what was taken back last or, with an id, everything from
// that down to it.
func (s *Store) RedoTo(ctx context.Context, id string) (UndoResult, error) {
	return s.turn(ctx, id, false)
}

// turn undoes or redoes down to an entry. The last is chosen once nobody else decides.
func (s *Store) turn(ctx context.Context, id string, back bool) (UndoResult, error) {
	release, err := s.decide(ctx)
	if err != nil {
		return UndoResult{}, err
	}
	defer release()
	defer s.hold()()
	if id == Last && back {
		id = cmp.Or(newestRejection(s), Last)
	}
	if j, ok := rejected(s, id); ok && back {
		return restore(s, j)
	}
	s.mu.Lock()
	items, back, err := s.toTurn(id, back)
	of := pastOf(&s.queue, items)
	s.mu.Unlock()
	res := UndoResult{What: "redo", Revision: s.Revision(), Of: of}
	if back {
		res.What = "undo"
	}
	for _, item := range items {
		if err != nil {
			break
		}
		var one UndoResult
		one, err = s.turnItem(ctx, item)
		res.add(one)
	}
	if err != nil && len(res.Restored) == 0 {
		return UndoResult{}, err
	}
	if (id == "" || id == Last) && len(res.Restored) == 0 {
		for i, f := range res.Failed {
			res.Failed[i].Err = fmt.Errorf("%w; nothing older is touched: change the file back and try again, or name an older entry of the history, then only this one stays", f.Err)
		}
	}
	slices.Sort(res.Restored)
	res.Restored = slices.Compact(res.Restored)
	slices.Sort(res.Deleted)
	res.Deleted = slices.Compact(res.Deleted)
	return res, nil
}

// pastOf are the entries of the history with these ids, in this order.
func pastOf(s *queue, ids []int64) (list []Past) {
	for _, id := range ids {
		for _, u := range s.undo {
			if u.id == id && len(u.changes) > 0 {
				list = append(list, past(s, nil, u))
			}
		}
	}
	return list
}

func (r *UndoResult) add(one UndoResult) {
	r.Restored = append(r.Restored, one.Restored...)
	r.Deleted = slices.DeleteFunc(r.Deleted, func(name string) bool { return slices.Contains(one.Restored, name) }) // by an older entry
	r.Deleted = append(r.Deleted, one.Deleted...)
	r.Failed = append(r.Failed, one.Failed...)
	r.Commits = append(r.Commits, one.Commits...)
	r.Revision = max(r.Revision, one.Revision)
}

// toTurn chooses the items to take back or make again, in order. An undo may
// turn out to be a redo.
func (s *queue) toTurn(id string, undo bool) (ids []int64, back bool, err error) {
	s.undo = s.bounded(s.undo)
	one := id == "" || id == Last
	if len(s.undo) == 0 && one {
		return nil, undo, nil
	}
	byTurn := func(a, b undoItem) int { return cmp.Compare(a.turn, b.turn) }
	if id == "" && undo {
		if last := slices.MaxFunc(s.undo, byTurn); last.undone && !last.applied {
			return []int64{last.id}, false, nil
		}
	}
	list := slices.DeleteFunc(slices.Clone(s.undo), func(u undoItem) bool { return u.undone == undo })
	if !undo || id == Last { // an older entry that was made again is the last of all
		slices.SortStableFunc(list, byTurn)
	}
	slices.Reverse(list)
	if !one {
		i := slices.IndexFunc(list, func(u undoItem) bool { return u.name() == id })
		if i < 0 {
			return nil, undo, fmt.Errorf("%w: %.100q is not in the history, or is taken back already", ErrNoItem, id)
		}
		list = list[:i+1]
	} else {
		list = list[:min(len(list), 1)]
	}
	for _, u := range list {
		ids = append(ids, u.id)
	}
	return ids, undo, nil
}

// of is the session whose batch it is, "" for no batch.
func (u undoItem) of() string {
	if !u.batch || len(u.changes) == 0 {
		return ""
	}
	return u.changes[0].session
}

func (u undoItem) name() string { return "u" + strconv.FormatInt(u.id, 10) }

// stuck says why nothing of u can be taken back, or made again.
func stuck(q *queue, ahead map[string][]byte, u undoItem) (why error) {
	for _, d := range u.changes {
		_, err := planBack(q, ahead, d, u)
		switch {
		case err == nil && !u.batch:
			return nil
		case err != nil && why == nil:
			why = fmt.Errorf("%s: %w", d.Path, err)
		}
	}
	return why
}

// Recorded returns live as a view whose changes can be taken back: Apply notes
// them as made by the proposer without review. Where the log can't be had or
// written, changes are made all the same.
func (s *Store) Recorded(by Proposer, live workspace.View) workspace.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &recorded{live, s, by, by.calls(s.called)}
}

type recorded struct {
	workspace.View
	s      *Store
	by     Proposer
	called Names // in the view
}

// Node implements what workspace.NodeOf asks for.
func (v *recorded) Node(name string) (workspace.Node, error) { return workspace.NodeOf(v.View, name) }

// Apply writes down what is to be made before it is, so that a crash in between
// is recognised, and then that it was made. It does not wait for the disk: what
// is lost if the machine stops is the way back.
func (v *recorded) Apply(ctx context.Context, changes ...workspace.Change) error {
	s := v.s
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	item := undoItem{applied: true, changes: v.noted(changes)}
	most, _ := undoLimits(s.opts.Undo)
	// keep writes down a record, unless the files are called otherwise by now.
	keep := func(op string, r record) (int64, error) {
		seq, err := s.append(op, func() (record, error) {
			if s.called != v.called {
				return r, fs.ErrNotExist
			}
			return r, nil
		})
		if err == nil {
			s.owned.Store(true)
		}
		return seq, err
	}
	ready := len(changes) > 0 && item.size() <= most/4 && (s.owned.Load() || s.acquire(ctx) == nil) && !s.inDoubt()
	if ready {
		_, err := keep("apply.intent", record{intent: true, quiet: true, undo: []undoItem{item}})
		ready = err == nil
	}
	if !ready {
		return v.View.Apply(ctx, changes...)
	}
	if err := s.opts.Fail("apply.apply"); err != nil {
		return err
	}
	err := v.View.Apply(ctx, changes...)
	if s.opts.Fail("apply.applied") != nil {
		return err
	}
	made := record{ends: true, quiet: true}
	if err == nil {
		made.undo = []undoItem{item}
	}
	if seq, werr := keep("apply", made); werr == nil {
		s.polling.Go(func() { _ = s.log.Sync("apply", seq) }) // the next record tries again
	}
	return err
}

// noted is changes with what is needed to take them back.
func (v *recorded) noted(changes []workspace.Change) []decided {
	list := make([]decided, len(changes))
	for i, c := range changes {
		list[i] = decided{Change: c, session: v.by.Session, tool: v.by.Tool}
		if c.Link() {
			continue
		}
		info, err := v.Stat(c.Path)
		if err != nil {
			continue
		}
		now := info.Mode().Perm()
		switch {
		case c.After == nil && c.From == "":
			list[i].Mode = now
		case c.Before != nil && c.Mode != 0 && workspace.IsExec(now) == workspace.IsExec(c.Mode):
			list[i].Mode = 0 // it is so already
		}
	}
	return list
}
