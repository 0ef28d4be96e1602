package acpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// state is how a session works, as a client chooses it. Clients of late show the config
// options alone, others the modes.
type state struct {
	Modes  acp.Modes `json:"modes"`
	Config []option  `json:"configOptions"`
}

// option is a choice of a session.
type option struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Help     string   `json:"description,omitempty"`
	Category string   `json:"category"`
	Type     string   `json:"type"`
	Value    string   `json:"currentValue"`
	Choices  []choice `json:"options"`
}

type choice struct {
	Value string `json:"value"`
	Name  string `json:"name"`
	Help  string `json:"description,omitempty"`
}

// The options' ids, which are their categories too.
const (
	modeOption  = "mode"
	modelOption = "model"
)

func (t *session) state() state {
	w, i := t.server.o.Workspace, t.run.Info()
	active, _ := w.Model("") // one that can't be asked is told when it is prompted
	st := state{Modes: acp.Modes{Current: i.Mode, Available: w.Modes()}}
	modes := option{ID: modeOption, Name: "Mode", Help: "What happens to changes, and what is asked about", Category: modeOption, Type: "select", Value: i.Mode}
	for _, m := range st.Modes.Available {
		modes.Choices = append(modes.Choices, choice{m.ID, m.Name, m.Description})
	}
	models := option{ID: modelOption, Name: "Model", Help: "A profile of the setting backend.profiles", Category: modelOption, Type: "select", Value: cmp.Or(i.Model, t.server.o.Model, active)}
	for _, m := range w.Models() {
		models.Choices = append(models.Choices, choice{m.Value, m.Name, m.Description})
	}
	st.Config = []option{modes, models}
	return st
}

func (s *server) setMode(_ context.Context, params json.RawMessage) (any, error) {
	t, err := s.session(params)
	if err != nil {
		return nil, err
	}
	p, err := read[struct{ ModeID string }](params)
	if err != nil {
		return nil, err
	}
	return nil, t.useMode(p.ModeID)
}

func (t *session) useMode(mode string) error {
	if err := t.server.o.Agents.SetMode(t.run, mode); err != nil {
		return acp.Errorf(acp.CodeInvalidParams, "%s", err)
	}
	return nil
}

func (s *server) setConfig(ctx context.Context, params json.RawMessage) (any, error) {
	t, err := s.session(params)
	if err != nil {
		return nil, err
	}
	p, err := read[struct {
		ConfigID string
		Value    string
	}](params)
	if err != nil {
		return nil, err
	}
	switch p.ConfigID {
	case modeOption:
		err = t.useMode(p.Value)
	case modelOption:
		if err = s.o.Agents.SetModel(ctx, t.run, p.Value); err != nil {
			err = acp.Errorf(acp.CodeInvalidParams, "%s", err)
		}
	default:
		err = acp.Errorf(acp.CodeInvalidParams, "there is no option %.100q: there are %s and %s", p.ConfigID, modeOption, modelOption)
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"configOptions": t.state().Config}, nil
}

// changedAt is when something last happened in a run.
func (s *server) changedAt(i conversation.Info) string {
	at := i.OpenedAt
	if run, err := s.o.Agents.Get(i.Run); err == nil {
		if last, _, err := run.History(0, math.MaxInt64, 1); err == nil && len(last) > 0 {
			at = last[0].Time
		}
	}
	return at.UTC().Format(time.RFC3339)
}
