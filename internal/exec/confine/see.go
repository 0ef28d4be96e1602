package confine

import (
	"errors"
	"sync"
	"time"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// view is what a server of tools or of a language is to see.
type view struct {
	session string // that its world is of; no session of an agent has such a name
	root    string
	files   workspace.Files
	drop    bool // nothing of what it makes outlives it
}

// seen is the world of such a server, also after its end, until Close; nil: it has none.
type seen struct {
	run    *world.Run
	follow *time.Timer
	leave  func()
}

// see has a server work in a world: it is told the workspace's paths and stays, so where no
// world can stand in the workspace's place it reads the disk and can't write it. Without a
// sandbox nothing keeps it from that.
func (c *Confiner) see(spec *Spec, v view) (*seen, error) {
	level, err := c.Level()
	if err != nil || level == box.None {
		return nil, err
	}
	want := c.o.Settings.Now().String("commands.world")
	kind, err := c.worldKind(want, level)
	if want == worldDisk || err != nil || kind == world.SeparateCopy {
		spec.look()
		return nil, nil // it can't write
	}
	c.servers.mu.Lock()
	defer c.servers.mu.Unlock()
	run, err := c.worlds.Begin(world.Request{
		Session: v.session, Kind: kind, Root: v.root, View: v.files, Hold: true, Drop: v.drop, Hidden: spec.Hidden, Sealed: spec.Sealed,
	})
	switch {
	case errors.As(err, new(*world.NoCopyError)):
		spec.look()
		return nil, nil
	case err != nil:
		return nil, &box.RefusedError{Why: "what the server is to see can't be made: " + err.Error()}
	}
	run.Show(&spec.Spec)
	spec.private()
	if c.servers.of == nil {
		c.servers.of = map[string]int{}
	}
	c.servers.of[v.session]++
	s := &seen{run: run, follow: time.AfterFunc(0, c.follow)}
	s.leave = sync.OnceFunc(func() { c.leave(v.session) })
	return s, nil
}

// serving counts the servers of each name: one that follows another has its world with it.
type serving struct {
	mu sync.Mutex
	of map[string]int
}

// leave gives up the world of a name with the last server that has it.
func (c *Confiner) leave(session string) {
	c.servers.mu.Lock()
	defer c.servers.mu.Unlock()
	if c.servers.of[session]--; c.servers.of[session] == 0 {
		delete(c.servers.of, session)
		c.worlds.CloseSession(session)
	}
}

// look keeps a server from writing the workspace.
func (s *Spec) look() { s.LookOnly, s.Writable = true, nil }

// forCalls is the world as calls of an MCP server know it.
func (s *seen) forCalls() source.World {
	if s == nil {
		return nil
	}
	return s
}

// Again implements source.World, as do its neighbours.
func (s *seen) Again() error { return s.run.Again() }

func (s *seen) Changed() (source.Changed, error) {
	h, err := s.run.Collect()
	return source.Changed{Changes: h.Changes, Said: h.Said, Commits: h.Commits, Tell: shell.Changed(h).Tell}, err
}

func (s *seen) Close() {
	if s != nil {
		s.end()
		s.leave()
	}
}

// end says that the server has ended; what it changed can still be had.
func (s *seen) end() {
	if s != nil {
		s.follow.Stop()
		_, _ = s.run.End(false)
	}
}
