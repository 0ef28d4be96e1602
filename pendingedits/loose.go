package pendingedits

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A commit of a session whose edits are no batch waits for its files one by one. It
// is made of what is accepted of them, when nothing of the session waits in one of
// them any more; one of which all was rejected is dropped.

// QueueFiles makes a commit of just these files wait until nothing of the session
// is pending in them. A file that neither waits nor is as the commit has it is
// left out; with none left it fails with ErrNothingToCommit. When nothing waits, the
// commit is made at once, which is returned.
func (s *Store) QueueFiles(ctx context.Context, by Proposer, message string, models []string, files []CommitFile) (made []CommitResult, err error) {
	id := ""
	seq, err := s.owning(ctx, func() (seq int64, err error) {
		id, seq, err = s.queueFiles(ctx, by, message, models, files)
		return seq, err
	})
	if err == nil {
		err = s.log.sync("queue", seq)
	}
	if err != nil {
		return nil, err
	}
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	if err := s.endDoubt(ctx); err != nil {
		return nil, nil //nolint:nilerr // it is queued, and made with the next decision
	}
	return s.makeReady(ctx, id), nil
}

func (s *Store) queueFiles(ctx context.Context, by Proposer, message string, models []string, files []CommitFile) (id string, seq int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.quiet(ctx); err != nil {
		return "", 0, err
	}
	if strings.TrimSpace(message) == "" {
		return "", 0, fmt.Errorf("the message of a commit must not be empty: %w", fs.ErrInvalid)
	}
	q := &queued{session: by.Session, message: message, models: slices.Clone(models), loose: true}
	for _, f := range files {
		p, ok, err := s.loosePart(by.Session, f)
		if err != nil {
			return "", 0, err
		}
		if ok {
			q.parts = append(q.parts, p)
		}
	}
	if q.parts == nil {
		return "", 0, ErrNothingToCommit
	}
	slices.SortFunc(q.parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	s.nextID++
	q.id = fmt.Sprintf("c%d", s.nextID)
	seq, err = s.commit("queue", record{commits: []*queued{q}})
	return q.id, seq, err
}

// loosePart is a file of a commit that waits for its files; ok is false for one
// that neither waits nor is as the commit has it. s.mu is held.
func (s *Store) loosePart(session string, f CommitFile) (p part, ok bool, err error) {
	p = part{name: f.Name, source: f.Name, data: f.Data, mode: f.Mode}
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
	n, err := s.readNode(f.Name)
	if err != nil || n.link != (f.Mode&fs.ModeSymlink != 0) || (n.data == nil) != (f.Data == nil) || n.data != nil && !sameLines(n.data, f.Data) {
		return p, false, err
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

// makeReady makes the commits that wait for nothing any more, in order; with
// only, just that one. What fails waits on. s.reviewing is held.
func (s *Store) makeReady(ctx context.Context, only ...string) (done []CommitResult) {
	s.mu.Lock()
	var ready []*queued
	for _, q := range slices.Clone(s.commits) {
		if q.loose && (len(only) == 0 || slices.Contains(only, q.id)) && !s.waits(q) {
			ready = append(ready, q)
		}
	}
	s.mu.Unlock()
	for _, q := range ready {
		id, err := s.makeCommit(ctx, q)
		done = append(done, CommitResult{q.message, id, err})
		if err != nil {
			s.notify([]note{{q.session, fmt.Sprintf("Your queued commit %q could not be made and waits: %v", q.message, err)}})
			continue
		}
		s.notify([]note{{q.session, fmt.Sprintf("Your queued commit %q was made: %s", q.message, id)}})
	}
	return done
}
