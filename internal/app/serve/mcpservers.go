package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// mcpServers are the MCP servers as editors see them.
type mcpServers struct {
	m        *source.Manager
	settings *live.Settings
}

func (s mcpServers) List() []server.MCPStatus {
	s.m.Reload() // the files may have changed
	out := []server.MCPStatus{}
	for _, st := range s.m.List() {
		out = append(out, shownSource(st))
	}
	return out
}

func (s mcpServers) Reconnect(ctx context.Context, name string) (server.MCPStatus, error) {
	st, err := s.m.Reconnect(ctx, name)
	return shownSource(st), err
}

func (s mcpServers) Trust(ctx context.Context, name, hash string) (server.MCPStatus, error) {
	st, err := s.m.Trust(ctx, name, hash)
	return shownSource(st), err
}

func (s mcpServers) SignIn(ctx context.Context, name string, show func(context.Context, string) bool) (server.MCPStatus, string, error) {
	st, address, err := s.m.SignIn(ctx, name, show)
	return shownSource(st), address, err
}

// Show adds directories to what commands and servers can read, in the user's
// file, and starts the server again.
func (s mcpServers) Show(ctx context.Context, name string, dirs []string) (server.MCPStatus, error) {
	if err := s.m.CheckHidden(name, dirs); err != nil {
		return server.MCPStatus{}, err
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
		return server.MCPStatus{}, err
	}
	if err := s.settings.PutUser(key, value); err != nil {
		return server.MCPStatus{}, fmt.Errorf("sidecar.%s was not changed: %w", key, err)
	}
	return s.Reconnect(ctx, name)
}

func shownSource(st source.Status) server.MCPStatus {
	return server.MCPStatus{
		Name: st.Name, State: string(st.State), Transport: st.Transport, Tools: st.Tools, Error: st.Error, Hidden: st.Hidden, Origin: st.Origin,
		Command: st.Command, Hash: st.Hash, Trusted: st.Trusted, Changed: st.Changed, Warnings: st.Warnings, Shadowed: st.Shadowed,
	}
}
