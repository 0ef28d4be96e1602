package commands

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

type outputArgs struct {
	Session string `json:"session,omitempty"` // "" is all
	Action  string `json:"action"`
}

type outputResult struct {
	Entries  []workspace.Held `json:"entries"`            // what is held now
	Accepted int              `json:"accepted,omitempty"` // files that went to the workspace
	Left     []string         `json:"left,omitempty"`     // why something is held still, in sentences
}

// outputReview lists the output that sessions hold, or does what a person decides about it;
// no tool comes here.
func outputReview(_ context.Context, d *Deps, a outputArgs) (r outputResult, err error) {
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
	default:
		return r, client.InvalidParams("action: list, accept or drop is expected")
	}
	if err != nil {
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
