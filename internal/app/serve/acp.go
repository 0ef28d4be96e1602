package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/acpserver"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// ServeACP serves a client of the Agent Client Protocol with our own agent, until it has
// gone. Mode and model are those of new sessions: "" is review, and the active profile.
func (a *Agents) ServeACP(ctx context.Context, rw io.ReadWriteCloser, mode, model string) error {
	w := a.client.Workspace()
	if w == nil {
		return errors.New("agents need a folder: open one")
	}
	return acpserver.Serve(ctx, rw, acpserver.Options{
		Agents: acpAgents{a}, Workspace: acpWorkspace{a.client, w}, Version: version.String(), Mode: mode, Model: model, Log: a.client.Log(),
	})
}

// Working reports whether an agent does something, or waits for people.
func (a *Agents) Working() bool {
	m := a.Opened()
	if m == nil {
		return false
	}
	for _, i := range m.Runs(false) {
		if i.State == conversation.Running || i.State == conversation.Waiting && i.Attached {
			return true
		}
	}
	return false
}

// acpAgents are the runs of our own agent, as the protocol knows them.
type acpAgents struct{ a *Agents }

func (g acpAgents) Begin(mode, model string) (*conversation.Run, error) {
	m, err := g.a.Manager()
	if err != nil {
		return nil, err
	}
	return m.Begin(agents.Begin{Agent: agents.Builtin, Mode: mode, Model: model})
}

func (g acpAgents) Get(id string) (*conversation.Run, error) {
	m, err := g.a.Manager()
	if err != nil {
		return nil, err
	}
	run, err := m.Get(id)
	if err == nil && run.Info().Agent != agents.Builtin {
		return nil, fmt.Errorf("%w of our own agent: %q", conversation.ErrUnknown, id)
	}
	return run, err
}

func (g acpAgents) Wake(r *conversation.Run) error {
	m, err := g.a.Manager()
	if err != nil {
		return err
	}
	return m.Wake(r)
}

func (g acpAgents) Runs() (list []conversation.Info, err error) {
	m, err := g.a.Manager()
	if err != nil {
		return nil, err
	}
	for _, i := range m.Runs(false) {
		if i.Agent == agents.Builtin && i.Parent == "" {
			list = append(list, i)
		}
	}
	return list, nil
}

func (g acpAgents) SetMode(r *conversation.Run, mode string) error {
	s, err := g.a.client.Sessions.Get(r.Info().Session)
	if err != nil {
		return err
	}
	if err := s.SetMode(mode); err != nil {
		return err
	}
	if m := g.a.Opened(); m != nil {
		m.ModeSet(s.ID, s.Mode())
	}
	return nil
}

func (g acpAgents) SetModel(ctx context.Context, r *conversation.Run, model string) error {
	m, err := g.a.Manager()
	if err != nil {
		return err
	}
	return m.Choose(ctx, r, "", model)
}

// acpWorkspace is the workspace, as the protocol knows it.
type acpWorkspace struct {
	client *app.Client
	begun  *app.Workspace // with which the client has begun
}

// now is the workspace, or at the end the last one that is known.
func (w acpWorkspace) now() *app.Workspace {
	if now := w.client.Workspace(); now != nil {
		return now
	}
	return w.begun
}

func (w acpWorkspace) Folders() []string { return workspace.Dirs(w.now().Disk.Folders()) }

func (w acpWorkspace) Abs(name string) string { return w.now().Disk.Abs(name) }

func (w acpWorkspace) Modes() (all []acp.Mode) {
	for _, m := range w.client.Settings.Modes() {
		all = append(all, acp.Mode{ID: m.Name, Name: strings.ToUpper(m.Name[:1]) + m.Name[1:], Description: m.Help})
	}
	return all
}

func (w acpWorkspace) Models() (all []acp.Choice) {
	for _, p := range w.client.Settings.Now().Backends() {
		all = append(all, acp.Choice{Value: p.Name, Name: p.Name, Description: p.Model})
	}
	return all
}

func (w acpWorkspace) Model(name string) (string, error) {
	b, err := backends{w.client.Backends()}.Backend(name)
	return b.Profile, err
}

func (w acpWorkspace) Pending(name string) (old *string, text string, ok bool) {
	q := w.now().Home.Queue
	if q == nil {
		return nil, "", false
	}
	e, _, ok := q.Edit(name)
	if !ok {
		return nil, "", false
	}
	before, err := q.Text(name, pendingedits.Base)
	if err == nil {
		text, err = q.Text(name, pendingedits.Proposed)
	}
	if e.Kind != "create" {
		old = &before
	}
	return old, text, err == nil // somebody may have decided on it just now
}
