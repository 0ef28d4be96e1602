package app_test

import (
	"fmt"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

func declared(n int, action string) clients.Called {
	return clients.Called{Tool: "declare_step", Args: object{"step_number": n, "title": fmt.Sprintf("Step %d", n), "action": action, "success_criteria": "it works"}}
}

func verifies(n int, passed bool) clients.Called {
	return clients.Called{Tool: "verify_step", Args: object{"step_number": n, "passed": passed, "observation": fmt.Sprintf("passed: %v", passed)}}
}

// plans are the lists that a run has told, each in a line.
func (c *conversation) plans() (all []string) {
	for _, e := range c.history() {
		if e.Kind != told.Plan {
			continue
		}
		var list []string
		for _, p := range e.Plan {
			list = append(list, p.Text+" "+p.Status)
		}
		all = append(all, strings.Join(list, "; "))
	}
	return all
}

// TestSteps: where the user wants steps, our agent changes nothing outside of one; what
// failed is not tried again in the same way, and the run shows it all.
func TestSteps(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "one\n"}, object{"steps.required": true})
	r := worldIn(t, dir)
	c := r.agent("step by step", ours)
	turn := next(t, model)
	for _, name := range []string{"declare_step", "verify_step", "claim_complete", "abort_with_report", "write_todos"} {
		if !strings.Contains(turn.Body, `"name":"`+name+`"`) {
			t.Errorf("it is not offered %s", name)
		}
	}
	write := clients.Called{Tool: "write_file", Args: object{"path": "a.txt", "content": "two\n"}}
	turn.CallAllOwn(write, clients.Called{Tool: "read_file", Args: object{"path": "a.txt"}})
	turn = next(t, model)
	if !strings.Contains(turn.Body, "declare what you do next with declare_step") || !strings.Contains(turn.Body, `one\n`) {
		t.Errorf("without a step it reads %.3000s", turn.Body)
	}
	explained := command[struct{ Decision, Rule string }](r, "sidecar.policy.explain", object{"name": "write_file", "session": c.session, "arguments": write.Args})
	if explained.Decision != "deny" || explained.Rule != "step.required" {
		t.Errorf("it is explained as %+v", explained)
	}
	r.isQueued()
	turn.CallAllOwn(declared(1, "write two"), write, verifies(1, false), declared(1, "Write  two."), declared(1, "write three"), verifies(1, true))
	turn = next(t, model)
	for _, want := range []string{"Step 1 has failed", "step 1 has failed with it already: passed: false", "Step 1 is done. Declare step 2"} {
		if !strings.Contains(turn.Body, want) {
			t.Errorf("no %q in %s", want, turn.Body)
		}
	}
	r.isQueued("a.txt")
	turn.CallAllOwn(clients.Called{Tool: "write_todos", Args: object{"todos": []object{{"text": "rest", "state": "in_progress"}}}}, clients.Called{Tool: "claim_complete", Args: object{"rationale": "r"}}, write)
	turn = next(t, model)
	if !strings.Contains(turn.Body, "todo 1 (rest) is in progress") || strings.Count(turn.Body, "declare what you do next") != 2 {
		t.Errorf("with a todo left it reads %.3000s", turn.Body)
	}
	turn.CallAllOwn(clients.Called{Tool: "complete_todo", Args: object{"index": 1}}, clients.Called{Tool: "claim_complete", Args: object{"rationale": "all of it works"}}, declared(1, "more"),
		clients.Called{Tool: "abort_with_report", Args: object{"reason": "no more", "what_was_learned": "less is more"}})
	next(t, model).End()
	c.stopped(1)
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
	if got := c.plans(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the run shows\n%s", strings.Join(got, "\n"))
	}
	notes := ""
	for _, e := range c.history() {
		if e.Kind == told.Note && (e.Reason == "complete" || e.Reason == "aborted") {
			notes += e.Reason + ": " + e.Text + "\n"
		}
	}
	if notes != "complete: all of it works\naborted: no more\n\nless is more\n" {
		t.Errorf("the run reports %q", notes)
	}

	// A rewind takes back what was set out to do, and a fork has it.
	fork := c.fork()
	if got := fork.plans(); len(got) != 1 || got[0] != want[len(want)-1] {
		t.Errorf("a fork shows %q", got)
	}
	command[struct{}](r, "sidecar.agent.rewind", object{"run": c.run, "at": 1})
	if got := c.plans(); got[len(got)-1] != "" {
		t.Errorf("after a rewind the run shows %q", got[len(got)-1])
	}
}

// TestStepsOfSessions: each session has its own, and what one works on is shown as
// progress until it is done.
func TestStepsOfSessions(t *testing.T) {
	r := worldRig(t, "overlay", map[string]string{"a.txt": "one\n"})
	open := func() string {
		return command[struct{ Session string }](r, "sidecar.session.open", object{"mode": "review"}).Session
	}
	one, two := open(), open()
	in := func(session, tool string, args object) string {
		t.Helper()
		return command[struct{ Content string }](r, "sidecar.tools.call", object{"name": tool, "session": session, "arguments": args}).Content
	}
	step := declared(1, "read").Args.(object)
	if got := in(one, "declare_step", step); !strings.HasPrefix(got, "Step 1 is open.") {
		t.Errorf("it reads %q", got)
	}
	if got := in(two, "verify_step", verifies(1, true).Args.(object)); !strings.Contains(got, "no step is open") {
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
	until(t, "it is not shown", func() bool { return shown("report") == 1 })
	if n := shown("end"); n != 0 {
		t.Errorf("it ended %d times", n)
	}
	in(one, "verify_step", verifies(1, true).Args.(object))
	until(t, "it is shown on", func() bool { return shown("end") == 1 })
	in(one, "write_todos", object{"todos": []object{{"text": "more", "state": "in_progress"}}})
	until(t, "it is not shown again", func() bool { return shown("begin") == 2 })
	command[struct{}](r, "sidecar.session.close", object{"session": one})
	until(t, "a session that is closed is shown on", func() bool { return shown("end") == 2 })
}
