package commands

import (
	"context"
	"encoding/base64"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

type chooseArgs struct {
	Run       string `json:"run"`
	AgentMode string `json:"agentMode,omitempty"`
	Model     string `json:"model,omitempty"`
}

type chosenResult struct {
	AgentMode string `json:"agentMode,omitempty"`
	Model     string `json:"model,omitempty"`
}

// chooseOfAgent has an agent work in another of its own modes, or with another model.
func chooseOfAgent(ctx context.Context, m *agents.Manager, a chooseArgs) (chosenResult, error) {
	r, err := run(m, a.Run)
	if err != nil {
		return chosenResult{}, err
	}
	if err := m.Choose(ctx, r, a.AgentMode, a.Model); err != nil {
		return chosenResult{}, client.InvalidParams("%v", err)
	}
	i := r.Info()
	return chosenResult{i.AgentMode, i.Model}, nil
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
