package pendingedits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// makeCommits makes the commits that are chosen, in order. What fails waits on, and so do those
// of its batch that are behind it. s.reviewing is held.
func (s *guarded) makeCommits(ctx context.Context, choose func(*queue) []*queued) (done []CommitResult) {
	tried := map[string]bool{}
	for {
		s.mu.Lock()
		list := slices.DeleteFunc(choose(&s.queue), func(q *queued) bool { return tried[q.id] })
		s.mu.Unlock()
		if len(list) == 0 {
			return done
		}
		for _, q := range list {
			tried[q.id] = true
		}
		done = append(done, s.makeThese(ctx, list)...) // references wait for the commits that they name
	}
}

// makeThese makes commits in order.
func (s *guarded) makeThese(ctx context.Context, list []*queued) (done []CommitResult) {
	for i, q := range list {
		id, err := s.makeCommit(ctx, q)
		said, waits := fmt.Sprintf("was made: %s", id), false
		switch {
		case err == nil:
		case errors.Is(err, ErrUnseen):
			said = fmt.Sprintf("was not made: %v", err)
		case q.loose && errors.Is(err, ErrNothingToCommit):
			// Somebody committed the files meanwhile. It would wait for ever.
			err = errors.Join(err, s.drop(q))
			said = "was not made: its files are as the last commit has them."
		default:
			said, waits = fmt.Sprintf("could not be made and waits: %v", err), true
		}
		done = append(done, CommitResult{q.message, id, err})
		s.opts.Observer.Notify(q.session, fmt.Sprintf("Your queued %s %q %s", q.noun(), q.message, said))
		if waits && !q.loose {
			for _, later := range list[i+1:] {
				done = append(done, CommitResult{Message: later.message, Err: errors.New("it waits for the one before it")})
			}
			break
		}
	}
	return done
}

// makeCommit makes one commit. Where the repository was is written down first,
// so that after a crash it can be seen whether the commit is there.
func (s *guarded) makeCommit(ctx context.Context, q *queued) (string, error) {
	c := s.opts.Commits
	if c == nil {
		return "", errors.New("commits can't be made here")
	}
	if q.begun {
		// An earlier try was interrupted.
		if id, err := c.Made(ctx, q.head, q.request()); err != nil || id != "" {
			return id, s.recordCommit(q, id, err, err == nil)
		}
	}
	q, err := s.prepareCommit(ctx, c, q)
	if errors.Is(err, ErrUnseen) {
		return "", errors.Join(err, s.drop(q))
	}
	if err == nil {
		err = s.opts.Fail("commit.run")
	}
	if err != nil {
		return "", s.recordCommit(q, "", err, true)
	}
	id, err := c.Commit(ctx, q.request())
	if errors.Is(err, ErrUnseen) {
		return "", errors.Join(err, s.drop(q))
	}
	known := true
	if err != nil {
		// A failure after the commit is none: it is there.
		made, look := c.Made(context.WithoutCancel(ctx), q.head, q.request())
		if known = look == nil; made != "" {
			id, err = made, nil
		}
	}
	_ = s.opts.Fail("commit.ran") // a point to die at: what is made is made
	return id, s.recordCommit(q, id, err, known)
}

// drop has q wait no more, which will not be made.
func (s *guarded) drop(q *queued) error {
	return s.write("commit.dropped", func() (record, error) { return record{unqueued: s.withNames(q.id)}, nil })
}

// prepareCommit notes that q is about to be made, with the files as they are now.
func (s *guarded) prepareCommit(ctx context.Context, c Committer, q *queued) (*queued, error) {
	begun := *q
	begun.parts = make([]part, len(q.parts))
	for i, p := range q.parts {
		live, data, err := textsOf(s.base, p, q.names())
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
	if err := checkSeen(s.base, &begun, q); err != nil {
		return q, err
	}
	begun.begun, begun.failed = true, ""
	if err := s.write("commit.begin", only(record{commits: []*queued{&begun}})); err != nil {
		return q, err
	}
	return &begun, nil
}

// recordCommit notes what became of q, and returns err, or why it could not be
// noted. known is false when the commit may have been made in spite of err.
func (s *guarded) recordCommit(q *queued, id string, err error, known bool) error {
	if err != nil {
		failed := *q
		failed.failed = err.Error()
		if known {
			failed.begun, failed.head = false, ""
		}
		return errors.Join(err, s.write("commit.failed", only(record{commits: []*queued{&failed}})))
	}
	if err := s.write("commit.end", only(record{committed: []commitDone{{q.id, q.session, q.message, id}}})); err != nil {
		s.opts.Observer.Report(fmt.Sprintf("the commit %s was made, but that could not be written down; it is looked for the next time: %v", id, err))
	}
	return nil
}

// names are those that a commit speaks of.
func (q *queued) names() (names []string) {
	for _, p := range q.parts {
		names = append(names, p.name, p.source)
	}
	return names
}

// textsOf returns the text that the file of p has, and that which a commit of p is
// to have. The names of the commit's files may be spellings of one, which has one
// of them.
func textsOf(base workspace.View, p part, names []string) (live, data []byte, err error) {
	if p.mode&fs.ModeSymlink != 0 {
		n, err := readNode(base, p.name)
		return n.data, p.data, err
	}
	if live, err = readFile(base, p.name, oneOf(names...)); err != nil {
		return nil, nil, err
	}
	from, to, on := p.base, p.data, live
	if p.landed > 0 {
		from, to = p.final, p.content
	} else if p.source != p.name {
		if on, err = readFile(base, p.source, oneOf(names...)); err != nil {
			return nil, nil, err
		}
	}
	data, ok := hunk.Merge(from, on, to)
	if !ok {
		data = live
	}
	return live, data, nil
}

// request is q, which has begun, as it is to be made.
func (q *queued) request() CommitRequest {
	r := CommitRequest{Message: q.message, Models: q.models, Branch: q.branch, Merges: q.merges, Ref: q.ref}
	if q.forward {
		r.Forward = q.origin
	}
	for _, p := range q.parts {
		r.Files = append(r.Files, CommitFile{Name: p.name, Data: p.content, Mode: p.mode})
	}
	return r
}
