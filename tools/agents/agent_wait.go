package agents

import (
	"context"
	_ "embed"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed agent_wait.md
var agentWaitText string

type agentWaitIn struct {
	IDs      []string `json:"ids" jsonschema:"of the sub-agents" minItems:"1" maxItems:"64"`
	Until    string   `json:"until,omitempty" jsonschema:"whether all of them, or any one" enum:"any,all" default:"all"`
	TimeoutS int      `json:"timeout_s,omitempty" jsonschema:"after how many seconds to give up waiting; they work on" minimum:"1" maximum:"3600" default:"600"`
}

func agentWait(team Team) *tools.Tool {
	d := tools.Def{Name: "agent_wait", Title: "Wait for sub-agents", Description: agentWaitText, Category: "agents", Interactive: true, Example: `{"ids": ["run-abc"], "until": "all"}`, Tags: []string{"subagent"}, Output: members{}}
	return tools.NewRead(d, func(ctx context.Context, c *tools.Call, in agentWaitIn) (tools.Result, error) {
		list, err := team.Wait(ctx, Caller{c.Session, c.ID}, in.IDs, in.Until == "all", time.Duration(in.TimeoutS)*time.Second)
		if err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: listed(list), Structured: members{list}}, nil
	})
}
