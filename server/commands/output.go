package commands

import (
	"context"
	"errors"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/verify"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

type outputArgs struct {
	Session string `json:"session,omitempty"` // "" is all
	Action  string `json:"action"`
	Command string `json:"command,omitempty"` // of build
}

type outputResult struct {
	Entries  []workspace.Held `json:"entries"`            // what is held now
	Accepted int              `json:"accepted,omitempty"` // files that went to the workspace
	Left     []string         `json:"left,omitempty"`     // why something is held still, in sentences
	Built    *verify.Built    `json:"built,omitempty"`
}

// outputReview lists the output that sessions hold, or does what a person decides about it;
// no tool comes here.
func outputReview(ctx context.Context, d *Deps, token lsp.ProgressToken, a outputArgs) (r outputResult, err error) {
	held := d.Output
	if held == nil {
		return r, lsp.Errorf(lsp.RequestFailed, "commands run on the disk here, so that no output of theirs is held")
	}
	switch a.Action {
	case "list":
	case "accept":
		r.Accepted, r.Left, err = held.AcceptOutput(a.Session)
	case "drop":
		err = held.DropOutput(a.Session)
	case "build":
		if strings.TrimSpace(a.Command) == "" {
			return r, client.InvalidParams("command: the command line that builds it is expected")
		}
		r, err = buildOutput(ctx, d, token, a)
	default:
		return r, client.InvalidParams("action: list, accept, drop or build is expected")
	}
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return r, lsp.Errorf(lsp.RequestCancelled, "cancelled")
	case err != nil:
		return r, lsp.Errorf(lsp.RequestFailed, "%v", err)
	}
	if r.Entries, err = held.HeldOutput(""); err != nil {
		return r, lsp.Errorf(lsp.RequestFailed, "%v", err)
	}
	if a.Action == "list" && a.Session != "" {
		r.Entries, err = held.HeldOutput(a.Session)
	}
	if a.Action != "list" {
		d.Queue.Changed()
	}
	return r, err
}

// buildOutput builds it afresh, by a command line of the person's.
func buildOutput(ctx context.Context, d *Deps, token lsp.ProgressToken, a outputArgs) (r outputResult, err error) {
	runs, err := dispatcher(d)
	if err != nil {
		return r, err
	}
	open, err := sessions(d)
	if err != nil {
		return r, err
	}
	ctx, job := d.Progress.Begin(ctx, token, "Build held output again")
	defer job.End()
	build := verify.Builder{Files: d.Output.Accepted(), Sessions: open, Dispatch: runs, Output: d.Output}
	built, err := build.Build(ctx, verify.BuildRequest{Session: a.Session, Command: a.Command, Emit: job.Emit})
	if err != nil {
		return r, err
	}
	return outputResult{Accepted: built.Files, Left: built.Left, Built: &built}, nil
}
