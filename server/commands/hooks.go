package commands

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
)

type hooksList struct {
	Hooks    []hooks.Status `json:"hooks"`
	Problems []string       `json:"problems,omitempty"` // what is wrong where they are named
}

func listHooks(_ context.Context, d *Deps, _ none) (hooksList, error) {
	h := d.Hooks
	if h == nil {
		return hooksList{Hooks: []hooks.Status{}}, nil
	}
	list, problems := h.ListHooks()
	if list == nil {
		list = []hooks.Status{}
	}
	return hooksList{list, problems}, nil
}
