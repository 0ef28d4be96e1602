package pendingedits

import (
	"errors"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// A branch or a tag of a session waits like a commit that has no file of its own. One that
// names a commit that waits is made right after that.

// ErrNamesNothing says that a reference names a commit of its session that does not wait.
var ErrNamesNothing = errors.New("the commit that it names does not wait")

// noun is what people call q.
func (q *queued) noun() string {
	if q.ref.Kind != "" {
		return "change of the repository"
	}
	return "commit"
}

// nameMade has the references that name a commit of a session name the one that was made of it.
func nameMade(list []*queued, made *queued, commit string) {
	for i, q := range list {
		if made.namedBy(q) {
			now := *q
			now.ref.Commit, now.due = commit, true
			list[i] = &now
		}
	}
}

// named is the commit that waits and that q, a reference, names; nil is none.
func (s *state) named(q *queued) *queued {
	for _, c := range s.commits {
		if c.namedBy(q) {
			return c
		}
	}
	return nil
}

// namedBy reports whether q is a reference that names c, which is not made yet. What a
// fast-forward leads to is.
func (c *queued) namedBy(q *queued) bool {
	return q.ref.Kind != "" && c.loose && c.ref.Kind == "" && !c.forward && c.session == q.session && c.origin == q.ref.Commit
}

// withNames adds to commits that are not made, by their ids, the references that name them.
func (s *state) withNames(gone ...string) []string {
	for _, q := range s.commits {
		if c := s.named(q); c != nil && slices.Contains(gone, c.id) && !slices.Contains(gone, q.id) {
			gone = append(gone, q.id)
		}
	}
	return gone
}

// switched is the branch that a session is on, by the switches and commits that wait; "" is that of
// the workspace.
func switched(q *queue, session string, gone []string) (branch string) {
	for _, c := range q.commits {
		switch {
		case c.session != session || slices.Contains(gone, c.id):
		case c.ref.Kind == workspace.RefSwitch:
			branch = c.ref.Name
		case c.branch != "":
			branch = c.branch
		}
	}
	return branch
}

// needed reports whether q switches to the branch of a commit that is accepted.
func (s *queue) needed(q *queued) bool {
	for _, c := range s.commits {
		if q.ref.Kind == workspace.RefSwitch && c.ref.Kind == "" && c.session == q.session && c.branch == q.ref.Name && c.accepted() && !s.waits(c) {
			return true
		}
	}
	return false
}
