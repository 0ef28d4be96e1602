package dispatch

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestPermit: what an agent does itself is decided on as our tool that does the same would
// be, and nothing is run, changed, or told to who does not ask.
func TestPermit(t *testing.T) {
	for name, c := range map[string]struct {
		mode     string
		as, with string
		answer   *Answer // of a person who is asked; nil: nobody is to be
		code     tools.Code
		by       string
		title    string
	}{
		"a read":                        {"review", "look", `{"path":"a.txt"}`, nil, "", policy.ByMode, ""},
		"a secret file":                 {"autonomous", "look", `{"path":"keys/server.key"}`, nil, tools.SensitivePath, policy.ByRule, ""},
		"a run, asked":                  {"cautious", "sh", `{"line":"make"}`, &Answer{Allow: true}, "", policy.ByUser, "Run `make` (by Agent itself)?"},
		"a run, denied":                 {"cautious", "sh", `{"line":"make"}`, &Answer{Reason: "no"}, tools.NotApproved, policy.ByUser, "Run `make` (by Agent itself)?"},
		"a run, allowed":                {"autonomous", "sh", `{"line":"make"}`, nil, "", policy.ByMode, ""},
		"an edit, of the editor":        {"autonomous", "put", `{"path":"a.txt","text":"two"}`, nil, "", policy.ByMode, ""},
		"an edit, past the review":      {"review", "put", `{"path":"a.txt","text":"two"}`, &Answer{Allow: true}, "", policy.ByUser, "Change `a.txt` (by Agent itself)?"},
		"an edit, past the batch":       {"audit", "put", `{"path":"a.txt","text":"two"}`, &Answer{}, tools.NotApproved, policy.ByUser, ""},
		"an edit, in plan":              {"plan", "put", `{"path":"a.txt","text":"two"}`, nil, tools.Denied, policy.ByMode, ""},
		"a protected file":              {"autonomous", "put", `{"path":".git/config","text":"two"}`, nil, tools.ProtectedPath, policy.ByRule, ""},
		"no tool of ours":               {"autonomous", "", ``, &Answer{Allow: true}, "", policy.ByUser, "Agent uses its own Tool"},
		"arguments that ours can't do":  {"autonomous", "put", `{"file":"a.txt"}`, &Answer{Reason: "no"}, tools.NotApproved, policy.ByUser, "Agent uses its own Tool"},
		"arguments that ours refuses":   {"autonomous", "visit", `{"line":"inside"}`, nil, tools.Denied, policy.ByRule, ""},
		"a tool that is not there":      {"autonomous", "nothing", `{}`, &Answer{}, tools.NotApproved, policy.ByUser, ""},
		"what can't be worked out here": {"autonomous", "stuck", `{"path":"a.txt"}`, &Answer{Allow: true}, "", policy.ByUser, "Stuck `a.txt` (by Agent itself)?"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.mode)
			stuck := tools.NewEdit(def("stuck"), func(context.Context, *tools.Call, pathIn) (tools.Result, []workspace.Change, error) {
				return tools.Result{}, nil, tools.Errorf(tools.NoMatch, "it fits nowhere")
			})
			if err := r.o.Registry.Register(tools.Builtin, stuck); err != nil {
				t.Fatal(err)
			}
			if s, err := r.sessions.Get(""); err == nil {
				s.Tell("a note for the model")
			}
			if c.answer != nil {
				r.person.answer = says(*c.answer)
			}
			before := r.live.files["a.txt"] + r.pending.files["a.txt"]
			res, err := r.Permit(t.Context(), Own{Agent: "Agent", Tool: "Tool", Arguments: json.RawMessage(`{"of": "its own"}`), As: c.as, With: json.RawMessage(c.with)})
			if err != nil {
				t.Fatal(err)
			}
			if code(res) != c.code || res.Decision.By != c.by {
				t.Errorf("%q, decided by %s (%s): %s", code(res), res.Decision.By, res.Decision.Rule, res.Content)
			}
			if (c.answer != nil) != (len(r.person.asked) == 1) || c.answer != nil && !strings.HasPrefix(r.person.asked[0].Title, c.title) {
				t.Errorf("asked %+v", r.person.asked)
			}
			if after := r.live.files["a.txt"] + r.pending.files["a.txt"]; after != before || len(res.Changes) != 0 {
				t.Errorf("it was done: %q, %+v", after, res.Changes)
			}
			if strings.Contains(res.Content, "a note") {
				t.Errorf("a note went to a hook: %s", res.Content)
			}
		})
	}
}
