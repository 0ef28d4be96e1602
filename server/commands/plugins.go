package commands

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/extend/plugin"
)

type pluginList struct {
	Plugins []plugin.Status `json:"plugins"`
}

func listPlugins(_ context.Context, p Plugins, _ none) (pluginList, error) {
	p.Reload()
	return pluginList{p.List()}, nil
}

// trustPlugin is a person's decision, as are its neighbours; no tool comes here.
func trustPlugin(_ context.Context, p Plugins, a plugin.TrustRequest) (plugin.Status, error) {
	return p.Trust(a)
}

type pluginArgs struct {
	ID   string `json:"id"`
	Hash string `json:"hash,omitempty"`
}

func distrustPlugin(_ context.Context, p Plugins, a pluginArgs) (plugin.Status, error) {
	return p.Distrust(a.ID)
}

func enablePlugin(_ context.Context, p Plugins, a pluginArgs) (plugin.Status, error) {
	return p.Enable(a.ID, a.Hash)
}

func disablePlugin(_ context.Context, p Plugins, a pluginArgs) (plugin.Status, error) {
	return p.Disable(a.ID, a.Hash)
}

func reloadPlugin(_ context.Context, p Plugins, a pluginArgs) (plugin.Status, error) {
	return p.Again(a.ID)
}
