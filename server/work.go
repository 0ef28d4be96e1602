package server

import (
	"context"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// followWork shows what the agents of a core's sessions set out to do.
func (s *Server) followWork(core *Core) {
	if core.Sessions != nil {
		context.AfterFunc(s.base, core.Sessions.Follow(s.worked))
	}
}

// worked shows what the agent of a session works on. Runs show it themselves.
func (s *Server) worked(session string, _, now steps.State) {
	if a := s.current().Agents; a != nil {
		if m := a.Opened(); m != nil && m.Has(session) {
			return
		}
	}
	text, done, all := now.Active()
	s.works.mu.Lock()
	defer s.works.mu.Unlock()
	j := s.works.jobs[session]
	if text == "" {
		delete(s.works.jobs, session)
		if j != nil {
			go j.End() // it may wait for the client
		}
		return
	}
	if j == nil {
		one, err := s.current().Sessions.Get(session)
		if err != nil {
			return
		}
		j = s.progress.Show(s.base, "Agent "+session)
		s.works.jobs[session] = j
		go func() {
			select {
			case <-one.Done():
			case <-s.base.Done():
			case <-j.Done():
			}
			s.works.mu.Lock()
			if s.works.jobs[session] == j {
				delete(s.works.jobs, session)
			}
			s.works.mu.Unlock()
			j.End()
		}()
	}
	j.Say(client.Visible(fmt.Sprintf("%s (%d of %d done)", text, done, all)))
}
