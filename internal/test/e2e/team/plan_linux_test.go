package team_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// document is the file of the plan that a question is about.
func document(t *testing.T, q told.Event) string {
	t.Helper()
	if q.Call == nil || q.Call.URI == "" {
		t.Fatalf("the question names no document: %+v", q)
	}
	path, ok := workspace.FilePath(q.Call.URI)
	if !ok {
		t.Fatalf("%q is no file", q.Call.URI)
	}
	return path
}

// reads checks what is in a file.
func reads(t *testing.T, path, want string) {
	t.Helper()
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		t.Errorf("%s has %q, %v, want %q", filepath.Base(path), data, err, want)
	}
}

var planning = e2e.Object{"agent": "builtin", "mode": "plan"}

// changes are calls that change something, each by another way.
var changes = []clients.Called{
	{Tool: "write_file", Args: e2e.Object{"path": "a.txt", "content": "x\n"}},
	{Tool: "edit_file", Args: e2e.Object{"path": "a.txt", "search": "one", "replace": "x"}},
	{Tool: "delete_file", Args: e2e.Object{"path": "a.txt"}},
	{Tool: "move_file", Args: e2e.Object{"from": "a.txt", "to": "b.txt"}},
	{Tool: "run_command", Args: e2e.Object{"command": "touch x"}},
	{Tool: "run_command", Args: e2e.Object{"command": "cat a.txt > x"}},
	{Tool: "git_commit", Args: e2e.Object{"message": "x"}},
}

// TestPlanChangesNothing: in the mode plan nothing that changes anything runs: not by the
// agent, not by its sub-agents, whatever they have asked before. Reads go on.
func TestPlanChangesNothing(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"}, e2e.Object{"toolPermissions": e2e.Object{"run_command": "allow", "write_file": "allow"}})
	e2e.Committed(t, dir)
	r := e2e.WorldIn(t, dir)
	k := &e2e.Talks{T: t, Model: model}
	c := r.Agent("only plan", planning)
	turn := k.Of("only plan")
	if !strings.Contains(turn.Body, "Nothing may be changed yet, by sub-agents neither.") || !strings.Contains(turn.Body, `"name":"propose_plan"`) {
		t.Error("it is not told to plan")
	}
	turn.CallAllOwn(changes...)
	turn = k.Of("only plan")
	if n := strings.Count(turn.Body, `"is_error":true`); n != len(changes) || strings.Count(turn.Body, "the mode plan only reads") != n {
		t.Errorf("%d of %d calls are refused: %.3000s", n, len(changes), turn.Body)
	}
	turn.CallAllOwn(clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "task-sneak"}}, clients.Called{Tool: "run_command", Args: e2e.Object{"command": "cat a.txt"}})
	child := k.Of("task-sneak")
	if strings.Contains(child.Body, `"name":"propose_plan"`) || !strings.Contains(child.Body, "say what you would do.") {
		t.Error("a sub-agent may propose plans")
	}
	child.CallAllOwn(append(changes, clients.Called{Tool: "propose_plan", Args: e2e.Object{"plan": "x"}}, clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "deep-sneak"}})...)
	k.Of("deep-sneak").CallAllOwn(changes...)
	deep := k.Of("deep-sneak")
	if n := strings.Count(deep.Body, `"is_error":true`); n != len(changes) {
		t.Errorf("%d of %d calls are refused two levels down: %.3000s", n, len(changes), deep.Body)
	}
	deep.End()
	child = k.Of("task-sneak")
	if n := strings.Count(child.Body, `"is_error":true`); n != len(changes)+1 {
		t.Errorf("%d of %d calls are refused one level down: %.3000s", n, len(changes)+1, child.Body)
	}
	child.End()
	turn = k.Of("only plan")
	if !strings.Contains(turn.Body, `one\n`) {
		t.Errorf("it can't read by a command: %.3000s", turn.Body)
	}
	turn.End()
	c.Stopped(1)
	r.IsQueued()
	if got := r.File("a.txt"); got != "one\n" {
		t.Errorf("the disk has %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a command has written")
	}

	// The control: the same calls in another mode.
	c = r.Agent("do it", e2e.Object{"agent": "builtin", "mode": "autonomous"})
	k.Of("do it").CallAllOwn(changes[4], changes[0])
	turn = k.Of("do it")
	if strings.Contains(turn.Body, `"is_error":true`) {
		t.Errorf("the control: %.3000s", turn.Body)
	}
	turn.CallOwn("propose_plan", e2e.Object{"plan": "go on"})
	if turn = k.Of("do it"); !strings.HasPrefix(turn.Result, "No approval is needed in the mode autonomous") {
		t.Errorf("where nothing waits for a plan it reads %q", turn.Result)
	}
	turn.End()
	c.Stopped(1)
	if _, err := os.Stat(filepath.Join(dir, "x")); err != nil {
		t.Error("the control has written nothing")
	}
}

// TestPlan: a plan is a document that a person may change, what is wrong with it goes
// back, and the mode that approves it is that of this session alone.
func TestPlan(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"})
	e2e.Committed(t, dir)
	r := e2e.WorldIn(t, dir)
	k := &e2e.Talks{T: t, Model: model}
	other := r.Agent("another", planning)
	k.Of("another").End()
	other.Stopped(1)
	c := r.Agent("think first", planning)
	k.Of("think first").CallOwn("propose_plan", e2e.Object{"plan": "# Plan\n\u202e\n1. Do it.\n"})
	q := c.Asked()
	var ids []string
	for _, o := range q.Options {
		ids = append(ids, o.ID)
	}
	if got := strings.Join(ids, " "); got != "approve_review approve_cautious approve_autonomous keep_planning" || !q.Custom {
		t.Errorf("people are offered %s, custom %v", got, q.Custom)
	}
	reads(t, document(t, q), "# Plan\n<U+202E>\n1. Do it.\n")
	e2e.Until(t, "the editor is not shown the document", func() bool {
		return slices.ContainsFunc(r.Record().Requests, func(m fakeeditor.Message) bool {
			return m.Method == "window/showDocument" && strings.Contains(string(m.Params), q.Call.URI)
		})
	})
	c.Reply(q, "review") // the name of a mode alone approves nothing
	turn := k.Of("think first")
	if !strings.Contains(turn.Result, "did not approve the plan, and says:\n\nreview") {
		t.Errorf("it reads %q", turn.Result)
	}
	turn.CallAllOwn(clients.Called{Tool: "propose_plan", Args: e2e.Object{"plan": "1. Do it."}}, changes[0])
	q = c.Asked()
	c.Reply(q, "keep_planning")
	turn = k.Of("think first")
	if !strings.Contains(turn.Body, "wants to go on planning") || !strings.Contains(turn.Body, "the mode plan only reads") {
		t.Errorf("it reads %.3000s", turn.Body)
	}
	turn.CallOwn("propose_plan", e2e.Object{"plan": "1. Write."})
	q = c.Asked()
	if err := ownfile.Remove(document(t, q)); err != nil {
		t.Fatal(err)
	}
	c.Reply(q, "approve_review")
	turn = k.Of("think first")
	if !strings.Contains(turn.Result, "nothing is approved: the document of the plan is gone") {
		t.Errorf("of a document that is gone it reads %q", turn.Result)
	}
	if i := c.Info(); i.Mode != "plan" {
		t.Errorf("the mode is %s", i.Mode)
	}
	for text, want := range map[string]string{"": "is empty", strings.Repeat("a", 300<<10): "is longer than"} {
		turn.CallOwn("propose_plan", e2e.Object{"plan": "1. Write."})
		q = c.Asked()
		if err := ownfile.WriteFile(document(t, q), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.Reply(q, "approve_autonomous")
		if turn = k.Of("think first"); !strings.Contains(turn.Result, want) {
			t.Errorf("of a document of %d bytes it reads %q", len(text), turn.Result)
		}
	}
	turn.CallOwn("propose_plan", e2e.Object{"plan": strings.Repeat("a", 1<<20)})
	turn = k.Of("think first")
	if !strings.Contains(turn.Body, "Send smaller parts") {
		t.Errorf("of a plan of 1 MB it reads %q", turn.Result)
	}

	turn.CallOwn("propose_plan", e2e.Object{"plan": "1. Write one.\n2. Write two."})
	q = c.Asked()
	if err := ownfile.WriteFile(document(t, q), []byte("1. Write one.\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Reply(q, "approve_review")
	turn = k.Of("think first")
	if !strings.Contains(turn.Result, "after the user changed it. You work in the mode review from now on: Keeps edits in a queue") || !strings.HasSuffix(turn.Result, "\n\n1. Write one.") {
		t.Errorf("of a plan that was changed it reads %q", turn.Result)
	}
	if mine, theirs := c.Info().Mode, other.Info().Mode; mine != "review" || theirs != "plan" {
		t.Errorf("the modes are %s and %s", mine, theirs)
	}
	approved := 0
	for _, e := range c.History() {
		if e.Kind == told.Note && e.Reason == "approved" {
			approved++
			if e.Ref != q.Call.URI || e.Mode != "review" || !strings.Contains(e.Text, "in the mode review") {
				t.Errorf("the approval is told as %+v", e)
			}
		}
	}
	if approved != 1 {
		t.Errorf("%d approvals are told", approved)
	}

	// What the editor has and has not saved is what the person sees.
	other.Tell("another one", nil)
	k.Of("another one").CallOwn("propose_plan", e2e.Object{"plan": "1. Look."})
	q = other.Asked()
	open, err := r.OpenFile(t.Context(), document(t, q))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Type(t.Context(), open, "1. Look twice.\n"); err != nil {
		t.Fatal(err)
	}
	other.Reply(q, "approve_cautious")
	last := k.Of("another one")
	if !strings.HasSuffix(last.Result, "\n\n1. Look twice.") {
		t.Errorf("of a plan that is not saved it reads %q", last.Result)
	}
	reads(t, document(t, q), "1. Look twice.\n")
	last.End()

	turn.CallAllOwn(clients.Called{Tool: "write_file", Args: e2e.Object{"path": "b.txt", "content": "one\n"}}, clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "task-late"}})
	k.Of("task-late").CallOwn("write_file", e2e.Object{"path": "c.txt", "content": "two\n"})
	k.Of("task-late").End()
	k.Of("think first").End()
	c.Stopped(1)
	r.IsQueued("b.txt", "c.txt")
}

// TestPlanAfterKill: a plan that is approved after its server was killed is the document
// as the person left it.
func TestPlanAfterKill(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"})
	r, cmd := e2e.Mortal(t, dir)
	c := r.Agent("think first", planning)
	e2e.Next(t, model).CallOwn("write_todos", e2e.Object{"todos": []e2e.Object{{"text": "think"}, {"text": "write"}}})
	e2e.Next(t, model).CallAllOwn(
		clients.Called{Tool: "declare_step", Args: e2e.Object{"step_number": 1, "title": "Think", "action": "read", "success_criteria": "it is clear"}},
		clients.Called{Tool: "propose_plan", Args: e2e.Object{"plan": "1. Write one."}},
	)
	q := c.Asked()
	if err := ownfile.WriteFile(document(t, q), []byte("1. Write two."), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := &e2e.Conversation{Rig: e2e.WorldIn(t, r.Dir), Run: c.Run}
	q = again.Asked()
	again.Reply(q, "approve_cautious")
	turn := e2e.Next(t, model)
	if !strings.HasSuffix(turn.Result, "\n\n1. Write two.") || again.Info().Mode != "cautious" {
		t.Errorf("it reads %q, in the mode %s", turn.Result, again.Info().Mode)
	}
	turn.CallAllOwn(
		clients.Called{Tool: "complete_todo", Args: e2e.Object{"index": 1}},
		clients.Called{Tool: "verify_step", Args: e2e.Object{"step_number": 1, "passed": true, "observation": "it is"}},
	)
	turn = e2e.Next(t, model)
	if !strings.Contains(turn.Body, `1. [x] think\n2. [ ] write`) || !strings.Contains(turn.Body, "Step 1 is done.") {
		t.Errorf("what it had set out to do is lost: %.3000s", turn.Body)
	}
	turn.End()
	again.Stopped(2)
}

// TestModeIsTold: the instructions of a conversation say what the mode was at its
// beginning. A model is told when a person sets another one, and once.
func TestModeIsTold(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "one\n"})
	r := e2e.WorldIn(t, dir)
	c := r.Agent("think first", planning)
	turn := e2e.Next(t, model)
	for _, mode := range []string{"review", "review", "plan"} {
		e2e.Command[e2e.Object](r, "sidecar.mode.set", e2e.Object{"session": c.Info().Session, "mode": mode})
	}
	turn.CallOwn("read_file", e2e.Object{"path": "a.txt"})
	turn = e2e.Next(t, model)
	for want, n := range map[string]int{"The mode is review from now on": 1, "The mode is plan from now on": 1, "Nothing may be changed until the user has approved a plan": 1} {
		if got := strings.Count(turn.Body, want); got != n {
			t.Errorf("%q is told %d times, want %d: %.3000s", want, got, n, turn.Body)
		}
	}
	turn.End()
	c.Stopped(1)
}
