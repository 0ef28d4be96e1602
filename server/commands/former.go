package commands

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/plugin"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// Commands under their earlier names. Each is another command with some of its members
// given; clients that know the earlier names go on working.

type trustArgs struct {
	ID       string   `json:"id"`
	Hash     string   `json:"hash,omitempty"`
	Mine     bool     `json:"mine,omitempty"`
	Override []string `json:"override,omitempty"`
}

func trustPlugin(ctx context.Context, p Plugins, a trustArgs) (plugin.Status, error) {
	return setPlugin(ctx, p, plugin.Decision{ID: a.ID, Hash: a.Hash, Trusted: new(true), Mine: a.Mine, Override: a.Override})
}

func distrustPlugin(ctx context.Context, p Plugins, a pluginArgs) (plugin.Status, error) {
	return setPlugin(ctx, p, plugin.Decision{ID: a.ID, Trusted: new(false)})
}

func enablePlugin(ctx context.Context, p Plugins, a pluginArgs) (plugin.Status, error) {
	return setPlugin(ctx, p, plugin.Decision{ID: a.ID, Hash: a.Hash, Enabled: new(true)})
}

func disablePlugin(ctx context.Context, p Plugins, a pluginArgs) (plugin.Status, error) {
	return setPlugin(ctx, p, plugin.Decision{ID: a.ID, Hash: a.Hash, Enabled: new(false)})
}

type chooseArgs struct {
	Run       string `json:"run"`
	AgentMode string `json:"agentMode,omitempty"`
	Model     string `json:"model,omitempty"`
}

func chooseOfAgent(ctx context.Context, m *agents.Manager, a chooseArgs) (setAgentResult, error) {
	return setAgent(ctx, m, setAgentArgs{Run: a.Run, AgentMode: a.AgentMode, Model: a.Model})
}

type budgetOfAgentArgs struct {
	Run    string          `json:"run"`
	Budget agentBudgetArgs `json:"budget"`
}

func budgetOfAgent(ctx context.Context, m *agents.Manager, a budgetOfAgentArgs) (none, error) {
	_, err := setAgent(ctx, m, setAgentArgs{Run: a.Run, Budget: &a.Budget})
	return none{}, err
}

type steerArgs struct {
	Run  string `json:"run"`
	Text string `json:"text"`
	Kind string `json:"kind,omitempty"` // nudge, which is the default, or interrupt
}

func steerAgent(ctx context.Context, m *agents.Manager, a steerArgs) (itemResult, error) {
	when := map[string]string{"": conversation.Steer, "nudge": conversation.Steer, "interrupt": conversation.Interrupt}[a.Kind]
	if when == "" {
		return itemResult{}, client.InvalidParams("kind: nudge or interrupt is expected")
	}
	return promptAgent(ctx, m, promptArgs{Run: a.Run, Text: a.Text, When: when})
}
