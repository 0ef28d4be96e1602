// Package sessionview has the views of the files that a session works with: of the
// main tree, with its review queue, or of a shadow.
package sessionview

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// MainTree has the views of every session that works in the main tree.
type MainTree struct {
	Files   workspace.View      // as the user sees them
	Queue   *pendingedits.Store // nil: NoQueue says why
	NoQueue error
	Commits Commits
	Tree    *pendingedits.Tree // Files, as the queue knows them
}

// Commits knows what is staged, and which files share a repository: *batchcommit.Committer.
type Commits interface {
	Beside(ctx context.Context, at string) func(name string) bool
	Staged(ctx context.Context, waiting pendingedits.List) bool
}

// Live implements dispatch.Destinations, as do its neighbours.
func (t MainTree) Live() workspace.View { return t.Files }

// Applied is Live, with a record in the queue of what is applied to it.
func (t MainTree) Applied(by workspace.Author) workspace.View {
	if t.Queue == nil {
		return t.Files
	}
	return t.Queue.Recorded(pendingedits.Proposer{Session: by.Session, Tool: by.Tool, Command: by.Command, Tree: t.Tree}, t.Files)
}

// Pending is the view that holds what is proposed.
func (t MainTree) Pending(by workspace.Author, batch bool) workspace.View {
	if t.Queue == nil {
		return closedQueue{t.Files, t.NoQueue}
	}
	return t.Queue.For(pendingedits.Proposer{Session: by.Session, Tool: by.Tool, Command: by.Command, Tree: t.Tree, Batch: batch})
}

// QueueCommit queues a commit of the session's batch.
func (t MainTree) QueueCommit(ctx context.Context, session, message string, models []string, at string) (int, error) {
	queue := t.Queue
	if queue == nil {
		return 0, tools.Errorf(tools.Unavailable, "the commit can't be queued: %v; nothing was changed", t.NoQueue)
	}
	by := pendingedits.Proposer{Session: session, Batch: true, Tree: t.Tree}
	in := t.Commits.Beside(ctx, at)
	if at == "" && !slices.ContainsFunc(queue.List(session).Edits, func(e pendingedits.Edit) bool { return in(e.Name) }) {
		in = nil // as where there is one repository
	}
	n, err := queue.QueueCommit(ctx, by, message, models, false, in)
	if errors.Is(err, pendingedits.ErrNothingToCommit) && t.Commits.Staged(ctx, queue.List(session)) {
		n, err = queue.QueueCommit(ctx, by, message, models, true, nil)
	}
	if errors.Is(err, pendingedits.ErrNothingToCommit) {
		return 0, tools.Errorf(tools.CommandFailed, "nothing to commit: no file of the batch changed since its last queued commit, and nothing is staged; edit files first")
	}
	return n, err
}

// HoldCommit has the queue make a commit once its files are decided on.
func (t MainTree) HoldCommit(ctx context.Context, session string, commit workspace.Commit, models []string) (waits bool, err error) {
	switch {
	case t.Queue == nil:
		return false, t.NoQueue
	case len(commit.Files) == 0 && commit.Message != "" && commit.Ref.Kind == "":
		return false, errors.New("it changes no files, or not such as can be reviewed")
	case commit.Branch == "HEAD":
		return false, errors.New("it was made on no branch")
	}
	var files []pendingedits.CommitFile
	for _, f := range commit.Files {
		mode := f.Mode
		if f.AfterLink {
			mode = fs.ModeSymlink
		}
		files = append(files, pendingedits.CommitFile{Name: f.Path, Data: f.After, Mode: mode})
	}
	waits, err = t.Queue.QueueFiles(ctx, pendingedits.Proposer{Session: session, Tree: t.Tree}, pendingedits.FileCommit{ID: commit.ID, Replaces: commit.Replaces, Message: commit.Message, Branch: commit.Branch, Forward: commit.Forward, Merges: commit.Merges, Ref: commit.Ref, Models: models, Files: files})
	if errors.Is(err, pendingedits.ErrNothingToCommit) {
		err = errors.New("none of its files was taken over as it has them")
	}
	return waits, err
}

// ToDisk does nothing: the files are on the disk.
func (t MainTree) ToDisk(context.Context) error { return nil }

// Testing has the queue know of tests that went well over all that is pending.
func (t MainTree) Testing(ctx context.Context) func(tools.Report) {
	if t.Queue == nil {
		return nil
	}
	all, err := t.Queue.Choose(ctx, pendingedits.Selection{})
	if err != nil || all.Empty() {
		return nil
	}
	return func(r tools.Report) {
		v := pendingedits.Verified{Command: r.Command, OK: true}
		if r.Counted {
			v.Passed, v.Failed = &r.Passed, &r.Failed
		}
		t.Queue.Verify(pendingedits.Selection{}, all, v)
	}
}

// PendingCount counts the pending edits.
func (t MainTree) PendingCount() int {
	if t.Queue == nil {
		return 0
	}
	return len(t.Queue.List("").Edits)
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

// ShadowTree has the views of a session that works in a shadow: all goes into
// its files, and the merge is what is reviewed.
type ShadowTree struct {
	Files       workspace.View
	Materialize func(context.Context) error // makes the files of a lazy shadow
}

// Live implements dispatch.Destinations, as do its neighbours.
func (t ShadowTree) Live() workspace.View { return t.Files }

// Applied is the shadow: what is taken back is its merge.
func (t ShadowTree) Applied(workspace.Author) workspace.View { return t.Files }

// Pending is the shadow itself.
func (t ShadowTree) Pending(workspace.Author, bool) workspace.View { return t.Files }

// ToDisk makes the files that programs need.
func (t ShadowTree) ToDisk(ctx context.Context) error { return t.Materialize(ctx) }

// Testing has nobody to tell.
func (t ShadowTree) Testing(context.Context) func(tools.Report) { return nil }

// PendingCount is 0: nothing is held.
func (t ShadowTree) PendingCount() int { return 0 }

// QueueCommit refuses: a shadow has a repository of its own.
func (t ShadowTree) QueueCommit(context.Context, string, string, []string, string) (int, error) {
	return 0, tools.Errorf(tools.Unavailable, "no commits are queued in a shadow workspace; commit there at once")
}

// HoldCommit refuses, too.
func (t ShadowTree) HoldCommit(context.Context, string, workspace.Commit, []string) (bool, error) {
	return false, tools.Errorf(tools.Unavailable, "no commits are queued in a shadow workspace; commit there at once")
}
