package agents

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed declare_step.md
var declareStepText string

type declareStepIn struct {
	StepNumber      int    `json:"step_number" jsonschema:"the first is 1; one that failed keeps its number" minimum:"1"`
	Title           string `json:"title" jsonschema:"what the step is, in a few words" minLength:"1" maxLength:"200"`
	Action          string `json:"action" jsonschema:"what you are going to do" minLength:"1" maxLength:"2000"`
	SuccessCriteria string `json:"success_criteria" jsonschema:"how you will know that it succeeded: what you look at, and what you expect to see" minLength:"1" maxLength:"2000"`
}

func declareStep(w Works) *tools.Tool {
	d := tools.Def{
		Name: "declare_step", Title: "Declare a step", Description: declareStepText, Category: Steps, InOrder: true,
		Example: `{"step_number": 1, "title": "Reproduce the failure", "action": "Run the tests of package dates", "success_criteria": "TestParse fails with the message of the report"}`,
		Tags:    []string{"step", "plan", "protocol"}, Names: []string{"verify_step"}, Output: steps.State{},
	}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, in declareStepIn) (tools.Result, error) {
		now, err := changed(w, c, func(s *steps.State) error {
			return s.Declare(steps.Step{Number: in.StepNumber, Title: in.Title, Action: in.Action, Criteria: in.SuccessCriteria})
		})
		return tools.Result{Text: fmt.Sprintf("Step %d is open. Do it, look at what came of it, and say so with verify_step.", in.StepNumber), Structured: now}, err
	})
}
