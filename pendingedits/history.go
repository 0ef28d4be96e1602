package pendingedits

import (
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Past is an entry of the history: what was accepted or applied, or became of
// that since.
type Past struct {
	ID       string     `json:"id"`
	At       time.Time  `json:"at,omitzero"` // when the edit was made; zero if that is not known
	Session  string     `json:"session"`     // whose it is; of several, the first
	Tool     string     `json:"tool"`
	What     string     `json:"what"` // accept, apply, undo or redo; of Decisions, also reject
	Files    []PastFile `json:"files"`
	Undoable bool       `json:"undoable"`
	Why      string     `json:"why,omitempty"` // it is not
}

// PastFile is what an entry did to a file.
type PastFile struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Added   int    `json:"added"` // lines, as Removed
	Removed int    `json:"removed"`
}

// History returns what was accepted or applied, newest first: that of a session,
// or of all; limit 0 means all.
func (s *guarded) History(session string, limit int) (list []Past) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undo = s.bounded(s.undo)
	ahead := map[string][]byte{}
	for _, u := range slices.Backward(s.undo) {
		if limit > 0 && len(list) == limit {
			break
		}
		if len(u.changes) == 0 || session != "" && !slices.ContainsFunc(u.changes, func(d decided) bool { return slices.Contains(d.sessions(), session) }) {
			takeBackIn(&s.queue, ahead, u)
			continue
		}
		list = append(list, past(&s.queue, ahead, u))
		takeBackIn(&s.queue, ahead, u)
	}
	return list
}

// takeBackIn adds to ahead what files are once u is taken back: an entry counts as
// undoable if it is after those above it.
func takeBackIn(q *queue, ahead map[string][]byte, u undoItem) {
	if u.undone || u.batch && stuck(q, ahead, u) != nil {
		return
	}
	for _, d := range slices.Backward(u.changes) {
		b, err := planBack(q, ahead, d, u)
		if err != nil || !b.needed || d.Link() {
			continue
		}
		ahead[b.change.Path] = b.change.After
		if b.change.From != "" {
			ahead[b.change.From] = nil
		}
	}
}

// changedLines counts the lines that are added and removed.
func changedLines(before, after []byte) (added, removed int) {
	for _, h := range diff.HunksOf(before, after) {
		added, removed = added+h.NewLines, removed+h.OldLines
	}
	return added, removed
}

func past(q *queue, ahead map[string][]byte, u undoItem) Past {
	p := Past{ID: u.name(), At: u.at, Session: u.changes[0].session, Tool: u.changes[0].tool, What: "accept"}
	switch {
	case u.undone:
		p.What = "undo"
	case u.redone:
		p.What = "redo"
	case u.applied:
		p.What = "apply"
	}
	for _, d := range u.changes {
		f := PastFile{Path: d.Path, Kind: d.Kind()}
		if !d.Link() {
			f.Added, f.Removed = changedLines(d.Before, d.After)
		}
		p.Files = append(p.Files, f)
	}
	if u.undone {
		p.Why = "it is taken back; redo makes it again"
	} else if err := stuck(q, ahead, u); err != nil {
		p.Why = err.Error()
	} else {
		p.Undoable = true
	}
	return p
}
