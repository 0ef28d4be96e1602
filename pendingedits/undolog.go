package pendingedits

import (
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
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
	session, tool string       // of the last who did
	owners        []hunk.Owned // of the text that it is made of; nil: it is all the session's
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

func undoLimits(l UndoLimits) (bytes int64, age time.Duration) {
	if l == nil {
		return undoBytes, 0
	}
	return l.UndoLimits()
}

// sessions are those who had proposed the change, sorted.
func (d decided) sessions() (all []string) {
	if d.owners == nil {
		return []string{d.session}
	}
	for _, o := range d.owners {
		all = hunk.Union(all, o.By)
	}
	return all
}

// without is the text that d, or what d takes back, was made of.
func (d decided) without(undone bool) []byte {
	if undone {
		return d.After
	}
	return d.Before
}

// following returns the owners of d for the text that it is made of now.
func (d decided) following(undone bool, now []byte) []hunk.Owned {
	return hunk.FollowAll(d.owners, d.without(undone), now)
}

// credits is whose a change is that comes back, in the text that is there now.
func (d decided) credits(now []byte) []hunk.Owned {
	if d.owners == nil {
		return hunk.Everywhere(d.session)
	}
	return d.following(false, now)
}

// changesMode reports whether c makes a file that stays executable, or not.
func (d decided) changesMode() bool {
	return d.Mode != 0 && d.Before != nil && d.After != nil && !d.Link()
}
