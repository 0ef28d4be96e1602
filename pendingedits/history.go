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
	What     string     `json:"what"` // accept, apply, undo or redo
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
func (s *Store) History(session string, limit int) (list []Past) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undo = s.bounded(s.undo)
	s.ahead = map[string][]byte{}
	defer func() { s.ahead = nil }()
	for _, u := range slices.Backward(s.undo) {
		if limit > 0 && len(list) == limit {
			break
		}
		if len(u.changes) == 0 || session != "" && !slices.ContainsFunc(u.changes, func(d decided) bool { return slices.Contains(d.sessions(), session) }) {
			s.think(u)
			continue
		}
		list = append(list, s.past(u))
		s.think(u)
	}
	return list
}

// think makes the files for peek as if u were taken back: an entry counts as
// undoable if it is after those above it.
func (s *Store) think(u undoItem) {
	if u.undone || u.batch && s.stuck(u) != nil {
		return
	}
	for _, d := range slices.Backward(u.changes) {
		b, err := s.backward(d, u)
		if err != nil || !b.needed || d.Link() {
			continue
		}
		s.ahead[b.change.Path] = b.change.After
		if b.change.From != "" {
			s.ahead[b.change.From] = nil
		}
	}
}

// peek reads a file as it will be. s.mu is held.
func (s *Store) peek(name string) ([]byte, error) {
	if data, ok := s.ahead[name]; ok {
		return data, nil
	}
	return s.read(name)
}

func (s *Store) past(u undoItem) Past {
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
			for _, h := range diff.HunksOf(d.Before, d.After) {
				f.Added, f.Removed = f.Added+h.NewLines, f.Removed+h.OldLines
			}
		}
		p.Files = append(p.Files, f)
	}
	if u.undone {
		p.Why = "it is taken back; redo makes it again"
	} else if err := s.stuck(u); err != nil {
		p.Why = err.Error()
	} else {
		p.Undoable = true
	}
	return p
}
