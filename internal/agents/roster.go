package agents

import (
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// roster knows which runs are in which session, and what drives them.
type roster struct {
	mu       sync.Mutex
	sessions map[string][]*conversation.Run
	driven   map[string]driver // by run
}

// join puts a run into its session.
func (r *roster) join(session string, run *conversation.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessions == nil {
		r.sessions = map[string][]*conversation.Run{}
	}
	r.sessions[session] = append(r.sessions[session], run)
}

// in are the runs in a session, also those that have ended.
func (r *roster) in(session string) []*conversation.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sessions[session])
}

// openIn are the runs in a session that have not ended.
func (r *roster) openIn(session string) []*conversation.Run {
	return slices.DeleteFunc(r.in(session), func(run *conversation.Run) bool { return run.Info().State == conversation.Ended })
}

// drive gives a run its driver.
func (r *roster) drive(run *conversation.Run, d driver) {
	r.mu.Lock()
	if r.driven == nil {
		r.driven = map[string]driver{}
	}
	r.driven[run.ID()] = d
	r.mu.Unlock()
	run.Attach(d)
}

// left takes a run's driver away, which has ended.
func (r *roster) left(run *conversation.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.driven, run.ID())
}

// driver is the driver of a run; nil: it has none.
func (r *roster) driver(run *conversation.Run) driver {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.driven[run.ID()]
}

// own is the driver of a run of our own agent; nil: it is none.
func (r *roster) own(run string) *own {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, _ := r.driven[run].(*own)
	return d
}

// ownOf is the driver of the run that a call at the gate is of; nil: it is of none of
// our own agent's.
func (r *roster) ownOf(call string) *own {
	run, _, _ := strings.Cut(call, ".")
	return r.own(run)
}

// isOwn reports whether a session is that of a run of our own agent.
func (r *roster) isOwn(session string) bool { return r.ownIn(session) != nil }

// ownIn is the run of our own agent in a session; nil: there is none.
func (r *roster) ownIn(session string) *own {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.driven {
		if own, ok := d.(*own); ok && own.session.ID == session {
			return own
		}
	}
	return nil
}
