package agents

import (
	"context"
	"errors"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
)

// hook runs the hooks of an event of a conversation with our own agent, and keeps what
// they tell the model. subject is what a matcher is compared with.
func (d *own) hook(ctx context.Context, in hooks.Input, subject ...string) hooks.Outcome {
	h := d.m.o.Hooks()
	if h == nil || !h.Active(in.Event, subject...) {
		return hooks.Outcome{}
	}
	in.Session, in.Dir, in.OurMode = d.session.ID, d.session.Root, d.session.Mode()
	in.Mode = hooks.Mode(d.m.o.Mode(in.OurMode))
	o := h.Run(ctx, in, subject...)
	for _, text := range o.Context {
		d.tell("A hook of the user's says: " + text)
	}
	return o
}

// begins tells hooks that the conversation begins, or goes on in this process.
func (d *own) begins(ctx context.Context) {
	d.mu.Lock()
	told := d.told
	d.told = true
	d.mu.Unlock()
	if told {
		return
	}
	source := "startup"
	if d.Begun() {
		source = "resume"
	}
	d.hook(ctx, hooks.Input{Event: hooks.SessionStart, Source: source}, source)
}

// submits tells hooks of a prompt of the user's. It returns why they hold it back, or "".
func (d *own) submits(ctx context.Context, items []conversation.Item) string {
	var text []string
	for _, i := range items {
		text = append(text, i.Text)
	}
	o := d.hook(ctx, hooks.Input{Event: hooks.UserPromptSubmit, Prompt: strings.Join(text, "\n")})
	switch {
	case o.Decision == hooks.Deny:
		return "A hook of the user's (" + o.By + ") holds this prompt back: " + o.Reason
	case o.Halt != "":
		return "A hook of the user's stopped the agent: " + o.Halt
	}
	return ""
}

// Shortening implements loop.Listener.
func (d *own) Shortening(ctx context.Context, itself bool) error {
	trigger := "manual"
	if itself {
		trigger = "auto"
	}
	if o := d.hook(ctx, hooks.Input{Event: hooks.PreCompact, Trigger: trigger}, trigger); o.Decision == hooks.Deny {
		return errors.New("a hook of the user's (" + o.By + ") keeps the conversation from being shortened: " + o.Reason)
	}
	return nil
}

// Stopping implements loop.Listener. The end of a sub-agent is told as such.
func (d *own) Stopping(ctx context.Context, last string, again bool) string {
	if d.team.depth(d.session.ID) > 0 {
		return ""
	}
	if o := d.hook(ctx, hooks.Input{Event: hooks.Stop, Last: last, StopActive: again}); o.Decision == hooks.Deny {
		return "A hook of the user's (" + o.By + ") says that you are not done: " + o.Reason
	}
	return ""
}

// spawns tells hooks of a sub-agent that is about to begin, with its task. It returns
// what they tell it, and why they hold it back.
func (d *own) spawns(ctx context.Context, id, task string) (more []string, held error) {
	h := d.m.o.Hooks()
	if h == nil || !h.Active(hooks.SubagentStart, Builtin) {
		return nil, nil
	}
	o := h.Run(ctx, hooks.Input{
		Event: hooks.SubagentStart, Session: d.session.ID, Dir: d.session.Root, OurMode: d.session.Mode(), Mode: hooks.Mode(d.m.o.Mode(d.session.Mode())),
		AgentID: id, AgentType: Builtin, Prompt: task,
	}, Builtin)
	if o.Decision == hooks.Deny {
		return nil, errors.New("a hook of the user's (" + o.By + ") holds the sub-agent back: " + o.Reason)
	}
	return o.Context, nil
}

// ended tells hooks that a sub-agent has ended.
func (d *own) ended(id, answer string) {
	d.hook(context.Background(), hooks.Input{Event: hooks.SubagentStop, AgentID: id, AgentType: Builtin, Last: answer}, Builtin)
}

var _ loop.Listener = (*own)(nil)
