package serve

import (
	"context"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/agent"
	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/backend"
	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/runs"
	"github.com/sidecar-ls/sidecar-ls/internal/session"
	"github.com/sidecar-ls/sidecar-ls/server"
	asking "github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// models are the language models of the settings, for our own agent.
type models struct{ b backend.Backends }

// Backend implements agents.Backends.
func (m models) Backend(profile string) (agent.Backend, error) {
	c, facts, err := m.b.Model(profile)
	if err != nil {
		return agent.Backend{}, err
	}
	b := agent.Backend{
		Model: c, Profile: c.Profile.Name, Name: c.Profile.Model, Window: facts.Window, Longest: facts.Answer,
		Vision: facts.Vision, Text: c.Profile.NoCalls,
	}
	if facts.Prices != nil {
		b.Price = facts.Cost
	}
	return b, nil
}

// Names implements agents.Backends.
func (m models) Names() (names []string) {
	for _, p := range m.b.Settings.Now().Backends() {
		names = append(names, p.Name)
	}
	return names
}

// Files implements agents.Workspace.
func (a around) Files(session string) (names []string) {
	if w := a.c.Workspace(); w != nil && w.Home.Queue != nil {
		for _, e := range w.Home.Queue.List(session).Edits {
			names = append(names, e.Name)
		}
	}
	return names
}

// Folders implements agents.Workspace.
func (a around) Folders(s *session.Session) []string {
	if s.Shadow != "" {
		return []string{"."}
	}
	folders := a.c.Workspace().Disk.Folders()
	if len(folders) == 1 {
		return []string{"."}
	}
	var names []string
	for _, f := range folders {
		names = append(names, f.Name)
	}
	return names
}

// Means implements agents.Workspace.
func (a around) Means(mode string) string {
	for _, m := range a.c.Settings.Modes() {
		if m.Name == mode {
			return m.Help
		}
	}
	return ""
}

// Through is a user whom agents of ours ask in their runs, and others as before.
func (a *Agents) Through(u app.User) app.User {
	q := asks{a, u.Approver, u.People}
	u.Approver, u.People = q, q
	return u
}

type asks struct {
	agents   *Agents
	approver dispatch.Approver
	people   asking.People
}

// Approve implements dispatch.Approver.
func (a asks) Approve(ctx context.Context, ask dispatch.Ask) (dispatch.Answer, error) {
	if m := a.agents.opened(); m != nil {
		if answer, ok, err := m.Approve(ctx, ask); ok {
			return answer, err
		}
	}
	return a.approver.Approve(ctx, ask)
}

// Ask implements asking.People.
func (a asks) Ask(ctx context.Context, q asking.Question) (string, bool, error) {
	if m := a.agents.opened(); m != nil {
		text, options := q.Shown(a.agents.client.Hide.Shown)
		if answer, ok, err := m.AskUser(ctx, q.CallID, text, options, q.AllowCustom); ok {
			if i := slices.Index(options, answer); i >= 0 {
				answer = q.Options[i]
			}
			return answer, err == nil, err
		}
	}
	return a.people.Ask(ctx, q)
}

// opened is the manager, if the runs are open.
func (a *Agents) opened() *agents.Manager {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.m
}

// Rewind implements server.Agents.
func (a *Agents) Rewind(r *runs.Run, at int64) error {
	m, err := a.Manager()
	if err != nil {
		return err
	}
	return m.Rewind(r, at)
}

// Budget implements server.Agents.
func (a *Agents) Budget(r *runs.Run, b server.AgentBudget) error {
	m, err := a.Manager()
	if err != nil {
		return err
	}
	return m.Budget(r, agent.Budget(b))
}

// Compact implements server.Agents.
func (a *Agents) Compact(ctx context.Context, r *runs.Run) error {
	m, err := a.Manager()
	if err != nil {
		return err
	}
	return m.Compact(ctx, r)
}

// Summary implements server.Agents.
func (a *Agents) Summary(r *runs.Run, at int, text string) error {
	m, err := a.Manager()
	if err != nil {
		return err
	}
	return m.Summary(r, at, text)
}
