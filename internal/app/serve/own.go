package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/models"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/files/checkpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/shadowsetup"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
	asking "github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// backends are the language models of the settings, for our own agent.
type backends struct{ b models.Backends }

// Backend implements agents.Backends.
func (m backends) Backend(profile string) (loop.Backend, error) {
	c, facts, err := m.b.Model(profile)
	if err != nil {
		return loop.Backend{}, err
	}
	b := loop.Backend{
		Model: c, Profile: c.Profile.Name, Name: c.Profile.Model, Window: facts.Window, Longest: facts.Answer,
		Vision: facts.Vision, Text: c.Profile.NoCalls,
	}
	if c.Profile.Key != nil {
		key, err := c.Profile.Key()
		b.Paid = err == nil && key != ""
	}
	if facts.Prices != nil {
		b.Price = facts.Cost
	}
	return b, nil
}

// Names implements agents.Backends.
func (m backends) Names() (names []string) {
	for _, p := range m.b.Settings.Now().Backends() {
		names = append(names, p.Name)
	}
	return names
}

// Worker implements agents.Backends.
func (m backends) Worker() (string, error) {
	name := m.b.Settings.Now().String("backend.worker")
	if name == "" {
		return "", tools.Errorf(tools.Unavailable, "the user names no model of their own (the setting backend.worker); do the task yourself")
	}
	return name, nil
}

// Try implements agents.Backends.
func (m backends) Try(ctx context.Context, profile string) error { return m.b.Try(ctx, profile) }

// Shadow implements agents.Shadows.
func (a around) Shadow(ctx context.Context, session, call string) (id, note string, err error) {
	w := a.c.Workspace()
	var sees workspace.Files = w.Live
	if s, err := a.c.Sessions.Get(session); err == nil && a.Mode(s.Mode()).SeesPending && w.Home.Queue != nil {
		sees = w.Home.Queue.For(pendingedits.Proposer{Session: session})
	}
	made, note, err := w.ShadowsForPeople().CreateFor(ctx, shadow.CreateRequest{IncludeUncommitted: true, Lazy: true, View: sees}, shadowsetup.By{Session: session, Call: call})
	if errors.Is(err, shadow.ErrUnusable) {
		return "", "", fmt.Errorf("%w: %w", agents.ErrNoShadow, err)
	}
	return made.ID, note, err
}

// ApplyChanges implements agents.Shadows. In a mode that asks about no edit, a sub-agent's
// were decided on when it made them.
func (a around) ApplyChanges(ctx context.Context, id, session, mode string, making func(workspace.Files, []workspace.Change) error) (files, conflicts []string, err error) {
	w := a.c.Workspace()
	into := w.Live
	straight := a.Mode(mode).Straight()
	if !straight {
		if w.Home.Queue == nil {
			return nil, nil, w.Home.QueueErr
		}
		into = w.Home.Queue.For(pendingedits.Proposer{Session: session, Tool: "spawn_agent", Batch: a.c.Batch(session)})
	}
	merged, err := w.Home.Shadows.MergeInto(ctx, id, checkpoint.Noted{View: into, Making: making}, straight)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range merged.Conflicts {
		conflicts = append(conflicts, c.Path+" ("+c.Reason+")")
	}
	for _, s := range merged.Skipped {
		conflicts = append(conflicts, s.Path+" ("+s.Reason+")")
	}
	return append([]string{}, merged.Merged...), conflicts, nil
}

// Changes implements agents.Shadows.
func (a around) Changes(ctx context.Context, id string) (agents.Changes, error) {
	d, err := a.c.Workspace().Home.Shadows.Diff(ctx, id)
	made := agents.Changes{Patch: d.Text}
	for _, f := range d.Files {
		made.Files, made.Added, made.Removed = append(made.Files, f.Path), made.Added+f.Added, made.Removed+f.Removed
	}
	return made, err
}

// Discard implements agents.Shadows.
func (a around) Discard(ctx context.Context, id string) error {
	_, err := a.c.Workspace().ShadowsForPeople().Discard(ctx, id)
	return err
}

// SubAgents implements agents.Workspace.
func (a around) SubAgents() int { return a.c.Settings.Now().Int("runs.subAgents") }

// Mode implements agents.Workspace.
func (a around) Mode(name string) policy.Mode {
	for _, m := range a.c.Settings.Modes() {
		if m.Name == name {
			return m
		}
	}
	return policy.Mode{}
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
func (a around) Folders(s *session.Session) []workspace.Folder {
	if s.Shadow != "" {
		return []workspace.Folder{{Name: ".", Dir: s.Root}}
	}
	return workspace.FoldersOf(a.c.Workspace().Disk)
}

// StepsRequired implements agents.Workspace.
func (a around) StepsRequired() bool { return a.c.Settings.Now().Bool("steps.required") }

// Through is a user whom agents of ours ask in their runs, and others as before.
func (a *Agents) Through(u app.User) app.User {
	q := asks{a, u.Approver, u.People}
	u.Approver, u.People, u.Team, u.Plans = q, q, team{a}, team{a}
	return u
}

type asks struct {
	agents   *Agents
	approver dispatch.Approver
	people   asking.People
}

// Approve implements dispatch.Approver.
func (a asks) Approve(ctx context.Context, ask dispatch.Ask) (dispatch.Answer, error) {
	if m := a.agents.Opened(); m != nil {
		if answer, ok, err := m.Approve(ctx, ask); ok {
			return answer, err
		}
	}
	return a.approver.Approve(ctx, ask)
}

// Ask implements asking.People.
func (a asks) Ask(ctx context.Context, q asking.Question) (string, bool, error) {
	if m := a.agents.Opened(); m != nil {
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

// Opened is the manager, if the runs are open.
func (a *Agents) Opened() *agents.Manager {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.m
}
