package agents

import (
	"context"
	_ "embed"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed agent_cancel.md
var agentCancelText string

type agentCancelIn struct {
	ID string `json:"id" jsonschema:"of the sub-agent" minLength:"1" maxLength:"64"`
}

func agentCancel(team Team) *tools.Tool {
	d := tools.Def{Name: "agent_cancel", Title: "Stop a sub-agent", Description: agentCancelText, Category: "agents", Example: `{"id": "run-abc"}`, Tags: []string{"subagent"}, Output: members{}}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, in agentCancelIn) (tools.Result, error) {
		m, err := team.Cancel(Caller{c.Session, c.ID}, in.ID)
		if err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: listed([]Member{m}), Structured: members{[]Member{m}}}, nil
	})
}
