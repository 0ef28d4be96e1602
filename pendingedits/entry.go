package pendingedits

import (
	"io/fs"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// entry is what is proposed for one file. It says nothing about the live text,
// which changes without being asked: how the two go together is a resolution.
// Entries are never changed, only replaced.
type entry struct {
	name, from string      // from is set for a rename
	base       []byte      // the text that was there when it was proposed; nil: no file
	hunks      []hunk.Hunk // in order, exact in base

	// A whole is taken or left as one: a create, delete or rename, or content
	// that has no lines. It has one hunk, which is only an id.
	whole bool
	after []byte // nil deletes

	// Of a file that is created, its mode; else, if not 0, the execute bits of
	// mode are proposed too: as a part of a whole, or by themselves as modeID.
	mode   fs.FileMode
	modeID string
	modeBy []string // whose that is; see hunk

	// The base, or after, of a whole is the target of a symbolic link.
	baseLink, afterLink bool

	session, tool string
	command       string // see Proposer
	batch         bool   // part of the session's batch
	updated       time.Time
	revision      int64
}

func (e *entry) by() Proposer {
	return Proposer{Session: e.session, Tool: e.tool, Command: e.command, Batch: e.batch}
}

// source is the file of the base view that the entry changes.
func (e *entry) source() string {
	if e.from != "" {
		return e.from
	}
	return e.name
}

func (e *entry) kind() string {
	switch {
	case e.from != "":
		return "rename"
	case e.base == nil:
		return "create"
	case e.whole && e.after == nil:
		return "delete"
	}
	return "modify"
}

// without returns e with its base as if the hunks for which applied is true
// had been in it always, and without those for which dropped is true; nil when
// nothing is left.
func (e *entry) without(applied, dropped func(hunk.Hunk) bool) *entry {
	base, left := hunk.Split(e.base, e.hunks, applied, dropped)
	mode := hunk.Hunk{ID: e.modeID}
	modeGone := e.modeID == "" || applied(mode) || dropped(mode)
	if len(left) == 0 && modeGone {
		return nil
	}
	rest := *e
	if modeGone {
		rest.mode, rest.modeID, rest.modeBy = 0, "", nil
	}
	rest.base, rest.hunks = base, left
	return rest.signed()
}

// parts are all that can be chosen of e: its hunks, and the change of the mode
// as one without lines.
func (e *entry) parts() []hunk.Hunk {
	if e.modeID == "" {
		return e.hunks
	}
	return append([]hunk.Hunk{{ID: e.modeID, By: e.modeBy}}, e.hunks...)
}

// proposal is the text that e makes of its base without the hunks for which
// dropped is true; nil is no file.
func (e *entry) proposal(dropped func(hunk.Hunk) bool) []byte {
	if e.whole {
		switch {
		case !dropped(e.hunks[0]):
			return e.after
		case e.from != "":
			return nil
		}
		return e.base
	}
	kept := slices.DeleteFunc(slices.Clone(e.hunks), dropped)
	return hunk.Apply(e.base, kept)
}

// none is for entry.without and entry.proposal.
func none(hunk.Hunk) bool { return false }

// idSet are ids of hunks.
type idSet map[string]bool

func (s idSet) has(h hunk.Hunk) bool { return s[h.ID] }

// owners are all who have a part in e, sorted; e may be nil. A hunk belongs to the session that
// proposed it, and to those whose lines are in it, or were before somebody edited over them.
func (e *entry) owners() (all []string) {
	if e == nil {
		return nil
	}
	for _, h := range e.parts() {
		all = hunk.Union(all, h.By)
	}
	return all
}

// isOf reports whether a hunk is a session's.
func isOf(session string) func(hunk.Hunk) bool {
	return func(h hunk.Hunk) bool { return slices.Contains(h.By, session) }
}

// signed is e, which may have lost hunks, with a session that has a part in it.
func (e *entry) signed() *entry {
	if !slices.ContainsFunc(e.parts(), isOf(e.session)) {
		e.session = e.owners()[0]
	}
	return e
}

func (e *entry) isLink() bool { return e.baseLink || e.afterLink }
