package commands

import (
	"cmp"
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// getBackend describes the language model that the settings name.
func getBackend(_ context.Context, r Reports, _ none) (any, error) { return r.Backend() }

// verifyAudit reports whether the record of calls is as it was written.
func verifyAudit(_ context.Context, r Reports, _ none) (any, error) { return r.Audit() }

// effectsIn asks what left sessions.
type effectsIn struct {
	Session string `json:"session,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

type effectsOut struct {
	Effects []effects.Effect `json:"effects"`
}

// Bounds of a list of effects.
const (
	defaultEffects = 100
	maxEffects     = 1000
)

// listEffects lists what left a session, or all of them.
func listEffects(_ context.Context, r Reports, in effectsIn) (effectsOut, error) {
	if in.Limit < 0 || in.Limit > maxEffects {
		return effectsOut{}, client.InvalidParams("limit: %d is not between 1 and %d; leave it out for %d", in.Limit, maxEffects, defaultEffects)
	}
	list, err := r.Effects(in.Session, cmp.Or(in.Limit, defaultEffects))
	return effectsOut{list}, err
}
