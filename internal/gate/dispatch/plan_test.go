package dispatch

import (
	"context"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// What a tool works out from the files is what is decided on, asked about,
// explained and run.
func TestPlannedCalls(t *testing.T) {
	r := newRig(t, "autonomous")
	planned := tools.Planned(tools.NewExec(def("planned"), func(_ context.Context, _ *tools.Call, in shellIn) (tools.Result, error) {
		return tools.Result{Text: "ran " + in.Command}, nil
	}), func(_ context.Context, files workspace.Files, in shellIn) (shellIn, tools.Effects, error) {
		data, err := files.ReadFile(in.Command)
		if err != nil {
			return in, tools.Effects{}, err
		}
		in.Command = strings.TrimSpace(string(data))
		return in, in.Effects(), nil
	})
	if err := r.o.Registry.Register(tools.Builtin, planned); err != nil {
		t.Fatal(err)
	}
	r.live.files["good"], r.live.files["bad"] = "make", "rm -rf src"
	if res := r.call(t, "planned", `{"command":"good"}`); !res.OK || res.Content != "ran make" {
		t.Errorf("%+v", res)
	}
	r.person.answer = says(Answer{})
	if res := r.call(t, "planned", `{"command":"bad"}`); code(res) != tools.NotApproved {
		t.Errorf("%+v", res)
	}
	if len(r.person.asked) != 1 || !r.person.asked[0].Irrecoverable || r.person.asked[0].Effects.Command != "rm -rf src" {
		t.Errorf("asked %+v", r.person.asked)
	}
	if res := r.call(t, "planned", `{"command":"none"}`); code(res) != tools.NotFound {
		t.Errorf("%+v", res)
	}
	for name, want := range map[string]policy.Outcome{"good": policy.Allow, "bad": policy.Ask, "none": policy.Deny} {
		e, err := r.Explain(t.Context(), Request{Name: "planned", Arguments: []byte(`{"command":"` + name + `"}`)})
		if err != nil || e.Decision != want {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}
