package commands

import (
	"context"
	"encoding/base64"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

type setAgentArgs struct {
	Run       string           `json:"run"`
	AgentMode string           `json:"agentMode,omitempty"`
	Model     string           `json:"model,omitempty"`
	Budget    *agentBudgetArgs `json:"budget,omitempty"` // an empty one bounds nothing
}

type setAgentResult struct {
	AgentMode string `json:"agentMode,omitempty"`
	Model     string `json:"model,omitempty"`
}

// setAgent changes an agent's own mode, its model or its budget, from now on. The budget is
// first: an agent that has none is refused before anything changes.
func setAgent(ctx context.Context, m *agents.Manager, a setAgentArgs) (setAgentResult, error) {
	if a.AgentMode == "" && a.Model == "" && a.Budget == nil {
		return setAgentResult{}, client.InvalidParams("agentMode, model, budget: one of them is expected")
	}
	r, err := run(m, a.Run)
	if err != nil {
		return setAgentResult{}, err
	}
	if a.Budget != nil {
		if err := a.Budget.check(); err != nil {
			return setAgentResult{}, err
		}
		if err := m.Budget(r, a.Budget.budget()); err != nil {
			return setAgentResult{}, client.InvalidParams("budget: %v", err)
		}
	}
	if err := m.Choose(ctx, r, a.AgentMode, a.Model); err != nil {
		return setAgentResult{}, client.InvalidParams("%v", err)
	}
	i := r.Info()
	return setAgentResult{i.AgentMode, i.Model}, nil
}

type stopArgs struct {
	Run  string `json:"run"`
	Call string `json:"call"`
}

// stopCommand ends the command of a call, while its agent goes on.
func stopCommand(_ context.Context, m *agents.Manager, a stopArgs) (none, error) {
	return withRun(m, a.Run, func(r *conversation.Run) error { return m.Stop(r, a.Call) })
}

type imageArgs struct {
	Run   string `json:"run"`
	Image string `json:"image"`
}

type imageResult struct {
	URI  string `json:"uri"` // a file of ours
	Mime string `json:"mime"`
	Data string `json:"data"` // in base64
}

// imageOfRun is the data of an image that events of a run name.
func imageOfRun(_ context.Context, m *agents.Manager, a imageArgs) (imageResult, error) {
	r, err := run(m, a.Run)
	if err != nil {
		return imageResult{}, err
	}
	path, mime, data, err := r.Picture(a.Image)
	if err != nil {
		return imageResult{}, client.InvalidParams("image: %v", err)
	}
	return imageResult{workspace.FileURI(path), mime, base64.StdEncoding.EncodeToString(data)}, nil
}
