package team_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestSubAgents: several at once, each with its own files; what they change comes back as
// one review, grouped by agent, and their caller reads what they say.
func TestSubAgents(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n"})
	e2e.Committed(t, dir)
	r := e2e.WorldIn(t, dir)
	c := r.Agent("do both", e2e.Ours)
	k := &e2e.Talks{T: t, Model: model}
	turn := k.Of("do both")
	if !strings.Contains(turn.Body, `"name":"spawn_agent"`) || strings.Contains(turn.Body, `"name":"delegate_task"`) {
		t.Error("it is not offered sub-agents, or a local model that there is not")
	}
	turn.CallOwn("write_file", e2e.Object{"path": "c.txt", "content": "pending\n"})
	k.Of("do both").CallAllOwn(
		clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "task-left", "context": "know this"}},
		clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "task-right"}},
	)
	left, right := k.Of("task-left"), k.Of("task-right")
	if strings.Contains(left.Body, `"name":"best_of"`) || !strings.Contains(turn.Body, `"name":"best_of"`) {
		t.Error("best_of needs the main tree, and is offered elsewhere, or not there")
	}
	if !strings.Contains(left.Body, "know this") || strings.Contains(left.Body, "do both") || !strings.Contains(left.Body, "You are a sub-agent") {
		t.Error("a sub-agent does not know its task alone")
	}
	if n := len(c.Children()); n != 2 {
		t.Errorf("there are %d sub-agents", n)
	}
	left.CallOwn("run_command", e2e.Object{"command": "cat c.txt"})
	left = k.Of("task-left")
	if !strings.Contains(left.Result, "pending") {
		t.Errorf("it does not see what is pending: %q", left.Result)
	}
	left.CallOwn("write_file", e2e.Object{"path": "a.txt", "content": "left\n"})
	right.CallOwn("write_file", e2e.Object{"path": "a.txt", "content": "right\n"})
	right = k.Of("task-right")
	right.CallOwn("write_file", e2e.Object{"path": "b.txt", "content": "right\n"})
	right = k.Of("task-right")
	left = k.Of("task-left")
	r.IsQueued("c.txt") // until they are done
	left.Say("left is done")
	e2e.Until(t, "the first did not end", func() bool { return len(r.Queued()) == 2 })
	right.Say("right is done")
	turn = k.Of("do both")
	for _, want := range []string{"left is done", "right is done", "Its changes wait for review: a.txt", "Not taken over, because others changed the same places: a.txt"} {
		if !strings.Contains(turn.Body, want) {
			t.Errorf("no %q in what its caller reads: %s", want, turn.Body)
		}
	}
	r.IsQueued("a.txt", "b.txt", "c.txt")
	sessions := map[string]bool{}
	for _, e := range r.Pending().Edits {
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
	c.Stopped(1)
	for _, e := range c.History() {
		if e.Kind == told.Child && (e.Child == "" || e.Call == nil || e.Call.ID == "" || e.Title == "") {
			t.Errorf("a child is told as %+v", e)
		}
	}
}

// TestSubAgentIsNeverMore: the tools, the mode, the depth and the budget of a sub-agent
// are at most those of its caller.
func TestSubAgentIsNeverMore(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"})
	e2e.Committed(t, dir)
	r := e2e.WorldIn(t, dir)
	k := &e2e.Talks{T: t, Model: model}
	plan := r.Agent("only plan", e2e.Object{"agent": "builtin", "mode": "plan", "budget": e2e.Object{"tokens": 100_000}})
	k.Of("only plan").CallOwn("spawn_agent", e2e.Object{"task": "task-write", "allow": []string{"write_file", "run_command", "spawn_agent"}})
	child := k.Of("task-write")
	if strings.Contains(child.Body, `"name":"read_file"`) || !strings.Contains(child.Body, `"name":"write_file"`) {
		t.Error("its tools are not those that are allowed")
	}
	r.Denies("sidecar.mode.set", e2e.Object{"session": plan.Children()[0].Session, "mode": "autonomous"}, "the mode is looser than it may be")
	child.CallAllOwn(
		clients.Called{Tool: "write_file", Args: e2e.Object{"path": "a.txt", "content": "x\n"}},
		clients.Called{Tool: "run_command", Args: e2e.Object{"command": "touch x"}},
		clients.Called{Tool: "read_file", Args: e2e.Object{"path": "a.txt"}},
	)
	child = k.Of("task-write")
	if n := strings.Count(child.Body, `"is_error":true`); n != 3 {
		t.Errorf("%d of 3 calls are refused: %s", n, child.Body)
	}
	child.CallOwn("spawn_agent", e2e.Object{"task": "deep-2", "allow": []string{"spawn_agent", "write_file"}})
	k.Of("deep-2").CallOwn("spawn_agent", e2e.Object{"task": "deep-3", "allow": []string{"spawn_agent", "write_file"}})
	deep := k.Of("deep-3")
	if strings.Contains(deep.Body, `"name":"spawn_agent"`) {
		t.Error("the deepest may begin others")
	}
	deep.CallOwn("spawn_agent", e2e.Object{"task": "deep-4"})
	deep = k.Of("deep-3")
	if !strings.Contains(deep.Result, "not among the tools") && !strings.Contains(deep.Result, "there may be no more") {
		t.Errorf("the deepest reads %q", deep.Result)
	}
	for _, word := range []string{"deep-3", "deep-2", "task-write"} {
		if word == "deep-3" {
			deep.End()
			continue
		}
		k.Of(word).End()
	}
	k.Of("only plan").CallAllOwn(
		clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "x", "allow": []string{"nonesuch"}}},
		clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "x", "agent": "claude"}},
		clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": " "}},
		clients.Called{Tool: "agent_send", Args: e2e.Object{"id": "run-none", "text": "x"}},
		clients.Called{Tool: "delegate_task", Args: e2e.Object{"task": "x"}},
	)
	turn := k.Of("only plan")
	for _, want := range []string{"nonesuch", "sub-agents are of the kind", "is empty", "you have no sub-agent", "names no model of their own"} {
		if !strings.Contains(turn.Body, want) {
			t.Errorf("no %q in %s", want, turn.Body)
		}
	}
	turn.End()
	plan.Stopped(1)
	r.IsQueued()
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a sub-agent has run a command in a plan")
	}
}

// TestSubAgentsAreLedOn: they are listed, told things, waited for, stopped; their
// questions are asked in their runs, and an interrupt of their caller stops all.
func TestSubAgentsAreLedOn(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"}, e2e.Object{"toolPermissions": e2e.Object{}})
	e2e.Committed(t, dir)
	r := e2e.WorldInAsking(t, dir)
	k := &e2e.Talks{T: t, Model: model}
	c := r.Agent("lead them", e2e.Ours)
	k.Of("lead them").CallAllOwn(
		clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "task-one", "wait": false}},
		clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "task-two", "wait": false}},
	)
	turn, one, two := k.Of("lead them"), k.Of("task-one"), k.Of("task-two")
	children := c.Children()
	if len(children) != 2 {
		t.Fatalf("there are %d", len(children))
	}
	first, second := children[0], children[1]
	if strings.Contains(second.Title, "one") {
		first, second = second, first
	}
	one.CallOwn("run_command", e2e.Object{"command": "cp a.txt b.txt"})
	asking := &e2e.Conversation{Rig: r, Run: first.Run}
	q := asking.Asked()
	turn.CallOwn("agent_list", e2e.Object{})
	turn = k.Of("lead them")
	if !strings.Contains(turn.Result, "it asks the user") || !strings.Contains(turn.Result, second.Run) {
		t.Errorf("it is listed as %q", turn.Result)
	}
	turn.CallAllOwn(
		clients.Called{Tool: "agent_send", Args: e2e.Object{"id": second.Run, "text": "hurry"}},
		clients.Called{Tool: "agent_wait", Args: e2e.Object{"ids": []string{first.Run, second.Run}, "timeout_s": 1}},
	)
	turn = k.Of("lead them")
	asking.Reply(q, "allow_once")
	one = k.Of("task-one")
	one.Say("one is done")
	two.CallOwn("read_file", e2e.Object{"path": "a.txt"})
	two = k.Of("task-two")
	if !strings.Contains(two.Body, "hurry") {
		t.Error("it does not hear what it is told")
	}
	turn.CallOwn("agent_wait", e2e.Object{"ids": []string{first.Run, second.Run}, "until": "any"})
	turn = k.Of("lead them")
	if !strings.Contains(turn.Result, "one is done") || !strings.Contains(turn.Result, "running") {
		t.Errorf("waiting says %q", turn.Result)
	}
	turn.CallOwn("agent_cancel", e2e.Object{"id": second.Run})
	turn = k.Of("lead them")
	if !strings.Contains(turn.Result, "interrupted") {
		t.Errorf("stopping says %q", turn.Result)
	}
	turn.CallOwn("spawn_agent", e2e.Object{"task": "task-held", "wait": false})
	turn = k.Of("lead them")
	held := &e2e.Conversation{Rig: r}
	for _, i := range c.Children() {
		if strings.Contains(i.Title, "held") {
			held.Run = i.Run
		}
	}
	asked := k.Of("task-held") // before the pause: paused any earlier, it would not ask at all
	e2e.Command[struct{}](r, "sidecar.agent.pause", e2e.Object{"run": held.Run})
	asked.CallOwn("read_file", e2e.Object{"path": "a.txt"})
	e2e.Until(t, "it is not paused", func() bool { return held.Info().State == told.Paused })
	turn.CallOwn("agent_cancel", e2e.Object{"id": held.Run}) // there is nothing to stop, and it stops
	turn = k.Of("lead them")
	turn.CallOwn("spawn_agent", e2e.Object{"task": "task-three"})
	k.Of("task-three").CallOwn("spawn_agent", e2e.Object{"task": "task-four"})
	k.Of("task-four")
	e2e.Command[struct{}](r, "sidecar.agent.cancel", e2e.Object{"run": c.Run})
	if reason, _, _ := c.Stopped(1); reason != told.Interrupted {
		t.Errorf("it ended by %s", reason)
	}
	e2e.Until(t, "sub-agents work on", func() bool {
		return !slices.ContainsFunc(c.List(), func(i e2e.Listed) bool { return i.State == told.Running })
	})
	var shadows struct{ Shadows []json.RawMessage }
	if err := r.ExecuteCommand(t.Context(), "sidecar.shadow.list", e2e.Object{}, &shadows); err != nil || len(shadows.Shadows) != 0 {
		t.Errorf("%d shadows are left, %v", len(shadows.Shadows), err)
	}
	r.IsQueued("b.txt")
}

// TestBestOf: several make the same, the tests run in the files of each, and the person
// takes what they want.
func TestBestOf(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"go.mod": "module x\n", "a.go": "package x\n\nfunc Two() int { return 1 }\n", "a_test.go": "package x\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Fail()\n\t}\n}\n"})
	e2e.Committed(t, dir)
	r := e2e.WorldIn(t, dir)
	k := &e2e.Talks{T: t, Model: model}
	c := r.Agent("the hard one", e2e.Ours)
	k.Of("the hard one").CallOwn("best_of", e2e.Object{"task": "make-it-two", "n": 2})
	for i, turn := range k.Both("make-it-two") {
		turn.CallOwn("write_file", e2e.Object{"path": "a.go", "content": fmt.Sprintf("package x\n\nfunc Two() int { return %d }\n", 2+i)})
	}
	for range 2 {
		k.Of("make-it-two").Say("it is two now")
	}
	q := c.Asked()
	passed, n := "", 0
	for _, o := range q.Options {
		if strings.Contains(o.Label, "tests passed") {
			passed = o.ID
		}
		if strings.Contains(o.Label, "1 file, +1 -1 lines") {
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
	c.Reply(q, passed)
	turn := k.Of("the hard one")
	if !strings.Contains(turn.Result, "The user took run-") {
		t.Errorf("its caller reads %q", turn.Result)
	}
	turn.End()
	c.Stopped(1)
	r.IsQueued("a.go")
	if res := r.Tool("read_file", e2e.Object{"path": "a.go"}); !strings.Contains(res.Content, "return 2") {
		t.Errorf("pending is %q", res.Content)
	}
}

// TestBestOfBoth: who takes two results that do not go together loses none of them.
func TestBestOfBoth(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"})
	e2e.Committed(t, dir)
	r := e2e.WorldIn(t, dir)
	k := &e2e.Talks{T: t, Model: model}
	c := r.Agent("the hard one", e2e.Ours)
	k.Of("the hard one").CallOwn("best_of", e2e.Object{"task": "make-it-two", "n": 2})
	for i, turn := range k.Both("make-it-two") {
		turn.CallOwn("write_file", e2e.Object{"path": "a.txt", "content": []string{"two\n", "zwei\n"}[i]})
	}
	for range 2 {
		k.Of("make-it-two").End()
	}
	c.Reply(c.Asked(), "1 2")
	turn := k.Of("the hard one")
	_, shadow, ok := strings.Cut(turn.Result, "Shadow workspaces that still have them: ")
	if !ok || !strings.Contains(turn.Result, "do not go together: a.txt") {
		t.Fatalf("its caller reads %q", turn.Result)
	}
	turn.End()
	c.Stopped(1)
	r.IsQueued("a.txt")
	if left := e2e.Command[struct{ Shadows []struct{ ID string } }](r, "sidecar.shadow.list", nil).Shadows; len(left) != 1 || left[0].ID != shadow {
		t.Errorf("of the shadow workspaces there are %+v, and not %q alone", left, shadow)
	}
}

// TestBestOfAfterKill: an answer is to the results that were shown. Others are not made
// for it, and none is taken.
func TestBestOfAfterKill(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"})
	e2e.Committed(t, dir)
	r, cmd := e2e.Mortal(t, dir)
	k := &e2e.Talks{T: t, Model: model}
	c := r.Agent("the hard one", e2e.Ours)
	k.Of("the hard one").CallOwn("best_of", e2e.Object{"task": "make-it-two", "n": 2})
	k.Of("make-it-two").CallOwn("write_file", e2e.Object{"path": "a.txt", "content": "two\n"})
	for range 2 {
		k.Of("make-it-two").Say("nothing else is to be done")
	}
	q := c.Asked()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := &e2e.Conversation{Rig: e2e.WorldIn(t, dir), Run: c.Run}
	again.Reply(again.Asked(), q.Options[0].ID)
	turn := e2e.Next(t, model)
	if !strings.Contains(turn.Result, "nothing was taken") || !strings.Contains(turn.Body, "the hard one") {
		t.Errorf("its caller reads %q", turn.Result)
	}
	turn.End()
	again.Stopped(2)
	if n := len(again.Children()); n != 2 {
		t.Errorf("%d agents were begun", n)
	}
	again.IsQueued()
	shadows := func() int {
		return len(e2e.Command[struct{ Shadows []json.RawMessage }](again.Rig, "sidecar.shadow.list", nil).Shadows)
	}
	e2e.Until(t, "the shadow stays in which nothing was changed", func() bool { return shadows() == 1 })
	e2e.Command[struct{}](again.Rig, "sidecar.agent.close", e2e.Object{"run": again.Run})
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
	profiles := []e2e.Object{
		{"name": "paid", "provider": "anthropic", "url": model.URL, "model": "claude-sonnet-4-5", "key": "sk-played-0123456789"},
		{"name": "mine", "provider": "openai", "url": local.URL, "model": "qwen3"},
		{"name": "gone", "provider": "openai", "url": "http://127.0.0.1:1", "model": "qwen3"},
	}
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, e2e.Object{"backend.profiles": profiles, "backend.profile": "paid", "backend.worker": "mine"})
	r := e2e.WorldIn(t, dir)
	c := r.Agent("ask the other", e2e.Ours)
	turn := e2e.Next(t, model)
	if !strings.Contains(turn.Body, `"name":"delegate_task"`) {
		t.Error("it is not offered the local model")
	}
	turn.CallOwn("delegate_task", e2e.Object{"task": "what is in it?", "context": "a.txt"})
	theirs := e2e.Next(t, local)
	if strings.Contains(theirs.Body, `"name":"write_file"`) || strings.Contains(theirs.Body, `"name":"run_command"`) || !strings.Contains(theirs.Body, `"name":"read_file"`) || strings.Contains(theirs.Body, "ask the other") {
		t.Errorf("the local model is offered %s", theirs.Body)
	}
	theirs.CallOwn("write_file", e2e.Object{"path": "a.txt", "content": "x\n"})
	if theirs = e2e.Next(t, local); !strings.Contains(theirs.Result, "not among the tools") {
		t.Errorf("a call that writes says %q", theirs.Result)
	}
	theirs.CallOwn("read_file", e2e.Object{"path": "a.txt"})
	if theirs = e2e.Next(t, local); !strings.Contains(theirs.Result, "one") {
		t.Errorf("a call that reads says %q", theirs.Result)
	}
	theirs.Say("one")
	if turn = e2e.Next(t, model); !strings.Contains(turn.Result, "one") {
		t.Errorf("its caller reads %q", turn.Result)
	}
	turn.End()
	c.Stopped(1)
	if u := c.Info().Usage; u == nil || u.Used > 10 {
		t.Errorf("what the local model used is charged: %+v", u)
	}
	r.IsQueued()

	dir = e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, e2e.Object{"backend.profiles": profiles, "backend.profile": "paid", "backend.worker": "gone"})
	r = e2e.WorldIn(t, dir)
	c = r.Agent("again", e2e.Ours)
	e2e.Next(t, model).CallOwn("delegate_task", e2e.Object{"task": "x"})
	if turn = e2e.Next(t, model); !strings.Contains(turn.Result, "the local model can't be asked") {
		t.Errorf("a model that is gone says %q", turn.Result)
	}
	turn.End()
	c.Stopped(1)
}

// TestSubAgentAfterKill: a sub-agent ends with its process, because its tools would be
// others in the next one; its caller is told to look, and the person where what it did is.
func TestSubAgentAfterKill(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"})
	e2e.Committed(t, dir)
	r, cmd := e2e.Mortal(t, dir)
	k := &e2e.Talks{T: t, Model: model}
	c := r.Agent("lead on", e2e.Ours)
	k.Of("lead on").CallOwn("spawn_agent", e2e.Object{"task": "task-held", "allow": []string{"read_file"}})
	k.Of("task-held")
	child := c.Children()[0]
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := &e2e.Conversation{Rig: e2e.WorldIn(t, dir), Run: c.Run}
	after := &e2e.Conversation{Rig: again.Rig, Run: child.Run}
	for _, i := range again.List() {
		if i.Run == child.Run && i.State != told.Ended {
			t.Errorf("it is %s", i.State)
		}
	}
	where := ""
	for _, e := range after.History() {
		if e.Reason == "forsaken" {
			where = e.Text
		}
	}
	if child.Shadow == "" || !strings.Contains(where, child.Shadow) {
		t.Errorf("of its shadow %q it says %q", child.Shadow, where)
	}
	again.Denies("sidecar.agent.prompt", e2e.Object{"run": child.Run, "text": "go on"}, "ended")
	e2e.Command[struct{}](again.Rig, "sidecar.agent.resume", e2e.Object{"run": c.Run})
	turn := k.Of("lead on")
	if !strings.Contains(turn.Body, "look first") {
		t.Errorf("its caller reads %s", turn.Body)
	}
	turn.End()
	again.Stopped(2)
}
