package agents

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed verify_step.md
var verifyStepText string

type verifyStepIn struct {
	StepNumber  int    `json:"step_number" jsonschema:"of the step that is open" minimum:"1"`
	Passed      bool   `json:"passed" jsonschema:"whether it met its criteria"`
	Observation string `json:"observation" jsonschema:"what you saw: output, a message, a line" minLength:"1" maxLength:"4000"`
	NextAction  string `json:"next_action,omitempty" jsonschema:"what is to follow from that" maxLength:"2000"`
}

func verifyStep(w Works) *tools.Tool {
	d := tools.Def{
		Name: "verify_step", Title: "Verify a step", Description: verifyStepText, Category: Steps, InOrder: true,
		Example: `{"step_number": 1, "passed": true, "observation": "TestParse fails: got 2026-13-01"}`,
		Tags:    []string{"step", "check", "protocol"}, Names: []string{"abort_with_report", "claim_complete"}, Output: steps.State{},
	}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, in verifyStepIn) (tools.Result, error) {
		now, err := changed(w, c, func(s *steps.State) error { return s.Verify(in.StepNumber, in.Passed, in.Observation, in.NextAction) })
		text := fmt.Sprintf("Step %d is done. Declare step %d, or end with claim_complete.", in.StepNumber, in.StepNumber+1)
		if !in.Passed {
			text = fmt.Sprintf("Step %d has failed, and its record stays. Declare it again with another action, or end with abort_with_report.", in.StepNumber)
		}
		return tools.Result{Text: text, Structured: now}, err
	})
}
