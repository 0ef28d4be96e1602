package app

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// mainTree has the views of every session that works in the main tree.
type mainTree struct {
	live workspace.View
	home *Home
}

func (t mainTree) Live() workspace.View { return t.live }

func (t mainTree) Pending(session, tool string, batch bool) workspace.View {
	if t.home.Queue == nil {
		return closedQueue{t.live, t.home.QueueErr}
	}
	return t.home.Queue.For(pendingedits.Proposer{Session: session, Tool: tool, Batch: batch})
}

func (t mainTree) QueueCommit(ctx context.Context, session, message string, models []string) (int, error) {
	queue := t.home.Queue
	if queue == nil {
		return 0, tools.Errorf(tools.Unavailable, "the commit can't be queued: %v; nothing was changed", t.home.QueueErr)
	}
	by := pendingedits.Proposer{Session: session, Batch: true}
	n, err := queue.QueueCommit(ctx, by, message, models, false)
	if errors.Is(err, pendingedits.ErrNothingToCommit) && t.home.commits.Staged(ctx, queue.List(session)) {
		n, err = queue.QueueCommit(ctx, by, message, models, true)
	}
	if errors.Is(err, pendingedits.ErrNothingToCommit) {
		return 0, tools.Errorf(tools.CommandFailed, "nothing to commit: no file of the batch changed since its last queued commit, and nothing is staged; edit files first")
	}
	return n, err
}

func (t mainTree) ToDisk(context.Context) error { return nil }

func (t mainTree) PendingCount() int {
	if t.home.Queue == nil {
		return 0
	}
	return len(t.home.Queue.List("").Edits)
}

// closedQueue stands for a review queue that could not be opened: what is
// there can be read, and an edit is refused with the reason.
type closedQueue struct {
	workspace.Files
	why error
}

func (q closedQueue) Apply(context.Context, ...workspace.Change) error {
	return tools.Errorf(tools.Unavailable, "the edit can't be held for review: %v; nothing was changed", q.why)
}

// shadowTree has the views of a session that works in a shadow: all goes into
// its files, and the merge is what is reviewed.
type shadowTree struct {
	files  workspace.View
	toDisk func(context.Context) error
}

func (t shadowTree) Live() workspace.View                        { return t.files }
func (t shadowTree) Pending(string, string, bool) workspace.View { return t.files }
func (t shadowTree) ToDisk(ctx context.Context) error            { return t.toDisk(ctx) }
func (t shadowTree) PendingCount() int                           { return 0 }

func (t shadowTree) QueueCommit(context.Context, string, string, []string) (int, error) {
	return 0, tools.Errorf(tools.Unavailable, "no commits are queued in a shadow workspace; commit there at once")
}
