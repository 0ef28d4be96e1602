package commands

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/verify"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

type verifyArgs struct {
	Command string   `json:"command,omitempty"`
	URIs    []string `json:"uris,omitempty"`
	Hunks   []string `json:"hunks,omitempty"`
	Session string   `json:"session,omitempty"`
}

// verifyReview runs the tests, or a command, over pending edits. Nothing is
// accepted.
func verifyReview(ctx context.Context, d *Deps, token lsp.ProgressToken, a verifyArgs) (verify.Result, error) {
	q, err := queue(d)
	if err != nil {
		return verify.Result{}, err
	}
	sel := pendingedits.Selection{Hunks: a.Hunks, Session: a.Session}
	for _, uri := range a.URIs {
		name, err := q.Name("uris", uri)
		if err != nil {
			return verify.Result{}, err
		}
		sel.Names = append(sel.Names, name)
	}
	runs, err := dispatcher(d)
	if err != nil {
		return verify.Result{}, err
	}
	open, err := sessions(d)
	if err != nil {
		return verify.Result{}, err
	}
	ctx, job := d.Progress.Begin(ctx, token, "Test pending edits")
	defer job.End()
	res, err := verify.Run(ctx, verify.Parts{Queue: q.Store, Dispatch: runs, Sessions: open}, verify.Request{Selection: sel, Command: a.Command, Emit: job.Emit})
	switch {
	case ctx.Err() != nil:
		return res, lsp.Errorf(lsp.RequestCancelled, "cancelled")
	case errors.Is(err, verify.ErrNothing):
		return res, lsp.Errorf(lsp.RequestFailed, "%v", err)
	case err != nil:
		return res, review.Error(err)
	}
	return res, nil
}
