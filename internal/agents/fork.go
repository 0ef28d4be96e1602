package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// canFork is in Info.Can of agents that fork conversations.
const canFork = "fork"

// Errors of Fork.
var (
	ErrNoFork = errors.New("it can't fork a conversation; start a new run, and say in its prompt what it is to know of this one")
	ErrForkAt = errors.New("agents fork a conversation at its end alone; leave at out, or start a new run and say in its prompt what it is to know")
)

// Fork begins a run that knows what was said in another one, which stays as it is. The
// fork has a session of its own, in the mode and the shadow of the other's. at is the
// number of the other's last event that the fork is to know, 0 for the latest one. It
// returns once the agent has forked the conversation.
func (m *Manager) Fork(ctx context.Context, run *conversation.Run, at int64) (*conversation.Run, error) {
	i := run.Info()
	if i.Agent == Builtin {
		return m.forkOwn(run, at)
	}
	p, err := m.profile(i.Agent)
	if err != nil {
		return nil, err
	}
	if !m.o.Kept.Allowed(*p) {
		return nil, fmt.Errorf("%w: it changed since; start a new run", ErrNotAllowed)
	}
	if err := m.mayFork(run, at); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Title, err)
	}
	s, err := m.open(session.OpenRequest{Mode: i.Mode, Shadow: i.Shadow}, *p)
	if err != nil {
		return nil, err
	}
	fork, err := m.store.Start(conversation.Spec{Agent: p.Name, Title: i.Title, Session: s.ID, ForkOf: i.Run, Shadow: s.Shadow, Mode: s.Mode()})
	if err != nil {
		return nil, errors.Join(err, m.o.Sessions.Close(s.ID))
	}
	c := &external{m: m.base, run: fork, profile: *p, session: s, model: i.Model}
	m.mu.Lock()
	m.join(c)
	m.mu.Unlock()
	if _, err := c.started(ctx); err != nil {
		return nil, errors.Join(err, fork.Close())
	}
	return fork, fork.Emit(conversation.Event{Kind: conversation.Note, Reason: "forked", Text: "It knows what was said in " + i.Run})
}

// mayFork says why a conversation can't be forked, as far as that is known without
// its agent.
func (m *Manager) mayFork(run *conversation.Run, at int64) error {
	i := run.Info()
	offer, known := m.offers.get(i.Agent)
	switch {
	case known && !slices.Contains(offer.Can, canFork):
		return ErrNoFork
	case i.State == conversation.Running || i.State == conversation.Waiting:
		return errors.New("it works on a prompt; fork the conversation when it has stopped, or stop it with sidecar.agent.cancel")
	case i.Ref == "":
		return errors.New("there is no conversation yet; prompt this run, or start a new one")
	case at <= 0:
		return nil
	}
	later, _, err := run.History(at, 0, 0)
	if err != nil {
		return err
	}
	for _, e := range later {
		switch e.Kind {
		case conversation.StepStart, conversation.Text, conversation.Thought, conversation.CallProposed, conversation.CallStarted, conversation.Steered:
			return ErrForkAt
		}
	}
	return nil
}

// forkSession has an agent fork the conversation of a run.
func (c *external) forkSession(ctx context.Context, conn *acp.Conn, of string, p acp.SessionParams) (*acp.Session, error) {
	if conn.Agent().Capabilities.Session.Fork == nil {
		return nil, ErrNoFork
	}
	run, err := c.m.store.Get(of)
	if err != nil {
		return nil, fmt.Errorf("what it is a fork of: %w; start a new run", err)
	}
	return conn.ForkSession(ctx, run.Info().Ref, p)
}
