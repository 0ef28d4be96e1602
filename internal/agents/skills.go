package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// useSkill is the name of the tool by which an agent gets a skill.
const useSkill = "skill"

// knows are the skills of the agent's session that it can use, those of people first.
func (d *own) knows() []skills.Skill {
	list, _, err := d.m.o.Gate().List(dispatch.ListRequest{Session: d.session.ID, Model: true, Filter: tools.Filter{Allow: []string{useSkill}}})
	if err != nil || len(list) == 0 {
		return nil
	}
	found, err := d.m.o.Skills(context.Background(), d.session.ID)
	if err != nil {
		d.m.log.Warn("the skills can't be read", "error", err)
		return nil
	}
	usable := slices.DeleteFunc(found.Skills, func(s skills.Skill) bool { return s.Missing != "" })
	slices.SortStableFunc(usable, func(a, b skills.Skill) int { return order(a) - order(b) })
	return usable
}

func order(s skills.Skill) int {
	if s.Origin == skills.Shipped {
		return 1
	}
	return 0
}

// titles are skills as the instructions tell of them. What seems to instruct the model in
// a description is left to the skill's name.
func titles(list []skills.Skill) (out []loop.Skill) {
	for _, s := range list {
		one := loop.Skill{Name: s.Name, Description: strings.Join(strings.Fields(s.Description), " ")}
		if len(s.Flags) > 0 {
			one.Description = ""
		}
		out = append(out, one)
	}
	return out
}

// asksFor gets the skill that a prompt begins with, as in /release the next version, and
// has it told before the prompt. What begins so and names no skill is left as it is.
func (d *own) asksFor(ctx context.Context, items []conversation.Item) {
	for _, i := range items {
		word, _, _ := strings.Cut(strings.TrimSpace(i.Text), " ")
		word, _, _ = strings.Cut(word, "\n")
		name, is := strings.CutPrefix(word, "/")
		if !is || name == "" || skills.Slug(name) != strings.ReplaceAll(strings.ToLower(name), "_", "-") {
			continue
		}
		found, err := d.m.o.Skills(ctx, d.session.ID)
		if err != nil {
			continue
		}
		s, ok := found.Find(name)
		if !ok {
			continue
		}
		args, _ := json.Marshal(map[string]any{"name": s.Name, "again": true})
		res, err := d.m.o.Gate().Call(ctx, dispatch.Request{Name: useSkill, Arguments: args, Session: d.session.ID, Whole: true})
		switch {
		case err != nil:
			continue
		case !res.OK:
			d.tell(fmt.Sprintf("The user asks for the skill %s, and it could not be had: %s", s.Name, res.Content))
		default:
			d.tell(fmt.Sprintf("The user has you work by the skill %s; what follows the name in their words is the task:\n%s", s.Name, res.Content))
		}
	}
}

// tell has the model told something at its next step.
func (d *own) tell(text string) {
	if err := d.Note(text); err != nil {
		d.m.log.Warn("the model is not told something", "error", err)
	}
}

// maxOffered bounds the skills that views are told of, and maxOfferedText what is told of
// each, in bytes.
const (
	maxOffered     = 100
	maxOfferedText = 400
)

// offer tells views the skills that a prompt can begin with, as agents of other programs
// tell their commands, when they are others than before.
func (d *own) offer() {
	if d.run.Info().Parent != "" { // nobody prompts a sub-agent
		return
	}
	type command struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Input       struct {
			Hint string `json:"hint"`
		} `json:"input"`
	}
	list := []command{}
	for _, s := range d.knows() {
		if len(list) == maxOffered {
			break
		}
		c := command{Name: s.Name, Description: d.m.o.Show(s.Description)}
		if len(c.Description) > maxOfferedText {
			c.Description = strings.ToValidUTF8(c.Description[:maxOfferedText], "") + "…"
		}
		c.Input.Hint = "what to do by it"
		list = append(list, c)
	}
	raw, err := json.Marshal(map[string]any{"sessionUpdate": acp.CommandsChanged, "availableCommands": list})
	if err != nil {
		return
	}
	d.mu.Lock()
	same := d.offered == string(raw) || d.offered == "" && len(list) == 0
	d.offered = string(raw)
	d.mu.Unlock()
	if !same {
		_ = d.run.Emit(conversation.Event{Kind: conversation.Note, Reason: acp.CommandsChanged, Raw: raw})
	}
}
