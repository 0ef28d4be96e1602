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
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/program"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// Agents are the agents of a client. Their runs are in the state directory of its
// workspace and are opened when they are first asked for.
type Agents struct {
	client  *app.Client
	program string // this program's path

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

// Has implements server.Agents.
func (a *Agents) Has(session string) bool {
	m := a.opened()
	return m != nil && m.Has(session)
}

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
	o := a.options(w, kept)
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
		Dir: filepath.Join(w.Home.Dir.State(), "runs"), Shown: filepath.Join(w.Home.Dir.State(), "show"), Show: c.Hide.Shown, Kept: kept, Programs: c.Settings.Programs(), Sessions: c.Sessions, Program: a.program, Version: version.String(), Log: c.Log(),
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
	return program.Parts{Sessions: w.Client.Sessions, Dispatch: w.Dispatch, Start: commands.Host, Leave: commands.Leave, Shell: commands.Shell}
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

// Subscribe implements server.Agents.
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

// Asked implements server.Agents.
func (a *Agents) Asked() (open []conversation.Event) {
	m := a.opened() // whose agents don't work is asked when they are looked at
	if m == nil {
		return nil
	}
	for _, i := range m.Runs(false) {
		if r, err := m.Get(i.Run); err == nil {
			open = append(open, r.Open()...)
		}
	}
	return open
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

// List implements server.Agents.
func (a *Agents) List() ([]server.AgentInfo, error) {
	m, err := a.Manager()
	if err != nil {
		return nil, err
	}
	list := []server.AgentInfo{}
	for _, one := range m.List() {
		i := server.AgentInfo{
			Name: one.Name, Title: one.Title, Kind: "acp", Available: one.Why == "", Version: one.Version, Why: one.Why,
			Can: one.Can, Sees: one.Sees(), Consented: one.Allowed,
		}
		if i.Can == nil {
			i.Can = []string{}
		}
		switch {
		case one.Name == agents.Builtin:
			i.Kind = agents.Builtin
		case one.ACP == nil:
			i.Kind = "program"
		}
		for _, mode := range one.Modes {
			i.Modes = append(i.Modes, server.AgentChoice{ID: mode.Value, Title: mode.Name, Description: mode.Description})
		}
		for _, model := range one.Models {
			i.Models = append(i.Models, server.AgentChoice{ID: model.Value, Title: model.Name, Description: model.Description})
		}
		for _, s := range one.SignIn {
			i.SignIn = append(i.SignIn, server.AgentSignIn{ID: s.ID, Title: s.Name})
		}
		list = append(list, i)
	}
	return list, nil
}

// Earlier implements server.Agents.
func (a *Agents) Earlier(ctx context.Context, agent, cursor string, consent bool) (server.AgentSessions, error) {
	m, err := a.Manager()
	if err != nil {
		return server.AgentSessions{}, err
	}
	page, err := m.Earlier(ctx, agent, cursor, consent)
	if err != nil {
		return server.AgentSessions{}, err
	}
	all := server.AgentSessions{Sessions: []server.AgentSession{}, Next: page.Next}
	for _, one := range page.List {
		s := server.AgentSession{ID: one.ID, Title: one.Title, Run: one.Run}
		if !one.Updated.IsZero() {
			s.UpdatedAt = &one.Updated
		}
		all.Sessions = append(all.Sessions, s)
	}
	return all, nil
}

// Ready implements server.Agents.
func (a *Agents) Ready(ctx context.Context, r *conversation.Run) error {
	m, err := a.Manager()
	if err != nil {
		return err
	}
	return m.Ready(ctx, r)
}

// Begin implements server.Agents.
func (a *Agents) Begin(b server.AgentBegin) (*conversation.Run, error) {
	m, err := a.Manager()
	if err != nil {
		return nil, err
	}
	return m.Begin(agents.Begin{
		Agent: b.Agent, Session: b.Session, Mode: b.Mode, Shadow: b.Shadow, Model: b.Model, Title: b.Title, Resume: b.Resume,
		Tokens: b.Tokens, Calls: b.Calls, Budget: loop.Budget(b.Budget), Consent: b.Consent,
	})
}

// Get implements server.Agents.
func (a *Agents) Get(id string) (*conversation.Run, error) {
	m, err := a.Manager()
	if err != nil {
		return nil, err
	}
	return m.Get(id)
}

// Wake implements server.Agents.
func (a *Agents) Wake(r *conversation.Run) error {
	m, err := a.Manager()
	if err != nil {
		return err
	}
	return m.Wake(r)
}

// Files are the names of a session's files that wait for review.
func (a *Agents) Files(session string) []string { return around{a.client}.Files(session) }

// Request implements server.Agents.
func (a *Agents) Request(sessions []string, hunk string) (run string, r conversation.Request, ok bool) {
	m := a.opened() // whoever lists edits asks
	if m == nil {
		return "", r, false
	}
	return m.Request(sessions, hunk)
}

// Choose implements server.Agents.
func (a *Agents) Choose(ctx context.Context, r *conversation.Run, mode, model string) error {
	m, err := a.Manager()
	if err != nil {
		return err
	}
	return m.Choose(ctx, r, mode, model)
}

// Stop implements server.Agents.
func (a *Agents) Stop(r *conversation.Run, call string) error {
	m, err := a.Manager()
	if err != nil {
		return err
	}
	return m.Stop(r, call)
}

// ModeSet implements server.Agents.
func (a *Agents) ModeSet(session, mode string) {
	m := a.opened() // until it is opened no session is that of a run
	if m != nil {
		m.ModeSet(session, mode)
	}
}

// Fork implements server.Agents.
func (a *Agents) Fork(ctx context.Context, r *conversation.Run, at int64) (*conversation.Run, error) {
	m, err := a.Manager()
	if err != nil {
		return nil, err
	}
	return m.Fork(ctx, r, at)
}

// Runs implements server.Agents.
func (a *Agents) Runs(all bool) ([]conversation.Info, error) {
	m, err := a.Manager()
	if err != nil {
		return nil, err
	}
	return m.Runs(all), nil
}
