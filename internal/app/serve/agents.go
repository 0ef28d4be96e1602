package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/adapter"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/program"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
)

// Agents are the agents of a client. Their runs are in the state directory of its
// workspace and are opened when they are first asked for.
type Agents struct {
	client  *app.Client
	program string // this program's path
	seat    *seat  // nil: no editor is asked

	mu        sync.Mutex
	closed    bool
	waited    bool      // for another process that has the runs
	home      *app.Home // whose runs m has
	m         *agents.Manager
	listeners map[*func(conversation.Event)]bool
}

// NewAgents makes those of a client that is to be named with Of. Its user has to be
// what Through returns, so that agents ask in their runs.
func NewAgents(self string) *Agents {
	return &Agents{program: self, listeners: map[*func(conversation.Event)]bool{}}
}

// Of says whose agents they are.
func (a *Agents) Of(c *app.Client) { a.client = c }

// Manager opens the runs of the workspace as it is now.
func (a *Agents) Manager() (*agents.Manager, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.client.Workspace()
	switch {
	case a.closed:
		return nil, conversation.ErrClosed
	case w == nil:
		return nil, errors.New("agents need a folder: open one")
	case a.m != nil && a.home == w.Home:
		return a.m, nil
	}
	if err := w.Home.LockedOut(); err != nil {
		return nil, fmt.Errorf("what an agent writes could not wait for review: %w", err)
	}
	if a.m != nil { // the first folder is another now
		_ = a.m.Close()
		a.m = nil
	}
	kept, err := profile.UserKept()
	if err != nil {
		return nil, err
	}
	finder, err := adapter.Of(a.client.Settings.Programs())
	if err != nil {
		return nil, err
	}
	if err := w.Home.Dir.Prepare(); err != nil { // else git shows the lock of the runs as a new file
		return nil, err
	}
	o := a.options(w, kept)
	o.Finder = finder
	if !a.waited {
		o.Wait = ending
	}
	m, err := agents.New(o)
	a.waited = errors.Is(err, conversation.ErrTaken)
	if err != nil {
		return nil, err
	}
	m.Subscribe(a.tell)
	a.m, a.home = m, w.Home
	return m, nil
}

// ending is how long the server of a window that was closed just now may take to give
// its runs free.
const ending = 5 * time.Second

func (a *Agents) options(w *app.Workspace, kept profile.Kept) agents.Options {
	c := a.client
	return agents.Options{
		Dir: filepath.Join(w.Home.Dir.State(), "runs"), Shown: filepath.Join(w.Home.Dir.State(), "show"), Show: c.Hide.Shown, Kept: kept, Sessions: c.Sessions, Program: a.program, Version: version.String(), Log: c.Log(),
		Profiles:  func() []profile.Profile { return profile.All(c.Settings.Now()) },
		Workspace: around{c}, Backends: backends{a.client.Backends()},
		Tools: func(ctx context.Context, conn net.Conn, session string) {
			err := endpoint.Serve(ctx, conn, conn, endpoint.Options{
				Version: version.String(), Instructions: endpoint.Instructions, Hide: c.Hide.Text,
				Connect: func(_ context.Context, agent endpoint.Agent) (endpoint.Backend, error) {
					t := c.Tools(attach.Editor)
					t.Keep, t.Unasked = session, true // the run asks, and never its agent
					return endpoint.Local(t, agent)
				},
			})
			if err != nil && ctx.Err() == nil {
				c.Log().Warn("an agent's way to the tools was lost", "error", err)
			}
		},
		QuestionTime: func() time.Duration {
			return time.Duration(c.Settings.Now().Int("approval.timeoutSeconds")) * time.Second
		},
	}
}

// around is the workspace of a client as its agents know it.
type around struct{ c *app.Client }

func (a around) Gate() agents.Gate     { return a.c.Workspace().Dispatch }
func (a around) Hooks() dispatch.Hooks { return a.c.Workspace().Extensions }
func (a around) Parts() program.Parts  { return Programs(a.c.Workspace()) }

func (a around) NoWorld() error {
	confiner := a.c.Workspace().Confiner
	what, why := confiner.WorldStatus()
	if what == "disk" {
		return errors.New("what it writes could not be reviewed, because it would see the disk: " + cmp.Or(why, "the setting commands.world says so"))
	}
	return confiner.Elsewhere()
}

func (a around) Pending(session string) (ids []string) {
	for _, e := range a.c.Workspace().Home.Queue.List(session).Edits {
		for _, h := range e.Hunks {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// Programs is what running a program in a workspace takes.
func Programs(w *app.Workspace) program.Parts {
	commands := confine.Commands{Confiner: w.Confiner}
	pending := func() (names []string) {
		if w.Home.Queue == nil {
			return nil
		}
		for _, e := range w.Home.Queue.List("").Edits {
			names = append(names, e.Name, e.From)
		}
		return names
	}
	return program.Parts{Sessions: w.Client.Sessions, Dispatch: w.Dispatch, Start: commands.Host, Leave: commands.Leave, Shell: commands.Shell, Pending: pending}
}

// tell hands an event to the listeners.
func (a *Agents) tell(e conversation.Event) {
	a.mu.Lock()
	var all []func(conversation.Event)
	for f := range a.listeners {
		all = append(all, *f)
	}
	a.mu.Unlock()
	for _, f := range all {
		f(e)
	}
}

// Subscribe implements server.Agents, as do Manager and Opened.
func (a *Agents) Subscribe(f func(conversation.Event)) (cancel func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listeners[&f] = true
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.listeners, &f)
	}
}

// Close ends the agents. Their runs go on with the next process.
func (a *Agents) Close() error {
	a.mu.Lock()
	m := a.m
	a.m, a.closed = nil, true
	a.mu.Unlock()
	if m == nil {
		return nil
	}
	return m.Close()
}

// Files are the names of a session's files that wait for review.
func (a *Agents) Files(session string) []string { return around{a.client}.Files(session) }

// FolderOf is the first one of the workspace of these agents.
func FolderOf(a *Agents) string { return a.client.Workspace().Disk.Folders()[0].Dir }
