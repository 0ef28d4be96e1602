package agents

import (
	"context"
	_ "embed"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed abort_with_report.md
var abortWithReportText string

type abortWithReportIn struct {
	Reason         string `json:"reason" jsonschema:"why you give up" minLength:"1" maxLength:"4000"`
	WhatWasLearned string `json:"what_was_learned" jsonschema:"what whoever tries again has to know: what was tried, and what came of it" minLength:"1" maxLength:"8000"`
}

func abortWithReport(w Works) *tools.Tool {
	d := tools.Def{
		Name: "abort_with_report", Title: "Give up with a report", Description: abortWithReportText, Category: Steps, InOrder: true,
		Example: `{"reason": "The tests need a database that is not here.", "what_was_learned": "The parser is right; only the storage test fails, at the connection."}`,
		Tags:    []string{"step", "stop", "protocol"}, Output: steps.State{},
	}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, in abortWithReportIn) (tools.Result, error) {
		now, err := changed(w, c, func(s *steps.State) error { return s.Abort(in.Reason, in.WhatWasLearned) })
		return tools.Result{Text: "The steps have ended, and the user sees your report. Change nothing more; tell the user where things stand.", Structured: now}, err
	})
}
