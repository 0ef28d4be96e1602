package pendingedits

import (
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// How much can be undone, also after a restart.
const (
	undoItems = 20
	undoBytes = 16 << 20
)

// undoItem is what one accept, or one undo, did to the base.
type undoItem struct {
	undone  bool // it was an undo
	batch   bool // all or nothing, of one session
	changes []decided
	commits []commitDone // that were made of a batch afterwards
}

// decided is a change that was made to the base, and who had proposed it.
type decided struct {
	workspace.Change
	session, tool string  // of the last who did
	owners        []owned // of the text that it is made of; nil: it is all the session's
}

func (u undoItem) size() int64 {
	n := 16
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

// bounded returns the newest items that fit.
func bounded(items []undoItem) []undoItem {
	size := int64(0)
	for i := len(items) - 1; i >= 0; i-- {
		size += items[i].size()
		if size > undoBytes || len(items)-i > undoItems {
			return slices.Clone(items[i+1:])
		}
	}
	return items
}
