package pendingedits

import (
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// State is how a hunk, or the worst hunk of a file, stands to the live text.
type State = hunk.State

// The states of a hunk.
const (
	Clean    = hunk.Clean    // the text around it is as it was when it was proposed
	Moved    = hunk.Moved    // the user's changes shifted it
	Conflict = hunk.Conflict // the user changed the lines that it changes; it can't be accepted
)

// Tree is a view that a queue is or was over, and how its files are called.
type Tree struct {
	Base  workspace.Files
	Names Names
}

// Proposer is who proposes edits.
type Proposer struct {
	Session, Tool string
	Command       string // the line that the tool ran, if programs made the edits; for people to read

	// Batch makes the edits part of the batch of the session: it is accepted as
	// a whole or not at all, and no other session may edit its files.
	Batch bool

	// Tree is the view that it works in; nil is the one that the queue is over. A call that
	// began before the folders changed ends in the one of before.
	Tree *Tree
}

// List is the queue at one moment.
type List struct {
	Revision int64
	Edits    []Edit   // sorted by Name
	Commits  []Commit // that wait, in the order in which they will be made

	Verified *Verified // by the newest run over what is pending, where it was asked for; nil: there was none
}

// Edit is what waits for one file.
type Edit struct {
	Name           string
	From           string // of a rename: the name that the file still has
	Kind           string // create, modify, delete or rename
	Revision       int64  // of the store when this edit last changed
	Added, Removed int    // lines
	State          State
	Session, Tool  string // who proposed last
	Command        string // with what line; see Proposer
	Batch          bool   // accepted only with everything else of the session's batch
	UpdatedAt      time.Time
	Hunks          []Hunk // never empty; exactly one, the whole file, unless a text is modified
}

// Hunk is a part of an Edit that can be accepted or rejected by itself.
type Hunk struct {
	ID       string   // unique in the store, and never used again for other content
	Sessions []string // whose lines are in it, or were before another session edited over them; sorted

	// Lines count from one in the live and in the proposed text. As in unified
	// diffs, a range of no lines starts at the line before it.
	OldStart, OldLines int
	NewStart, NewLines int
	TakenStart         int // as NewStart, in the side Taken; 0 where that is the proposed one

	State State
	Text  string // lines of a unified diff, without header and context
	Says  string // what it does, where that is not to lines: "make it executable"
	Again bool   // a person has rejected the same before, while this process runs
}

func (h Hunk) same(o Hunk) bool {
	return h.ID == o.ID && h.State == o.State && h.OldStart == o.OldStart && h.OldLines == o.OldLines && h.NewStart == o.NewStart && h.NewLines == o.NewLines && h.TakenStart == o.TakenStart &&
		h.Text == o.Text && h.Says == o.Says && h.Again == o.Again && slices.Equal(h.Sessions, o.Sessions)
}

// Side is one of the texts of an Edit.
type Side string

// The sides of an Edit.
const (
	Base     Side = "base"     // the live text
	Proposed Side = "proposed" // the live text with every hunk that is not in conflict
	Taken    Side = "taken"    // with those in conflict, too, in the place of what the user made of their lines
)

// Selection chooses edits: the named files, and single hunks by id. With none
// of them it chooses all, the commits that wait too.
type Selection struct {
	Names   []string
	Hunks   []string
	Session string // chooses only hunks that are this session's; "" means all

	// Revision is what the chooser had seen; 0 means that it isn't checked. An
	// edit that changed since is not touched: the call fails with
	// workspace.ErrConflict.
	Revision int64
}

// Failure is why one file was left as it was.
type Failure struct {
	Name string
	Err  error
}

// AcceptResult says what Accept did. A file is in one of the two lists.
type AcceptResult struct {
	Accepted []string // sorted
	Failed   []Failure
	Commits  []CommitResult // of the commits that were to be made, in order
	Revision int64
}

// RejectResult says what Reject did.
type RejectResult struct {
	Rejected []string       // sorted
	Commits  []Commit       // that will not be made
	Made     []CommitResult // of those that waited for nothing else
	Revision int64
}

// UndoResult says what Undo did. A file is in one of the two lists.
type UndoResult struct {
	What     string   // undo or redo
	Restored []string // sorted
	Deleted  []string // of these, the files that are gone now, sorted
	Failed   []Failure
	Commits  []CommitResult // that were made after the files were accepted; they stay
	Revision int64

	Of []Past // the entries of the history that it was about, as they were before; newest first
}
