package agents

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed propose_plan.md
var proposePlanText string

type proposePlanIn struct {
	Plan string `json:"plan" jsonschema:"the whole plan, in Markdown: the aim, what changes in which files, in which order, how it is checked, what is open" minLength:"1" maxLength:"100000"`
}

func proposePlan(p Plans) *tools.Tool {
	d := tools.Def{
		Name: "propose_plan", Title: "Propose a plan", Description: proposePlanText, Category: Planning, Interactive: true, InOrder: true,
		Example: `{"plan": "# Dates with a time zone\n\n1. dates/parse.go: accept an offset.\n2. dates/parse_test.go: a test for each form.\n\nCheck: go test ./dates"}`,
		Tags:    []string{"plan", "approve", "mode"}, Output: Decision{},
	}
	return tools.NewRead(d, func(ctx context.Context, c *tools.Call, in proposePlanIn) (tools.Result, error) {
		plan := strings.TrimSpace(in.Plan)
		switch {
		case plan == "":
			return tools.Result{}, tools.Errorf(tools.InvalidArguments, "plan: is empty; write what you are going to do")
		case p == nil:
			return tools.Result{}, tools.Errorf(tools.Unavailable, "nobody can be shown a plan here; tell the user what you would do, and stop")
		}
		made, err := p.Propose(ctx, Caller{c.Session, c.ID}, plan)
		if err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: made.words(plan), Structured: made}, nil
	})
}

// words are what a model reads of it that has proposed a plan.
func (d Decision) words(proposed string) string {
	switch {
	case !d.Needed:
		return fmt.Sprintf("No approval is needed in the mode %s: go on with the plan. What needs the user's word is asked about by itself.", d.Mode)
	case d.Approved && d.Plan != proposed:
		how := "as you see it here"
		if d.Edited {
			how = "after the user changed it"
		}
		return fmt.Sprintf("The user approved the plan %s. You work in the mode %s from now on: %s Do what this says, and nothing of before that it leaves out:\n\n%s", how, d.Mode, d.Means, d.Plan)
	case d.Approved:
		return fmt.Sprintf("The user approved the plan as it is. You work in the mode %s from now on: %s Go on with the plan.", d.Mode, d.Means)
	case d.Comment != "":
		return "The user did not approve the plan, and says:\n\n" + d.Comment + "\n\nChange the plan, and propose it again. Nothing may be changed yet."
	}
	return "The user did not approve the plan and wants to go on planning. Ask what is missing, or look further, and propose another one. Nothing may be changed yet."
}
