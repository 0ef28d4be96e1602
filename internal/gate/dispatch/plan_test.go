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

// The denial of a mode that only reads names propose_plan where that can be called.
func TestDenialOfPlan(t *testing.T) {
	for name, test := range map[string]struct {
		there bool
		deny  bool
		want  string
	}{
		"there":     {true, false, "propose it with propose_plan"},
		"denied":    {true, true, "tell the user what you would do"},
		"not there": {false, false, "tell the user what you would do"},
	} {
		r := newRig(t, "plan")
		if test.there {
			if err := r.o.Registry.Register(tools.Builtin, tools.NewRead(def("propose_plan"), nothing)); err != nil {
				t.Fatal(err)
			}
		}
		if test.deny {
			r.settings.Permissions = map[string]policy.Outcome{"propose_plan": policy.Deny}
		}
		if res := r.call(t, "shell", `{"command":"make"}`); code(res) != tools.Denied || !strings.Contains(res.Content, test.want) {
			t.Errorf("%s: %+v", name, res)
		}
	}
}

// A command that only reads a file that is hidden from commands is denied with advice:
// nobody can allow what can't work. What else the line does changes nothing. What
// may work, or runs where nothing hides it, is asked about.
func TestReadsHidden(t *testing.T) {
	for _, test := range []struct {
		line, words, weak string
		denied            bool
	}{
		{"cat .env", "strong", "", true},
		{"grep -n KEY .env", "strong", "", true},
		{"cat .env && make", "strong", "", true},
		{"cd sub && cat ../.env; echo", "strong", "", true},
		{"cat .env > copy", "strong", "", true},
		{"nohup cat .env", "strong", "", true},
		{"cat .env", "weak", "weak", false},
		{"cat .env.local && make", "strong", "", false}, // the line may make it
		{"rm .env", "strong", "", false},
	} {
		r := newRig(t, "review")
		r.pending.files[".env"] = "KEY=1"
		r.o.Confined = confinement{words: test.words, weak: test.weak}
		r.person.answer = says(Answer{Reason: "never"})
		args, _ := json.Marshal(shellIn{test.line})
		res := r.call(t, "shell", string(args))
		if denied := code(res) == tools.Denied; denied != test.denied || denied == (len(r.person.asked) == 1) || denied && !strings.Contains(res.Content, "ask the user for what you need of it") {
			t.Errorf("%+v: asked %d times, %s", test, len(r.person.asked), res.Content)
		}
	}
}
