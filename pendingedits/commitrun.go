package pendingedits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// makeCommits makes the commits of a session, in order, up to the first that
// fails: that and the later ones wait on.
func (s *Store) makeCommits(ctx context.Context, session string) (done []CommitResult) {
	s.mu.Lock()
	list := slices.DeleteFunc(s.chosenCommits(Selection{Session: session}), func(q *queued) bool { return q.loose })
	s.mu.Unlock()
	for i, q := range list {
		id, err := s.makeCommit(ctx, q)
		done = append(done, CommitResult{q.message, id, err})
		if errors.Is(err, ErrUnseen) {
			s.notify([]note{notMade(session, q, err)})
			continue
		}
		if err != nil {
			s.notify([]note{{session, fmt.Sprintf("Your queued commit %q could not be made and waits: %v", q.message, err)}})
			for _, later := range list[i+1:] {
				done = append(done, CommitResult{Message: later.message, Err: errors.New("it waits for the one before it")})
			}
			return done
		}
		s.notify([]note{{session, fmt.Sprintf("Your queued commit %q was made: %s", q.message, id)}})
	}
	return done
}

// notMade tells an agent of a commit that was dropped.
func notMade(session string, q *queued, err error) note {
	return note{session, fmt.Sprintf("Your queued commit %q was not made: %v", q.message, err)}
}

// makeCommit makes one commit. Where the repository was is written down first,
// so that after a crash it can be seen whether the commit is there.
func (s *Store) makeCommit(ctx context.Context, q *queued) (string, error) {
	c := s.opts.Commits
	if c == nil {
		return "", errors.New("commits can't be made here")
	}
	if q.begun {
		// An earlier try was interrupted.
		if id, err := c.Made(ctx, q.head, q.request()); err != nil || id != "" {
			return id, s.committed(q, id, err, err == nil)
		}
	}
	q, err := s.begin(ctx, c, q)
	if errors.Is(err, ErrUnseen) {
		return "", errors.Join(err, s.persist("commit.dropped", record{unqueued: []string{q.id}}))
	}
	if err == nil {
		err = s.opts.Fail("commit.run")
	}
	if err != nil {
		return "", s.committed(q, "", err, true)
	}
	id, err := c.Commit(ctx, q.request())
	known := true
	if err != nil {
		// A failure after the commit is none: it is there.
		made, look := c.Made(context.WithoutCancel(ctx), q.head, q.request())
		if known = look == nil; made != "" {
			id, err = made, nil
		}
	}
	_ = s.opts.Fail("commit.ran") // a point to die at: what is made is made
	return id, s.committed(q, id, err, known)
}

// begin notes that q is about to be made, with the files as they are now.
func (s *Store) begin(ctx context.Context, c Committer, q *queued) (*queued, error) {
	begun := *q
	begun.parts = make([]part, len(q.parts))
	for i, p := range q.parts {
		live, data, err := s.now(p, q.names())
		if err != nil {
			return q, err
		}
		p.landed, p.final, p.content = max(p.landed, 1), live, data
		begun.parts[i] = p
	}
	var err error
	if begun.head, err = c.Head(ctx, begun.request()); err != nil {
		return q, err
	}
	if err := s.unseen(&begun, q); err != nil {
		return q, err
	}
	begun.begun, begun.failed = true, ""
	if err := s.persist("commit.begin", record{commits: []*queued{&begun}}); err != nil {
		return q, err
	}
	return &begun, nil
}

// committed notes what became of q, and returns err, or why it could not be
// noted. known is false when the commit may have been made in spite of err.
func (s *Store) committed(q *queued, id string, err error, known bool) error {
	if err != nil {
		failed := *q
		failed.failed = err.Error()
		if known {
			failed.begun, failed.head = false, ""
		}
		return errors.Join(err, s.persist("commit.failed", record{commits: []*queued{&failed}}))
	}
	if err := s.persist("commit.end", record{committed: []commitDone{{q.id, q.session, q.message, id}}}); err != nil {
		s.opts.Observer.Report(fmt.Sprintf("the commit %s was made, but that could not be written down; it is looked for the next time: %v", id, err))
	}
	return nil
}

// findCommits looks for the commits in whose making the process died. s is not
// shared yet.
func (s *Store) findCommits(ctx context.Context) {
	for _, q := range slices.Clone(s.commits) {
		if !q.begun || s.opts.Commits == nil {
			continue
		}
		if id, err := s.opts.Commits.Made(ctx, q.head, q.request()); err == nil && id != "" {
			_ = s.committed(q, id, nil, true)
		}
	}
}

// persist makes r durable.
func (s *Store) persist(op string, r record) error {
	return s.write(op, func([]error) (record, error) { return r, nil }, nil, func(*record) {})
}

// names are those that a commit speaks of.
func (q *queued) names() (names []string) {
	for _, p := range q.parts {
		names = append(names, p.name, p.source)
	}
	return names
}

// now returns the text that the file of p has, and that which a commit of p is
// to have. The names of the commit's files may be spellings of one, which has one
// of them.
func (s *Store) now(p part, names []string) (live, data []byte, err error) {
	if p.mode&fs.ModeSymlink != 0 {
		n, err := s.readNode(p.name)
		return n.data, p.data, err
	}
	if live, err = s.readBeside(p.name, oneOf(names...)); err != nil {
		return nil, nil, err
	}
	from, to, on := p.base, p.data, live
	if p.landed > 0 {
		from, to = p.final, p.content
	} else if p.source != p.name {
		if on, err = s.readBeside(p.source, oneOf(names...)); err != nil {
			return nil, nil, err
		}
	}
	data, ok := merge(from, on, to)
	if !ok {
		data = live
	}
	return live, data, nil
}

// request is q, which has begun, as it is to be made.
func (q *queued) request() CommitRequest {
	r := CommitRequest{Message: q.message, Models: q.models}
	for _, p := range q.parts {
		r.Files = append(r.Files, CommitFile{Name: p.name, Data: p.content, Mode: p.mode})
	}
	return r
}
