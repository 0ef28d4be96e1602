package agents

import (
	"context"
	_ "embed"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed claim_complete.md
var claimCompleteText string

type claimCompleteIn struct {
	Rationale string `json:"rationale" jsonschema:"how you know that the task is done" minLength:"1" maxLength:"4000"`
}

func claimComplete(w Works) *tools.Tool {
	d := tools.Def{
		Name: "claim_complete", Title: "Claim that the task is complete", Description: claimCompleteText, Category: Steps, InOrder: true,
		Example: `{"rationale": "All steps passed, and the tests of every package that uses dates do too."}`,
		Tags:    []string{"step", "done", "protocol"}, Output: steps.State{},
	}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, in claimCompleteIn) (tools.Result, error) {
		now, err := changed(w, c, func(s *steps.State) error { return s.Complete(in.Rationale) })
		return tools.Result{Text: "The task is complete. Tell the user what you did.", Structured: now}, err
	})
}
