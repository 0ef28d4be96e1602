package serve

import (
	"context"
	"errors"
	"net"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// stays reports whether the client outlives the editor that leaves: agents work,
// and the next editor would find them.
func (s *Server) stays() bool {
	first := s.first()
	return s.o.Stay && first != "" && s.agents.Work() && s.host.Load().Reached(first)
}

// first is the directory of the first folder, "" if there is none.
func (s *Server) first() string {
	if c := s.client.Load(); c != nil && c.Workspace() != nil {
		return c.Workspace().Disk.Folders()[0].Dir
	}
	return ""
}

// editor gets an editor that would have the seat. It must have the same first
// folder: the agents' runs are there.
func (s *Server) editor(conn net.Conn, dir string) {
	if dir != s.first() {
		_ = conn.Close()
		return
	}
	select {
	case s.coming <- conn:
	default: // another one was faster
		_ = conn.Close()
	}
}

// Next waits for the next editor, once Serve has returned. ok is false, and all is
// closed, when the agents' work has ended before one came.
func (s *Server) Next(ctx context.Context) (conn net.Conn, ok bool) {
	for s.stays() && ctx.Err() == nil {
		select {
		case conn := <-s.coming:
			return conn, true
		case <-s.changed:
		case <-ctx.Done():
		}
	}
	if c := s.client.Load(); c != nil {
		if err := s.close(); err != nil {
			c.Log().Warn("end", "error", err)
		}
	}
	select {
	case conn := <-s.coming: // it came too late
		_ = conn.Close()
	default:
	}
	return nil, false
}

// close ends the agents and all that is open.
func (s *Server) close() error {
	s.trust.close()
	return errors.Join(s.agents.Close(), s.client.Load().Close())
}

// Work reports whether an agent works, or waits for an answer, or for a prompt that
// is queued.
func (a *Agents) Work() bool {
	m := a.Opened() // what is not open does not work
	if m == nil {
		return false
	}
	for _, i := range m.Runs(false) {
		switch i.State {
		case conversation.Running, conversation.Waiting:
			return true
		case conversation.Idle:
			if i.Attached && i.Pending > 0 {
				return true
			}
		}
	}
	return false
}
