package agents

import (
	"cmp"
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
)

// ownListed is our own agent as people choose it.
func (m *Manager) ownListed() Info {
	a := Info{Version: m.o.Version, Can: []string{"steer", canFork, "rewind", "resume", "images", "commands"}}
	for _, name := range m.o.Names() {
		a.Models = append(a.Models, Choice{ID: name, Title: name})
	}
	why := ""
	if _, err := m.o.Backend(""); err != nil {
		why = err.Error()
	}
	return a.describe(builtin, true, why)
}

// beginOwn begins a run of our own agent.
func (m *Manager) beginOwn(b Begin) (*conversation.Run, error) {
	if b.Resume != "" {
		return nil, errors.New("resume: our own agent has no conversations besides its runs: sidecar.agent.resume goes on with one")
	}
	if _, err := m.o.Backend(b.Model); err != nil {
		return nil, err
	}
	s, err := m.open(session.OpenRequest{ID: b.Session, Mode: b.Mode, Shadow: b.Shadow}, builtin)
	if err != nil {
		return nil, err
	}
	run, err := m.store.Start(conversation.Spec{Agent: Builtin, Title: cmp.Or(b.Title, builtin.Title), Session: s.ID, Shadow: s.Shadow, Mode: s.Mode()})
	if err != nil {
		return nil, errors.Join(err, m.o.Sessions.Close(s.ID))
	}
	if err := m.joined(run, s, loop.Options{Profile: b.Model, Budget: b.Budget}); err != nil {
		return run, err
	}
	if d, ok := m.runs.driver(run).(*own); ok {
		d.offer()
	}
	return run, nil
}

// Opening is what a model would get at the beginning of a run of our own agent. Mode ""
// is review, profile "" is the active one, if there is one.
func (m *Manager) Opening(mode, profile string) (o loop.Opening, err error) {
	s, err := m.open(session.OpenRequest{Mode: mode}, builtin)
	if err != nil {
		return o, err
	}
	d := &own{m: m.base, team: m.team, session: s}
	d.Agent = loop.Draft(d, profile)
	o, err = d.Opening()
	return o, errors.Join(err, m.o.Sessions.Close(s.ID))
}

// joined gives a run that was begun just now its driver.
func (m *Manager) joined(run *conversation.Run, s *session.Session, o loop.Options) error {
	m.runs.join(s.ID, run)
	m.mu.Lock()
	err := m.driveOwn(run, s, o)
	m.mu.Unlock()
	if err != nil {
		return errors.Join(err, run.Close(), m.o.Sessions.Close(s.ID))
	}
	m.listeners.follow(m.ctx, run, 0)
	return nil
}

// driveOwn gives a run our own agent. m.mu is held.
func (m *Manager) driveOwn(run *conversation.Run, s *session.Session, o loop.Options) error {
	d, err := m.openOwn(run, s, o)
	if err != nil {
		return err
	}
	m.runs.drive(run, d)
	return nil
}

// ownFor is the driver of a run of our own agent that nobody prompts now.
func (m *Manager) ownFor(run *conversation.Run) (*own, error) {
	if err := m.Wake(run); err != nil {
		return nil, err
	}
	d, ok := m.runs.driver(run).(*own)
	switch i := run.Info(); {
	case i.State == conversation.Running || i.State == conversation.Waiting:
		return nil, errors.New("it works on a prompt: wait until it has stopped, or stop it with sidecar.agent.cancel")
	case !ok:
		return nil, conversation.ErrEnded
	}
	return d, nil
}

// placeAfter is the first prompt or rewind after an event; 0 is the last event, and
// nothing is after it.
func placeAfter(run *conversation.Run, at int64) (string, error) {
	if at <= 0 {
		return "", nil
	}
	events, _, err := run.History(at, 0, 0)
	if err != nil {
		return "", err
	}
	return loop.PlaceAfter(events, at), nil
}

// forkOwn begins a run that knows what was said in another one up to an event.
func (m *Manager) forkOwn(run *conversation.Run, at int64) (*conversation.Run, error) {
	d, err := m.ownFor(run)
	if err != nil {
		return nil, err
	}
	place, err := placeAfter(run, at)
	if err != nil {
		return nil, err
	}
	i := run.Info()
	s, err := m.open(session.OpenRequest{Mode: i.Mode, Shadow: i.Shadow}, builtin)
	if err != nil {
		return nil, err
	}
	fork, err := m.store.Start(conversation.Spec{Agent: Builtin, Title: i.Title, Session: s.ID, ForkOf: i.Run, Shadow: s.Shadow, Mode: s.Mode()})
	if err != nil {
		return nil, errors.Join(err, m.o.Sessions.Close(s.ID))
	}
	if err := d.Fork(m.store.Beside(fork.ID()), place); err != nil {
		return nil, errors.Join(err, fork.Close(), m.o.Sessions.Close(s.ID))
	}
	if err := m.joined(fork, s, loop.Options{}); err != nil {
		return nil, err
	}
	m.tellWork(fork, nil)
	return fork, fork.Emit(conversation.Event{Kind: conversation.Note, Reason: "forked", Text: "It knows what was said in " + i.Run})
}

// ErrNotOwn says that only our own agent can do what is asked.
var ErrNotOwn = errors.New("only our own agent can do this")

// Budget bounds what the agent of a run may use from now on; what it has used counts.
func (m *Manager) Budget(run *conversation.Run, b loop.Budget) error {
	if run.Info().Agent != Builtin {
		return ErrNotOwn
	}
	if err := m.Wake(run); err != nil {
		return err
	}
	d, ok := m.runs.driver(run).(*own)
	if !ok {
		return conversation.ErrEnded
	}
	return d.Raise(b)
}

// Used is what the agent of a run and its sub-agents have used.
func (m *Manager) Used(run *conversation.Run) (loop.Usage, error) {
	d, ok := m.runs.driver(run).(*own)
	if !ok {
		return loop.Usage{}, ErrNotOwn
	}
	used, _ := d.Used()
	return used, nil
}

// Compact puts a summary in the place of what was said in a run.
func (m *Manager) Compact(ctx context.Context, run *conversation.Run) error {
	if run.Info().Agent != Builtin {
		return ErrNotOwn
	}
	d, err := m.ownFor(run)
	if err != nil {
		return err
	}
	return d.Compact(ctx, "")
}

// Summary changes the latest summary of a run, or takes it away when text is "".
func (m *Manager) Summary(run *conversation.Run, at int, text string) error {
	if run.Info().Agent != Builtin {
		return ErrNotOwn
	}
	d, err := m.ownFor(run)
	if err != nil {
		return err
	}
	if text == "" {
		return d.RestoreBefore(at)
	}
	return d.EditSummary(at, text)
}
