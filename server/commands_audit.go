package server

import (
	"context"
	"errors"
)

// verifyAudit reports whether the record of calls is as it was written.
func (s *Server) verifyAudit(context.Context, none) (any, error) {
	f := s.current().Audit
	if f == nil {
		return nil, errors.New("there is no audit log: no folder is open in the editor")
	}
	return f()
}
