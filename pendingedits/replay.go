package pendingedits

import (
	"fmt"
	"io/fs"
	"slices"
)

// commit writes r to the log and then makes it true. It returns what sync has
// to wait for. s.mu is held; nothing is changed if it fails.
func (s *Store) commit(op string, r record) (int64, error) {
	if s.closed {
		return 0, fs.ErrClosed
	}
	if s.log.isBroken() {
		if err := s.compact(); err != nil {
			return 0, fmt.Errorf("pending edits: %w", err)
		}
	}
	r.revision, r.nextID = s.revision+1, s.nextID
	for _, e := range r.puts {
		e.revision = r.revision
	}
	for _, q := range r.commits {
		q.revision = r.revision
	}
	r.undo = slices.Clone(r.undo)
	for i := range r.undo {
		if r.undo[i].at.IsZero() && r.undo[i].id == 0 {
			r.undo[i].at = s.opts.Now().UTC()
		}
	}
	s.number(&r)
	seq, err := s.log.append(op, encode(s.toLog(r)))
	if err != nil {
		return 0, fmt.Errorf("pending edits: %w", err)
	}
	s.replay(r)
	if !r.intent && !r.quiet {
		s.changed()
	}
	if s.log.wasteful(s.size) {
		// The record is in the log already; a log that can't be made shorter
		// only stays long.
		_ = s.compact()
	}
	return seq, nil
}

// replay makes r true in memory.
func (s *Store) replay(r record) {
	s.revision, s.nextID = max(s.revision, r.revision), max(s.nextID, r.nextID)
	if r.intent {
		s.intent = &r
		return
	}
	if r.ends {
		s.intent = nil
	}
	for _, name := range r.drops {
		if e := s.entries[name]; e != nil {
			s.remember(e, nil)
		}
		s.drop(name)
	}
	for _, e := range r.puts {
		if old := s.entries[e.name]; old != nil {
			s.remember(old, e)
		}
		s.drop(e.name)
		if isAway(e.name) {
			s.away[e.name] = e
			continue
		}
		s.entries[e.name] = e
		if e.from != "" {
			s.from[e.from] = e
		}
	}
	if r.undone > 0 || len(r.gone)+len(r.undo) > 0 {
		s.replayUndo(r)
	}
	s.replayCommits(r)
	s.names = nil
}

func (s *Store) replayCommits(r record) {
	list := slices.Clone(s.commits)
	byID := func(id string) int { return slices.IndexFunc(list, func(q *queued) bool { return q.id == id }) }
	for _, q := range r.commits {
		if i := byID(q.id); i >= 0 {
			list[i] = q
		} else {
			list = append(list, q)
		}
	}
	gone := slices.Clone(r.unqueued)
	for _, c := range r.committed {
		gone = append(gone, c.id)
		if i := byID(c.id); i < 0 || !list[i].loose {
			s.noteCommit(c)
		}
	}
	s.commits = slices.DeleteFunc(list, func(q *queued) bool { return slices.Contains(gone, q.id) })
}

// size is about how many bytes a new log would have.
func (s *Store) size() int64 {
	n := int64(0)
	for _, list := range []map[string]*entry{s.entries, s.away} {
		for _, e := range list {
			n += e.size()
		}
	}
	for _, u := range s.undo {
		n += u.size()
	}
	for _, q := range s.commits {
		n += q.size()
	}
	return n
}

// compact writes a new log that holds only what is true. s.mu is held, or s is
// not shared yet.
func (s *Store) compact() error {
	var payloads [][]byte
	for _, r := range s.state() {
		payloads = append(payloads, encode(s.toLog(r)))
	}
	return s.log.rewrite(payloads)
}
