package source

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// effects are what the person who is asked about a call is told of the server's access.
func (s *server) effects() tools.Effects {
	if s.cfg.Command == nil || s.cfg.Access != config.MCPDisk {
		return tools.Effects{}
	}
	return tools.Effects{Warns: "The MCP server " + s.cfg.Name + " has access to the disk: what it writes in the workspace is not reviewed."}
}

// again has the server see what is on the disk and pending now.
func (c *conn) again() error {
	if c.process == nil || c.process.World == nil {
		return nil
	}
	return c.process.World.Again()
}

// took is what the server changed, for the call to make. That of a call in another tree
// than the server's waits for the next one in that, or for the server's end.
func (s *server) took(c *conn, call *tools.Call) (changes []workspace.Change, remarks string) {
	if c.process == nil || c.process.World == nil {
		return nil, ""
	}
	if _, err := call.Files.Resolve(s.cfg.Root); err != nil {
		return nil, ""
	}
	changes, said, err := c.process.World.Changed(call)
	if err != nil {
		said = append(said, "What the server changed is not taken over: "+err.Error())
	}
	for _, sentence := range said {
		remarks += "\n[" + sentence + "]"
	}
	return changes, remarks
}

// takeRest takes over what a server that has ended changed outside of calls.
func (s *server) takeRest(c *conn) {
	if c.process == nil || c.process.World == nil {
		return
	}
	defer c.process.World.Close()
	var failed error
	take := tools.NewReadEdit(tools.Def{
		Name: "mcp", Title: "Take over what an MCP server wrote", Description: "Takes over what an MCP server wrote outside of calls.", Example: "{}",
		Category: "mcp", Output: tools.NoOutput{}, Wrote: "run", OnDisk: true,
	}, func(_ context.Context, call *tools.Call, _ struct{}) (tools.Result, []workspace.Change, error) {
		changes, said, err := c.process.World.Changed(call)
		failed = err
		for _, sentence := range said {
			s.m.o.Log.Warn("mcp server", "server", s.cfg.Name, "changed", sentence)
		}
		return tools.Result{}, changes, err
	})
	err := s.m.o.Own(context.Background(), take, "the MCP server "+s.cfg.Name)
	if err == nil {
		err = failed
	}
	if err != nil {
		s.m.o.Log.Warn("mcp server", "server", s.cfg.Name, "what it wrote outside of calls is not taken over", err)
	}
}
