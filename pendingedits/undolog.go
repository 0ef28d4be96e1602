package pendingedits

import (
	"cmp"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// How much can be undone, also after a restart, where nobody says otherwise.
const (
	undoItems = 1000
	undoBytes = 64 << 20
)

// UndoLimits bound what can be undone: in all, and how old it may be (0: as old
// as it is). A single entry has at most a quarter of the bytes.
type UndoLimits interface {
	UndoLimits() (bytes int64, age time.Duration)
}

// undoItem is what one accept, or one edit that nobody reviewed, did to the
// base; when it was taken back, what that did.
type undoItem struct {
	undone  bool // it was an undo
	batch   bool // all or nothing, of one session
	applied bool // nobody reviewed it, so it was not pending before
	redone  bool // it was taken back, and made again
	changes []decided
	commits []commitDone // that were made of a batch afterwards

	id   int64     // items are in the order of their ids
	at   time.Time // when the edit was made; zero: a log from before there were times
	turn int64     // the store's revision when it was made, taken back or made again
}

// decided is a change that was made to the base, and who had proposed it.
type decided struct {
	workspace.Change
	session, tool string  // of the last who did
	owners        []owned // of the text that it is made of; nil: it is all the session's
}

func (u undoItem) size() int64 {
	n := 48
	for _, d := range u.changes {
		n += 32 + len(d.Path) + len(d.From) + len(d.Before) + len(d.After) + len(d.session) + len(d.tool) + 24*len(d.owners)
	}
	for _, c := range u.commits {
		n += 16 + len(c.id) + len(c.session) + len(c.message) + len(c.made)
	}
	return int64(n)
}

// noteCommit notes with the accept of a batch that a commit of it was made.
func (s *Store) noteCommit(c commitDone) {
	for i := len(s.undo) - 1; i >= 0; i-- {
		if u := s.undo[i]; u.batch && !u.undone && len(u.changes) > 0 && u.changes[0].session == c.session {
			s.undo[i].commits = append(slices.Clone(u.commits), c)
			return
		}
	}
}

// bounded returns the newest items that fit and are not too old.
func (s *Store) bounded(items []undoItem) []undoItem {
	bytes, age := s.limits()
	size := int64(0)
	for i := len(items) - 1; i >= 0; i-- {
		one := items[i].size()
		size += one
		old := age > 0 && !items[i].at.IsZero() && s.opts.Now().Sub(items[i].at) > age
		if old || one > bytes/4 || size > bytes || len(items)-i > undoItems {
			return slices.Clone(items[i+1:])
		}
	}
	return items
}

func (s *Store) limits() (bytes int64, age time.Duration) {
	if s.opts.Undo == nil {
		return undoBytes, 0
	}
	return s.opts.Undo.UndoLimits()
}

// number gives r's undo items what they lack to be told apart. It is the same
// whenever a log from before there were numbers is read. s.mu is held.
func (s *Store) number(r *record) {
	for i := range r.undo {
		u := &r.undo[i]
		if u.id == 0 {
			u.id = max(s.lastItem+1, r.revision)
		}
		if u.turn == 0 {
			u.turn = r.revision
		}
		s.lastItem = max(s.lastItem, u.id)
	}
}

// replayUndo makes true what r says about what can be undone.
func (s *Store) replayUndo(r record) {
	s.number(&r)
	list := slices.DeleteFunc(slices.Clone(s.undo[:max(0, len(s.undo)-r.undone)]), func(u undoItem) bool { return slices.Contains(r.gone, u.id) })
	list = append(list, r.undo...)
	slices.SortStableFunc(list, func(a, b undoItem) int { return cmp.Compare(a.id, b.id) })
	s.undo = s.bounded(list)
}
