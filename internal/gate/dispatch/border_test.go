package dispatch

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// worldRig has a tool whose programs run in the session's world, as complete as it says.
func worldRig(t *testing.T, mode string) (r *rig, unasked *bool, lacks map[string]string) {
	r, unasked, lacks = newRig(t, mode), new(bool), map[string]string{}
	inWorld := def("in_world")
	inWorld.InWorld = true
	err := r.o.Registry.Register(tools.Builtin, tools.NewExec(inWorld, func(_ context.Context, c *tools.Call, in shellIn) (tools.Result, error) {
		*unasked = c.Unasked
		return tools.Result{Text: "ran " + in.Command}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	r.o.Confined = confinement{words: "sandbox: strong", complete: func(use effects.Use) (list []effects.Condition) {
		for _, name := range []string{"sandbox", "world", "secrets"} {
			c := effects.Condition{Name: name, Holds: true}
			if why, bad := lacks[name]; bad && (name != "secrets" || use.Git) {
				c.Holds, c.Why = false, why
			}
			list = append(list, c)
		}
		return list
	}}
	r.person.answer = says(Answer{Allow: true})
	return r, unasked, lacks
}

func (r *rig) runIn(t *testing.T, tool, line string) (*Result, bool) {
	t.Helper()
	before := len(r.person.asked)
	args, _ := json.Marshal(shellIn{line})
	res := r.call(t, tool, string(args))
	return res, len(r.person.asked) > before
}

// TestCompleteWorld: commands run unasked where nothing leaves their world, and nowhere else.
func TestCompleteWorld(t *testing.T) {
	for _, c := range []struct {
		name, mode, tool, line string
		set                    func(r *rig, lacks map[string]string)
		asked                  bool
	}{
		{name: "review", mode: "review", line: "make test"},
		{name: "audit", mode: "audit", line: "make test"},
		{name: "what is lost comes back", mode: "review", line: "rm -rf ."},
		{name: "a protected file is decided on when it was written", mode: "review", line: "echo x > .vscode/tasks.json"},
		{name: "cautious", mode: "cautious", line: "make test", asked: true},
		{name: "manual", mode: "manual", line: "make test", asked: true},
		{name: "another tool", mode: "review", tool: "shell", line: "make test", asked: true},
		{name: "no world", mode: "review", line: "make test", asked: true, set: func(_ *rig, lacks map[string]string) { lacks["world"] = "there is none" }},
		{name: "git over a history with secrets", mode: "review", line: "make && git add -A", asked: true, set: func(_ *rig, lacks map[string]string) { lacks["secrets"] = "history" }},
		{name: "no git over that", mode: "review", line: "make", set: func(_ *rig, lacks map[string]string) { lacks["secrets"] = "history" }},
		{name: "the setting", mode: "review", line: "make test", asked: true, set: func(r *rig, _ map[string]string) { r.settings.AskCommands = true }},
		{name: "no audit log", mode: "review", line: "make test", asked: true, set: func(r *rig, _ map[string]string) { r.settings.Audit = false }},
		{name: "a permission asks", mode: "review", line: "make test", asked: true, set: func(r *rig, _ map[string]string) {
			r.settings.Permissions = map[string]policy.Outcome{"in_world": policy.Ask}
		}},
		{name: "a rule asks", mode: "review", line: "cd x && make test", asked: true, set: func(r *rig, _ map[string]string) {
			r.settings.Commands = shell.MakeRules([]shell.Rule{{Prefix: []string{"make"}, Decision: policy.Ask}})
		}},
		{name: "a file with secrets", mode: "review", line: "make secret", asked: false},
		{name: "a secret by its name", mode: "review", line: "make < keys/other.key", asked: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, unasked, lacks := worldRig(t, c.mode)
			if c.set != nil {
				c.set(r, lacks)
			}
			if c.tool == "" {
				c.tool = "in_world"
			}
			res, asked := r.runIn(t, c.tool, c.line)
			if !res.OK || asked != c.asked {
				t.Fatalf("asked %v; %+v", asked, res)
			}
			if *unasked != !c.asked {
				t.Errorf("the tool is told %v", *unasked)
			}
			for name, why := range lacks {
				if reason := r.person.last().Reason; asked && !strings.Contains(reason, name+": "+why) {
					t.Errorf("the question does not say what is missing: %s", reason)
				}
			}
		})
	}
}

// last is the last question.
func (p *person) last() Ask {
	if len(p.asked) == 0 {
		return Ask{}
	}
	return p.asked[len(p.asked)-1]
}

// TestCompleteWorldDenies: what is denied stays denied.
func TestCompleteWorldDenies(t *testing.T) {
	r, _, _ := worldRig(t, "review")
	r.settings.Commands = shell.MakeRules([]shell.Rule{{Prefix: []string{"curl"}, Decision: policy.Deny}})
	for _, line := range []string{"make && curl x", "echo x > .git/config"} {
		if res, asked := r.runIn(t, "in_world", line); res.OK || asked {
			t.Errorf("%s: asked %v; %+v", line, asked, res)
		}
	}
	if res, asked := r.runIn(t, "in_world", "make"); !res.OK || asked {
		t.Errorf("the control: asked %v; %+v", asked, res)
	}
}

// TestOwnCommandIsAsked: what an agent runs itself does not run in the world.
func TestOwnCommandIsAsked(t *testing.T) {
	r, _, _ := worldRig(t, "review")
	res, err := r.Permit(t.Context(), Own{Session: session.Default, Agent: "other", Tool: "Bash", As: "in_world", With: json.RawMessage(`{"command":"make"}`)})
	if err != nil || len(r.person.asked) != 1 || !strings.Contains(r.person.asked[0].Reason, "other runs it itself") {
		t.Errorf("%v; %+v; %+v", err, res, r.person.asked)
	}
}

// TestCrosses: what leaves a session is told before, and written down after.
func TestCrosses(t *testing.T) {
	for _, c := range []struct {
		mode, tool, args string
		complete         bool
		want             string // kind, decision
		what             string
	}{
		{"review", "in_world", `{"command":"make"}`, true, "", ""},
		{"review", "in_world", `{"command":"make"}`, false, "process asked", "Run `make` where it could change more than this session"},
		{"review", "look", `{"path":"a.txt"}`, true, "", ""},
		{"review", "put", `{"path":"a.txt","text":"x"}`, true, "files reviewed", "Change `a.txt`"},
		{"autonomous", "put", `{"path":"a.txt","text":"x"}`, true, "files free", "Change `a.txt`"},
		{"cautious", "put", `{"path":"b.txt","text":"x"}`, true, "files asked", "Create `b.txt`"},
		{"plan", "put", `{"path":"a.txt","text":"x"}`, true, "files refused", ""},
		{"review", "visit", `{"line":"example.com"}`, true, "network free", "Send a request to example.com"},
		{"cautious", "visit", `{"line":"example.com"}`, true, "network asked", "Send a request to example.com"},
	} {
		t.Run(c.mode+" "+c.tool+" "+c.args, func(t *testing.T) {
			r, _, lacks := worldRig(t, c.mode)
			if !c.complete {
				lacks["world"] = "there is none"
			}
			log := auditlog.New(t.TempDir(), auditlog.Options{})
			defer log.Close()
			r.o.Audit = log
			d := r
			e, err := d.Explain(t.Context(), Request{Name: c.tool, Arguments: json.RawMessage(c.args)})
			if err != nil {
				t.Fatal(err)
			}
			var got, what string
			for _, x := range e.Crosses {
				got, what = string(x.Kind)+" "+string(x.Decision), x.What
			}
			if c.want == "files refused" { // denied before it is known what changes
				if e.Decision != policy.Deny {
					t.Errorf("%+v", e)
				}
				return
			}
			if got != c.want || what != c.what || len(e.Crosses) > 1 {
				t.Errorf("it crosses %+v", e.Crosses)
			}
			if m, _ := policy.Lookup(c.mode); len(e.Crosses) == 1 && effects.Rule(m, e.Crosses[0].Kind, m.ToStore) != e.Crosses[0].Decision {
				t.Errorf("the table says %s", effects.Rule(m, e.Crosses[0].Kind, m.ToStore))
			}
			if res, err := d.Call(t.Context(), Request{Name: c.tool, Arguments: json.RawMessage(c.args)}); err != nil || !res.OK {
				t.Fatalf("%v %+v", err, res)
			}
			found, err := log.Find(auditlog.Query{Crossed: true})
			if err != nil || (len(found) == 1) != (c.want != "") {
				t.Fatalf("the audit log has %+v %v", found, err)
			}
			if len(found) == 1 && (len(found[0].Crosses) != 1 || found[0].Crosses[0].What != c.what || found[0].Crosses[0].Kind+" "+found[0].Crosses[0].Decision != c.want) {
				t.Errorf("the audit log has %+v", found[0].Crosses)
			}
		})
	}
}
