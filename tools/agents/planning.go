package agents

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Categories of the tools by which an agent says what it is going to do.
const (
	Planning = "planning"
	Steps    = "steps" // of who has to declare each one
)

// Works has what callers have set out to do: *session.Store.
type Works interface {
	Work(session string) (*steps.Record, error)
}

// Plans shows plans to people. Its errors are *tools.Error.
type Plans interface {
	// Propose shows a plan, which is Markdown, and waits for what a person decides.
	Propose(ctx context.Context, by Caller, plan string) (Decision, error)
}

// Decision is what came of a plan.
type Decision struct {
	Needed   bool   `json:"needed" jsonschema:"false: nothing is waiting for a plan in this mode"`
	Approved bool   `json:"approved" jsonschema:"by the user"`
	Mode     string `json:"mode" jsonschema:"in which you work now"`
	Edited   bool   `json:"edited,omitempty" jsonschema:"the user changed the plan"`
	Plan     string `json:"plan,omitempty" jsonschema:"that was approved"`
	Hash     string `json:"hash,omitempty" jsonschema:"SHA-256 of the plan that was approved"`
	Comment  string `json:"comment,omitempty" jsonschema:"what the user wants changed"`
	URI      string `json:"uri,omitempty" jsonschema:"the document"`
	Means    string `json:"means,omitempty" jsonschema:"what the mode does"`
}

// changed has f change what the caller has set out to do.
func changed(w Works, c *tools.Call, f func(*steps.State) error) (steps.State, error) {
	if w == nil {
		return steps.State{}, tools.Errorf(tools.Unavailable, "nothing keeps todos and steps here; go on without them")
	}
	record, err := w.Work(c.Session)
	if err != nil {
		return steps.State{}, tools.Errorf(tools.Unavailable, "%v", err)
	}
	var wrong error
	now, err := record.Change(func(s *steps.State) error {
		wrong = f(s)
		return wrong
	})
	switch {
	case wrong != nil:
		return now, tools.Errorf(tools.InvalidArguments, "%v", wrong)
	case err != nil:
		return now, tools.Errorf(tools.Internal, "it could not be kept, so that nothing has changed: %v", err)
	}
	return now, nil
}
