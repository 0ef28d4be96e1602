package own_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestOwnAgent: our own agent works through the gate: what it changes waits for review,
// commands see it, people are asked in the run, and what they decide is told.
func TestOwnAgent(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\ntwo\n", "AGENTS.md": "Write in capitals.\n"}, e2e.Object{"toolPermissions": e2e.Object{}})
	r := e2e.WorldInAsking(t, dir)
	c := r.Agent("make it loud", e2e.Ours)
	turn := e2e.Next(t, model)
	for _, want := range []string{"The mode is review", "Write in capitals.", "make it loud", `"name":"read_file"`, "cache_control"} {
		if !strings.Contains(turn.Body, want) {
			t.Errorf("no %q in the request", want)
		}
	}
	turn.CallAllOwn(clients.Called{Tool: "read_file", Args: e2e.Object{"path": "a.txt"}}, clients.Called{Tool: "write_file", Args: e2e.Object{"path": "a.txt", "content": "ONE\nTWO\n"}})
	turn = e2e.Next(t, model)
	if !strings.Contains(turn.Body, `one\ntwo`) {
		t.Errorf("it did not read the file: %s", turn.Body)
	}
	r.IsQueued("a.txt")
	if got := r.File("a.txt"); got != "one\ntwo\n" {
		t.Errorf("the disk has %q", got)
	}
	turn.CallOwn("run_command", e2e.Object{"command": "cp a.txt b.txt && cat b.txt"})
	q := c.Asked()
	if !strings.Contains(q.Text, "cp a.txt b.txt") || q.Call == nil || len(q.Options) < 2 || q.Always != nil {
		t.Errorf("people are asked %+v", q)
	}
	c.Reply(q, "allow_once")
	if turn = e2e.Next(t, model); !strings.Contains(turn.Result, "ONE\nTWO") {
		t.Errorf("the command did not see it: %q", turn.Result)
	}
	turn.CallOwn("run_command", e2e.Object{"command": "touch x"})
	q = c.Asked()
	if q.Always == nil || !slices.Equal(q.Always.Prefix, []string{"touch"}) || q.Always.Decision != "allow" {
		t.Errorf("a yes can become %+v", q.Always)
	}
	c.Reply(q, "reject_once")
	if turn = e2e.Next(t, model); !strings.Contains(turn.Result, "did not allow") {
		t.Errorf("after a no it reads %q", turn.Result)
	}
	turn.CallOwn("ask_user", e2e.Object{"question": "Which?", "options": []string{"this", "that"}})
	q = c.Asked()
	if q.Text != "Which?" || len(q.Options) != 2 || !q.Custom {
		t.Errorf("people are asked %+v", q)
	}
	c.Reply(q, "neither")
	if turn = e2e.Next(t, model); turn.Result != "neither" {
		t.Errorf("the answer is %q", turn.Result)
	}
	turn.Say("It is loud.")
	if reason, why, said := c.Stopped(1); reason != told.Done || said != "It is loud." {
		t.Errorf("it ended by %s: %s: %s", reason, why, said)
	}
	if i := c.Info(); i.Title != "make it loud" || i.Agent != "builtin" || i.Model != "played" {
		t.Errorf("it is listed as %+v", i)
	}
	e2e.Command[struct{}](r, "sidecar.review.reject", e2e.Object{"uris": []string{e2e.URI(r, "a.txt")}, "reason": "too loud"})
	c.Tell("and now?", nil)
	if turn = e2e.Next(t, model); !strings.Contains(turn.Body, "too loud") {
		t.Error("it is not told what was decided")
	}
	turn.End()
	c.Stopped(2)
}

// TestOwnAgentRefused: what can't be asked of it, and what is missing.
func TestOwnAgentRefused(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "a\n"})
	r := e2e.WorldIn(t, dir)
	for want, args := range map[string]e2e.Object{
		"NO_SUCH_KEY":            {"agent": "builtin", "model": "keyless"},
		`there is no \"nobody\"`: {"agent": "builtin", "model": "nobody"},
		"resume: our own agent":  {"agent": "builtin", "resume": "x"},
		"must not be negative":   {"agent": "builtin", "budget": e2e.Object{"cost": -1}},
		"mode":                   {"agent": "builtin", "mode": "nonesuch"},
	} {
		r.Denies("sidecar.agent.run", args, strings.ReplaceAll(want, `\"`, `"`))
	}
	if runs := r.List(); len(runs) != 0 {
		t.Errorf("there are runs: %+v", runs)
	}
	c := r.Agent("hello", e2e.Ours)
	turn := e2e.Next(t, model)
	r.Denies("sidecar.agent.compact", e2e.Object{"run": c.Run}, "works on a prompt")
	r.Denies("sidecar.agent.rewind", e2e.Object{"run": c.Run, "at": 1}, "works on a prompt")
	turn.End()
	c.Stopped(1)
	r.Denies("sidecar.agent.compact", e2e.Object{"run": "run-none"}, "no such run")
	r.Denies("sidecar.agent.summary", e2e.Object{"run": c.Run, "summary": 3}, "not the latest summary")
	r.Denies("sidecar.agent.set", e2e.Object{"run": c.Run}, "agentMode, model, budget: one of them is expected")
	r.Denies("sidecar.agent.set", e2e.Object{"run": c.Run, "budget": e2e.Object{"tokens": -5}}, "must not be negative")
	r.Denies("sidecar.agent.budget", e2e.Object{"run": c.Run, "budget": e2e.Object{"tokens": -5}}, "must not be negative")
	r.Denies("sidecar.agent.rewind", e2e.Object{"run": c.Run, "at": 10_000}, "nothing was said after")
	r.Denies("sidecar.agent.rewind", e2e.Object{"run": c.Run, "at": 1, "what": "all"}, `"all" is none of conversation, files and both`)
	r.Denies("sidecar.agent.rewind", e2e.Object{"run": c.Run, "at": 1, "what": "files"}, "changed no file")
	r.Denies("sidecar.agent.choose", e2e.Object{"run": c.Run, "model": "keyless"}, "NO_SUCH_KEY")
}

// TestOwnAgentAfterKill: a run goes on after its server was killed; a question that was
// open is answered then.
func TestOwnAgentAfterKill(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "a\n"}, e2e.Object{"toolPermissions": e2e.Object{}})
	r, cmd := e2e.Mortal(t, dir)
	c := r.Agent("do it", e2e.Ours)
	e2e.Next(t, model).CallOwn("write_file", e2e.Object{"path": "b.txt", "content": "b\n"})
	e2e.Next(t, model).CallOwn("run_command", e2e.Object{"command": "cp b.txt c.txt && cat c.txt"})
	c.Asked()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := &e2e.Conversation{Rig: e2e.WorldInAsking(t, r.Dir), Run: c.Run}
	q := again.Asked()
	again.Reply(q, "allow_once")
	turn := e2e.Next(t, model)
	if !strings.Contains(turn.Result, "b\n") || strings.Count(turn.Body, `"tool_result"`) != 2 {
		t.Errorf("it goes on with %s", turn.Body)
	}
	turn.End()
	if reason, why, _ := again.Stopped(2); reason != told.Done {
		t.Errorf("it ended by %s: %s", reason, why)
	}
	again.IsQueued("b.txt", "c.txt")

	// A fork knows it; a rewind forgets what was said last.
	fork := again.Fork()
	again.Tell("forget this", nil)
	e2e.Next(t, model).End()
	again.Stopped(3)
	seq := int64(0)
	for _, e := range again.History() {
		if e.Kind == told.RunEnd {
			seq = e.Seq
		}
		if e.Kind == told.Text && strings.Contains(e.Text, "forget this") {
			break
		}
	}
	e2e.Command[struct{}](again.Rig, "sidecar.agent.rewind", e2e.Object{"run": again.Run, "at": seq})
	for _, c := range []*e2e.Conversation{fork, again} {
		c.Tell("go on", nil)
		turn := e2e.Next(t, model)
		if !strings.Contains(turn.Body, "do it") || strings.Contains(turn.Body, "forget this") {
			t.Errorf("it knows %s", turn.Body)
		}
		turn.End()
	}
}

// TestOwnAgentHearsReviews: what a person did with its edits while it did not work is told
// to it, also if its server was killed since, and if it did not work again since then.
func TestOwnAgentHearsReviews(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "a\n"})
	r, cmd := e2e.Mortal(t, dir)
	c := r.Agent("do it", e2e.Ours)
	e2e.Next(t, model).CallAllOwn(
		clients.Called{Tool: "write_file", Args: e2e.Object{"path": "b.txt", "content": "b\n"}},
		clients.Called{Tool: "write_file", Args: e2e.Object{"path": "c.txt", "content": "c\n"}})
	e2e.Next(t, model).End()
	c.Stopped(1)
	e2e.Command[struct{}](r, "sidecar.review.reject", e2e.Object{"uris": []string{e2e.URI(r, "b.txt")}, "reason": "refused-b"})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	c = &e2e.Conversation{Rig: e2e.WorldIn(t, dir), Run: c.Run}
	c.List() // as a view of agents does
	e2e.Command[struct{}](c.Rig, "sidecar.review.reject", e2e.Object{"uris": []string{e2e.URI(c.Rig, "c.txt")}, "reason": "refused-c"})
	c.Tell("go on", nil)
	turn := e2e.Next(t, model)
	for _, want := range []string{"refused-b", "refused-c"} {
		if strings.Count(turn.Body, want) != 1 {
			t.Errorf("no %q in %.3000s", want, turn.Body)
		}
	}
	turn.End()
	c.Stopped(2)
}

// TestOwnAgentLeaksPrompt: a model that makes its instructions the name of a file makes no
// file, on no road, and is told so.
func TestOwnAgentLeaksPrompt(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "a\n", "AGENTS.md": "Write in capitals.\n"})
	r := e2e.WorldIn(t, dir)
	c := r.Agent("hello", e2e.Ours)
	turn := e2e.Next(t, model)
	var body struct{ System []struct{ Text string } }
	if err := json.Unmarshal([]byte(turn.Body), &body); err != nil || len(body.System) == 0 || len(body.System[0].Text) < 500 {
		t.Fatalf("its instructions are %+v: %v", body, err)
	}
	whole := body.System[0].Text
	line := strings.Join(strings.Fields(whole), " ")
	for _, path := range []string{whole, line, "../" + line[:100]} {
		for tool, args := range map[string]e2e.Object{
			"write_file":  {"path": path, "content": "x"},
			"read_file":   {"path": path},
			"move_file":   {"from": "a.txt", "to": path},
			"apply_patch": {"patch": "*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch"},
		} {
			turn.CallOwn(tool, args)
			if turn = e2e.Next(t, model); !strings.Contains(turn.Body, `"is_error":true`) || len(turn.Result) > 16<<10 {
				t.Errorf("%s of a file named %.60q says %d bytes: %.300q", tool, path, len(turn.Result), turn.Result)
			}
		}
	}
	turn.CallOwn("write_file", e2e.Object{"path": "b.txt", "content": "b\n"}) // the control
	e2e.Next(t, model).End()
	c.Stopped(1)
	r.IsQueued("b.txt")
	if entries, err := os.ReadDir(dir); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.Contains(e.Name(), "You are") }) {
		t.Errorf("there are %v %v", entries, err)
	}
}
