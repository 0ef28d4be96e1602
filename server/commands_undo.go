package server

import (
	"context"
	"errors"
	"time"

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
	Entries []pastEdit `json:"entries"`
}

type pastEdit struct {
	ID       string     `json:"id"`
	At       *time.Time `json:"at,omitempty"` // left out where an older version wrote it down
	Session  string     `json:"session"`
	Tool     string     `json:"tool"`
	What     string     `json:"what"`
	Files    []pastFile `json:"files"`
	Undoable bool       `json:"undoable"`
	Why      string     `json:"why,omitempty"`
}

type pastFile struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
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
	out := historyResult{Entries: []pastEdit{}}
	for _, p := range st.History(a.Session, a.Limit) {
		e := pastEdit{ID: p.ID, Session: p.Session, Tool: p.Tool, What: p.What, Undoable: p.Undoable, Why: p.Why}
		if !p.At.IsZero() {
			e.At = &p.At
		}
		for _, f := range p.Files {
			e.Files = append(e.Files, pastFile{f.Path, f.Kind, f.Added, f.Removed})
		}
		out.Entries = append(out.Entries, e)
	}
	return out, nil
}
