package pendingedits

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/wal"
)

// queue is what is pending over the files as they are, and the log that keeps it. It
// has no lock: that of guarded is held.
type queue struct {
	state
	base    workspace.View
	log     *wal.Log
	refused map[refusal]bool // what was rejected
	kick    chan struct{}    // holds a token when Changed is due
	closed  bool
}

// changed asks for a call of Changed.
func (s *queue) changed() {
	if s.closed {
		return
	}
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// commit writes r to the log and then makes it true. It returns what Sync has
// to wait for. Nothing is changed if it fails.
func (s *queue) commit(op string, r record) (int64, error) {
	if s.closed {
		return 0, fs.ErrClosed
	}
	if s.log.IsBroken() {
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
			r.undo[i].at = s.now().UTC()
		}
	}
	r.rejected = slices.Clone(r.rejected)
	for i := range r.rejected {
		if r.rejected[i].id == 0 {
			r.rejected[i].id, r.rejected[i].at = r.revision, s.now().UTC()
		}
	}
	s.number(&r)
	seq, err := s.log.Append(op, encode(s.toLog(r)))
	if err != nil {
		return 0, inQueue(lockedBy(err))
	}
	s.replay(r)
	if !r.intent && !r.quiet {
		s.changed()
	}
	if s.log.IsWasteful(s.size) {
		// The record is in the log already; a log that can't be made shorter
		// only stays long.
		_ = s.compact()
	}
	return seq, nil
}

// compact writes a new log that holds only what is true.
func (s *queue) compact() error {
	var payloads [][]byte
	for _, r := range s.records() {
		payloads = append(payloads, encode(s.toLog(r)))
	}
	return s.log.Rewrite(payloads)
}

// refuse remembers what a person rejects, so that they know it again.
func (s *queue) refuse(p picked) {
	if s.refused == nil || len(s.refused) >= maxRefused {
		s.refused = map[refusal]bool{}
	}
	for _, h := range p.r.edit.Hunks {
		if p.ids[h.ID] {
			s.refused[refusalOf(p.e.name, h)] = true
		}
	}
}

// refusal is what stands for a hunk that was rejected: its file, and what it does there.
type refusal [sha256.Size]byte

// maxRefused bounds how many are remembered; beyond it all are forgotten.
const maxRefused = 10_000

func refusalOf(name string, h Hunk) refusal {
	return sha256.Sum256([]byte(name + "\x00" + h.Text))
}

// markAgain marks hunks that a person has rejected before.
func markAgain(refused map[refusal]bool, e *Edit) {
	if len(refused) == 0 {
		return
	}
	for i, h := range e.Hunks {
		e.Hunks[i].Again = refused[refusalOf(e.Name, h)]
	}
}
