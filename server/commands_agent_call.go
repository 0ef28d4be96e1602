package server

import (
	"context"
	"encoding/base64"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
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
func (s *Server) chooseOfAgent(ctx context.Context, a chooseArgs) (chosenResult, error) {
	r, err := s.run(a.Run)
	if err != nil {
		return chosenResult{}, err
	}
	m, err := s.agents()
	if err != nil {
		return chosenResult{}, err
	}
	if err := m.Choose(ctx, r, a.AgentMode, a.Model); err != nil {
		return chosenResult{}, invalidParams("%v", err)
	}
	i := r.Info()
	return chosenResult{i.AgentMode, i.Model}, nil
}

type stopArgs struct {
	Run  string `json:"run"`
	Call string `json:"call"`
}

// stopCommand ends the command of a call, while its agent goes on.
func (s *Server) stopCommand(_ context.Context, a stopArgs) (none, error) {
	r, err := s.run(a.Run)
	if err != nil {
		return none{}, err
	}
	m, err := s.agents()
	if err != nil {
		return none{}, err
	}
	if err := m.Stop(r, a.Call); err != nil {
		return none{}, invalidParams("%v", err)
	}
	return none{}, nil
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
func (s *Server) imageOfRun(_ context.Context, a imageArgs) (imageResult, error) {
	r, err := s.run(a.Run)
	if err != nil {
		return imageResult{}, err
	}
	path, mime, data, err := r.Picture(a.Image)
	if err != nil {
		return imageResult{}, invalidParams("image: %v", err)
	}
	return imageResult{workspace.FileURI(path), mime, base64.StdEncoding.EncodeToString(data)}, nil
}
