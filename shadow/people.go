package shadow

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Review is what the review queue takes as edits of a merge: the view that
// holds them, or why there is none.
type Review func() (workspace.View, error)

// ForPeople is the shadow workspaces as people work with them: made of what the
// user sees, and merged into that or into the review queue.
type ForPeople struct {
	*Manager
	Open   *Open
	Live   workspace.View // as the user sees the files
	Review Review
}

// Create makes a shadow from what the user sees.
func (p ForPeople) Create(ctx context.Context, r CreateRequest) (Shadow, error) {
	r.View = p.Live
	return p.Manager.Create(ctx, r)
}

// IntoTree is what a merge goes into instead of the review queue: the files.
const IntoTree = "tree"

// Merge merges a shadow into the review queue, over what waits there already,
// or, for IntoTree, into the files as the user sees them. That a person asked for
// it is the permission: nothing that a model can call comes here.
func (p ForPeople) Merge(ctx context.Context, id, into string) (Merge, error) {
	if into == IntoTree {
		return p.MergeInto(ctx, id, p.Live, true)
	}
	view, err := p.Review()
	if err != nil {
		return Merge{}, err
	}
	return p.MergeInto(ctx, id, view, false)
}

// Discard removes a shadow, also from under those who work in it.
func (p ForPeople) Discard(ctx context.Context, id string) (Discarded, error) {
	return p.Open.Discard(ctx, id)
}
