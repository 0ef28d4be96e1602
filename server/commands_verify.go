package server

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/verify"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

type verifyArgs struct {
	Command string   `json:"command,omitempty"`
	URIs    []string `json:"uris,omitempty"`
	Hunks   []string `json:"hunks,omitempty"`
	Session string   `json:"session,omitempty"`
}

// verifyReview runs the tests, or a command, over pending edits. Nothing is
// accepted.
func (s *Server) verifyReview(ctx context.Context, token lsp.ProgressToken, a verifyArgs) (verify.Result, error) {
	st, err := s.review()
	if err != nil {
		return verify.Result{}, err
	}
	sel := pendingedits.Selection{Hunks: a.Hunks, Session: a.Session}
	for _, uri := range a.URIs {
		name, err := s.name("uris", uri)
		if err != nil {
			return verify.Result{}, err
		}
		sel.Names = append(sel.Names, name)
	}
	d, err := s.dispatcher()
	if err != nil {
		return verify.Result{}, err
	}
	sessions, err := s.sessions()
	if err != nil {
		return verify.Result{}, err
	}
	ctx, job := s.progress.begin(ctx, token, "Test pending edits")
	defer job.end()
	res, err := verify.Run(ctx, verify.Parts{Queue: st, Dispatch: d, Sessions: sessions}, verify.Request{Selection: sel, Command: a.Command, Emit: job.emit})
	switch {
	case ctx.Err() != nil:
		return res, lsp.Errorf(lsp.RequestCancelled, "cancelled")
	case errors.Is(err, verify.ErrNothing):
		return res, lsp.Errorf(lsp.RequestFailed, "%v", err)
	case err != nil:
		return res, reviewError(err)
	}
	return res, nil
}
