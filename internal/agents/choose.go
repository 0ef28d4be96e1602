package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/acpdriver"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// choicesOf are what a setting of the agent's can be, by the setting's category.
func choicesOf(s *acp.Session, category string) (list []Choice) {
	for _, o := range s.Config {
		if o.Category != category {
			continue
		}
		for _, c := range o.Choices {
			list = append(list, Choice{ID: c.Value, Title: c.Name, Description: c.Description})
		}
		break
	}
	return list
}

// modesOf are the agent's own modes, however it offers them.
func modesOf(s *acp.Session) []Choice {
	if list := choicesOf(s, "mode"); list != nil || s.Modes == nil {
		return list
	}
	var list []Choice
	for _, m := range s.Modes.Available {
		list = append(list, Choice{ID: m.ID, Title: m.Name, Description: m.Description})
	}
	return list
}

// tellChosen tells which mode and model the agent has.
func (c *external) tellChosen(options []acp.ConfigOption) {
	if mode, model := acpdriver.Chosen(options); mode != "" || model != "" {
		c.tell(conversation.Event{Kind: conversation.Note, Reason: "chosen", AgentMode: mode, Model: model})
	}
}

// choose implements driver.
func (c *external) choose(ctx context.Context, category, value string) error {
	a, err := c.started(ctx)
	if err != nil {
		return err
	}
	return c.chooseOf(ctx, a, category, value)
}

func (c *external) chooseOf(ctx context.Context, a *agent, category, value string) error {
	list := choicesOf(a.session, category)
	if category == "mode" {
		list = modesOf(a.session)
	}
	if !slices.ContainsFunc(list, func(ch Choice) bool { return ch.ID == value }) {
		var names []string
		for _, ch := range list {
			names = append(names, ch.ID)
		}
		return fmt.Errorf("%s has no %s %q; it has %s", c.profile.Title, category, value, strings.Join(names, ", "))
	}
	for _, o := range a.session.Config {
		if o.Category == category {
			options, err := a.session.SetConfig(ctx, o.ID, value)
			if err == nil {
				c.tellChosen(options)
			}
			return err
		}
	}
	if err := a.session.SetMode(ctx, value); err != nil {
		return err
	}
	c.tell(conversation.Event{Kind: conversation.Note, Reason: "chosen", AgentMode: value})
	return nil
}

// Choose has the agent of a run work in another of its own modes, or with another
// model; "" leaves that as it is.
func (m *Manager) Choose(ctx context.Context, run *conversation.Run, mode, model string) error {
	if err := m.Wake(run); err != nil {
		return err
	}
	d := m.runs.driver(run)
	if d == nil {
		return conversation.ErrEnded
	}
	for _, one := range []struct{ category, value string }{{"mode", mode}, {"model", model}} {
		if one.value != "" {
			if err := d.choose(ctx, one.category, one.value); err != nil {
				return err
			}
		}
	}
	return nil
}
