package pendingedits

import "github.com/sidecar-ls/sidecar-ls/internal/files/workspace"

// A branch or a tag of a session waits like a commit that has no file of its own. One that
// names a commit that waits is made right after that.

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
		if q.ref.Kind != "" && q.session == made.session && q.ref.Commit == made.origin && made.ref.Kind == "" {
			now := *q
			now.ref.Commit, now.due = commit, true
			list[i] = &now
		}
	}
}

// named is the commit that waits and that q, a reference, names; nil is none.
func (s *state) named(q *queued) *queued {
	for _, c := range s.commits {
		if q.ref.Kind != "" && c.loose && c.ref.Kind == "" && c.session == q.session && c.origin == q.ref.Commit {
			return c
		}
	}
	return nil
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
