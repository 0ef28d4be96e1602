package source

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// World is what a server sees in the place of the workspace, with what it wrote there.
type World interface {
	// Again has it see what is on the disk and pending now.
	Again() error
	// Changed is what it changed since it was asked last.
	Changed() (Changed, error)
	// Close gives it up, once the server has ended.
	Close()
}

// Changed is what a server changed.
type Changed struct {
	Changes []workspace.Change
	Said    []string           // what was not taken over, and why
	Tell    func(*tools.Call)  // says to the call that makes Changes what else there is
	Commits []workspace.Commit // that Tell tells of
}

func (ch Changed) nothing() bool { return len(ch.Changes) == 0 && len(ch.Commits) == 0 }

// effectsOf are what the person who is asked about a call is told of the server's access.
func effectsOf(cfg Server) tools.Effects {
	if cfg.Command == nil || cfg.Access != config.MCPDisk {
		return tools.Effects{}
	}
	return tools.Effects{Warns: "The MCP server " + cfg.Name + " has access to the disk: what it writes in the workspace is not reviewed."}
}

// writes says whose is what a server writes. All its calls share a world. What it wrote while
// one call ran and no other is that call's, under the rules of its session's mode; what
// it wrote outside of calls, or while several ran, is nobody's in particular, and waits for
// review whatever the modes of the sessions are.
type writes struct {
	mu      sync.Mutex
	running int
	shared  bool // several ran at once since the server was last idle
}

// begin is the beginning of a call, before which the server sees what there is now.
func (s *server) begins(c *conn) error {
	w := c.world()
	if w == nil {
		return nil
	}
	c.writes.mu.Lock()
	defer c.writes.mu.Unlock()
	if c.writes.running == 0 {
		s.held(w)
	} else {
		c.writes.shared = true
	}
	if err := w.Again(); err != nil {
		return tools.Errorf(tools.Unavailable, "what the MCP server %s is to see can't be put before it: %v; try again", s.cfg.Name, err)
	}
	c.writes.running++
	return nil
}

// ends is the end of a call that began: what it changed, and remarks for its result.
func (s *server) ends(c *conn, call *tools.Call) (changes []workspace.Change, remarks string) {
	w := c.world()
	if w == nil {
		return nil, ""
	}
	c.writes.mu.Lock()
	defer c.writes.mu.Unlock()
	shared := c.writes.shared
	if c.writes.running--; c.writes.running == 0 {
		c.writes.shared = false
	}
	why := ""
	if _, err := call.Files.Resolve(s.cfg.Root); err != nil {
		why = "the server works in the main tree, and this session in another one"
	} else if call.SawFiles(); shared {
		why = "other calls of the server ran at the same time"
	}
	if why != "" {
		if names := s.held(w); len(names) > 0 {
			remarks = fmt.Sprintf("\n[What the server changed waits for review in the main tree, because %s: %s.]", why, strings.Join(names, ", "))
		}
		return nil, remarks
	}
	ch, err := w.Changed()
	if err != nil {
		ch.Said = append(ch.Said, "What the server changed is not taken over: "+err.Error())
	}
	for _, sentence := range ch.Said {
		remarks += "\n[" + sentence + "]"
	}
	if ch.Tell != nil {
		ch.Tell(call)
	}
	return ch.Changes, remarks
}

// held has what the server changed wait for review, and returns the names of the files.
func (s *server) held(w World) (names []string) {
	ch, err := w.Changed()
	for _, sentence := range ch.Said {
		s.m.o.Log.Warn("mcp server", "server", s.cfg.Name, "changed", sentence)
	}
	if err == nil && ch.nothing() {
		if ch.Tell != nil {
			ch.Tell(&tools.Call{}) // it is settled
		}
		return nil
	}
	if err == nil {
		names, err = s.m.o.Review.Hold(context.Background(), tools.NewReadEdit(tools.Def{
			Name: "mcp", Title: "Hold what an MCP server wrote", Description: "Holds what an MCP server wrote outside of a call.", Example: "{}",
			Category: "mcp", Output: tools.NoOutput{}, Wrote: "mcp", OnDisk: true,
		}, func(_ context.Context, call *tools.Call, _ struct{}) (tools.Result, []workspace.Change, error) {
			ch.Tell(call)
			return tools.Result{}, ch.Changes, nil
		}), "the MCP server "+s.cfg.Name)
	}
	if err != nil {
		text := fmt.Sprintf("What the MCP server %s wrote outside of a call is not taken over: %v", s.cfg.Name, err)
		s.m.o.Log.Warn("mcp server", "problem", text)
		s.m.o.Warn(text)
	}
	return names
}

// rest holds what a server wrote that has ended, and gives its world up.
func (s *server) rest(c *conn) {
	if w := c.world(); w != nil {
		c.writes.mu.Lock()
		defer c.writes.mu.Unlock()
		s.held(w)
		w.Close()
	}
}

// world is what the server sees; nil: the disk, or nothing.
func (c *conn) world() World {
	if c.process == nil {
		return nil
	}
	return c.process.World
}
