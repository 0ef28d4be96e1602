package review

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
)

type undoArgs struct {
	To string `json:"to,omitempty"`
}

// UndoResult says what was undone or redone.
type UndoResult struct {
	Restored []string            `json:"restored"`
	Deleted  []string            `json:"deleted,omitempty"` // of these, the files that are gone now
	Failed   []documents.Failure `json:"failed"`
	What     string              `json:"what"`              // undo or redo
	Commits  []CommitResult      `json:"commits,omitempty"` // that were made of it, and stay
}

// Undo takes back what was applied last, or all down to an entry.
func Undo(ctx context.Context, q *Queue, a undoArgs) (UndoResult, error) {
	return turn(ctx, q, a, (*pendingedits.Store).UndoTo)
}

// Redo applies again what was taken back.
func Redo(ctx context.Context, q *Queue, a undoArgs) (UndoResult, error) {
	return turn(ctx, q, a, (*pendingedits.Store).RedoTo)
}

func turn(ctx context.Context, q *Queue, a undoArgs, f func(*pendingedits.Store, context.Context, string) (pendingedits.UndoResult, error)) (UndoResult, error) {
	r, err := f(q.Store, ctx, a.To)
	if errors.Is(err, pendingedits.ErrNoItem) {
		return UndoResult{}, client.InvalidParams("to: %v; sidecar.review.history lists the entries", err)
	}
	if err != nil {
		return UndoResult{}, Error(err)
	}
	q.Changed()
	return UndoResult{q.uris(r.Restored), q.uris(r.Deleted), q.failures(r.Failed), r.What, commitResults(r.Commits)}, nil
}

// Bounds of what sidecar.review.history lists.
const (
	historyUsual = 50
	historyMost  = 1000
)

type historyArgs struct {
	Session string `json:"session,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

// HistoryResult are the edits that can be undone, the latest first.
type HistoryResult struct {
	Entries []pendingedits.Past `json:"entries"`
}

// History lists what can be undone, the latest first.
func History(_ context.Context, q *Queue, a historyArgs) (HistoryResult, error) {
	if a.Limit < 0 || a.Limit > historyMost {
		return HistoryResult{}, client.InvalidParams("limit: a number from 1 to %d is expected", historyMost)
	}
	if a.Limit == 0 {
		a.Limit = historyUsual
	}
	return HistoryResult{Entries: append([]pendingedits.Past{}, q.Store.History(a.Session, a.Limit)...)}, nil
}
