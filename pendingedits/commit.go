package pendingedits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// Commit is a commit that waits until its session's batch is accepted or, without
// one, until nothing of its files waits.
type Commit struct {
	ID      string
	Session string
	Message string
	Models  []string // that worked on it
	Files   []string // sorted; none: it takes what is staged
	Error   string   // why it could not be made when it was tried

	ByFile bool                // it waits for its files, which are no batch
	Merges []string            // its parents after the first one: it is a merge
	Ref    workspace.Reference // it is this branch or tag, which names a commit; its zero value is none
	Branch string              // the new branch that it begins; "" is none

	// Differs is a patch from what waits to what the commit has, where the hunks of its files don't show that. A batch is
	// accepted with it; a commit that waits for its files is not made with it.
	Differs string
}

// CommitRequest is a commit that is to be made now.
type CommitRequest struct {
	Message string
	Branch  string              // the new branch that it begins; "" is none
	Forward string              // the commit that the branch goes to, in place of a new one; "" is none
	Merges  []string            // its parents after the first one
	Ref     workspace.Reference // what is made in place of a commit; its zero value is none
	Models  []string
	Files   []CommitFile // sorted by name; none: what is staged
}

// CommitFile is a file as a commit is to have it.
type CommitFile struct {
	Name string
	Data []byte // nil: the file is not in it
	Mode fs.FileMode
}

// CommitResult says what became of a commit.
type CommitResult struct {
	Message string
	ID      string // of the commit that was made
	Err     error  // why there is none; the commit waits on
}

// Committer makes commits in the user's repository.
type Committer interface {
	// Head names the commit that the next one will follow.
	Head(ctx context.Context, r CommitRequest) (string, error)
	// Commit makes a commit of just these files and returns its id.
	Commit(ctx context.Context, r CommitRequest) (string, error)
	// Made returns the id of the commit of r if it was made after head, else "".
	Made(ctx context.Context, head string, r CommitRequest) (string, error)
}

// ErrNothingToCommit says that a session's batch has no file that changed since
// its last queued commit, or that the files of a commit are as the last one has
// them.
var ErrNothingToCommit = errors.New("nothing changed since the last commit")

// queued is a commit that waits. Like entries, they are replaced, not changed.
type queued struct {
	id, session, message string
	models               []string
	branch               string              // the new branch that a loose one begins; "" is none
	parts                []part              // sorted by name
	forward              bool                // of a loose one: origin is the commit that the branch goes to
	merges               []string            // the parents of a merge after the first one
	ref                  workspace.Reference // it is no commit, but this; its zero value is none
	due                  bool                // the commit that ref names was made
	loose                bool                // it waits for its files, not for a batch
	origin               string              // of a loose one: what it is known by to whoever queued it
	revision             int64
	begun                bool   // it may have been made
	head                 string // where the repository was then
	failed               string // why it was not made
}

// part is one file of a queued commit: data, as it was proposed for the text
// base. Once the batch has landed, and as long as the commit waits on, content
// stands to the file's text final as data to base.
type part struct {
	name, source   string      // base is the text of source: another file for a rename
	base, data     []byte      // nil: no file
	mode           fs.FileMode // fs.ModeSymlink: data is the target of a link; 0: as it was
	landed         int         // how many accepted batches of the session changed the file
	final, content []byte
}

// land returns p for a file that was accepted: before is the text of its source.
func (p part) land(before, after []byte) part {
	base, data := p.base, p.data
	if p.landed > 0 {
		base, data = p.final, p.content
	}
	content, ok := hunk.Merge(base, before, data)
	if !ok {
		content = after
	}
	p.landed, p.final, p.content = p.landed+1, after, content
	return p
}

// undo is land for a file of which accepting it was undone.
func (p part) undo(before, after []byte) part {
	if p.landed > 1 {
		p = p.land(before, after)
		p.landed--
	}
	p.landed--
	return p
}

func (p part) same(q part) bool {
	return p.landed == q.landed && p.mode == q.mode && hunk.Same(p.data, q.data) && hunk.Same(p.final, q.final) && hunk.Same(p.content, q.content)
}

// rebase returns p for a proposal of which a person made after what was before.
func (p part) rebase(before, after []byte) part {
	onto := func(text []byte) []byte {
		if merged, ok := hunk.Merge(before, text, after); ok {
			return merged
		}
		return after
	}
	p.data = onto(p.data)
	if p.landed > 0 { // in part: what was pending then is in it too
		p.content = onto(p.content)
	}
	return p
}

// claims reports whether q waits for the batch's version of a file.
func (q *queued) claims(name string) bool {
	return !q.loose && slices.ContainsFunc(q.parts, func(p part) bool { return p.name == name && p.landed == 0 })
}

func (q *queued) describe() Commit {
	c := Commit{ID: q.id, Session: q.session, Message: q.message, Models: slices.Clone(q.models), Error: q.failed, ByFile: q.loose, Branch: q.branch, Merges: slices.Clone(q.merges), Ref: q.ref}
	for _, p := range q.parts {
		c.Files = append(c.Files, p.name)
	}
	return c
}

func (q *queued) size() int64 {
	n := 64 + len(q.message) + len(q.ref.Name) + len(q.ref.Message)
	for _, p := range q.parts {
		n += 32 + len(p.name) + len(p.source) + len(p.base) + len(p.data) + len(p.final) + len(p.content)
	}
	return int64(n)
}

// QueueCommit makes a commit wait for the batch of by: of the files that
// changed in the batch since its last queued commit, as they are now, and that are in it; nil is all. With
// staged it takes what is staged then, and no file of the batch. It returns how
// many commits of the batch wait. It fails with ErrNothingToCommit.
func (s *Store) QueueCommit(ctx context.Context, by Proposer, message string, models []string, staged bool, in func(name string) bool) (int, error) {
	n := 0
	err := s.owning(ctx, func() error {
		return s.writeQuiet(ctx, "queue", func() (r record, err error) {
			r, n, err = planCommit(&s.queue, by, message, models, staged, in)
			return r, err
		})
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// planCommit is what queueing a commit comes to, and how many commits of the batch wait then.
func planCommit(q *queue, by Proposer, message string, models []string, staged bool, in func(name string) bool) (r record, n int, err error) {
	if strings.TrimSpace(message) == "" {
		return record{}, 0, errNoMessage
	}
	c := &queued{session: by.Session, message: message, models: slices.Clone(models)}
	if !staged {
		if c.parts, err = q.unclaimed(by.Session); err != nil {
			return record{}, 0, err
		}
		if in != nil {
			c.parts = slices.DeleteFunc(c.parts, func(p part) bool { return !in(p.name) })
		}
		if len(c.parts) == 0 {
			return record{}, 0, ErrNothingToCommit
		}
	}
	c.id = q.newCommitID()
	return record{commits: []*queued{c}}, 1 + len(ofBatch(by.Session)(q)), nil
}

var errNoMessage = fmt.Errorf("the message of a commit must not be empty: %w", fs.ErrInvalid)

// ofBatch chooses the commits that wait for the batch of a session.
func ofBatch(session string) func(*queue) []*queued {
	return func(q *queue) (list []*queued) {
		for _, c := range q.commits {
			if c.session == session && !c.loose {
				list = append(list, c)
			}
		}
		return list
	}
}

// unclaimed returns the files of a session's batch that changed since its last
// commit.
func (s *queue) unclaimed(session string) ([]part, error) {
	last := map[string]part{}
	now := map[string]part{}
	for _, q := range s.commits {
		for _, p := range q.parts {
			switch {
			case q.session != session || q.loose:
			case p.landed > 0:
				last[p.name] = part{data: p.content, mode: p.mode}
			default:
				last[p.name] = p
				now[p.name] = part{name: p.name, source: p.source}
			}
		}
	}
	for _, e := range s.sorted() {
		if e.session != session || !e.batch {
			continue
		}
		e, r := s.look(e, true)
		if e == nil || !r.offered {
			continue // it is in the files already, or in conflict
		}
		p := part{name: e.name, source: e.source(), base: r.live.data, data: r.text, mode: e.mode}
		if e.isLink() {
			p.data = e.after
		}
		if e.afterLink {
			p.mode = fs.ModeSymlink
		}
		now[e.name] = p
		if e.from != "" {
			now[e.from] = part{name: e.from, source: e.from, base: r.live.data}
		}
	}
	var parts []part
	for name, p := range now {
		if e := s.entries[name]; e != nil && (e.isLink() || e.modeID != "") {
			// What the view does not show is proposed all the same.
		} else if _, _, pending := s.lookup(name); !pending {
			// The agent took its change back since the last commit, or the user
			// made it.
			live, err := readFile(s.base, name, s.moving())
			if err != nil {
				return nil, err
			}
			p = part{name: name, source: name, base: live, data: live}
		}
		if old, ok := last[name]; ok && hunk.Same(old.data, p.data) && old.mode == p.mode {
			continue
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return parts, nil
}
