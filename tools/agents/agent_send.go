package agents

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed agent_send.md
var agentSendText string

type agentSendIn struct {
	ID   string `json:"id" jsonschema:"of the sub-agent" minLength:"1" maxLength:"64"`
	Text string `json:"text" jsonschema:"what to tell it" minLength:"1" maxLength:"20000"`
}

func agentSend(team Team) *tools.Tool {
	d := tools.Def{Name: "agent_send", Title: "Tell a sub-agent something", Description: agentSendText, Category: "agents", Example: `{"id": "run-abc", "text": "Leave the tests alone."}`, Tags: []string{"subagent", "steer"}, Output: tools.NoOutput{}}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, in agentSendIn) (tools.Result, error) {
		if err := team.Send(Caller{c.Session, c.ID}, in.ID, in.Text); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: fmt.Sprintf("%s hears it at its next step.", in.ID)}, nil
	})
}
