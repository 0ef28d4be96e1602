package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
)

// committed makes a repository of a project, with all its files committed.
func committed(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=A U Thor", "-c", "user.email=author@example.com", "commit", "-q", "-m", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// talks are the requests of several agents at once: of whom each is says a word of its
// task.
type talks struct {
	t     *testing.T
	model *clients.Model
	held  []*clients.Turn
}

// spoken is a request without its tools, whose descriptions have words of all kinds.
func spoken(t *testing.T, turn *clients.Turn) string {
	t.Helper()
	var parts map[string]json.RawMessage
	if err := json.Unmarshal([]byte(turn.Body), &parts); err != nil {
		t.Fatal(err)
	}
	delete(parts, "tools")
	text, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (k *talks) of(word string) *clients.Turn {
	k.t.Helper()
	for {
		for i, turn := range k.held {
			if strings.Contains(spoken(k.t, turn), word) {
				k.held = slices.Delete(k.held, i, i+1)
				return turn
			}
		}
		k.held = append(k.held, next(k.t, k.model))
	}
}

// both are the requests of two runs that are about the same. Once one is answered, its
// run may ask again before the other run asks at all.
func (k *talks) both(word string) [2]*clients.Turn {
	k.t.Helper()
	return [2]*clients.Turn{k.of(word), k.of(word)}
}

// children are the runs below a run.
func (c *conversation) children() (all []listed) {
	c.t.Helper()
	for _, i := range c.list() {
		if i.Parent == c.run {
			all = append(all, i)
		}
	}
	return all
}

// TestSubAgents: several at once, each with its own files; what they change comes back as
// one review, grouped by agent, and their caller reads what they say.
func TestSubAgents(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n"})
	committed(t, dir)
	r := worldIn(t, dir)
	c := r.agent("do both", ours)
	k := &talks{t: t, model: model}
	turn := k.of("do both")
	if !strings.Contains(turn.Body, `"name":"spawn_agent"`) || strings.Contains(turn.Body, `"name":"delegate_task"`) {
		t.Error("it is not offered sub-agents, or a local model that there is not")
	}
	turn.CallOwn("write_file", object{"path": "c.txt", "content": "pending\n"})
	k.of("do both").CallAllOwn(
		clients.Called{Tool: "spawn_agent", Args: object{"task": "task-left", "context": "know this"}},
		clients.Called{Tool: "spawn_agent", Args: object{"task": "task-right"}},
	)
	left, right := k.of("task-left"), k.of("task-right")
	if !strings.Contains(left.Body, "know this") || strings.Contains(left.Body, "do both") || !strings.Contains(left.Body, "You are a sub-agent") {
		t.Error("a sub-agent does not know its task alone")
	}
	if n := len(c.children()); n != 2 {
		t.Errorf("there are %d sub-agents", n)
	}
	left.CallOwn("run_command", object{"command": "cat c.txt"})
	left = k.of("task-left")
	if !strings.Contains(left.Result, "pending") {
		t.Errorf("it does not see what is pending: %q", left.Result)
	}
	left.CallOwn("write_file", object{"path": "a.txt", "content": "left\n"})
	right.CallOwn("write_file", object{"path": "a.txt", "content": "right\n"})
	right = k.of("task-right")
	right.CallOwn("write_file", object{"path": "b.txt", "content": "right\n"})
	right = k.of("task-right")
	left = k.of("task-left")
	r.isQueued("c.txt") // until they are done
	left.Say("left is done")
	until(t, "the first did not end", func() bool { return len(r.queued()) == 2 })
	right.Say("right is done")
	turn = k.of("do both")
	for _, want := range []string{"left is done", "right is done", "Its changes wait for review: a.txt", "Not taken over, because others changed the same places: a.txt"} {
		if !strings.Contains(turn.Body, want) {
			t.Errorf("no %q in what its caller reads: %s", want, turn.Body)
		}
	}
	r.isQueued("a.txt", "b.txt", "c.txt")
	sessions := map[string]bool{}
	for _, e := range r.pending().Edits {
		for _, h := range e.Hunks {
			for _, s := range h.Sessions {
				sessions[s] = true
			}
		}
	}
	if len(sessions) != 3 {
		t.Errorf("the edits are of the sessions %v", sessions)
	}
	turn.End()
	c.stopped(1)
	for _, e := range c.history() {
		if e.Kind == told.Child && (e.Child == "" || e.Call == nil || e.Call.ID == "" || e.Title == "") {
			t.Errorf("a child is told as %+v", e)
		}
	}
}

// TestSubAgentIsNeverMore: the tools, the mode, the depth and the budget of a sub-agent
// are at most those of its caller.
func TestSubAgentIsNeverMore(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "one\n"})
	committed(t, dir)
	r := worldIn(t, dir)
	k := &talks{t: t, model: model}
	plan := r.agent("only plan", object{"agent": "builtin", "mode": "plan", "budget": object{"tokens": 100_000}})
	k.of("only plan").CallOwn("spawn_agent", object{"task": "task-write", "allow": []string{"write_file", "run_command", "spawn_agent"}})
	child := k.of("task-write")
	if strings.Contains(child.Body, `"name":"read_file"`) || !strings.Contains(child.Body, `"name":"write_file"`) {
		t.Error("its tools are not those that are allowed")
	}
	r.denies("sidecar.mode.set", object{"session": plan.children()[0].Session, "mode": "autonomous"}, "the mode is looser than that of the session above")
	child.CallAllOwn(
		clients.Called{Tool: "write_file", Args: object{"path": "a.txt", "content": "x\n"}},
		clients.Called{Tool: "run_command", Args: object{"command": "touch x"}},
		clients.Called{Tool: "read_file", Args: object{"path": "a.txt"}},
	)
	child = k.of("task-write")
	if n := strings.Count(child.Body, `"is_error":true`); n != 3 {
		t.Errorf("%d of 3 calls are refused: %s", n, child.Body)
	}
	child.CallOwn("spawn_agent", object{"task": "deep-2", "allow": []string{"spawn_agent", "write_file"}})
	k.of("deep-2").CallOwn("spawn_agent", object{"task": "deep-3", "allow": []string{"spawn_agent", "write_file"}})
	deep := k.of("deep-3")
	if strings.Contains(deep.Body, `"name":"spawn_agent"`) {
		t.Error("the deepest may begin others")
	}
	deep.CallOwn("spawn_agent", object{"task": "deep-4"})
	deep = k.of("deep-3")
	if !strings.Contains(deep.Result, "not among the tools") && !strings.Contains(deep.Result, "there may be no more") {
		t.Errorf("the deepest reads %q", deep.Result)
	}
	for _, word := range []string{"deep-3", "deep-2", "task-write"} {
		if word == "deep-3" {
			deep.End()
			continue
		}
		k.of(word).End()
	}
	k.of("only plan").CallAllOwn(
		clients.Called{Tool: "spawn_agent", Args: object{"task": "x", "allow": []string{"nonesuch"}}},
		clients.Called{Tool: "spawn_agent", Args: object{"task": "x", "agent": "claude-acp"}},
		clients.Called{Tool: "spawn_agent", Args: object{"task": " "}},
		clients.Called{Tool: "agent_send", Args: object{"id": "run-none", "text": "x"}},
		clients.Called{Tool: "delegate_task", Args: object{"task": "x"}},
	)
	turn := k.of("only plan")
	for _, want := range []string{"nonesuch", "sub-agents are of the kind", "is empty", "you have no sub-agent", "names no model of their own"} {
		if !strings.Contains(turn.Body, want) {
			t.Errorf("no %q in %s", want, turn.Body)
		}
	}
	turn.End()
	plan.stopped(1)
	r.isQueued()
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a sub-agent has run a command in a plan")
	}
}

// TestSubAgentsAreLedOn: they are listed, told things, waited for, stopped; their
// questions are asked in their runs, and an interrupt of their caller stops all.
func TestSubAgentsAreLedOn(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "one\n"}, object{"toolPermissions": object{}})
	committed(t, dir)
	r := worldInAsking(t, dir)
	k := &talks{t: t, model: model}
	c := r.agent("lead them", ours)
	k.of("lead them").CallAllOwn(
		clients.Called{Tool: "spawn_agent", Args: object{"task": "task-one", "wait": false}},
		clients.Called{Tool: "spawn_agent", Args: object{"task": "task-two", "wait": false}},
	)
	turn, one, two := k.of("lead them"), k.of("task-one"), k.of("task-two")
	children := c.children()
	if len(children) != 2 {
		t.Fatalf("there are %d", len(children))
	}
	first, second := children[0], children[1]
	if strings.Contains(second.Title, "one") {
		first, second = second, first
	}
	one.CallOwn("run_command", object{"command": "cp a.txt b.txt"})
	asking := &conversation{rig: r, run: first.Run}
	q := asking.asked()
	turn.CallOwn("agent_list", object{})
	turn = k.of("lead them")
	if !strings.Contains(turn.Result, "it asks the user") || !strings.Contains(turn.Result, second.Run) {
		t.Errorf("it is listed as %q", turn.Result)
	}
	turn.CallAllOwn(
		clients.Called{Tool: "agent_send", Args: object{"id": second.Run, "text": "hurry"}},
		clients.Called{Tool: "agent_wait", Args: object{"ids": []string{first.Run, second.Run}, "timeout_s": 1}},
	)
	turn = k.of("lead them")
	asking.answer(q, "allow_once")
	one = k.of("task-one")
	one.Say("one is done")
	two.CallOwn("read_file", object{"path": "a.txt"})
	two = k.of("task-two")
	if !strings.Contains(two.Body, "hurry") {
		t.Error("it does not hear what it is told")
	}
	turn.CallOwn("agent_wait", object{"ids": []string{first.Run, second.Run}, "until": "any"})
	turn = k.of("lead them")
	if !strings.Contains(turn.Result, "one is done") || !strings.Contains(turn.Result, "running") {
		t.Errorf("waiting says %q", turn.Result)
	}
	turn.CallOwn("agent_cancel", object{"id": second.Run})
	turn = k.of("lead them")
	if !strings.Contains(turn.Result, "interrupted") {
		t.Errorf("stopping says %q", turn.Result)
	}
	turn.CallOwn("spawn_agent", object{"task": "task-held", "wait": false})
	turn = k.of("lead them")
	held := &conversation{rig: r}
	for _, i := range c.children() {
		if strings.Contains(i.Title, "held") {
			held.run = i.Run
		}
	}
	asked := k.of("task-held") // before the pause: paused any earlier, it would not ask at all
	command[struct{}](r, "sidecar.agent.pause", object{"run": held.run})
	asked.CallOwn("read_file", object{"path": "a.txt"})
	until(t, "it is not paused", func() bool { return held.info().State == told.Paused })
	turn.CallOwn("agent_cancel", object{"id": held.run}) // there is nothing to stop, and it stops
	turn = k.of("lead them")
	turn.CallOwn("spawn_agent", object{"task": "task-three"})
	k.of("task-three").CallOwn("spawn_agent", object{"task": "task-four"})
	k.of("task-four")
	command[struct{}](r, "sidecar.agent.cancel", object{"run": c.run})
	if reason, _, _ := c.stopped(1); reason != told.Interrupted {
		t.Errorf("it ended by %s", reason)
	}
	until(t, "sub-agents work on", func() bool {
		return !slices.ContainsFunc(c.list(), func(i listed) bool { return i.State == told.Running })
	})
	var shadows struct{ Shadows []json.RawMessage }
	if err := r.ExecuteCommand(t.Context(), "sidecar.shadow.list", object{}, &shadows); err != nil || len(shadows.Shadows) != 0 {
		t.Errorf("%d shadows are left, %v", len(shadows.Shadows), err)
	}
	r.isQueued("b.txt")
}

// TestBestOf: several make the same, the tests run in the files of each, and the person
// takes what they want.
func TestBestOf(t *testing.T) {
	dir, model := played(t, map[string]string{"go.mod": "module x\n", "a.go": "package x\n\nfunc Two() int { return 1 }\n", "a_test.go": "package x\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Fail()\n\t}\n}\n"})
	committed(t, dir)
	r := worldIn(t, dir)
	k := &talks{t: t, model: model}
	c := r.agent("the hard one", ours)
	k.of("the hard one").CallOwn("best_of", object{"task": "make-it-two", "n": 2})
	for i, turn := range k.both("make-it-two") {
		turn.CallOwn("write_file", object{"path": "a.go", "content": fmt.Sprintf("package x\n\nfunc Two() int { return %d }\n", 2+i)})
	}
	for range 2 {
		k.of("make-it-two").Say("it is two now")
	}
	q := c.asked()
	passed, n := "", 0
	for _, o := range q.Options {
		if strings.Contains(o.Label, "tests passed") {
			passed = o.ID
		}
		if strings.Contains(o.Label, "1 files, +1 -1 lines") {
			n++
		}
	}
	if passed == "" || n != 2 || !strings.Contains(q.Text, "tests failed") {
		t.Fatalf("people are asked %s %+v", q.Text, q.Options)
	}
	doc, ok := strings.CutPrefix(q.Call.URI, "file://")
	data, err := os.ReadFile(doc)
	if !ok || err != nil || !strings.Contains(q.Text, doc) {
		t.Fatalf("the results are in %q: %v", q.Call.URI, err)
	}
	for _, want := range []string{"> make-it-two\n", "| 1 | 1 | +1 −1 | ", "| 2 | 1 | +1 −1 | ", "| passed | done |", "| failed | done |", "## Result 2\n\n> it is two now", "\n+func Two() int { return 2 }\n", "\n+func Two() int { return 3 }\n"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %q in\n%s", want, data)
		}
	}
	c.answer(q, passed)
	turn := k.of("the hard one")
	if !strings.Contains(turn.Result, "The user took run-") {
		t.Errorf("its caller reads %q", turn.Result)
	}
	turn.End()
	c.stopped(1)
	r.isQueued("a.go")
	if res := r.call("read_file", object{"path": "a.go"}); !strings.Contains(res.Content, "return 2") {
		t.Errorf("pending is %q", res.Content)
	}
}

// TestBestOfBoth: who takes two results that do not go together loses none of them.
func TestBestOfBoth(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "one\n"})
	committed(t, dir)
	r := worldIn(t, dir)
	k := &talks{t: t, model: model}
	c := r.agent("the hard one", ours)
	k.of("the hard one").CallOwn("best_of", object{"task": "make-it-two", "n": 2})
	for i, turn := range k.both("make-it-two") {
		turn.CallOwn("write_file", object{"path": "a.txt", "content": []string{"two\n", "zwei\n"}[i]})
	}
	for range 2 {
		k.of("make-it-two").End()
	}
	c.answer(c.asked(), "1 2")
	turn := k.of("the hard one")
	_, shadow, ok := strings.Cut(turn.Result, "Shadow workspaces that still have them: ")
	if !ok || !strings.Contains(turn.Result, "do not go together: a.txt") {
		t.Fatalf("its caller reads %q", turn.Result)
	}
	turn.End()
	c.stopped(1)
	r.isQueued("a.txt")
	if left := command[struct{ Shadows []struct{ ID string } }](r, "sidecar.shadow.list", nil).Shadows; len(left) != 1 || left[0].ID != shadow {
		t.Errorf("of the shadow workspaces there are %+v, and not %q alone", left, shadow)
	}
}

// TestBestOfAfterKill: an answer is to the results that were shown. Others are not made
// for it, and none is taken.
func TestBestOfAfterKill(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "one\n"})
	committed(t, dir)
	r, cmd := mortal(t, dir)
	k := &talks{t: t, model: model}
	c := r.agent("the hard one", ours)
	k.of("the hard one").CallOwn("best_of", object{"task": "make-it-two", "n": 2})
	k.of("make-it-two").CallOwn("write_file", object{"path": "a.txt", "content": "two\n"})
	for range 2 {
		k.of("make-it-two").Say("nothing else is to be done")
	}
	q := c.asked()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := &conversation{rig: worldIn(t, dir), run: c.run}
	again.answer(again.asked(), q.Options[0].ID)
	turn := next(t, model)
	if !strings.Contains(turn.Result, "nothing was taken") || !strings.Contains(turn.Body, "the hard one") {
		t.Errorf("its caller reads %q", turn.Result)
	}
	turn.End()
	again.stopped(2)
	if n := len(again.children()); n != 2 {
		t.Errorf("%d agents were begun", n)
	}
	again.isQueued()
	shadows := func() int {
		return len(command[struct{ Shadows []json.RawMessage }](again.rig, "sidecar.shadow.list", nil).Shadows)
	}
	until(t, "the shadow stays in which nothing was changed", func() bool { return shadows() == 1 })
	command[struct{}](again.rig, "sidecar.agent.close", object{"run": again.run})
	if n := shadows(); n != 0 {
		t.Errorf("%d shadows of agents that were left stay", n)
	}
}

// TestDelegate: the user's own model reads for one that costs money, and can do no more.
func TestDelegate(t *testing.T) {
	local := clients.NewModel()
	t.Cleanup(local.Close)
	model := clients.NewModel()
	t.Cleanup(model.Close)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	profiles := []object{
		{"name": "paid", "provider": "anthropic", "url": model.URL, "model": "claude-sonnet-4-5", "key": "sk-played-0123456789"},
		{"name": "mine", "provider": "openai", "url": local.URL, "model": "qwen3"},
		{"name": "gone", "provider": "openai", "url": "http://127.0.0.1:1", "model": "qwen3"},
	}
	dir := worldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, object{"backend.profiles": profiles, "backend.profile": "paid", "backend.worker": "mine"})
	r := worldIn(t, dir)
	c := r.agent("ask the other", ours)
	turn := next(t, model)
	if !strings.Contains(turn.Body, `"name":"delegate_task"`) {
		t.Error("it is not offered the local model")
	}
	turn.CallOwn("delegate_task", object{"task": "what is in it?", "context": "a.txt"})
	theirs := next(t, local)
	if strings.Contains(theirs.Body, `"name":"write_file"`) || strings.Contains(theirs.Body, `"name":"run_command"`) || !strings.Contains(theirs.Body, `"name":"read_file"`) || strings.Contains(theirs.Body, "ask the other") {
		t.Errorf("the local model is offered %s", theirs.Body)
	}
	theirs.CallOwn("write_file", object{"path": "a.txt", "content": "x\n"})
	if theirs = next(t, local); !strings.Contains(theirs.Result, "not among the tools") {
		t.Errorf("a call that writes says %q", theirs.Result)
	}
	theirs.CallOwn("read_file", object{"path": "a.txt"})
	if theirs = next(t, local); !strings.Contains(theirs.Result, "one") {
		t.Errorf("a call that reads says %q", theirs.Result)
	}
	theirs.Say("one")
	if turn = next(t, model); !strings.Contains(turn.Result, "one") {
		t.Errorf("its caller reads %q", turn.Result)
	}
	turn.End()
	c.stopped(1)
	if u := c.info().Usage; u == nil || u.Used > 10 {
		t.Errorf("what the local model used is charged: %+v", u)
	}
	r.isQueued()

	dir = worldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, object{"backend.profiles": profiles, "backend.profile": "paid", "backend.worker": "gone"})
	r = worldIn(t, dir)
	c = r.agent("again", ours)
	next(t, model).CallOwn("delegate_task", object{"task": "x"})
	if turn = next(t, model); !strings.Contains(turn.Result, "the local model can't be asked") {
		t.Errorf("a model that is gone says %q", turn.Result)
	}
	turn.End()
	c.stopped(1)
}

// TestSubAgentAfterKill: a sub-agent ends with its process, because its tools would be
// others in the next one; its caller is told to look, and the person where what it did is.
func TestSubAgentAfterKill(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "one\n"})
	committed(t, dir)
	r, cmd := mortal(t, dir)
	k := &talks{t: t, model: model}
	c := r.agent("lead on", ours)
	k.of("lead on").CallOwn("spawn_agent", object{"task": "task-held", "allow": []string{"read_file"}})
	k.of("task-held")
	child := c.children()[0]
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := &conversation{rig: worldIn(t, dir), run: c.run}
	after := &conversation{rig: again.rig, run: child.Run}
	for _, i := range again.list() {
		if i.Run == child.Run && i.State != told.Ended {
			t.Errorf("it is %s", i.State)
		}
	}
	where := ""
	for _, e := range after.history() {
		if e.Reason == "forsaken" {
			where = e.Text
		}
	}
	if child.Shadow == "" || !strings.Contains(where, child.Shadow) {
		t.Errorf("of its shadow %q it says %q", child.Shadow, where)
	}
	again.denies("sidecar.agent.prompt", object{"run": child.Run, "text": "go on"}, "ended")
	command[struct{}](again.rig, "sidecar.agent.resume", object{"run": c.run})
	turn := k.of("lead on")
	if !strings.Contains(turn.Body, "look first") {
		t.Errorf("its caller reads %s", turn.Body)
	}
	turn.End()
	again.stopped(2)
}
