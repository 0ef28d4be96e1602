package dispatch

import (
	"context"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type installIn struct {
	Command string `json:"command"`
}

func (in installIn) Effects() tools.Effects {
	return tools.Effects{Command: in.Command, Shell: true, Dir: func(string) string { return "/ws/." }}
}

const (
	goSum   = "github.com/a/b v1.2.3 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
	otherGo = "github.com/a/b v1.2.3 h1:BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
)

// installs is a rig whose project has a lock file. frozen are the calls that were made, each
// as what it must find; other says of the next that it finds something else.
func installs(t *testing.T) (r *rig, frozen *[]*tools.Frozen, other *int) {
	r, frozen, other = newRig(t, "cautious"), new([]*tools.Frozen), new(int)
	d := def("installs")
	d.InWorld = true
	err := r.o.Registry.Register(tools.Builtin, tools.NewExec(d, func(_ context.Context, c *tools.Call, _ installIn) (tools.Result, error) {
		if c.Frozen != nil && *other > 0 {
			*other--
			return tools.Result{}, tools.ErrNotFrozen
		}
		*frozen = append(*frozen, c.Frozen)
		return tools.Result{Text: "ran"}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	r.live.files["go.mod"] = "module example.com/x\ngo 1.26\nrequire github.com/a/b v1.2.3\n"
	r.live.files["go.sum"] = goSum
	r.person.answer = says(Answer{Allow: true, Scope: Once})
	return r, frozen, other
}

const download = `{"command": "go mod download"}`

// TestInstall: a rule allows an install whose packages a person was shown. Where it would find
// others the rule does not hold, and a person is asked.
func TestInstall(t *testing.T) {
	r, frozen, other := installs(t)
	r.call(t, "installs", download)
	a := r.person.last()
	if a.Always != "go mod download" || a.Packages == "" || !strings.Contains(a.Reason, "It installs 1 package of go.sum, from github.com.") || (*frozen)[0] != nil {
		t.Fatalf("%+v", a)
	}
	if says, ok := r.Offered(a.Packages); !ok || says != "1 package of go.sum, from github.com" || r.LastOffered("go mod download") != a.Packages {
		t.Errorf("it is not known what was shown: %q", says)
	}
	if _, ok := r.Offered("sha256-x"); ok {
		t.Error("what nobody was shown is known")
	}
	rule := shell.Rule{Prefix: []string{"go", "mod", "download"}, Decision: policy.Allow, Known: true, Packages: a.Packages}
	r.settings.Commands = shell.MakeRules([]shell.Rule{rule})
	calls := func(what string, asked int, rule string, held bool) {
		t.Helper()
		before, ran := len(r.person.asked), len(*frozen)
		res := r.call(t, "installs", download)
		if !res.OK || len(r.person.asked)-before != asked || res.Decision.Rule != rule || len(*frozen) != ran+1 || ((*frozen)[ran] != nil) != held {
			t.Errorf("%s: asked %d times, %+v", what, len(r.person.asked)-before, res)
		}
	}
	calls("control", 0, "command.allow", true)
	if f := (*frozen)[1]; f.Program != "go" || f.Dir != "/ws/." || len(f.Files) < 5 {
		t.Errorf("%+v", f)
	}
	*other = 1
	calls("other files where it runs", 1, "mode.cautious.execs", false)
	calls("control", 0, "command.allow", true)
	r.live.files["go.sum"] = otherGo
	calls("another list", 1, "mode.cautious.execs", false)
	if r.person.last().Packages == a.Packages {
		t.Error("another list has the same digest")
	}
	r.live.files["go.sum"] = ""
	calls("no hash", 1, "mode.cautious.execs", false)
	if a := r.person.last(); a.Always != "" || a.Packages != "" || strings.Count(strings.ToLower(a.Reason), "no rule can allow this install for good: go.sum has no integrity for github.com/a/b v1.2.3") != 1 {
		t.Errorf("%+v", a)
	}
	e, err := r.Explain(t.Context(), Request{Name: "installs", Arguments: []byte(download)})
	if err != nil || len(e.Parts) != 1 || !strings.Contains(e.Parts[0].Reason, "no rule can allow this install for good: go.sum has no integrity") {
		t.Errorf("%+v, %v", e, err)
	}
	r.live.files["go.sum"] = goSum
	for decision, rule := range map[policy.Outcome]string{policy.Ask: "command.ask", policy.Deny: "command.deny"} {
		r.settings.Commands = shell.MakeRules([]shell.Rule{{Prefix: []string{"go", "mod"}, Decision: decision}, {Prefix: []string{"go", "mod", "download"}, Decision: policy.Allow, Packages: a.Packages}})
		if res := r.call(t, "installs", download); res.Decision.Rule != rule {
			t.Errorf("%s: %+v", decision, res.Decision)
		}
	}
	r.settings.Commands = shell.MakeRules([]shell.Rule{rule})
	if res := r.call(t, "shell", download); res.Decision.Rule == "command.allow" {
		t.Error("a tool of which nobody knows where it begins")
	}
}

// TestInstallChangesMeanwhile: a yes is for what was shown.
func TestInstallChangesMeanwhile(t *testing.T) {
	r, frozen, _ := installs(t)
	r.person.answer = func(Ask) (Answer, error) {
		if len(r.person.asked) == 1 {
			r.live.files["go.sum"] = otherGo
		}
		return Answer{Allow: len(r.person.asked) == 1, Scope: Once}, nil
	}
	if res := r.call(t, "installs", download); res.OK || len(r.person.asked) != 2 || len(*frozen) != 0 || r.person.asked[0].Hash == r.person.asked[1].Hash {
		t.Errorf("it ran: %+v, %d questions", res, len(r.person.asked))
	}
	r.person.answer = says(Answer{Allow: true})
	if res := r.call(t, "installs", download); !res.OK || len(r.person.asked) != 3 {
		t.Errorf("control: %+v", res)
	}
}
