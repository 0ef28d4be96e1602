package app_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
)

// played is a project whose user has a language model that the test plays.
func played(t *testing.T, files map[string]string, more ...object) (dir string, model *clients.Model) {
	t.Helper()
	model = clients.NewModel()
	t.Cleanup(model.Close)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	profile := object{"name": "played", "provider": "anthropic", "url": model.URL, "model": "scripted", "key": "sk-played-0123456789", "vision": true}
	return worldProject(t, "overlay", files, append(more, object{
		"backend.profiles": []object{profile, {"name": "keyless", "provider": "anthropic", "url": model.URL, "model": "scripted", "keyEnv": "NO_SUCH_KEY"}},
		"backend.profile":  "played",
	})...), model
}

// next is the next request of our agent to its model.
func next(t *testing.T, m *clients.Model) *clients.Turn {
	t.Helper()
	select {
	case turn := <-m.Turns():
		return turn
	case <-time.After(30 * time.Second):
		t.Fatal("the model was not asked")
		return nil
	}
}

var ours = object{"agent": "builtin"}

// TestOwnAgent: our own agent works through the gate: what it changes waits for review,
// commands see it, people are asked in the run, and what they decide is told.
func TestOwnAgent(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "one\ntwo\n", "AGENTS.md": "Write in capitals.\n"}, object{"toolPermissions": object{}})
	r := worldInAsking(t, dir)
	c := r.agent("make it loud", ours)
	turn := next(t, model)
	for _, want := range []string{"The mode is review", "Write in capitals.", "make it loud", `"name":"read_file"`, "cache_control"} {
		if !strings.Contains(turn.Body, want) {
			t.Errorf("no %q in the request", want)
		}
	}
	turn.CallAllOwn(clients.Called{Tool: "read_file", Args: object{"path": "a.txt"}}, clients.Called{Tool: "write_file", Args: object{"path": "a.txt", "content": "ONE\nTWO\n"}})
	turn = next(t, model)
	if !strings.Contains(turn.Body, `one\ntwo`) {
		t.Errorf("it did not read the file: %s", turn.Body)
	}
	r.isQueued("a.txt")
	if got := r.file("a.txt"); got != "one\ntwo\n" {
		t.Errorf("the disk has %q", got)
	}
	turn.CallOwn("run_command", object{"command": "cp a.txt b.txt && cat b.txt"})
	q := c.asked()
	if !strings.Contains(q.Text, "cp a.txt b.txt") || q.Call == nil || len(q.Options) < 2 {
		t.Errorf("people are asked %+v", q)
	}
	c.answer(q, "allow_once")
	if turn = next(t, model); !strings.Contains(turn.Result, "ONE\nTWO") {
		t.Errorf("the command did not see it: %q", turn.Result)
	}
	turn.CallOwn("run_command", object{"command": "touch x"})
	q = c.asked()
	c.answer(q, "reject_once")
	if turn = next(t, model); !strings.Contains(turn.Result, "did not allow") {
		t.Errorf("after a no it reads %q", turn.Result)
	}
	turn.CallOwn("ask_user", object{"question": "Which?", "options": []string{"this", "that"}})
	q = c.asked()
	if q.Text != "Which?" || len(q.Options) != 2 || !q.Custom {
		t.Errorf("people are asked %+v", q)
	}
	c.answer(q, "neither")
	if turn = next(t, model); turn.Result != "neither" {
		t.Errorf("the answer is %q", turn.Result)
	}
	turn.Say("It is loud.")
	if reason, why, said := c.stopped(1); reason != told.Done || said != "It is loud." {
		t.Errorf("it ended by %s: %s: %s", reason, why, said)
	}
	if i := c.info(); i.Title != "make it loud" || i.Agent != "builtin" || i.Model != "played" {
		t.Errorf("it is listed as %+v", i)
	}
	command[struct{}](r, "sidecar.review.reject", object{"uris": []string{uri(r, "a.txt")}, "reason": "too loud"})
	c.tell("and now?", nil)
	if turn = next(t, model); !strings.Contains(turn.Body, "too loud") {
		t.Error("it is not told what was decided")
	}
	turn.End()
	c.stopped(2)
}

// TestOwnAgentRefused: what can't be asked of it, and what is missing.
func TestOwnAgentRefused(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "a\n"})
	r := worldIn(t, dir)
	for want, args := range map[string]object{
		"NO_SUCH_KEY":            {"agent": "builtin", "model": "keyless"},
		`there is no \"nobody\"`: {"agent": "builtin", "model": "nobody"},
		"resume: our own agent":  {"agent": "builtin", "resume": "x"},
		"must not be negative":   {"agent": "builtin", "budget": object{"cost": -1}},
		"mode":                   {"agent": "builtin", "mode": "nonesuch"},
	} {
		r.denies("sidecar.agent.run", args, strings.ReplaceAll(want, `\"`, `"`))
	}
	if runs := r.list(); len(runs) != 0 {
		t.Errorf("there are runs: %+v", runs)
	}
	c := r.agent("hello", ours)
	turn := next(t, model)
	r.denies("sidecar.agent.compact", object{"run": c.run}, "works on a prompt")
	r.denies("sidecar.agent.rewind", object{"run": c.run, "at": 1}, "works on a prompt")
	turn.End()
	c.stopped(1)
	r.denies("sidecar.agent.compact", object{"run": "run-none"}, "no such run")
	r.denies("sidecar.agent.summary", object{"run": c.run, "summary": 3}, "not the latest summary")
	r.denies("sidecar.agent.budget", object{"run": c.run, "budget": object{"tokens": -5}}, "must not be negative")
	r.denies("sidecar.agent.rewind", object{"run": c.run, "at": 10_000}, "nothing was said after")
	r.denies("sidecar.agent.rewind", object{"run": c.run, "at": 1, "what": "all"}, `"all" is none of conversation, files and both`)
	r.denies("sidecar.agent.rewind", object{"run": c.run, "at": 1, "what": "files"}, "changed no file")
	r.denies("sidecar.agent.choose", object{"run": c.run, "model": "keyless"}, "NO_SUCH_KEY")
}

// denies checks that a command fails, and says why.
func (r *rig) denies(name string, args object, want string) {
	r.t.Helper()
	if err := r.ExecuteCommand(r.t.Context(), name, args, nil); err == nil || !strings.Contains(err.Error(), want) {
		r.t.Errorf("%s %v: %v, want %q", name, args, err, want)
	}
}

// TestOwnAgentAfterKill: a run goes on after its server was killed; a question that was
// open is answered then.
func TestOwnAgentAfterKill(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "a\n"}, object{"toolPermissions": object{}})
	r, cmd := mortal(t, dir)
	c := r.agent("do it", ours)
	next(t, model).CallOwn("write_file", object{"path": "b.txt", "content": "b\n"})
	next(t, model).CallOwn("run_command", object{"command": "cp b.txt c.txt && cat c.txt"})
	c.asked()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := &conversation{rig: worldInAsking(t, r.dir), run: c.run}
	q := again.asked()
	again.answer(q, "allow_once")
	turn := next(t, model)
	if !strings.Contains(turn.Result, "b\n") || strings.Count(turn.Body, `"tool_result"`) != 2 {
		t.Errorf("it goes on with %s", turn.Body)
	}
	turn.End()
	if reason, why, _ := again.stopped(2); reason != told.Done {
		t.Errorf("it ended by %s: %s", reason, why)
	}
	again.isQueued("b.txt", "c.txt")

	// A fork knows it; a rewind forgets what was said last.
	fork := again.fork()
	again.tell("forget this", nil)
	next(t, model).End()
	again.stopped(3)
	seq := int64(0)
	for _, e := range again.history() {
		if e.Kind == told.RunEnd {
			seq = e.Seq
		}
		if e.Kind == told.Text && strings.Contains(e.Text, "forget this") {
			break
		}
	}
	command[struct{}](again.rig, "sidecar.agent.rewind", object{"run": again.run, "at": seq})
	for _, c := range []*conversation{fork, again} {
		c.tell("go on", nil)
		turn := next(t, model)
		if !strings.Contains(turn.Body, "do it") || strings.Contains(turn.Body, "forget this") {
			t.Errorf("it knows %s", turn.Body)
		}
		turn.End()
	}
}

// TestOwnAgentHearsReviews: what a person did with its edits while it did not work is told
// to it, also if its server was killed since, and if it did not work again since then.
func TestOwnAgentHearsReviews(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "a\n"})
	r, cmd := mortal(t, dir)
	c := r.agent("do it", ours)
	next(t, model).CallAllOwn(
		clients.Called{Tool: "write_file", Args: object{"path": "b.txt", "content": "b\n"}},
		clients.Called{Tool: "write_file", Args: object{"path": "c.txt", "content": "c\n"}})
	next(t, model).End()
	c.stopped(1)
	command[struct{}](r, "sidecar.review.reject", object{"uris": []string{uri(r, "b.txt")}, "reason": "refused-b"})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	c = &conversation{rig: worldIn(t, dir), run: c.run}
	c.list() // as a view of agents does
	command[struct{}](c.rig, "sidecar.review.reject", object{"uris": []string{uri(c.rig, "c.txt")}, "reason": "refused-c"})
	c.tell("go on", nil)
	turn := next(t, model)
	for _, want := range []string{"refused-b", "refused-c"} {
		if strings.Count(turn.Body, want) != 1 {
			t.Errorf("no %q in %.3000s", want, turn.Body)
		}
	}
	turn.End()
	c.stopped(2)
}

// TestOwnAgentLeaksPrompt: a model that makes its instructions the name of a file makes no
// file, on no road, and is told so.
func TestOwnAgentLeaksPrompt(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "a\n", "AGENTS.md": "Write in capitals.\n"})
	r := worldIn(t, dir)
	c := r.agent("hello", ours)
	turn := next(t, model)
	var body struct{ System []struct{ Text string } }
	if err := json.Unmarshal([]byte(turn.Body), &body); err != nil || len(body.System) == 0 || len(body.System[0].Text) < 500 {
		t.Fatalf("its instructions are %+v: %v", body, err)
	}
	whole := body.System[0].Text
	line := strings.Join(strings.Fields(whole), " ")
	for _, path := range []string{whole, line, "../" + line[:100]} {
		for tool, args := range map[string]object{
			"write_file":  {"path": path, "content": "x"},
			"read_file":   {"path": path},
			"move_file":   {"from": "a.txt", "to": path},
			"apply_patch": {"patch": "*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch"},
		} {
			turn.CallOwn(tool, args)
			if turn = next(t, model); !strings.Contains(turn.Body, `"is_error":true`) || len(turn.Result) > 16<<10 {
				t.Errorf("%s of a file named %.60q says %d bytes: %.300q", tool, path, len(turn.Result), turn.Result)
			}
		}
	}
	turn.CallOwn("write_file", object{"path": "b.txt", "content": "b\n"}) // the control
	next(t, model).End()
	c.stopped(1)
	r.isQueued("b.txt")
	if entries, err := os.ReadDir(dir); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.Contains(e.Name(), "You are") }) {
		t.Errorf("there are %v %v", entries, err)
	}
}
