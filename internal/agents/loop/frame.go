package loop

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// frameNow keeps how requests begin, when that is another way than before. It stays the
// same as long as it can, because what providers have cached of a conversation is lost
// with it: instructions are made once, tools keep their places, new ones come last.
func (a *Agent) frameNow() error {
	list, err := a.learn()
	if err != nil {
		return err
	}
	b, err := a.host.Backend(a.profileNow())
	if err != nil {
		return err
	}
	a.mu.Lock()
	old := a.transcript.frame
	a.mu.Unlock()
	next := frame(b, list, old, a.host.Facts)
	if old != nil {
		if next.Why = next.differs(*old); next.Why == "" {
			return nil
		}
	}
	if err := a.keep(Item{Kind: Framed, Frame: &next}); err != nil {
		return err
	}
	if old != nil {
		a.emit(conversation.Event{Kind: conversation.Note, Reason: "cache", Text: "What the provider has cached of the conversation is lost: " + next.Why})
	}
	if old == nil || old.Profile != next.Profile || old.Model != next.Model {
		a.emit(conversation.Event{Kind: conversation.Note, Reason: "chosen", Model: b.Profile})
		a.noteUnpriced(b)
	}
	return nil
}

// frame is how requests begin now. facts are asked for when a conversation begins.
func frame(b Backend, list []Tool, old *Frame, facts func() Facts) Frame {
	next := Frame{Profile: b.Profile, Model: b.Name}
	if old == nil {
		f := facts()
		f.Tools, f.Small = list, b.Text
		next.System, next.Why = Instructions(f), "begin"
	} else {
		next.System = old.System
	}
	next.Tools = inPlace(old, list)
	if b.Text {
		next.ToolText = toolText(next.Tools)
	}
	return next
}

func (t Tool) model() model.Tool {
	return model.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema}
}

// inPlace are the tools as the model is offered them: those of before where they were.
func inPlace(old *Frame, list []Tool) []model.Tool {
	var next []model.Tool
	placed := map[string]bool{}
	if old != nil {
		for _, t := range old.Tools {
			if i := slices.IndexFunc(list, func(n Tool) bool { return n.Name == t.Name }); i >= 0 {
				next = append(next, list[i].model())
				placed[t.Name] = true
			}
		}
	}
	for _, t := range list {
		if !placed[t.Name] {
			next = append(next, t.model())
		}
	}
	return next
}

// differs says in what f is another frame than old; "" if it is not.
func (f *Frame) differs(old Frame) string {
	var why []string
	if f.Profile != old.Profile || f.Model != old.Model {
		why = append(why, "another model")
	}
	if !slices.EqualFunc(f.Tools, old.Tools, func(x, y model.Tool) bool {
		return x.Name == y.Name && x.Description == y.Description && bytes.Equal(x.Schema, y.Schema)
	}) || f.ToolText != old.ToolText {
		why = append(why, "other tools")
	}
	return strings.Join(why, ", ")
}
