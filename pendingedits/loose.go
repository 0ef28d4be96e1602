package pendingedits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// A commit of a session whose edits are no batch waits for its files one by one. It
// is made of what is accepted of them, when nothing of the session waits in one of
// them any more; one of which all was rejected is dropped.

// FileCommit is a commit of files that wait one by one.
type FileCommit struct {
	ID       string   // by which whoever queues it knows it
	Replaces []string // ids of those of the session that are not to be made
	Message  string
	Models   []string
	Files    []CommitFile // none: nothing takes the place of those
}

// QueueFiles makes a commit of just these files wait until nothing of the session
// is pending in them. A file that is not pending, and not as the commit has it, is
// left out; with none left it fails with ErrNothingToCommit. Where nothing of them
// is pending, waits is false, and the commit is made when all is accepted: nobody
// has looked at it.
func (s *Store) QueueFiles(ctx context.Context, by Proposer, c FileCommit) (waits bool, err error) {
	var left []string
	seq, err := s.owning(ctx, func() (seq int64, err error) {
		left = nil
		waits, seq, err = s.queueFiles(ctx, by, c, &left)
		return seq, err
	})
	if err == nil {
		err = s.log.sync("queue", seq)
	}
	if err == nil && len(left) > 0 {
		s.notify([]note{{by.Session, fmt.Sprintf("Your commit %q will be made without %s: what it has there is not in the files, so nobody can review it.", c.Message, strings.Join(left, ", "))}})
	}
	return waits, err
}

// queueFiles is QueueFiles, and adds the files that are left out to left.
func (s *Store) queueFiles(ctx context.Context, by Proposer, c FileCommit, left *[]string) (waits bool, seq int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.quiet(ctx); err != nil {
		return false, 0, err
	}
	if len(c.Files) > 0 && strings.TrimSpace(c.Message) == "" {
		return false, 0, fmt.Errorf("the message of a commit must not be empty: %w", fs.ErrInvalid)
	}
	var r record
	for _, q := range s.commits {
		if q.loose && !q.begun && q.session == by.Session && slices.Contains(c.Replaces, q.origin) {
			r.unqueued = append(r.unqueued, q.id)
		}
	}
	q := &queued{session: by.Session, message: c.Message, models: slices.Clone(c.Models), loose: true, origin: c.ID}
	for _, f := range c.Files {
		p, ok, err := s.loosePart(f)
		if err != nil {
			return false, 0, err
		}
		if !ok {
			*left = append(*left, f.Name)
			continue
		}
		q.parts = append(q.parts, p)
	}
	if q.parts == nil {
		if len(r.unqueued) > 0 {
			seq, err = s.commit("queue", r)
		}
		if err == nil && len(c.Files) > 0 {
			err = ErrNothingToCommit
		}
		return false, seq, err
	}
	slices.SortFunc(q.parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	s.nextID++
	q.id = fmt.Sprintf("c%d", s.nextID)
	r.commits = []*queued{q}
	seq, err = s.commit("queue", r)
	return s.waits(q), seq, err
}

// loosePart is a file of a commit that waits for its files; ok is false for one
// that neither waits nor is as the commit has it. s.mu is held.
func (s *Store) loosePart(f CommitFile) (p part, ok bool, err error) {
	p = part{name: f.Name, source: f.Name, data: f.Data, mode: f.Mode}
	n, err := s.readNode(f.Name)
	if err != nil {
		return p, false, err
	}
	if f.Mode&fs.ModeSymlink == 0 && f.Data != nil && !n.link && workspace.IsExec(f.Mode) == workspace.IsExec(s.mode(f.Name)) {
		p.mode = 0 // as it is: a change of it may wait besides
	}
	if e := s.from[f.Name]; e != nil && f.Data == nil {
		if e, r := s.resolve(e, true); e != nil {
			p.base = r.live
			return p, true, nil
		}
	}
	if e := s.entries[f.Name]; e != nil {
		if e, r := s.resolve(e, true); e != nil {
			p.source, p.base = e.source(), r.live
			if r.shown && sameLines(r.text, f.Data) {
				p.data = r.text // git may store the ends of lines otherwise
			}
			return p, true, nil
		}
	}
	if n.link != (f.Mode&fs.ModeSymlink != 0) || (n.data == nil) != (f.Data == nil) || n.data != nil && !sameLines(n.data, f.Data) {
		return p, false, nil
	}
	p.base, p.data = n.data, n.data
	return p, true, nil
}

// sameLines compares texts but for the ends of their lines.
func sameLines(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return (a == nil) == (b == nil)
	}
	ends := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
	return bytes.Equal(ends(a), ends(b))
}

// waits reports whether something of the session is pending in a file of q. s.mu
// is held.
func (s *Store) waits(q *queued) bool {
	return slices.ContainsFunc(q.parts, func(p part) bool {
		for _, e := range []*entry{s.entries[p.name], s.from[p.name]} {
			if e == nil || !slices.Contains(e.owners(), q.session) {
				continue
			}
			if e, _ := s.resolve(e, true); e != nil && slices.Contains(e.owners(), q.session) {
				return true
			}
		}
		return false
	})
}

// makeReady makes the commits that wait for nothing any more, in order: those of
// which something was accepted, and those that are chosen. What fails waits on.
// s.reviewing is held.
func (s *Store) makeReady(ctx context.Context, chosen Selection, all bool) (done []CommitResult) {
	s.mu.Lock()
	picked := s.chosenCommits(chosen)
	var ready []*queued
	for _, q := range slices.Clone(s.commits) {
		if q.loose && (q.accepted() || all && slices.Contains(picked, q)) && !s.waits(q) {
			ready = append(ready, q)
		}
	}
	s.mu.Unlock()
	for _, q := range ready {
		id, err := s.makeCommit(ctx, q)
		done = append(done, CommitResult{q.message, id, err})
		if errors.Is(err, ErrNothingToCommit) {
			// Somebody committed the files meanwhile. It would wait for ever.
			err = errors.Join(err, s.persist("commit.dropped", record{unqueued: []string{q.id}}))
			done[len(done)-1].Err = err
			s.notify([]note{{q.session, fmt.Sprintf("Your queued commit %q was not made: its files are as the last commit has them.", q.message)}})
			continue
		}
		if errors.Is(err, ErrUnseen) {
			s.notify([]note{notMade(q.session, q, err)})
			continue
		}
		if err != nil {
			s.notify([]note{{q.session, fmt.Sprintf("Your queued commit %q could not be made and waits: %v", q.message, err)}})
			continue
		}
		s.notify([]note{{q.session, fmt.Sprintf("Your queued commit %q was made: %s", q.message, id)}})
	}
	return done
}

// accepted reports whether something of the files of q was.
func (q *queued) accepted() bool {
	return slices.ContainsFunc(q.parts, func(p part) bool { return p.landed > 0 })
}

// idle reports whether nothing was accepted of a commit that waits for its files, and
// nothing is pending in them once what is rejected is gone: left says of an entry
// whose it is then. s.mu is held.
func (s *Store) idle(q *queued, left func(*entry) []string) bool {
	return q.loose && !q.accepted() && !slices.ContainsFunc(q.parts, func(p part) bool {
		return slices.ContainsFunc([]*entry{s.entries[p.name], s.from[p.name]}, func(e *entry) bool {
			return e != nil && slices.Contains(left(e), q.session)
		})
	})
}
