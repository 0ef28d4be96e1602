package agents

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// recorder is a team that remembers what it is asked.
type recorder struct {
	task   Task
	by     Caller
	n      int
	late   time.Duration
	all    bool
	text   string
	choice Choice
}

func (r *recorder) Spawn(_ context.Context, by Caller, t Task) (Report, error) {
	r.by, r.task = by, t
	if t.Leave {
		return Report{ID: "run-a", End: "running"}, nil
	}
	return Report{ID: "run-a", End: "done", Answer: "it is done", Files: []string{"a.go"}, Conflicts: []string{"b.go (both changed it)"}, Shadow: "s1", Tokens: 7}, nil
}

func (r *recorder) Best(_ context.Context, _ Caller, task string, n int) (Choice, error) {
	r.task.Text, r.n = task, n
	return r.choice, nil
}

func (r *recorder) Delegate(_ context.Context, _ Caller, task string) (Report, error) {
	r.task.Text = task
	return Report{ID: "run-b", End: "failed", Answer: "no model answers"}, nil
}

func (r *recorder) List(Caller) ([]Member, error) { return nil, nil }

func (r *recorder) Send(_ Caller, id, text string) error {
	r.text = id + " " + text
	return nil
}

func (r *recorder) Wait(_ context.Context, _ Caller, _ []string, all bool, late time.Duration) ([]Member, error) {
	r.all, r.late = all, late
	return []Member{{ID: "run-a", Title: "look", State: "ended", End: "done", Answer: "one\ntwo", Seconds: 3, Tokens: 7}, {ID: "run-b", Title: "ask", State: "waiting", WaitingFor: "may I?"}}, nil
}

func (r *recorder) Cancel(_ Caller, id string) (Member, error) {
	return Member{ID: id, State: "ended"}, nil
}

// TestStraight: what was changed already does not wait for review.
func TestStraight(t *testing.T) {
	for straight, want := range map[bool]string{true: "Its changes are in the files, and wait for nobody: a.go", false: "Its changes wait for review: a.go"} {
		r := Report{ID: "run-a", Files: []string{"a.go"}, Straight: straight}
		team := &recorder{choice: Choice{Taken: []string{"run-a"}, Files: []string{"a.go"}, Straight: straight}}
		for from, text := range map[string]string{"spawn_agent": r.words(), "best_of": caller(t, Deps{Team: team})("best_of", `{"task":"x"}`)} {
			if !strings.Contains(text, want) {
				t.Errorf("%s says %q, want %q", from, text, want)
			}
		}
	}
}

func TestTools(t *testing.T) {
	team := &recorder{choice: Choice{Candidates: []Candidate{{Report: Report{ID: "run-a", End: "done", Files: []string{"a"}}, Added: 3, Removed: 1, Tests: "passed"}}, Taken: []string{"run-a"}, Files: []string{"a"}}}
	call := caller(t, Deps{Team: team})
	for _, one := range []struct{ name, args, want string }{
		{"spawn_agent", `{"task":" look ","context":"here"}`, "run-a is done. It used 7 tokens.\nIts changes wait for review: a.go\nNot taken over, because others changed the same places: b.go (both changed it). The shadow workspace s1 still has them.\nIts answer:\n\nit is done"},
		{"spawn_agent", `{"task":"look","wait":false}`, "run-a works."},
		{"spawn_agent", `{"task":"  "}`, "invalid_arguments: task: is empty"},
		{"spawn_agent", `{}`, "invalid_arguments"},
		{"spawn_agent", `{"task":"x","budget":{"steps":16}}`, "invalid_arguments"},
		{"best_of", `{"task":"x"}`, "1. run-a: done, 1 file, +3 -1 lines; tests: passed\nThe user took run-a. Its changes wait for review: a"},
		{"best_of", `{"task":"x","n":6}`, "invalid_arguments"},
		{"delegate_task", `{"task":"x","context":"y"}`, "command_failed: run-b failed: no model answers"},
		{"agent_list", `{}`, "There are none."},
		{"agent_send", `{"id":"run-a","text":"stop"}`, "run-a hears it at its next step."},
		{"agent_wait", `{"ids":["run-a"],"until":"any","timeout_s":5}`, "run-a: look, ended (done), 3 s, 7 tokens\n  one\n  two\nrun-b: ask, waiting, 0 s, 0 tokens\n  it asks the user: may I?"},
		{"agent_wait", `{"ids":[]}`, "invalid_arguments"},
		{"agent_wait", `{"ids":["a"],"until":"some"}`, "invalid_arguments"},
		{"agent_cancel", `{"id":"run-a"}`, "run-a: , ended, 0 s, 0 tokens"},
	} {
		if got := call(one.name, one.args); !strings.HasPrefix(got, one.want) {
			t.Errorf("%s %s: %q, want %q", one.name, one.args, got, one.want)
		}
	}
	if team.all || team.late != 5*time.Second || team.text != "run-a stop" || team.n != 3 || team.task.Text != "x\n\n# What you have to know\ny" {
		t.Errorf("the team was asked %+v", team)
	}
	for _, tool := range Tools(Deps{}) {
		if got := run(t, tool, string(tool.Manual().Example)); !strings.HasPrefix(got, "unavailable: ") {
			t.Errorf("with nothing to work with %s says %q", tool.Name, got)
		}
	}
}

func run(t *testing.T, tool *tools.Tool, args string) string {
	t.Helper()
	b, err := tool.Bind(json.RawMessage(args))
	var r tools.Result
	if err == nil {
		r, _, err = b.Run(t.Context(), &tools.Call{ID: "c", Session: "s"})
	}
	if err != nil {
		e := tools.AsError(err)
		return string(e.Code) + ": " + e.Message
	}
	return r.Text
}
