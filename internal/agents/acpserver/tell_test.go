package acpserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// inShort is what a client was told, a line for each update.
func inShort(t *testing.T, updates []map[string]any) string {
	t.Helper()
	var b strings.Builder
	for _, u := range updates {
		line, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// TestTold: each kind of event is told in the protocol's words.
func TestTold(t *testing.T) {
	h := newHost(t)
	conn := h.serve()
	p := newPeer(t, conn, conn)
	id := p.open(h.dir, object{})
	seen := make(chan bool)
	h.do <- func(_ context.Context, r *conversation.Run, _ []conversation.Item) (string, error) {
		call := &conversation.Call{ID: "c1", Tool: "write_file", Title: "Write: new.txt"}
		ended := *call
		ended.Outcome, ended.Locations = "completed", []conversation.Location{{Path: "new.txt", Line: 3}}
		for _, e := range []conversation.Event{
			{Kind: conversation.Thought, Message: "a-thought", Delta: "hm"},
			{Kind: conversation.Text, Role: "assistant", Message: "a", Delta: "broken off"},
			{Kind: conversation.Note, Reason: conversation.Withdrawn, Message: "a", Text: "the provider hung up"},
			{Kind: conversation.Text, Role: "assistant", Message: "a", Delta: "whole"},
			{Kind: conversation.Text, Role: "assistant", Message: "a", Text: "whole and more"},
			{Kind: conversation.CallProposed, Call: call},
			{Kind: conversation.CallStarted, Call: call},
			{Kind: conversation.CallOutput, Call: &conversation.Call{ID: "c1"}, Text: "wrote it"},
			{Kind: conversation.CallFinished, Call: &ended},
			{Kind: conversation.Plan, Plan: []conversation.PlanEntry{{Text: "first", Status: "odd"}}},
			{Kind: conversation.UsageNow, Usage: &conversation.Usage{Used: 5}},
			{Kind: conversation.UsageNow, Usage: &conversation.Usage{Used: 5, Size: 100, Cost: 0.5, Currency: "USD"}},
			{Kind: conversation.Note, Reason: "title", Title: "A title"},
			{Kind: conversation.Note, Reason: "mode", Mode: "review"},
			{Kind: conversation.Compaction, Text: "shortened"},
		} {
			if err := r.Emit(e); err != nil {
				return "", err
			}
			if e.Delta != "" {
				<-seen // who is slow is told the whole alone
			}
		}
		return conversation.Budget, nil
	}
	p.send(1, "session/prompt", prompt(id, "go"))
	for _, text := range []string{`"hm"`, `"broken off"`, `"whole"`} {
		p.told(text)
		seen <- true
	}
	if m := p.next(); m["error"] != nil || m["result"].(object)["stopReason"] != "max_turn_requests" {
		t.Errorf("it stopped with %v", m)
	}
	told := inShort(t, p.raw)
	rest := told
	for _, want := range []string{
		`"text":"hm"`, `"messageId":"a-thought"`,
		`"text":"broken off"`, `"messageId":"a","sessionUpdate":"agent_message_chunk"`,
		`does not hold. It is told anew if the model answers again. the provider hung up]`,
		`"text":"whole","type":"text"},"messageId":"a.2"`, `"text":" and more","type":"text"},"messageId":"a.2"`,
		`"kind":"other"`, `"sessionUpdate":"tool_call","status":"pending","title":"Write: new.txt","toolCallId":"c1"`,
		`"sessionUpdate":"tool_call_update","status":"in_progress"`,
		`"text":"wrote it"`, `"newText":"new","oldText":null,"path":"` + h.dir + `/new.txt","type":"diff"`, `waits for your review`, `"locations":[{"line":3,"path":"` + h.dir + `/new.txt"}]`, `"status":"completed"`,
		`"entries":[{"content":"first","priority":"medium","status":"pending"}]`,
		`"cost":{"amount":0.5,"currency":"USD"},"sessionUpdate":"usage_update","size":100,"used":5`,
		`"sessionUpdate":"session_info_update","title":"A title"`,
		`"currentModeId":"review"`, `"configOptions":[`,
		`"text":"shortened"`,
	} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("no %s (in its place) in\n%s", want, told)
		}
		rest = after
	}
	if n := strings.Count(told, `"usage_update"`); n != 1 {
		t.Errorf("it is told %d usages: a window that is not known is none", n)
	}
	if strings.Contains(told, "user_message_chunk") {
		t.Errorf("the client is told its own prompt:\n%s", told)
	}

	// What failed is an error of the prompt, and the session goes on.
	h.do <- func(context.Context, *conversation.Run, []conversation.Item) (string, error) {
		return "", errors.New("no answer")
	}
	p.send("failing", "session/prompt", prompt(id, "again"))
	if m := p.next(); m["error"] == nil || !strings.Contains(m["error"].(object)["message"].(string), "no answer") {
		t.Errorf("a failure is told as %v", m)
	}
	h.do <- func(context.Context, *conversation.Run, []conversation.Item) (string, error) {
		return conversation.Refused, nil
	}
	if got := p.ask("session/prompt", prompt(id, "again"))["stopReason"]; got != "refusal" {
		t.Errorf("it stopped for %v", got)
	}
}

// TestNotices: a client that has notices gets one for what is no message of the agent's.
func TestNotices(t *testing.T) {
	h := newHost(t)
	conn := h.serve()
	p := newPeer(t, conn, conn)
	id := p.open(h.dir, object{"session": object{"notices": object{}, "compaction": object{}}})
	h.do <- func(_ context.Context, r *conversation.Run, _ []conversation.Item) (string, error) {
		err := errors.Join(
			r.Emit(conversation.Event{Kind: conversation.Note, Reason: conversation.Withdrawn, Message: "a", Text: "it is busy"}), // nothing was shown
			r.Emit(conversation.Event{Kind: conversation.Compaction, Text: "shortened"}))
		return "", err
	}
	p.ask("session/prompt", prompt(id, "go"))
	told := inShort(t, p.raw)
	if !strings.Contains(told, `"description":"it is busy","sessionUpdate":"notice","severity":"warning"`) || strings.Contains(told, "does not hold") || !strings.Contains(told, `"sessionUpdate":"compaction_update","status":"completed"`) {
		t.Error(told)
	}
}

// TestAnswerTo: what people type is an option, by number, label or id, or a text.
func TestAnswerTo(t *testing.T) {
	options := []conversation.Option{{ID: "allow_once", Label: "Allow"}, {ID: "reject_once", Label: "Deny"}}
	for _, c := range []struct {
		options []conversation.Option
		custom  bool
		text    string
		want    string
		ok      bool
	}{
		{options, false, " 2 ", "reject_once", true},
		{options, false, "allow", "allow_once", true},
		{options, false, "reject_once", "reject_once", true},
		{options, false, "3", "3", false},
		{options, false, "why?", "why?", false},
		{options, true, "why?", "why?", true},
		{nil, false, "CONFIRM", "CONFIRM", true},
		{nil, false, "  ", "", false},
	} {
		if got, ok := answerTo(&conversation.Event{Options: c.options, Custom: c.custom}, c.text); got != c.want || ok != c.ok {
			t.Errorf("%q: %q, %v, want %q, %v", c.text, got, ok, c.want, c.ok)
		}
	}
}
