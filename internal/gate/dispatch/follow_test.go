package dispatch

import (
	"context"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestChangesOfARun: what the run of a program makes of files is decided on as
// the edit that it is, after the run and whatever allowed that.
func TestChangesOfARun(t *testing.T) {
	yes, no := says(Answer{Allow: true}), says(Answer{})
	for name, c := range map[string]struct {
		mode, path    string
		answers       []func(Ask) (Answer, error)
		code          tools.Code
		live, pending string // of the file, afterwards
		state         string
		runs          int32
	}{
		"applied":                      {"autonomous", "a.txt", nil, "", "one\ntwo\n", "one\n", "applied", 1},
		"held for review":              {"review", "a.txt", []func(Ask) (Answer, error){yes}, "", "one\n", "one\ntwo\n", "pending", 1},
		"the run is refused":           {"review", "a.txt", []func(Ask) (Answer, error){no}, tools.NotApproved, "one\n", "one\n", "", 0},
		"both are asked about":         {"cautious", "a.txt", []func(Ask) (Answer, error){yes, yes}, "", "one\ntwo\n", "one\n", "applied", 1},
		"the changes alone are not":    {"cautious", "a.txt", []func(Ask) (Answer, error){yes, no}, tools.NotApproved, "one\n", "one\n", "", 1},
		"a protected file is asked":    {"autonomous", ".mcp.json", []func(Ask) (Answer, error){no}, tools.NotApproved, "", "", "", 1},
		"one that is never written":    {"autonomous", ".git/config", nil, tools.ProtectedPath, "", "", "", 1},
		"changed while it ran":         {"autonomous", "stale", nil, tools.Conflict, "", "", "", 1},
		"nothing is changed after all": {"cautious", "same", []func(Ask) (Answer, error){yes}, "", "", "", "", 1},
		"plan only reads":              {"plan", "a.txt", nil, tools.Denied, "one\n", "one\n", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.mode)
			err := r.o.Registry.Register(tools.Builtin, tools.NewExecEdit(def("tidy"), func(_ context.Context, call *tools.Call, in pathIn) (tools.Result, []workspace.Change, error) {
				r.ran.Add(1)
				if _, ok := call.Files.(workspace.View); ok {
					t.Error("a tool can reach Apply")
				}
				before, _ := call.Files.ReadFile(in.Path)
				switch in.Path {
				case "stale":
					before = []byte("what it was")
				case "same":
					before = []byte("two\n")
				}
				after := append(before[:len(before):len(before)], "two\n"...)
				if in.Path == "same" {
					after = before
				}
				return tools.Result{Text: "tidied"}, []workspace.Change{{Path: in.Path, Before: before, After: after}}, nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			r.person.answer = func(a Ask) (Answer, error) {
				if asked >= len(c.answers) {
					t.Fatalf("asked once more: %s", a.Title)
				}
				if diff := asked == len(c.answers)-1 && r.ran.Load() > 0; diff != (a.Diff != "") || diff != (a.Effects.Access == tools.Edit) {
					t.Errorf("question %d is %s with the diff %q", asked, a.Effects.Access, a.Diff)
				}
				asked++
				return c.answers[asked-1](a)
			}
			res := r.call(t, "tidy", `{"path":"`+c.path+`"}`)
			if code(res) != c.code || asked != len(c.answers) || r.ran.Load() != c.runs {
				t.Errorf("%q, %d questions, %d runs: %s", code(res), asked, r.ran.Load(), res.Content)
			}
			if live, pending := r.live.text(c.path), r.pending.text(c.path); live != c.live || pending != c.pending {
				t.Errorf("live %q, pending %q", live, pending)
			}
			if (c.state != "") != (len(res.Changes) == 1) || c.state != "" && res.Changes[0].State != c.state {
				t.Errorf("changes %+v", res.Changes)
			}
		})
	}
}
