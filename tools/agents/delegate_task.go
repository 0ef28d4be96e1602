package agents

import (
	"context"
	_ "embed"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed delegate_task.md
var delegateTaskText string

type delegateTaskIn struct {
	Task    string `json:"task" jsonschema:"the question, complete in itself" minLength:"1" maxLength:"20000"`
	Context string `json:"context,omitempty" jsonschema:"what it has to know" maxLength:"50000"`
}

func delegateTask(team Team) *tools.Tool {
	d := tools.Def{
		Name: "delegate_task", Title: "Ask the local model", Description: delegateTaskText, Category: "agents", Interactive: true,
		Example: `{"task": "Which files under internal/ open network connections? Name each with the function."}`,
		Tags:    []string{"worker", "local", "cheap"}, Output: Report{},
	}
	return tools.NewRead(d, func(ctx context.Context, c *tools.Call, in delegateTaskIn) (tools.Result, error) {
		task := strings.TrimSpace(in.Task)
		if in.Context != "" {
			task += "\n\n# What you have to know\n" + in.Context
		}
		r, err := team.Delegate(ctx, Caller{c.Session, c.ID}, task)
		if err != nil {
			return tools.Result{}, err
		}
		return r.result()
	})
}
