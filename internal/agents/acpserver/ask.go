package acpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// byClient is who answers here.
const byClient = "acp"

// declined is the answer of who wants to give none to a question that takes any text.
const declined = "The user does not want to answer."

// question is one of a run of the session: its own, or that of a sub-agent.
type question struct {
	run *conversation.Run
	conversation.Event
}

func (q question) key() string { return q.run.ID() + " " + q.Question }

// question hears that something is asked, or was answered.
func (t *session) question(q question) {
	if q.Kind == conversation.Asked {
		t.ask(q)
		return
	}
	t.mu.Lock()
	cancel := t.asks[q.key()]
	if t.asked != nil && t.asked.key() == q.key() {
		t.asked = nil
	}
	t.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// attend asks what the sub-agent asks that an event names. What it says and does is told
// by the call that has started it.
func (t *session) attend(e conversation.Event) {
	if e.Kind != conversation.Child {
		return
	}
	run, err := t.server.o.Agents.Get(e.Child)
	if err != nil {
		t.server.o.Log.Warn("a sub-agent is not known", "run", e.Child, "error", err)
		return
	}
	t.over.Go(func() {
		events := run.Subscribe(0)
		for {
			e, err := events.Next(t.base)
			if err != nil {
				return
			}
			switch e.Kind {
			case conversation.Asked, conversation.Answered:
				open := slices.ContainsFunc(run.Open(), func(o conversation.Event) bool { return o.Question == e.Question })
				if e.Call != nil { // its calls count from 1 as those of its caller do
					call := *e.Call
					call.ID = run.ID() + "." + call.ID
					e.Call = &call
				}
				if open || e.Kind == conversation.Answered {
					t.question(question{run, e})
				}
			case conversation.Child:
				t.attend(e)
			}
		}
	})
}

// ask asks the client's user what the agent asks, once. An answer that comes from
// elsewhere takes the question back.
func (t *session) ask(q question) {
	t.mu.Lock()
	if t.asks[q.key()] != nil || t.asked != nil && t.asked.key() == q.key() {
		t.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(t.base)
	t.asks[q.key()] = cancel
	t.mu.Unlock()
	t.over.Go(func() {
		defer func() {
			cancel()
			t.mu.Lock()
			delete(t.asks, q.key())
			t.mu.Unlock()
		}()
		answer, err := t.answer(ctx, q.Event)
		switch {
		case ctx.Err() != nil, errors.Is(err, errGone):
		case err != nil: // the client can't ask that
			t.server.o.Log.Warn("the client does not ask", "error", err)
			t.askInText(q)
		case answer == "":
			t.run.Cancel()
		default:
			_ = q.run.Answer(q.Question, answer, byClient) // somebody else may have answered
		}
	})
}

// answer is what the client's user answers; "" stops the agent.
func (t *session) answer(ctx context.Context, q conversation.Event) (string, error) {
	permission := len(q.Options) > 0 && q.Options[0].Kind != ""
	switch {
	case !permission && t.can.Elicitation.Form != nil:
		return t.elicit(ctx, q)
	case len(q.Options) > 0 && !q.Custom:
		return t.permit(ctx, q)
	}
	return "", fmt.Errorf("it has no form for a question that takes any text")
}

// permit asks with session/request_permission.
func (t *session) permit(ctx context.Context, q conversation.Event) (string, error) {
	type permission struct {
		ID   string `json:"optionId"`
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	var all []permission
	for _, o := range q.Options {
		p := permission{o.ID, o.Label, o.Kind}
		if !slices.Contains([]string{"allow_once", "allow_always", "reject_once", "reject_always"}, p.Kind) {
			p.Kind = "allow_once" // a choice that permits nothing
		}
		all = append(all, p)
	}
	var said struct {
		Outcome struct {
			Outcome  string
			OptionID string
		}
	}
	err := t.server.conn.Call(ctx, "session/request_permission", map[string]any{
		"sessionId": t.run.ID(), "options": all, "toolCall": t.teller.asking(q),
	}, &said)
	switch {
	case err != nil:
		return "", err
	case said.Outcome.Outcome == "cancelled": // so is the turn, as the protocol has it
		return "", nil
	case said.Outcome.Outcome == "selected" && slices.ContainsFunc(all, func(p permission) bool { return p.ID == said.Outcome.OptionID }):
		return said.Outcome.OptionID, nil
	}
	return "", fmt.Errorf("it answers a permission with %q, %q", said.Outcome.Outcome, said.Outcome.OptionID)
}

// elicit asks with a form.
func (t *session) elicit(ctx context.Context, q conversation.Event) (string, error) {
	type object = map[string]any
	fields, required := object{}, []string{}
	if len(q.Options) > 0 {
		var choices []object
		for _, o := range q.Options {
			choices = append(choices, object{"const": o.ID, "title": o.Label})
		}
		fields["choice"] = object{"type": "string", "title": "Answer", "oneOf": choices}
	}
	switch {
	case len(q.Options) == 0:
		fields["text"] = object{"type": "string", "title": "Answer"}
		required = []string{"text"}
	case q.Custom:
		fields["text"] = object{"type": "string", "title": "Another answer"}
	default:
		required = []string{"choice"}
	}
	params := object{
		"mode": "form", "sessionId": t.run.ID(), "message": q.Text,
		"requestedSchema": object{"type": "object", "properties": fields, "required": required},
	}
	if q.Call != nil && q.Call.ID != "" {
		params["toolCallId"] = q.Call.ID
	}
	var said struct {
		Action  string
		Content struct{ Choice, Text string }
	}
	if err := t.server.conn.Call(ctx, "elicitation/create", params, &said); err != nil {
		return "", err
	}
	free := len(q.Options) == 0 || q.Custom
	switch text := strings.TrimSpace(said.Content.Text); {
	case said.Action == "accept" && free && text != "":
		return text, nil
	case said.Action == "accept" && said.Content.Choice != "":
		return said.Content.Choice, nil
	case said.Action == "cancel" || !free:
		return "", nil
	}
	return declined, nil
}

// askInText asks in a message, whose answer is the next prompt: the turn ends for it.
func (t *session) askInText(q question) {
	t.tell(t.teller.question(q.Event)...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked = &q
	t.finish(ended{stop: acp.StopEndTurn})
}

// answerTo is the answer that a prompt is to a question: an option's number, label or id,
// or any text where that is one.
func answerTo(q *conversation.Event, text string) (string, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= len(q.Options) {
		return q.Options[n-1].ID, true
	}
	for _, o := range q.Options {
		if strings.EqualFold(text, o.Label) || text == o.ID {
			return o.ID, true
		}
	}
	return text, text != "" && (len(q.Options) == 0 || q.Custom)
}

func labels(q *conversation.Event) (all []string) {
	for i, o := range q.Options {
		all = append(all, fmt.Sprintf("%d (%s)", i+1, o.Label))
	}
	return all
}
