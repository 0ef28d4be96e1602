package agents

import (
	"errors"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// tellAbsent tells our own agent of an earlier process what a person did with its edits
// before it goes on. It keeps that.
func (m *Manager) tellAbsent(session, text string) {
	for _, run := range m.runsIn(session) {
		if run.Info().Agent != Builtin {
			continue // it would be started for it
		}
		err := m.Wake(run)
		if s, had := m.o.Sessions.Get(session); err == nil && had == nil {
			s.Tell(text)
		} else {
			m.log.Warn("an agent is not told what was done with its edits", "run", run.ID(), "error", errors.Join(err, had))
		}
	}
}

// learn keeps what an agent offers.
func (m *Manager) learn(profile string, o Info) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[profile] = o
}

// listener receives the events of all runs.
type listener struct{ f func(conversation.Event) }

// Subscribe calls f for every event of every run from now on, each run's in order.
func (m *Manager) Subscribe(f func(conversation.Event)) (cancel func()) {
	l := &listener{f}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listeners = append(slices.Clone(m.listeners), l)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.listeners = slices.DeleteFunc(slices.Clone(m.listeners), func(have *listener) bool { return have == l })
	}
}

// follow hands the events of a run after since to the listeners.
func (m *Manager) follow(run *conversation.Run, since int64) {
	events := run.Subscribe(since)
	m.following.Add(1)
	go func() {
		defer m.following.Done()
		for {
			e, err := events.Next(m.base)
			if err != nil {
				return
			}
			m.mu.Lock()
			listeners := m.listeners
			m.mu.Unlock()
			for _, l := range listeners {
				l.f(e)
			}
		}
	}()
}
