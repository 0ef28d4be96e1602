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

// setPlugin is a person's decision; no tool comes here.
func setPlugin(_ context.Context, p Plugins, d plugin.Decision) (plugin.Status, error) {
	return p.Decide(d)
}

type pluginArgs struct {
	ID   string `json:"id"`
	Hash string `json:"hash,omitempty"`
}

func reloadPlugin(_ context.Context, p Plugins, a pluginArgs) (plugin.Status, error) {
	return p.Again(a.ID)
}
