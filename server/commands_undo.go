package server

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

type undoArgs struct {
	To string `json:"to,omitempty"`
}

type undoResult struct {
	Restored []string       `json:"restored"`
	Failed   []failure      `json:"failed"`
	What     string         `json:"what"`              // undo or redo
	Commits  []commitResult `json:"commits,omitempty"` // that were made of it, and stay
}

func (s *Server) undoReview(ctx context.Context, a undoArgs) (undoResult, error) {
	return s.turn(ctx, a, (*pendingedits.Store).UndoTo)
}

func (s *Server) redoReview(ctx context.Context, a undoArgs) (undoResult, error) {
	return s.turn(ctx, a, (*pendingedits.Store).RedoTo)
}

func (s *Server) turn(ctx context.Context, a undoArgs, f func(*pendingedits.Store, context.Context, string) (pendingedits.UndoResult, error)) (undoResult, error) {
	st, err := s.review()
	if err != nil {
		return undoResult{}, err
	}
	r, err := f(st, ctx, a.To)
	if errors.Is(err, pendingedits.ErrNoItem) {
		return undoResult{}, invalidParams("to: %v; sidecar.review.history lists the entries", err)
	}
	if err != nil {
		return undoResult{}, reviewError(err)
	}
	s.publisher.changed()
	return undoResult{s.uris(r.Restored), s.failures(r.Failed), r.What, commitResults(r.Commits)}, nil
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

type historyResult struct {
	Entries []pendingedits.Past `json:"entries"`
}

func (s *Server) historyReview(_ context.Context, a historyArgs) (historyResult, error) {
	if a.Limit < 0 || a.Limit > historyMost {
		return historyResult{}, invalidParams("limit: a number from 1 to %d is expected", historyMost)
	}
	if a.Limit == 0 {
		a.Limit = historyUsual
	}
	st, err := s.review()
	if err != nil {
		return historyResult{}, err
	}
	return historyResult{Entries: append([]pendingedits.Past{}, st.History(a.Session, a.Limit)...)}, nil
}
