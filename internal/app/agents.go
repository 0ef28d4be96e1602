package app

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/mcp/endpoint"
)

// agents are those who work with the tools of this process by MCP. Each has a
// session of its own; settings, review queue and whoever is asked are those of
// the process. They come by the sockets of the workspace's folders.
type agents struct {
	c    *core // the first of its line
	kind attach.Kind

	base   context.Context // ends with the process's work for them
	cancel context.CancelFunc
	leave  func() bool // see attach.Options
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	wanted []string                // folders
	hosts  map[string]*attach.Host // by folder
	trying bool                    // see try
}

// newAgents lets agents in once it is told the folders.
func newAgents(c *core, kind attach.Kind, leave func() bool) *agents {
	a := &agents{c: c, kind: kind, leave: leave, hosts: map[string]*attach.Host{}}
	a.base, a.cancel = context.WithCancel(context.Background())
	return a
}

// admit lets agents of these folders in, and those of no others. A folder that
// another process serves is left to it; the error says so. An editor's server
// has it as soon as that one leaves.
func (a *agents) admit(dirs ...string) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.wanted = dirs
	err := a.listen()
	if errors.Is(err, attach.ErrTaken) && a.kind == attach.Editor && !a.trying {
		a.trying = true
		a.work.Go(a.try)
	}
	return err
}

// admitAgain is how often an editor's server tries to serve the folders that
// another process serves.
const admitAgain = time.Second

// try asks who serves a folder to leave until nobody else does.
func (a *agents) try() {
	tick := time.NewTicker(admitAgain)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-a.base.Done():
			return
		}
		a.mu.Lock()
		missing := slices.DeleteFunc(slices.Clone(a.wanted), func(dir string) bool { return a.hosts[dir] != nil })
		a.mu.Unlock()
		for _, dir := range missing {
			makeRoom(a.base, dir)
		}
		a.mu.Lock()
		if a.closed || !errors.Is(a.listen(), attach.ErrTaken) {
			a.trying = false
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
	}
}

// listen makes this process the host of the folders that are wanted, and of no
// others. a.mu is held.
func (a *agents) listen() error {
	keep := map[string]*attach.Host{}
	var errs []error
	for _, dir := range a.wanted {
		h := a.hosts[dir]
		if h == nil {
			var err error
			h, err = attach.Listen(dir, attach.Options{Kind: a.kind, Version: Version(), Attached: a.attached, Person: a.person, Leave: a.leave})
			if err != nil {
				errs = append(errs, err)
				continue
			}
		}
		keep[dir] = h
		delete(a.hosts, dir)
	}
	for _, h := range a.hosts {
		h.Close()
	}
	a.hosts = keep
	return errors.Join(errs...)
}

// attached serves one agent until it leaves.
func (a *agents) attached(conn net.Conn, w attach.Wish) {
	if !a.begin() {
		_ = conn.Close()
		return
	}
	defer a.work.Done()
	log := a.c.door.log
	err := endpoint.Serve(a.base, conn, conn, endpoint.Options{
		Version: Version(), Instructions: instructions,
		Connect: func(_ context.Context, agent endpoint.Agent) (endpoint.Backend, error) {
			log.Info("an agent is attached", "agent", agent.Name)
			t := a.tools()
			t.Mode = w.Mode
			t.Keep = keptSession(w.Session)
			return endpoint.Local(t, agent)
		},
	})
	if err != nil && a.base.Err() == nil {
		log.Warn("an agent was lost", "error", err)
	}
}

// begin reports whether somebody who comes is let in; a.work is theirs then.
func (a *agents) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.work.Add(1)
	}
	return !a.closed
}

// keptSession is the session of the command lines that ask for it by this name;
// "" is none that is kept. Only they have sessions that begin so.
func keptSession(name string) string {
	if name == "" {
		return ""
	}
	return "cli-" + name
}

// tools are those of the latest core.
func (a *agents) tools() endpoint.Tools {
	line := a.c.line
	return endpoint.Tools{
		Dispatch: func() *dispatch.Dispatcher { return line.now.Load().dispatch },
		Sessions: a.c.sessions,
		Bus:      a.c.bus,
		People:   a.kind == attach.Editor,
		Strict:   func() bool { return line.now.Load().settings.StrictSchemas() },
	}
}

// close lets nobody in any more and ends the work of those who are there.
func (a *agents) close() {
	if a == nil {
		return
	}
	_ = a.admit()
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.work.Wait()
}

// leaveTime is how long a process that gives way may take to end its work.
const leaveTime = 3 * time.Second

// makeRoom asks an endpoint without an editor that holds the review queue of a
// folder to give it free. An editor that holds it keeps it.
func makeRoom(ctx context.Context, dir string) {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	_ = attach.AskToLeave(ctx, dir) // what did not work shows when the queue is opened
}
