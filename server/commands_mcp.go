package server

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// MCP has the MCP servers whose tools are offered.
type MCP interface {
	List() []MCPStatus
	Reconnect(ctx context.Context, name string) (MCPStatus, error)
	Trust(ctx context.Context, name, hash string) (MCPStatus, error)
	Show(ctx context.Context, name string, dirs []string) (MCPStatus, error)
	SignIn(ctx context.Context, name string, show func(ctx context.Context, address string) bool) (st MCPStatus, address string, err error)
}

// MCPStatus describes an MCP server.
type MCPStatus struct {
	Name      string   `json:"name"`
	State     string   `json:"state"` // connected, connecting, failed, untrusted, signIn or disabled
	Transport string   `json:"transport"`
	Tools     int      `json:"tools"`
	Error     string   `json:"error,omitempty"`
	Hidden    []string `json:"hidden,omitempty"` // directories that it seems to need and that the sandbox hides, for sidecar.sandbox.readOnly
	Origin    string   `json:"origin"`
	Command   string   `json:"command"`
	Hash      string   `json:"hash"`
	Trusted   bool     `json:"trusted"`
	Changed   []string `json:"changed,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
	Shadowed  bool     `json:"shadowed,omitempty"` // another server has the name and is used
}

func (s *Server) mcp() (MCP, error) {
	if m := s.current().MCP; m != nil {
		return m, nil
	}
	return nil, errors.New("there are no MCP servers: no folder is open in the editor")
}

type mcpList struct {
	Servers []MCPStatus `json:"servers"`
}

func (s *Server) listMCP(context.Context, none) (mcpList, error) {
	m, err := s.mcp()
	if err != nil {
		return mcpList{}, err
	}
	return mcpList{m.List()}, nil
}

type mcpServerArgs struct {
	Server string `json:"server"`
}

func (s *Server) reconnectMCP(ctx context.Context, a mcpServerArgs) (MCPStatus, error) {
	m, err := s.mcp()
	if err != nil {
		return MCPStatus{}, err
	}
	return m.Reconnect(ctx, a.Server)
}

type mcpTrustArgs struct {
	Server string `json:"server"`
	Hash   string `json:"hash,omitempty"`
}

// trustMCP is a person's decision; no tool comes here.
func (s *Server) trustMCP(ctx context.Context, a mcpTrustArgs) (MCPStatus, error) {
	m, err := s.mcp()
	if err != nil {
		return MCPStatus{}, err
	}
	return m.Trust(ctx, a.Server, a.Hash)
}

type mcpShowArgs struct {
	Server string   `json:"server"`
	Dirs   []string `json:"dirs"`
}

// showMCP is a person's decision, too: dirs are what that person was shown.
func (s *Server) showMCP(ctx context.Context, a mcpShowArgs) (MCPStatus, error) {
	m, err := s.mcp()
	if err != nil {
		return MCPStatus{}, err
	}
	return m.Show(ctx, a.Server, a.Dirs)
}

type mcpSignIn struct {
	Server MCPStatus `json:"server"`
	URL    string    `json:"url,omitempty"` // to be opened by the user; "": it was
}

// signInMCP is a person's act, too. An editor that opens the page waits until the
// person is back, and can give it up.
func (s *Server) signInMCP(ctx context.Context, a mcpServerArgs) (mcpSignIn, error) {
	m, err := s.mcp()
	if err != nil {
		return mcpSignIn{}, err
	}
	st, address, err := m.SignIn(ctx, a.Server, func(ctx context.Context, address string) bool {
		if !s.client.can.showDocument {
			return false
		}
		var answer lsp.ShowDocumentResult
		err := s.client.call(ctx, "window/showDocument", lsp.ShowDocumentParams{URI: address, External: true, TakeFocus: true}, &answer)
		return err == nil && answer.Success
	})
	return mcpSignIn{st, address}, err
}
