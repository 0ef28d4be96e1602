package app_test

import (
	"path/filepath"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// rewinds rewinds a run and returns the note of it.
func (c *conversation) rewinds(at int64, what string) (note told.Event) {
	c.t.Helper()
	command[struct{}](c.rig, "sidecar.agent.rewind", object{"run": c.run, "at": at, "what": what})
	for _, e := range c.history() {
		if e.Kind == told.Note && e.Reason == "rewound" {
			note = e
		}
	}
	return note
}

// seen checks the texts that tools see; "": there is no such file.
func (r *rig) seen(want map[string]string) {
	r.t.Helper()
	for name, text := range want {
		got := r.call("read_file", object{"path": name})
		if text == "" && got.Error.Code != "not_found" || text != "" && got.Content != text {
			r.t.Errorf("%s reads %q %+v, want %q", name, got.Content, got.Error, text)
		}
	}
}

// TestOwnAgentRewindsFiles: what the agent, its sub-agents and its commands changed after a
// moment is taken back, waiting for review as their edits do, whether it waited or was
// accepted; what a person changed stays. It can be undone.
func TestOwnAgentRewindsFiles(t *testing.T) {
	lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	dir, model := played(t, map[string]string{"a.txt": lines, "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n"})
	committed(t, dir)
	r, cmd := mortal(t, dir)
	c := r.agent("the first", ours)
	k := &talks{t: t, model: model}
	first := strings.Replace(lines, "2", "two", 1)
	k.of("the first").CallOwn("write_file", object{"path": "a.txt", "content": first})
	k.of("the first").End()
	c.stopped(1)
	history := c.history()
	at := history[len(history)-1].Seq

	c.tell("the second", nil)
	second := strings.Replace(first, "4", "four", 1)
	k.of("the second").CallAllOwn(
		clients.Called{Tool: "write_file", Args: object{"path": "a.txt", "content": second}},
		clients.Called{Tool: "delete_file", Args: object{"path": "b.txt"}})
	k.of("the second").CallOwn("run_command", object{"command": "echo made > made.txt; echo d2 > d.txt"})
	k.of("the second").CallOwn("spawn_agent", object{"task": "a-task"})
	k.of("a-task").CallOwn("write_file", object{"path": "c.txt", "content": "c2\n"})
	k.of("a-task").End()
	k.of("the second").End()
	c.stopped(2)
	r.isQueued("a.txt", "b.txt", "c.txt", "d.txt", "made.txt")
	r.accept(object{"uris": []string{uri(r, "a.txt"), uri(r, "c.txt")}})
	person := func(text string) string { return strings.Replace(text, "8", "eight", 1) }
	if got := r.file("a.txt"); got != second {
		t.Fatalf("accepted is %q", got)
	}
	if err := ownfile.WriteFile(filepath.Join(dir, "a.txt"), []byte(person(second)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	r = worldInAsking(t, dir)
	c = &conversation{rig: r, run: c.run}

	undo := c.rewinds(at, "files")
	if want := "Changed back: a.txt, b.txt, c.txt, d.txt, made.txt."; !strings.Contains(undo.Text, want) || strings.Contains(undo.Text, "Left") {
		t.Errorf("it is said %q, want %q", undo.Text, want)
	}
	then := map[string]string{"a.txt": person(first), "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n", "made.txt": ""}
	r.seen(then)
	r.isQueued("a.txt", "c.txt")
	if got := r.file("a.txt"); got != person(second) {
		t.Errorf("the disk has %q before a person accepts that", got)
	}
	c.tell("go on", nil)
	turn := k.of("go on")
	if !strings.Contains(turn.Body, "has taken your changes back") || !strings.Contains(turn.Body, "the second") {
		t.Errorf("it is told %s", turn.Body)
	}
	turn.End()
	c.stopped(3)

	c.rewinds(undo.Seq-1, "files") // the rewind is taken back
	r.seen(map[string]string{"a.txt": person(second), "b.txt": "", "c.txt": "c2\n", "d.txt": "d2\n", "made.txt": "made\n"})
	if err := ownfile.WriteFile(filepath.Join(dir, "c.txt"), []byte("person\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	note := c.rewinds(at, "both")
	if !strings.Contains(note.Text, "Left as it is: c.txt (it was changed since in the same places)") || !strings.Contains(note.Text, "has forgotten") {
		t.Errorf("it is said %q", note.Text)
	}
	if again := c.rewinds(note.Seq-1, "conversation"); again.Text != "The agent knows again what it knew before that rewind. What it did stays done." {
		t.Errorf("it is said %q", again.Text)
	} else {
		c.rewinds(again.Seq-1, "conversation")
	}
	then["c.txt"] = "person\n"
	r.seen(then)
	c.tell("and on", nil)
	if turn = k.of("and on"); strings.Contains(turn.Body, "the second") || !strings.Contains(turn.Body, "the first") {
		t.Errorf("it knows %s", turn.Body)
	}
	turn.End()
	c.stopped(4)
	if note := c.rewinds(note.Seq, "both"); strings.Contains(note.Text, "hanged back") { // nothing was changed since
		t.Errorf("it is said %q", note.Text)
	}
	c.rewinds(1, "conversation")
	r.denies("sidecar.agent.compact", object{"run": c.run}, "nothing left to take out of it")
	r.accept(object{})
	if got := r.file("a.txt"); got != person(first) {
		t.Errorf("the disk has %q", got)
	}
}

// TestRewindStopsSubAgents: those that were begun after the moment and work on are stopped,
// with those below them, before anything is taken back; one of before works on.
func TestRewindStopsSubAgents(t *testing.T) {
	dir, model := played(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	committed(t, dir)
	r := worldIn(t, dir)
	c := r.agent("the first", ours)
	k := &talks{t: t, model: model}
	k.of("the first").CallOwn("spawn_agent", object{"task": "an-early-task", "wait": false})
	k.of("the first").End()
	c.stopped(1)
	history := c.history()
	at := history[len(history)-1].Seq
	c.tell("the second", nil)
	k.of("the second").CallOwn("spawn_agent", object{"task": "a-late-task", "wait": false})
	k.of("the second").End()
	c.stopped(2)
	k.of("a-late-task").CallAllOwn(
		clients.Called{Tool: "write_file", Args: object{"path": "a.txt", "content": "late\n"}},
		clients.Called{Tool: "spawn_agent", Args: object{"task": "a-deep-task"}})
	k.of("a-deep-task").CallOwn("write_file", object{"path": "b.txt", "content": "deep\n"})
	k.of("a-deep-task") // it is about to say more
	note := c.rewinds(at, "both")
	if !strings.Contains(note.Text, "Changed back: a.txt, b.txt.") {
		t.Errorf("it is said %q", note.Text)
	}
	for _, i := range c.list() {
		if early := strings.Contains(i.Title, "early"); early != (i.State == told.Running) && i.Run != c.run {
			t.Errorf("%q is %s", i.Title, i.State)
		}
	}
	r.isQueued()
	k.of("an-early-task").CallOwn("write_file", object{"path": "b.txt", "content": "early\n"})
	k.of("an-early-task").End()
	until(t, "the early one does not end", func() bool { return len(r.queued()) == 1 })
	r.isQueued("b.txt")
}
