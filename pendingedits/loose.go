package pendingedits

import (
	"bytes"
	"cmp"
	"context"
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
	Branch   string              // the new branch that it begins; "" is none
	Forward  bool                // ID is a commit that the repository has, and the branch goes there
	Merges   []string            // its parents after the first one, which the repository has
	Ref      workspace.Reference // it is no commit, but this; ID is its own name
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
	empty := false // it is not made, and takes the place of others all the same
	err = s.owning(ctx, func() error {
		return s.writeQuiet(ctx, "queue", func() (r record, err error) {
			r, left, waits, empty, err = planFiles(&s.queue, by, c)
			return r, err
		})
	})
	if err == nil && len(left) > 0 {
		s.opts.Observer.Notify(by.Session, fmt.Sprintf("Your commit %q will be made without %s: what it has there is not in the files, so nobody can review it.", c.Message, strings.Join(left, ", ")))
	}
	if err == nil && empty {
		err = ErrNothingToCommit
		if c.Ref.Kind != "" {
			err = ErrNamesNothing
		}
	}
	return waits, err
}

// planFiles is what queueing a commit of files comes to, and which of them are left out.
func planFiles(q *queue, by Proposer, c FileCommit) (r record, left []string, waits, empty bool, err error) {
	c, err = c.calledIn(q, by.calls(q.called))
	if err != nil {
		return r, nil, false, false, err
	}
	if len(c.Files)+len(c.Ref.Kind) > 0 && strings.TrimSpace(c.Message) == "" {
		return r, nil, false, false, errNoMessage
	}
	for _, other := range q.commits {
		if other.loose && !other.begun && other.session == by.Session && slices.Contains(c.Replaces, other.origin) {
			r.unqueued = append(r.unqueued, other.id)
		}
	}
	made := &queued{session: by.Session, message: c.Message, models: slices.Clone(c.Models), loose: true, origin: c.ID, branch: c.Branch, forward: c.Forward, merges: c.Merges, ref: c.Ref}
	if c.ID == "" && c.Ref.Kind == "" {
		made.branch = cmp.Or(c.Branch, switched(q, by.Session, r.unqueued)) // git_commit knows no branch of its session
	}
	for _, f := range c.Files {
		p, ok, err := q.loosePart(f)
		if err != nil {
			return r, nil, false, false, err
		}
		if !ok {
			left = append(left, f.Name)
			continue
		}
		made.parts = append(made.parts, p)
	}
	if c.Forward && left != nil {
		made.parts, left = nil, nil // the branch can't go to a part of a commit
	}
	switch {
	case c.Ref.Own && q.named(made) == nil:
		if len(r.unqueued) == 0 {
			err = ErrNamesNothing
		}
		return r, nil, false, true, err
	case c.Ref.Kind != "":
		left = nil // what the view has otherwise is the session's own change after a switch
	case made.parts == nil:
		if len(r.unqueued) == 0 {
			err = errNothing
		}
		return r, nil, false, len(c.Files) > 0, err
	}
	slices.SortFunc(made.parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	made.id = q.newCommitID()
	r.commits = []*queued{made}
	return r, left, q.waits(made), false, nil
}

// loosePart is a file of a commit that waits for its files; ok is false for one
// that neither waits nor is as the commit has it.
func (s *queue) loosePart(f CommitFile) (p part, ok bool, err error) {
	p = part{name: f.Name, source: f.Name, data: f.Data, mode: f.Mode}
	n, err := readNode(s.base, f.Name)
	if err != nil {
		return p, false, err
	}
	if f.Mode&fs.ModeSymlink == 0 && f.Data != nil && !n.link && workspace.IsExec(f.Mode) == workspace.IsExec(modeOf(s.base, f.Name)) {
		p.mode = 0 // as it is: a change of it may wait besides
	}
	if e := s.from[f.Name]; e != nil && f.Data == nil {
		if e, r := s.look(e, true); e != nil {
			p.base = r.live.data
			return p, true, nil
		}
	}
	if e := s.entries[f.Name]; e != nil {
		if e, r := s.look(e, true); e != nil {
			p.source, p.base = e.source(), r.live.data
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

// waits reports whether something of the session is pending in a file of q.
func (s *queue) waits(q *queued) bool {
	if s.named(q) != nil {
		return true
	}
	return slices.ContainsFunc(q.parts, func(p part) bool {
		for _, e := range []*entry{s.entries[p.name], s.from[p.name]} {
			if e == nil || !slices.Contains(e.owners(), q.session) {
				continue
			}
			if e, _ := s.look(e, true); e != nil && slices.Contains(e.owners(), q.session) {
				return true
			}
		}
		return false
	})
}

// ready chooses the commits that wait for nothing any more: those of which something was
// accepted, and with all those that are chosen.
func ready(chosen Selection, all bool) func(*queue) []*queued {
	return func(q *queue) (list []*queued) {
		picked := q.chosenCommits(chosen)
		for _, c := range slices.Clone(q.commits) {
			if c.loose && (c.accepted() || q.needed(c) || all && slices.Contains(picked, c)) && !q.waits(c) {
				list = append(list, c)
			}
		}
		return list
	}
}

// accepted reports whether something of the files of q was.
func (q *queued) accepted() bool {
	return q.due || slices.ContainsFunc(q.parts, func(p part) bool { return p.landed > 0 })
}

// idle reports whether nothing was accepted of a commit that waits for its files, and
// nothing is pending in them once what is rejected is gone: left says of an entry
// whose it is then.
func (s *state) idle(q *queued, left func(*entry) []string) bool {
	return q.loose && !q.accepted() && !slices.ContainsFunc(q.parts, func(p part) bool {
		return slices.ContainsFunc([]*entry{s.entries[p.name], s.from[p.name]}, func(e *entry) bool {
			return e != nil && slices.Contains(left(e), q.session)
		})
	})
}

// calledIn is the commit with its files called as the queue does.
func (c FileCommit) calledIn(q *queue, called Names) (FileCommit, error) {
	if called == q.called {
		return c, nil
	}
	c.Files, c.Ref.Dir = slices.Clone(c.Files), q.current(called, c.Ref.Dir)
	for i, f := range c.Files {
		c.Files[i].Name = q.current(called, f.Name)
	}
	if isAway(c.Ref.Dir) || slices.ContainsFunc(c.Files, func(f CommitFile) bool { return isAway(f.Name) }) {
		return c, errAway
	}
	return c, nil
}
