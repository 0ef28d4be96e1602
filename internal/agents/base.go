package agents

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/program"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
)

// base holds what drivers and sub-agents share: the options, the journals, the runs. It depends on
// neither of them.
type base struct {
	o       Options
	log     *slog.Logger
	store   *conversation.Store
	ctx     context.Context // of all programs
	closing atomic.Bool
	runs    roster
	offers  offers
}

func (b *base) find(name string) (string, error) { return b.o.Finder.Programs.Find(name) }

// open opens the session of a run.
func (b *base) open(r session.OpenRequest, p profile.Profile) (*session.Session, error) {
	if r.ID == "" {
		r.ID = session.NewID(p.Name)
	}
	if r.Mode == "" && r.Under == "" {
		r.Mode = program.Reviewed
	}
	return b.o.Sessions.Open(r)
}
