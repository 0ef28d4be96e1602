package own_test

import (
	"path/filepath"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestOwnAgentRewindsFiles: what the agent, its sub-agents and its commands changed after a
// moment is taken back, waiting for review as their edits do, whether it waited or was
// accepted; what a person changed stays. It can be undone.
func TestOwnAgentRewindsFiles(t *testing.T) {
	lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	dir, model := e2e.Played(t, map[string]string{"a.txt": lines, "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n"})
	e2e.Committed(t, dir)
	r, cmd := e2e.Mortal(t, dir)
	c := r.Agent("the first", e2e.Ours)
	k := &e2e.Talks{T: t, Model: model}
	first := strings.Replace(lines, "2", "two", 1)
	k.Of("the first").CallOwn("write_file", e2e.Object{"path": "a.txt", "content": first})
	k.Of("the first").End()
	c.Stopped(1)
	history := c.History()
	at := history[len(history)-1].Seq

	c.Tell("the second", nil)
	second := strings.Replace(first, "4", "four", 1)
	k.Of("the second").CallAllOwn(
		clients.Called{Tool: "write_file", Args: e2e.Object{"path": "a.txt", "content": second}},
		clients.Called{Tool: "delete_file", Args: e2e.Object{"path": "b.txt"}})
	k.Of("the second").CallOwn("run_command", e2e.Object{"command": "echo made > made.txt; echo d2 > d.txt"})
	k.Of("the second").CallOwn("spawn_agent", e2e.Object{"task": "a-task"})
	k.Of("a-task").CallOwn("write_file", e2e.Object{"path": "c.txt", "content": "c2\n"})
	k.Of("a-task").End()
	k.Of("the second").End()
	c.Stopped(2)
	r.IsQueued("a.txt", "b.txt", "c.txt", "d.txt", "made.txt")
	r.Accept(e2e.Object{"uris": []string{e2e.URI(r, "a.txt"), e2e.URI(r, "c.txt")}})
	person := func(text string) string { return strings.Replace(text, "8", "eight", 1) }
	if got := r.File("a.txt"); got != second {
		t.Fatalf("accepted is %q", got)
	}
	if err := ownfile.WriteFile(filepath.Join(dir, "a.txt"), []byte(person(second)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	r = e2e.WorldInAsking(t, dir)
	c = &e2e.Conversation{Rig: r, Run: c.Run}

	undo := c.Rewinds(at, "files")
	if want := "Changed back: a.txt, b.txt, c.txt, d.txt, made.txt."; !strings.Contains(undo.Text, want) || strings.Contains(undo.Text, "Left") {
		t.Errorf("it is said %q, want %q", undo.Text, want)
	}
	then := map[string]string{"a.txt": person(first), "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n", "made.txt": ""}
	r.Seen(then)
	r.IsQueued("a.txt", "c.txt")
	if got := r.File("a.txt"); got != person(second) {
		t.Errorf("the disk has %q before a person accepts that", got)
	}
	c.Tell("go on", nil)
	turn := k.Of("go on")
	if !strings.Contains(turn.Body, "has taken your changes back") || !strings.Contains(turn.Body, "the second") {
		t.Errorf("it is told %s", turn.Body)
	}
	turn.End()
	c.Stopped(3)

	c.Rewinds(undo.Seq-1, "files") // the rewind is taken back
	r.Seen(map[string]string{"a.txt": person(second), "b.txt": "", "c.txt": "c2\n", "d.txt": "d2\n", "made.txt": "made\n"})
	if err := ownfile.WriteFile(filepath.Join(dir, "c.txt"), []byte("person\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	note := c.Rewinds(at, "both")
	if !strings.Contains(note.Text, "Left as it is: c.txt (it was changed since in the same places)") || !strings.Contains(note.Text, "has forgotten") {
		t.Errorf("it is said %q", note.Text)
	}
	if again := c.Rewinds(note.Seq-1, "conversation"); again.Text != "The agent knows again what it knew before that rewind. What it did stays done." {
		t.Errorf("it is said %q", again.Text)
	} else {
		c.Rewinds(again.Seq-1, "conversation")
	}
	then["c.txt"] = "person\n"
	r.Seen(then)
	c.Tell("and on", nil)
	if turn = k.Of("and on"); strings.Contains(turn.Body, "the second") || !strings.Contains(turn.Body, "the first") {
		t.Errorf("it knows %s", turn.Body)
	}
	turn.End()
	c.Stopped(4)
	if note := c.Rewinds(note.Seq, "both"); strings.Contains(note.Text, "hanged back") { // nothing was changed since
		t.Errorf("it is said %q", note.Text)
	}
	c.Rewinds(1, "conversation")
	r.Denies("sidecar.agent.compact", e2e.Object{"run": c.Run}, "nothing left to take out of it")
	r.Accept(e2e.Object{})
	if got := r.File("a.txt"); got != person(first) {
		t.Errorf("the disk has %q", got)
	}
}

// TestRewindStopsSubAgents: those that were begun after the moment and work on are stopped,
// with those below them, before anything is taken back; one of before works on.
func TestRewindStopsSubAgents(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	e2e.Committed(t, dir)
	r := e2e.WorldIn(t, dir)
	c := r.Agent("the-opening-words", e2e.Ours)
	k := &e2e.Talks{T: t, Model: model}
	k.Of("the-opening-words").CallOwn("spawn_agent", e2e.Object{"task": "an-early-task", "wait": false})
	k.Of("the-opening-words").End()
	c.Stopped(1)
	history := c.History()
	at := history[len(history)-1].Seq
	c.Tell("the-later-words", nil)
	k.Of("the-later-words").CallOwn("spawn_agent", e2e.Object{"task": "a-late-task", "wait": false})
	k.Of("the-later-words").End()
	c.Stopped(2)
	k.Of("a-late-task").CallAllOwn(
		clients.Called{Tool: "write_file", Args: e2e.Object{"path": "a.txt", "content": "late\n"}},
		clients.Called{Tool: "spawn_agent", Args: e2e.Object{"task": "a-deep-task"}})
	k.Of("a-deep-task").CallOwn("write_file", e2e.Object{"path": "b.txt", "content": "deep\n"})
	k.Of("a-deep-task") // it is about to say more
	note := c.Rewinds(at, "both")
	if !strings.Contains(note.Text, "Changed back: a.txt, b.txt.") {
		t.Errorf("it is said %q", note.Text)
	}
	for _, i := range c.List() {
		if early := strings.Contains(i.Title, "early"); early != (i.State == told.Running) && i.Run != c.Run {
			t.Errorf("%q is %s", i.Title, i.State)
		}
	}
	r.IsQueued()
	k.Of("an-early-task").CallOwn("write_file", e2e.Object{"path": "b.txt", "content": "early\n"})
	k.Of("an-early-task").End()
	e2e.Until(t, "the early one does not end", func() bool { return len(r.Queued()) == 1 })
	r.IsQueued("b.txt")
}
