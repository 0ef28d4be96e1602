package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/adapter"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/program"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Gate is what decides on what agents do: *dispatch.Dispatcher.
type Gate interface {
	Trusted() bool // the user trusts the workspace
	Call(context.Context, dispatch.Request) (*dispatch.Result, error)
	Explain(context.Context, dispatch.Request) (dispatch.Explanation, error)
	List(dispatch.ListRequest) (list []*tools.Tool, unmatched []string, err error)
	Keep(session, text string) (cursor string, err error)
	Edits(session, tool string) (workspace.View, error)
}

// Workspace is the workspace as it is now.
type Workspace interface {
	Gate() Gate
	Parts() program.Parts
	NoWorld() error                              // why no program can be given a world
	Pending(session string) []string             // the ids of its changes that wait for review
	Files(session string) []string               // the names of its files with such changes
	Folders(*session.Session) []workspace.Folder // by the names with which paths begin; one alone is "."
	Mode(name string) policy.Mode                // the zero one for a name that no mode has
	SubAgents() int                              // how many an agent may have at work at once
	StepsRequired() bool                         // whether agents declare a step before they change something

	// Hooks hear of conversations.
	Hooks() dispatch.Hooks
	// Skills returns the skills that a session can use.
	Skills(ctx context.Context, session string) (skills.Found, error)
	Shadows
}

// ErrNoShadow says that there can be no shadow workspace.
var ErrNoShadow = errors.New("there can be no shadow workspace here")

// Shadows are copies of the files for sub-agents.
type Shadows interface {
	// Shadow makes one of what a session sees for a call of it, and sets it up, or fails with
	// ErrNoShadow. note is for who works there: what of the setup went wrong.
	Shadow(ctx context.Context, session, call string) (id, note string, err error)
	// ApplyChanges makes what was changed there pending, for a session; in a mode that
	// changes files without asking it changes them. Making hears of it before.
	ApplyChanges(ctx context.Context, id, session, mode string, making func(workspace.Files, []workspace.Change) error) (files, conflicts []string, err error)
	Changes(ctx context.Context, id string) (Changes, error)
	Discard(ctx context.Context, id string) error
}

// Changes are what was changed in a shadow workspace.
type Changes struct {
	Files          []string
	Added, Removed int    // lines
	Patch          string // in git's format
}

// Options are what a Manager needs.
type Options struct {
	Dir      string        // of the journals; this process alone uses it
	Shown    string        // the directory of documents that people are shown
	Wait     time.Duration // for another process that has it and may be about to end
	Kept     profile.Kept
	Finder   adapter.Finder // finds the agents
	Profiles func() []profile.Profile
	Sessions *session.Store
	Workspace
	Backends
	Program string // this program's path, by which agents reach our tools
	Version string
	Log     *slog.Logger

	// Tools serves our tools over MCP to an agent of a session until it leaves.
	Tools func(ctx context.Context, conn net.Conn, session string)

	// Show makes a text of a model harmless where a person reads it.
	Show func(text string) string

	// QuestionTime is how long people may think about a permission.
	QuestionTime func() time.Duration
}

// Manager holds the runs of a workspace.
type Manager struct {
	*base
	team      *subAgents
	past      past
	listeners listeners
	end       context.CancelFunc // of base's context
	leave     func()             // unsubscribes from the plans of sessions

	mu sync.Mutex // held while a run is begun or woken, so that it has one driver, and no two runs have one conversation
}

// Errors that callers branch on.
var (
	ErrUnknown    = errors.New("there is no such agent")
	ErrNotAllowed = errors.New("the agent is not allowed yet")
	ErrNoProtocol = errors.New("the agent can't be driven")
)

// maxOpen is how many runs may be open at once, those of sub-agents among them.
const maxOpen = 256

// New opens the runs of a workspace.
func New(o Options) (*Manager, error) {
	m := &Manager{base: &base{o: o, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler))}}
	m.team = &subAgents{m: m.base, host: m, children: map[string]*child{}, slots: map[string]chan struct{}{}}
	m.past = past{m: m.base, titles: map[string]map[string]string{}, asking: make(chan struct{}, 1)}
	sweepDoors()
	m.ctx, m.end = context.WithCancel(context.Background())
	var err error
	if m.store, err = conversation.Open(conversation.Options{Dir: o.Dir, Log: m.log, Wait: o.Wait, MaxOpen: maxOpen}); err != nil {
		m.end()
		return nil, err
	}
	tidyDocuments(o.Shown, m.store, m.log)
	var left []*conversation.Run
	for _, i := range m.store.List(true) {
		if r, err := m.store.Get(i.Run); err == nil {
			m.runs.join(i.Session, r)
			switch {
			case i.State == conversation.Ended:
			case i.Once:
				left = append(left, r)
			default:
				_, since, err := r.History(0, 0, 0)
				if err != nil {
					return nil, errors.Join(err, m.Close())
				}
				m.listeners.follow(m.ctx, r, since)
			}
		}
	}
	for _, r := range slices.Backward(left) { // the deepest first: its caller's journal is read then
		m.team.forsake(r)
	}
	m.leave = o.Sessions.Follow(func(session string, before, now steps.State) {
		for _, run := range m.runs.openIn(session) {
			tell(run, before, now)
		}
	})
	o.Sessions.Absent(m.tellAbsent)
	return m, nil
}

// Close ends all agents. The runs go on with the next New.
func (m *Manager) Close() error {
	m.closing.Store(true)
	err := m.store.Close()
	if m.leave != nil { // else it did not open
		m.leave()
		m.o.Sessions.Absent(nil)
	}
	m.end()
	m.team.following.Wait()
	m.listeners.following.Wait()
	m.past.asking <- struct{}{} // who was being asked has ended
	<-m.past.asking
	return err
}

// List lists the agents.
func (m *Manager) List() []Info {
	noWorld := m.o.NoWorld()
	list := []Info{m.ownListed()}
	for _, p := range m.o.Profiles() {
		bound, err := m.o.Finder.Bind(p)
		allowed := err == nil && m.o.Kept.Allowed(bound)
		said, _ := m.offers.get(p.Name)
		why := ""
		if err = cmp.Or(err, noWorld); err != nil {
			why = err.Error()
		}
		list = append(list, said.describe(bound, allowed, why))
	}
	return list
}

// Begin is a run to be begun.
//
// Session "" is one that is named after the agent, Mode "" is review, Model "" is the
// one that the agent takes. Resume is the id of a conversation that the agent had
// before, as Earlier lists them; "" begins a new one.
type Begin struct {
	Agent, Session, Mode, Shadow, Model, Title, Resume string

	Tokens, Calls *int64      // the session's budget; nil: as the settings say
	Budget        loop.Budget // our own agent's, and its sub-agents'
	Consent       bool        // the person has allowed what the profile gives
}

// Begin begins a run. Its agent is started at once, beside; what goes wrong then
// is told in the run, and by Ready.
func (m *Manager) Begin(b Begin) (*conversation.Run, error) {
	if b.Agent = cmp.Or(b.Agent, Builtin); b.Agent == Builtin {
		return m.beginOwn(b)
	}
	p, err := m.allowed(b.Agent, b.Consent)
	if err != nil {
		return nil, err
	}
	if b.Resume != "" && !usable(b.Resume) {
		return nil, fmt.Errorf("resume: %.40q is no id of a conversation; sidecar.agent.sessions lists them", b.Resume)
	}
	s, err := m.open(session.OpenRequest{ID: b.Session, Mode: b.Mode, Shadow: b.Shadow, Tokens: b.Tokens, Calls: b.Calls}, *p)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	run, err := m.start(b, *p, s)
	if err != nil {
		return nil, errors.Join(err, m.o.Sessions.Close(s.ID))
	}
	m.join(&external{m: m.base, run: run, profile: *p, session: s, model: b.Model, earlier: b.Resume != ""})
	return run, nil
}

// start makes the run of a Begin. m.mu is held, so that no two have one conversation.
func (m *Manager) start(b Begin, p profile.Profile, s *session.Session) (*conversation.Run, error) {
	if has := runRefs(m.store, p.Name)[b.Resume]; has != "" {
		return nil, fmt.Errorf("%s has this conversation already; prompt that run, or end it first", has)
	}
	run, err := m.store.Start(conversation.Spec{Agent: p.Name, Title: cmp.Or(b.Title, m.past.title(p.Name, b.Resume), p.Title), Session: s.ID, Shadow: s.Shadow, Mode: s.Mode()})
	if err != nil || b.Resume == "" {
		return run, err
	}
	return run, run.Emit(conversation.Event{Kind: conversation.Note, Reason: "session", Ref: b.Resume})
}

// Ready waits until the agent of a run has its conversation. The error is why it has
// none; the run is ended then.
func (m *Manager) Ready(ctx context.Context, run *conversation.Run) error {
	d := m.runs.driver(run)
	if d == nil {
		return conversation.ErrEnded
	}
	ready := make(chan error, 1)
	go func() {
		err := d.failure() // it is not started twice to hear that again
		if err == nil {
			err = d.ready(m.ctx)
		}
		ready <- err
	}()
	var err error
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return errors.Join(err, run.Close())
	}
	return nil
}

// join gives a run that was begun just now its driver, and begins to start the agent. m.mu is held.
func (m *Manager) join(c *external) {
	m.runs.join(c.session.ID, c.run)
	m.drive(c)
	m.listeners.follow(m.ctx, c.run, 0)
}

// drive gives a run its driver and begins to start the agent. m.mu is held.
func (m *Manager) drive(c *external) {
	m.runs.drive(c.run, c)
	go c.warm()
}

// allowed finds an agent that can be driven and that a person has allowed what its
// profile gives, or allows it now.
func (m *Manager) allowed(name string, consent bool) (*profile.Profile, error) {
	p, err := m.profile(name)
	if err != nil {
		return nil, err
	}
	if consent {
		if err := m.o.Kept.Allow(*p); err != nil {
			return nil, err
		}
	}
	if !m.o.Kept.Allowed(*p) {
		return nil, fmt.Errorf("%w: a person allows what it sees of theirs, once (consent)", ErrNotAllowed)
	}
	return p, nil
}

// profile finds one that can be driven.
func (m *Manager) profile(name string) (*profile.Profile, error) {
	p := profile.Find(m.o.Profiles(), name, "")
	switch {
	case name == "" || p == nil:
		var names []string
		for _, p := range m.o.Profiles() {
			names = append(names, p.Name)
		}
		meant := ""
		if near := tools.Near(name, names, 1); len(near) > 0 {
			meant = " (did you mean " + near[0] + "?)"
		}
		return nil, fmt.Errorf("%w as %q%s; sidecar-ls agent list has their names, the setting agents adds others", ErrUnknown, name, meant)
	case p.ACP == nil:
		return nil, fmt.Errorf("%w: %s does not speak the Agent Client Protocol; work with it in a terminal: sidecar-ls run -- %s", ErrNoProtocol, p.Title, p.Program)
	}
	bound, err := m.o.Finder.Bind(*p)
	return &bound, err
}

// Get returns a run. One that was left by an earlier process has its agent again
// when it is needed: see Wake.
func (m *Manager) Get(id string) (*conversation.Run, error) { return m.store.Get(id) }

// Runs lists the runs, with all those too that have ended, the oldest first.
func (m *Manager) Runs(all bool) []conversation.Info { return m.store.List(all) }

// Request returns the run, and the request in it, after which a pending change of
// these sessions was made.
func (m *Manager) Request(sessions []string, hunk string) (run string, r conversation.Request, ok bool) {
	var all []*conversation.Run
	for _, s := range sessions {
		all = append(all, m.runs.in(s)...)
	}
	for _, one := range all {
		if made, has := one.MadeAfter(hunk); has && (!ok || made.Seq > r.Seq) {
			run, r, ok = one.ID(), made, true
		}
	}
	return run, r, ok
}

// Wake gives a run of an earlier process its agent again.
func (m *Manager) Wake(run *conversation.Run) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := run.Info()
	if i.Attached || i.State == conversation.Ended {
		return nil
	}
	ours := builtin
	p := &ours
	if i.Agent != Builtin {
		var err error
		if p, err = m.profile(i.Agent); err != nil {
			return err
		}
		if !m.o.Kept.Allowed(*p) {
			return fmt.Errorf("%w: it changed since; start a new run", ErrNotAllowed)
		}
	}
	as := session.OpenRequest{ID: i.Session, Mode: i.Mode, Shadow: i.Shadow}
	s, err := m.open(as, *p)
	if errors.Is(err, session.ErrMode) { // the user's settings have it no more
		as.Mode = ""
		s, err = m.open(as, *p)
	}
	if errors.Is(err, session.ErrExists) {
		s, err = m.o.Sessions.Get(i.Session)
	}
	if err != nil {
		return err
	}
	if now := s.Mode(); now != i.Mode {
		if err := run.Emit(conversation.Event{Kind: conversation.Note, Reason: "mode", Mode: now}); err != nil {
			return err
		}
	}
	if i.Agent == Builtin {
		return m.driveOwn(run, s, loop.Options{})
	}
	m.drive(&external{m: m.base, run: run, profile: *p, session: s})
	return nil
}
