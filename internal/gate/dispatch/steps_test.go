package dispatch

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Where steps are required, an agent changes nothing without one that is open; it reads
// as it likes, and people need none.
func TestStepsRequired(t *testing.T) {
	r := newRig(t, "autonomous")
	s, err := r.sessions.Open(session.OpenRequest{ID: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	calls := []struct{ tool, args string }{
		{"put", `{"path":"a.txt","text":"two\n"}`},
		{"shell", `{"command":"make"}`},
		{"look", `{"path":"a.txt"}`},
	}
	try := func(where, in string, want ...bool) {
		t.Helper()
		for i, c := range calls {
			q := Request{Name: c.tool, Arguments: json.RawMessage(c.args), Session: in}
			e, err := r.Explain(t.Context(), q)
			if err != nil || (e.Decision == policy.Allow) != want[i] || !want[i] && e.Rule != "step.required" {
				t.Errorf("%s: %s is explained as %+v, %v", where, c.tool, e, err)
			}
			res, err := r.Call(t.Context(), q)
			if err != nil || res.OK != want[i] {
				t.Errorf("%s: %s comes to %+v, %v", where, c.tool, res, err)
			}
			if !want[i] && (code(res) != tools.Denied || res.Decision.Rule != "step.required" || !strings.Contains(res.Content, "declare_step")) {
				t.Errorf("%s: %s is refused by %+v", where, c.tool, res)
			}
		}
	}
	change := func(f func(*steps.State) error) {
		t.Helper()
		if _, err := s.Work.Change(f); err != nil {
			t.Fatal(err)
		}
	}
	try("not required", s.ID, true, true, true)
	r.settings.Steps = true
	try("no step", s.ID, false, false, true)
	try("people", "", true, true, true)
	change(func(w *steps.State) error {
		return w.Declare(steps.Step{Number: 1, Title: "t", Action: "a", Criteria: "c"})
	})
	try("a step is open", s.ID, true, true, true)
	change(func(w *steps.State) error { return w.Verify(1, true, "it is", "") })
	try("it is verified", s.ID, false, false, true)
	other, err := r.sessions.Open(session.OpenRequest{ID: "other"})
	if err != nil {
		t.Fatal(err)
	}
	change(func(w *steps.State) error {
		return w.Declare(steps.Step{Number: 2, Title: "t", Action: "a", Criteria: "c"})
	})
	try("the step of another session", other.ID, false, false, true)
}
