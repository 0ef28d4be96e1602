package agents

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed agent_list.md
var agentListText string

type agentListIn struct{}

// members is the structured result of agent_list and agent_wait.
type members struct {
	Agents []Member `json:"agents" jsonschema:"the oldest first"`
}

func agentList(team Team) *tools.Tool {
	d := tools.Def{Name: "agent_list", Title: "List the sub-agents", Description: agentListText, Category: "agents", Example: `{}`, Tags: []string{"subagent"}, Output: members{}}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, _ agentListIn) (tools.Result, error) {
		list, err := team.List(Caller{c.Session, c.ID})
		if err != nil {
			return tools.Result{}, err
		}
		if len(list) == 0 {
			return tools.Result{Text: "There are none.", Structured: members{[]Member{}}}, nil
		}
		return tools.Result{Text: listed(list), Structured: members{list}}, nil
	})
}

// listed are members as a model reads them.
func listed(list []Member) string {
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, "%s: %s, %s", m.ID, m.Title, m.State)
		if m.End != "" {
			fmt.Fprintf(&b, " (%s)", m.End)
		}
		fmt.Fprintf(&b, ", %d s, %d tokens", m.Seconds, m.Tokens)
		if m.Silent > 0 {
			fmt.Fprintf(&b, "; nothing was heard of it for %d s", m.Silent)
		}
		b.WriteByte('\n')
		if m.WaitingFor != "" {
			fmt.Fprintf(&b, "  it asks the user: %s\n", m.WaitingFor)
		}
		if m.Answer != "" {
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(m.Answer, "\n", "\n  "))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
