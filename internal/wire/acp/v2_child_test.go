package acp

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestSubAgents2: what a sub-agent does in a session of its own is told as the work of a
// call, and it asks as its parent does. Nobody else's session is taken for one.
func TestSubAgents2(t *testing.T) {
	w, c, a, s := dial2(t)
	w.permit = func(context.Context, PermissionRequest) (string, error) { return "yes", nil }
	told := func(want func(Update) bool) {
		t.Helper()
		if u := get(t, w.updates); u.Session != "s1" || !want(u) {
			t.Errorf("told %+v", u)
		}
	}
	ask := func(session string) wire {
		return a.ask("1", "session/request_permission", fmt.Sprintf(`{"sessionId":%q,"title":"?","options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}`, session))
	}
	if got := ask("k1"); got.Error == nil {
		t.Errorf("a session that is not announced asks: %s", got.line)
	}
	a.update("s1", "subagent_update", `"sessionId":"k1","title":"Look","state":{"state":"running"}`)
	told(func(u Update) bool {
		return u.Tool.ID == "k1" && u.Tool.Title == "Look" && u.Tool.Status == StatusInProgress && u.Parent == ""
	})
	if got := ask("k1"); !strings.Contains(got.line, `"optionId":"yes"`) {
		t.Errorf("it asks in vain: %s", got.line)
	}
	prompt, end := prompting(t, s, a)
	a.takes(prompt, "u")
	a.runs("s1")
	a.update("k1", "user_message", `"messageId":"t","content":[{"type":"text","text":"look"}]`)
	told(func(u Update) bool { return u.Kind == UserMessage && u.Parent == "k1" })
	a.update("k1", "tool_call_update", `"toolCallId":"c","title":"ls"`)
	told(func(u Update) bool { return u.Tool.ID == "c" && u.Parent == "k1" })
	a.update("k1", "subagent_update", `"sessionId":"k2","title":"Deeper"`)
	told(func(u Update) bool { return u.Tool.ID == "k2" && u.Parent == "k1" })
	a.update("k2", "agent_message_chunk", `"messageId":"m","content":{"type":"text","text":"x"}`)
	told(func(u Update) bool { return u.Chunk.Content.Text == "x" && u.Parent == "k2" })
	// What is its own is not the parent's, and its end is not the turn's.
	a.update("k1", "config_option_update", `"configOptions":[]`)
	a.update("k1", "usage_update", `"used":1,"size":2`)
	a.idles("k1", "end_turn")
	a.update("k1", "subagent_update", `"sessionId":"k1"`)
	a.update("s1", "subagent_update", `"sessionId":"k1","state":{"state":"idle","stopReason":"cancelled"}`)
	told(func(u Update) bool { return u.Tool.ID == "k1" && u.Tool.Status == StatusFailed })
	select {
	case e := <-end:
		t.Errorf("the turn ended with %q, %v", e.Reason, e.err)
	default:
	}
	for _, id := range []string{"s1", "", strings.Repeat("x", maxID+1)} {
		a.update("s1", "subagent_update", fmt.Sprintf(`"sessionId":%q`, id))
		told(func(u Update) bool { return u.Err != nil && u.Tool == nil })
	}
	a.idles("s1", "end_turn")
	get(t, end).want(t, StopEndTurn)

	w.onUpdate = func(Update) {}
	for i := range 2 * maxChildren {
		a.update("s1", "subagent_update", fmt.Sprintf(`"sessionId":"many-%d"`, i))
	}
	a.synced()
	c.mu.Lock()
	if len(c.children) != maxChildren {
		t.Errorf("%d sub-agents are known", len(c.children))
	}
	c.mu.Unlock()
	go func() { a.reply(a.expect("session/close"), `{}`) }()
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got := ask("k1"); got.Error == nil {
		t.Errorf("the sub-agent of a closed session asks: %s", got.line)
	}
}
