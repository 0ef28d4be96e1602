package agents

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// kept is what one session has set out to do.
type kept struct{ *steps.Record }

func (k kept) Work(session string) (*steps.Record, error) {
	if session != "s" {
		return nil, errors.New("unknown session")
	}
	return k.Record, nil
}

// person decides on every plan in one way.
type person struct {
	d    Decision
	plan string
}

func (p *person) Propose(_ context.Context, _ Caller, plan string) (Decision, error) {
	p.plan = plan
	return p.d, nil
}

func TestPlanningTools(t *testing.T) {
	record := steps.NewRecord(nil)
	call := caller(t, Deps{Work: kept{record}})
	for _, one := range []struct{ name, args, want string }{
		{"complete_todo", `{"index":1}`, "invalid_arguments: index: the list of todos is empty"},
		{"write_todos", `{"todos":[{"text":"a"},{"text":"b","state":"in_progress"}]}`, "1. [ ] a\n2. [-] b"},
		{"write_todos", `{"todos":[{"text":"  "}]}`, "invalid_arguments: todos: the text of 1 is empty"},
		{"write_todos", `{"todos":[{"text":"a","state":"late"}]}`, "invalid_arguments"},
		{"write_todos", `{"todos":[{"text":"` + strings.Repeat("a", 1001) + `"}]}`, "invalid_arguments"},
		{"complete_todo", `{"index":0}`, "invalid_arguments"},
		{"complete_todo", `{"index":3}`, "invalid_arguments: index: there is no todo 3"},
		{"complete_todo", `{"index":2}`, "1. [ ] a\n2. [x] b"},
		{"verify_step", `{"step_number":1,"passed":true,"observation":"x"}`, "invalid_arguments: step_number: no step is open"},
		{"declare_step", `{"step_number":2,"title":"t","action":"a","success_criteria":"c"}`, "invalid_arguments: step_number: 2 is out of order"},
		{"declare_step", `{"step_number":1,"title":"","action":"a","success_criteria":"c"}`, "invalid_arguments"},
		{"declare_step", `{"step_number":1,"title":"t","action":"a","success_criteria":"c"}`, "Step 1 is open."},
		{"claim_complete", `{"rationale":"r"}`, "invalid_arguments: it is not complete, because\n- step 1 (t) is open: verify it\n- todo 1 (a) is pending\n"},
		{"verify_step", `{"step_number":1,"passed":false,"observation":"no"}`, "Step 1 has failed"},
		{"declare_step", `{"step_number":1,"title":"t","action":" A. ","success_criteria":"c"}`, "invalid_arguments: action: step 1 has failed with it already: no"},
		{"declare_step", `{"step_number":1,"title":"t","action":"b","success_criteria":"c"}`, "Step 1 is open."},
		{"verify_step", `{"step_number":1,"passed":true,"observation":"yes"}`, "Step 1 is done. Declare step 2"},
		{"write_todos", `{"todos":[]}`, "The list is empty."},
		{"claim_complete", `{"rationale":" "}`, "invalid_arguments: rationale: is empty"},
		{"claim_complete", `{"rationale":"r"}`, "The task is complete."},
		{"abort_with_report", `{"reason":"r","what_was_learned":"l"}`, "invalid_arguments: the task was claimed complete (r)"},
		{"declare_step", `{"step_number":1,"title":"t","action":"b","success_criteria":"c"}`, "Step 1 is open."},
		{"abort_with_report", `{"reason":"r","what_was_learned":" "}`, "invalid_arguments: what_was_learned: is empty"},
		{"abort_with_report", `{"reason":"r","what_was_learned":"l"}`, "The steps have ended"},
		{"propose_plan", `{"plan":"p"}`, "unavailable: nobody can be shown a plan here"},
	} {
		if got := call(one.name, one.args); !strings.HasPrefix(got, one.want) {
			t.Errorf("%s %s: %q, want %q", one.name, one.args, got, one.want)
		}
	}
	if err := record.Keep(nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := changed(kept{record}, &tools.Call{Session: "another"}, func(*steps.State) error { return nil }); err == nil {
		t.Error("a session that there is not has set out to do something")
	}
}

func TestProposePlanWords(t *testing.T) {
	p := &person{}
	call := caller(t, Deps{Plans: p})
	for want, d := range map[string]Decision{
		"No approval is needed in the mode review":                                             {Mode: "review"},
		"The user approved the plan as it is. You work in the mode cautious from now on: Asks": {Needed: true, Approved: true, Mode: "cautious", Means: "Asks.", Plan: "do it"},
		"The user approved the plan after the user changed it.":                                {Needed: true, Approved: true, Edited: true, Mode: "review", Plan: "do that"},
		"The user approved the plan as you see it here.":                                       {Needed: true, Approved: true, Mode: "review", Plan: "do \uFFFDit"},
		"The user did not approve the plan, and says:\n\nshorter":                              {Needed: true, Comment: "shorter"},
		"The user did not approve the plan and wants to go on planning.":                       {Needed: true},
	} {
		p.d = d
		if got := call("propose_plan", `{"plan":" do it\n"}`); !strings.HasPrefix(got, want) || p.plan != "do it" {
			t.Errorf("%+v: %q, want %q", d, got, want)
		}
	}
	for _, plan := range []string{"", `  \n `, strings.Repeat("a", 1<<20)} {
		if got := call("propose_plan", `{"plan":"`+plan+`"}`); !strings.HasPrefix(got, "invalid_arguments") {
			t.Errorf("a plan of %d bytes: %.200q", len(plan), got)
		}
	}
}

// caller calls the tools by their names.
func caller(t *testing.T, d Deps) func(name, args string) string {
	list := Tools(d)
	return func(name, args string) string {
		t.Helper()
		for _, tool := range list {
			if tool.Name == name {
				return run(t, tool, args)
			}
		}
		t.Fatalf("there is no %s", name)
		return ""
	}
}
