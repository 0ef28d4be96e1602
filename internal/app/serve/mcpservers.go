package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
)

// mcpServers are the MCP servers as editors see them.
type mcpServers struct {
	*source.Manager
	settings *live.Settings
}

// List lists them as the files name them now.
func (s mcpServers) List() []source.Status {
	s.Reload()
	return s.Manager.List()
}

// Show adds directories to what commands and servers can read, in the user's
// file, and starts the server again.
func (s mcpServers) Show(ctx context.Context, name string, dirs []string) (source.Status, error) {
	if err := s.CheckHidden(name, dirs); err != nil {
		return source.Status{}, err
	}
	const key = "sandbox.readOnly"
	all := slices.Clone(s.settings.Now().Strings(key))
	for _, dir := range dirs {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	value, err := json.Marshal(all)
	if err != nil {
		return source.Status{}, err
	}
	if err := s.settings.PutUser(key, value); err != nil {
		return source.Status{}, fmt.Errorf("sidecar.%s was not changed: %w", key, err)
	}
	return s.Reconnect(ctx, name)
}
