package team_test

import (
	"fmt"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

func declared(n int, action string) clients.Called {
	return clients.Called{Tool: "declare_step", Args: e2e.Object{"step_number": n, "title": fmt.Sprintf("Step %d", n), "action": action, "success_criteria": "it works"}}
}

func verifies(n int, passed bool) clients.Called {
	return clients.Called{Tool: "verify_step", Args: e2e.Object{"step_number": n, "passed": passed, "observation": fmt.Sprintf("passed: %v", passed)}}
}

// TestSteps: where the user wants steps, our agent changes nothing outside of one; what
// failed is not tried again in the same way, and the run shows it all.
func TestSteps(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"}, e2e.Object{"steps.required": true})
	r := e2e.WorldIn(t, dir)
	c := r.Agent("step by step", e2e.Ours)
	turn := e2e.Next(t, model)
	for _, name := range []string{"declare_step", "verify_step", "claim_complete", "abort_with_report", "write_todos"} {
		if !strings.Contains(turn.Body, `"name":"`+name+`"`) {
			t.Errorf("it is not offered %s", name)
		}
	}
	write := clients.Called{Tool: "write_file", Args: e2e.Object{"path": "a.txt", "content": "two\n"}}
	turn.CallAllOwn(write, clients.Called{Tool: "read_file", Args: e2e.Object{"path": "a.txt"}})
	turn = e2e.Next(t, model)
	if !strings.Contains(turn.Body, "declare what you do next with declare_step") || !strings.Contains(turn.Body, `one\n`) {
		t.Errorf("without a step it reads %.3000s", turn.Body)
	}
	explained := e2e.Command[struct{ Decision, Rule string }](r, "sidecar.policy.explain", e2e.Object{"name": "write_file", "session": c.Session, "arguments": write.Args})
	if explained.Decision != "deny" || explained.Rule != "step.required" {
		t.Errorf("it is explained as %+v", explained)
	}
	r.IsQueued()
	turn.CallAllOwn(declared(1, "write two"), write, verifies(1, false), declared(1, "Write  two."), declared(1, "write three"), verifies(1, true))
	turn = e2e.Next(t, model)
	for _, want := range []string{"Step 1 has failed", "step 1 has failed with it already: passed: false", "Step 1 is done. Declare step 2"} {
		if !strings.Contains(turn.Body, want) {
			t.Errorf("no %q in %s", want, turn.Body)
		}
	}
	r.IsQueued("a.txt")
	turn.CallAllOwn(clients.Called{Tool: "write_todos", Args: e2e.Object{"todos": []e2e.Object{{"text": "rest", "state": "in_progress"}}}}, clients.Called{Tool: "claim_complete", Args: e2e.Object{"rationale": "r"}}, write)
	turn = e2e.Next(t, model)
	if !strings.Contains(turn.Body, "todo 1 (rest) is in progress") || strings.Count(turn.Body, "declare what you do next") != 2 {
		t.Errorf("with a todo left it reads %.3000s", turn.Body)
	}
	turn.CallAllOwn(clients.Called{Tool: "complete_todo", Args: e2e.Object{"index": 1}}, clients.Called{Tool: "claim_complete", Args: e2e.Object{"rationale": "all of it works"}}, declared(1, "more"),
		clients.Called{Tool: "abort_with_report", Args: e2e.Object{"reason": "no more", "what_was_learned": "less is more"}})
	e2e.Next(t, model).End()
	c.Stopped(1)
	want := []string{
		"1. Step 1 in_progress",
		"1. Step 1: passed: false failed",
		"1. Step 1 in_progress",
		"1. Step 1 completed",
		"1. Step 1 completed; rest in_progress",
		"1. Step 1 completed; rest completed",
		"1. Step 1 completed; rest completed",
		"1. Step 1 in_progress; rest completed",
		"1. Step 1: no more failed; rest completed",
	}
	if got := c.Plans(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the run shows\n%s", strings.Join(got, "\n"))
	}
	notes := ""
	for _, e := range c.History() {
		if e.Kind == told.Note && (e.Reason == "complete" || e.Reason == "aborted") {
			notes += e.Reason + ": " + e.Text + "\n"
		}
	}
	if notes != "complete: all of it works\naborted: no more\n\nless is more\n" {
		t.Errorf("the run reports %q", notes)
	}

	// A rewind takes back what was set out to do, and a fork has it.
	fork := c.Fork()
	if got := fork.Plans(); len(got) != 1 || got[0] != want[len(want)-1] {
		t.Errorf("a fork shows %q", got)
	}
	e2e.Command[struct{}](r, "sidecar.agent.rewind", e2e.Object{"run": c.Run, "at": 1})
	if got := c.Plans(); got[len(got)-1] != "" {
		t.Errorf("after a rewind the run shows %q", got[len(got)-1])
	}
}

// TestStepsOfSessions: each session has its own, and what one works on is shown as
// progress until it is done.
func TestStepsOfSessions(t *testing.T) {
	r := e2e.WorldRig(t, "overlay", map[string]string{"a.txt": "one\n"})
	open := func() string {
		return e2e.Command[struct{ Session string }](r, "sidecar.session.open", e2e.Object{"mode": "review"}).Session
	}
	one, two := open(), open()
	in := func(session, tool string, args e2e.Object) string {
		t.Helper()
		return e2e.Command[struct{ Content string }](r, "sidecar.tools.call", e2e.Object{"name": tool, "session": session, "arguments": args}).Content
	}
	step := declared(1, "read").Args.(e2e.Object)
	if got := in(one, "declare_step", step); !strings.HasPrefix(got, "Step 1 is open.") {
		t.Errorf("it reads %q", got)
	}
	if got := in(two, "verify_step", verifies(1, true).Args.(e2e.Object)); !strings.Contains(got, "no step is open") {
		t.Errorf("another session has the step: %q", got)
	}
	shown := func(kind string) (n int) {
		for _, list := range r.Record().Progress {
			for _, p := range list {
				if list[0].Title == "Agent "+one && p.Kind == kind && (kind != string(lsp.ProgressReport) || p.Message == "1. Step 1 (0 of 1 done)") {
					n++
				}
			}
		}
		return n
	}
	e2e.Until(t, "it is not shown", func() bool { return shown("report") == 1 })
	if n := shown("end"); n != 0 {
		t.Errorf("it ended %d times", n)
	}
	in(one, "verify_step", verifies(1, true).Args.(e2e.Object))
	e2e.Until(t, "it is shown on", func() bool { return shown("end") == 1 })
	in(one, "write_todos", e2e.Object{"todos": []e2e.Object{{"text": "more", "state": "in_progress"}}})
	e2e.Until(t, "it is not shown again", func() bool { return shown("begin") == 2 })
	e2e.Command[struct{}](r, "sidecar.session.close", e2e.Object{"session": one})
	e2e.Until(t, "a session that is closed is shown on", func() bool { return shown("end") == 2 })
}
