package commands

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
)

type mcpList struct {
	Servers []source.Status `json:"servers"`
}

func listMCP(_ context.Context, m MCP, _ none) (mcpList, error) {
	return mcpList{m.List()}, nil
}

type mcpServerArgs struct {
	Server string `json:"server"`
}

func reconnectMCP(ctx context.Context, m MCP, a mcpServerArgs) (source.Status, error) {
	return m.Reconnect(ctx, a.Server)
}

type mcpTrustArgs struct {
	Server string `json:"server"`
	Hash   string `json:"hash,omitempty"`
}

// trustMCP is a person's decision; no tool comes here.
func trustMCP(ctx context.Context, m MCP, a mcpTrustArgs) (source.Status, error) {
	return m.Trust(ctx, a.Server, a.Hash)
}

type mcpShowArgs struct {
	Server string   `json:"server"`
	Dirs   []string `json:"dirs"`
}

// showMCP is a person's decision, too: dirs are what that person was shown.
func showMCP(ctx context.Context, m MCP, a mcpShowArgs) (source.Status, error) {
	return m.Show(ctx, a.Server, a.Dirs)
}

type mcpSignIn struct {
	Server source.Status `json:"server"`
	URL    string        `json:"url,omitempty"` // to be opened by the user; "": it was
}

// signInMCP is a person's act, too. An editor that opens the page waits until the
// person is back, and can give it up.
func signInMCP(ctx context.Context, d *Deps, a mcpServerArgs) (mcpSignIn, error) {
	m, err := mcp(d)
	if err != nil {
		return mcpSignIn{}, err
	}
	st, address, err := m.SignIn(ctx, a.Server, d.Client.ShowPage)
	return mcpSignIn{st, address}, err
}
