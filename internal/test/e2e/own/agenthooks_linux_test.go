package own_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestOwnAgentHooks: hooks hear of a conversation with our own agent and of its
// sub-agents: they tell it something, hold a prompt and a sub-agent back, and have it go on.
func TestOwnAgentHooks(t *testing.T) {
	stop := e2e.Script(t, "stop.sh", `#!/bin/sh
grep -q '"stop_hook_active":true' || { echo "the tests were not run" >&2; exit 2; }
`)
	says := func(event, command string) []e2e.Object {
		return []e2e.Object{{"hooks": []e2e.Object{{"type": "command", "command": command}}}}
	}
	hooked := e2e.Object{
		"SessionStart":     says("SessionStart", "echo use tabs"),
		"UserPromptSubmit": says("UserPromptSubmit", `grep -q password && { echo "no passwords here" >&2; exit 2; }; true`),
		"SubagentStart":    says("SubagentStart", `grep -q task-held && { echo "not that one" >&2; exit 2; }; echo '{"hookSpecificOutput": {"hookEventName": "SubagentStart", "additionalContext": "be brief"}}'`),
		"Stop":             says("Stop", stop),
		"PreToolUse":       says("PreToolUse", `grep -q forbidden && { echo "not this one" >&2; exit 2; }; true`),
	}
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"}, e2e.Object{"hooks": hooked})
	e2e.Committed(t, dir)
	r := e2e.WorldIn(t, dir)
	c := r.Agent("begin", e2e.Ours)
	k := &e2e.Talks{T: t, Model: model}
	turn := k.Of("begin")
	if !strings.Contains(turn.Body, "A hook of the user's says: use tabs") {
		t.Errorf("what a hook says at the start is not told: %s", turn.Body)
	}
	turn.CallAllOwn(
		clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "task-held"}},
		clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "task-free"}},
		clients.Called{Tool: "write_file", Args: e2e.Object{"path": "forbidden.txt", "content": "x"}},
	)
	child := k.Of("You are a sub-agent")
	if !strings.Contains(child.Body, "task-free") || !strings.Contains(child.Body, "be brief") {
		t.Errorf("the sub-agent is told %s", child.Body)
	}
	child.CallOwn("write_file", e2e.Object{"path": "forbidden.txt", "content": "x"})
	if child = k.Of("You are a sub-agent"); !strings.Contains(child.Body, "not this one") {
		t.Errorf("a hook does not hold for a sub-agent: %s", child.Body)
	}
	child.Say("the child is done")
	turn = k.Of("the child is done")
	if !strings.Contains(turn.Body, "not that one") || strings.Count(turn.Body, "not this one") == 0 {
		t.Errorf("its caller is told %s", turn.Body)
	}
	_, cursor, ok := strings.Cut(turn.Body, "read_result with the cursor ")
	if cursor, _, _ = strings.Cut(cursor, `\n`); !ok {
		t.Fatalf("its caller has no transcript: %s", turn.Body)
	}
	turn.CallOwn("read_result", e2e.Object{"cursor": cursor})
	if turn = k.Of("begin"); !strings.Contains(turn.Result, "assistant: the child is done") || !strings.Contains(turn.Result, "[write_file failed]") {
		t.Errorf("the transcript is %q", turn.Result)
	}
	turn.Say("all is done")
	turn = k.Of("the tests were not run")
	turn.Say("now all is done")
	if reason, why, said := c.Stopped(1); reason != told.Done || said != "all is donenow all is done" {
		t.Errorf("it ended by %s: %s: %s", reason, why, said)
	}
	if _, err := os.Stat(filepath.Join(dir, "forbidden.txt")); err == nil {
		t.Error("what a hook denies is there")
	}
	r.IsQueued()

	c.Tell("my password is x", nil)
	if reason, _, _ := c.Stopped(2); reason != told.Refused {
		t.Errorf("a prompt that is held back ends by %s", reason)
	}
	c.Tell("go on", nil)
	if turn = k.Of("go on"); strings.Contains(turn.Body, "my password is x") || strings.Count(turn.Body, "use tabs") != 1 {
		t.Errorf("the model is told %s", turn.Body)
	}
	turn.End()
	turn = k.Of("the tests were not run")
	turn.End()
	c.Stopped(3)
}
