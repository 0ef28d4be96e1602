package server

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
)

// Hooks are the programs that hear of calls: *extend.Extensions.
type Hooks interface {
	ListHooks() (list []hooks.Status, problems []string)
}

type hooksList struct {
	Hooks    []hooks.Status `json:"hooks"`
	Problems []string       `json:"problems,omitempty"` // what is wrong where they are named
}

func (s *Server) listHooks(context.Context, none) (hooksList, error) {
	h := s.current().Hooks
	if h == nil {
		return hooksList{Hooks: []hooks.Status{}}, nil
	}
	list, problems := h.ListHooks()
	if list == nil {
		list = []hooks.Status{}
	}
	return hooksList{list, problems}, nil
}
