package shadow

import (
	"context"
	"errors"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// maxMergeTries is how often a merge is begun because something was changed
// meanwhile.
const maxMergeTries = 3

// MergeInto merges a shadow into a view. Put straight into the tree, nobody looks
// at the changes again: what a person is asked about in every mode stays out
// then. Who asks for a merge has not seen what is in it.
func (m *Manager) MergeInto(ctx context.Context, id string, into workspace.View, straight bool) (Merge, error) {
	for try := 1; ; try++ {
		merge, err := m.Merge(ctx, id, into)
		if straight {
			merge.leaveForReview()
		}
		if err != nil || len(merge.Changes) == 0 {
			return merge, err
		}
		err = into.Apply(ctx, merge.Changes...)
		switch {
		case err == nil || !errors.Is(err, workspace.ErrConflict):
			return merge, err
		case try == maxMergeTries:
			return merge, merge.applyEach(ctx, into)
		}
	}
}

// leaveForReview takes out of a merge what a person must look at.
func (m *Merge) leaveForReview() {
	changes := m.Changes
	m.Changes, m.Merged = nil, []string{}
	for _, c := range changes {
		ask := slices.ContainsFunc([]string{c.Path, c.From}, func(name string) bool {
			return name != "" && (workspace.Protected(name) != workspace.NotProtected || workspace.Sensitive(name))
		})
		if ask {
			m.Skipped = append(m.Skipped, Skipped{Path: c.Path, Reason: "the file may hold secrets, or be run or obeyed by other programs; merge it into review and look at it"})
			continue
		}
		if c.AfterLink && workspace.LeadsOut(c.Path, string(c.After)) {
			m.Skipped = append(m.Skipped, Skipped{Path: c.Path, Reason: "it is a link that leads out of the workspace, or to a file that is protected or may hold secrets; merge it into review and look at it"})
			continue
		}
		m.Changes, m.Merged = append(m.Changes, c), append(m.Merged, c.Path)
	}
}

// applyEach makes the changes of a merge one by one. What can't be made is a
// conflict: another session's batch has the file, for instance.
func (m *Merge) applyEach(ctx context.Context, into workspace.View) error {
	changes := m.Changes
	m.Changes, m.Merged = nil, []string{}
	for _, c := range changes {
		err := into.Apply(ctx, c)
		switch {
		case err == nil:
			m.Changes, m.Merged = append(m.Changes, c), append(m.Merged, c.Path)
		case errors.Is(err, workspace.ErrConflict):
			m.Conflicts = append(m.Conflicts, ConflictOf(c, err))
		default:
			return err
		}
	}
	return nil
}
