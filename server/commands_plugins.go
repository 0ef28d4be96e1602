package server

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/extend/plugin"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Plugins are the plugins of a workspace: *plugin.Manager.
type Plugins interface {
	Reload()
	List() []plugin.Status
	Trust(plugin.TrustRequest) (plugin.Status, error)
	Distrust(id string) (plugin.Status, error)
	Again(id string) (plugin.Status, error)
	Enable(id, hash string) (plugin.Status, error)
	Disable(id, hash string) (plugin.Status, error)
}

func (s *Server) plugins() (Plugins, error) {
	if p := s.current().Plugins; p != nil {
		return p, nil
	}
	return nil, tools.Errorf(tools.Unavailable, "there are no plugins: no folder is open in the editor")
}

type pluginList struct {
	Plugins []plugin.Status `json:"plugins"`
}

func (s *Server) listPlugins(context.Context, none) (pluginList, error) {
	p, err := s.plugins()
	if err != nil {
		return pluginList{}, err
	}
	p.Reload()
	return pluginList{p.List()}, nil
}

// trustPlugin is a person's decision, as are its neighbours; no tool comes here.
func (s *Server) trustPlugin(_ context.Context, a plugin.TrustRequest) (plugin.Status, error) {
	p, err := s.plugins()
	if err != nil {
		return plugin.Status{}, err
	}
	return p.Trust(a)
}

type pluginArgs struct {
	ID   string `json:"id"`
	Hash string `json:"hash,omitempty"`
}

func (s *Server) distrustPlugin(_ context.Context, a pluginArgs) (plugin.Status, error) {
	p, err := s.plugins()
	if err != nil {
		return plugin.Status{}, err
	}
	return p.Distrust(a.ID)
}

func (s *Server) enablePlugin(_ context.Context, a pluginArgs) (plugin.Status, error) {
	p, err := s.plugins()
	if err != nil {
		return plugin.Status{}, err
	}
	return p.Enable(a.ID, a.Hash)
}

func (s *Server) disablePlugin(_ context.Context, a pluginArgs) (plugin.Status, error) {
	p, err := s.plugins()
	if err != nil {
		return plugin.Status{}, err
	}
	return p.Disable(a.ID, a.Hash)
}

func (s *Server) reloadPlugin(_ context.Context, a pluginArgs) (plugin.Status, error) {
	p, err := s.plugins()
	if err != nil {
		return plugin.Status{}, err
	}
	return p.Again(a.ID)
}
