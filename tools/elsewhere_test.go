package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// TestTwoNamesOfOne: two arguments that are one of ours are not silently one of them. The control
// has one.
func TestTwoNamesOfOne(t *testing.T) {
	type in struct {
		Rationale string `json:"rationale" jsonschema:"x"`
	}
	tool := NewRead(Def{Name: "claim_complete", Title: "x", Description: "x", Category: "x", Example: `{"rationale": "x"}`}, func(_ context.Context, _ *Call, in in) (Result, error) {
		return Result{Text: in.Rationale}, nil
	})
	for args, want := range map[string]string{
		`{"summary":"x","evidence":"y"}`: "evidence: is rationale here, which is given already; write both into it",
		`{"rationale":"x","why":"y"}`:    "why: unknown field. The field rationale is known",
		`{"summary":"x"}`:                "",
	} {
		_, err := tool.Bind(json.RawMessage(args))
		if got := ""; err != nil || want != "" {
			if err != nil {
				got = err.Error()
			}
			if want == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", args, got, want)
			}
		}
	}
}
