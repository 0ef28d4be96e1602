package app

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/session"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Shadows are the shadow workspaces as people work with them: made of what the
// user sees, and merged into it or into the review queue.
type Shadows struct {
	home *Home
	live workspace.View
	open *shadow.Open
}

// Shadows are those of the workspace.
func (w *Workspace) Shadows() Shadows { return Shadows{w.Home, w.Live, w.shadows} }

// Create makes a shadow from what the user sees.
func (s Shadows) Create(ctx context.Context, r shadow.CreateRequest) (shadow.Shadow, error) {
	r.View = s.live
	return s.home.Shadows.Create(ctx, r)
}

// Fill makes the files of a lazy shadow.
func (s Shadows) Fill(ctx context.Context, id string) error {
	return s.home.Shadows.Materialize(ctx, id)
}

// List describes the shadows.
func (s Shadows) List(ctx context.Context) ([]shadow.Shadow, error) {
	return s.home.Shadows.List(ctx)
}

// Diff compares a shadow with how it began.
func (s Shadows) Diff(ctx context.Context, id string) (shadow.Diff, error) {
	return s.home.Shadows.Diff(ctx, id)
}

// IntoTree is what a merge goes into instead of the review queue: the files.
const IntoTree = "tree"

// mergeTool is who proposes what a merge puts into the review queue.
const mergeTool = "shadow merge"

// Merge merges a shadow into the review queue, over what waits there already,
// or, for "tree", into the files as the user sees them. That a person asked
// for it is the permission: nothing that a model can call comes here.
func (s Shadows) Merge(ctx context.Context, id, into string) (shadow.Merge, error) {
	if into == IntoTree {
		return s.home.Shadows.MergeInto(ctx, id, s.live, true)
	}
	queue := s.home.Queue
	if queue == nil {
		return shadow.Merge{}, tools.Errorf(tools.Unavailable, "the review queue can't take the changes: %v; merge into the tree, or open the queue", s.home.QueueErr)
	}
	by := pendingedits.Proposer{Session: session.Default, Tool: mergeTool, Batch: s.home.options.user.batch(session.Default)}
	return s.home.Shadows.MergeInto(ctx, id, queue.For(by), false)
}

// Discard removes a shadow.
func (s Shadows) Discard(ctx context.Context, id string) (shadow.Discarded, error) {
	return s.open.Discard(ctx, id)
}
