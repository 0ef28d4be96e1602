package server

import (
	"context"
	"errors"
)

// getBackend describes the language model that the settings name.
func (s *Server) getBackend(context.Context, none) (any, error) {
	f := s.current().Backend
	if f == nil {
		return nil, errors.New("there are no settings: no folder is open in the editor")
	}
	return f()
}

// verifyAudit reports whether the record of calls is as it was written.
func (s *Server) verifyAudit(context.Context, none) (any, error) {
	f := s.current().Audit
	if f == nil {
		return nil, errors.New("there is no audit log: no folder is open in the editor")
	}
	return f()
}
