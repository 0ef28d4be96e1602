package team_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestSubAgentIsSetUp: the shadow of a sub-agent has what the setup makes before it begins, by
// its caller's mode; the caller's run asks, and the sub-agent reads what went wrong.
func TestSubAgentIsSetUp(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{".gitignore": "/node_modules\n", "package.json": "{}\n", "package-lock.json": "{\"v\": 1}\n"}, e2e.Object{
		"shadow.setup": []any{e2e.Object{"run": "mkdir -p node_modules; cp package-lock.json node_modules/marker", "when": []string{"package-lock.json"}}},
		"commandRules": []e2e.Object{{"prefix": []string{"cp"}, "decision": "ask"}},
	})
	e2e.Committed(t, dir)
	r := e2e.WorldIn(t, dir)
	k := &e2e.Talks{T: t, Model: model}
	c := r.Agent("set it up", e2e.Ours)
	turn := k.Of("set it up")
	turn.CallOwn("spawn_agent", e2e.Object{"task": "task-good"})
	q := c.Asked()
	if q.Call == nil || !strings.Contains(q.Call.Title, "cp package-lock.json node_modules/marker") {
		t.Errorf("%+v", q)
	}
	c.Reply(q, "allow_once")
	child := k.Of("task-good")
	if strings.Contains(child.Body, "The setup of your working tree") {
		t.Error("a sub-agent is told of a setup that is done")
	}
	child.CallOwn("read_file", e2e.Object{"path": "node_modules/marker"})
	child = k.Of("task-good")
	if !strings.Contains(child.Result, `"v": 1`) {
		t.Errorf("the sub-agent has no marker: %q", child.Result)
	}
	child.Say("good is done")
	turn = k.Of("set it up")
	r.IsQueued() // what is ignored is no change

	// A person says no: the sub-agent begins all the same, and knows.
	turn.CallOwn("spawn_agent", e2e.Object{"task": "task-bad"})
	c.Reply(c.Asked(), "reject_once")
	child = k.Of("task-bad")
	if !strings.Contains(child.Body, "The setup of your working tree is failed at `mkdir") {
		t.Errorf("it does not know: %s", child.Body)
	}
	child.Say("bad is done")
	k.Of("set it up").End()
	if left, err := os.ReadDir(filepath.Join(dir, ".sidecar", "shadows")); err == nil {
		for _, e := range left {
			if !strings.HasPrefix(e.Name(), ".") {
				t.Errorf("%s is left", e.Name())
			}
		}
	}
}
