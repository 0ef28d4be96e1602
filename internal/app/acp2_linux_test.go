package app_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestAgentOverACP2: a real agent that is asked for version 2 of the protocol. Its edits
// and commands are its own, so that they go through its world alone.
func TestAgentOverACP2(t *testing.T) {
	slow.Test(t)
	d := drive(t, clients.Agents[0], object{"acpVersion": 2})
	d.edit(d.turn(allow), filepath.Join(d.dir, "a.txt"))
	d.shell(d.turn(allow), "cat .env a.txt; rm b.txt")
	turn := d.turn(allow)
	if !strings.Contains(turn.Result, "ONE\npending") || strings.Contains(turn.Result, "hidden-from-agents") {
		t.Errorf("its command shows it %q", turn.Result)
	}
	turn.Call("read_file", object{"path": "a.txt"})
	turn = d.turn(allow)
	if !strings.Contains(turn.Result, "ONE\npending") {
		t.Errorf("our tool shows it %q", turn.Result)
	}
	turn.End()
	if reason, why, said := d.stopped(1); reason != told.Done || !strings.HasSuffix(said, "Done.") {
		t.Fatalf("it ended by %s (%s) and says %q", reason, why, said)
	}
	d.tell("And more.", nil)
	d.turn(allow) // its model never answers
	command[struct{}](d.rig, "sidecar.agent.cancel", object{"run": d.run})
	if reason, why, _ := d.stopped(2); reason != told.Interrupted {
		t.Fatalf("cancelled, it ended by %s: %s", reason, why)
	}
	if asked := d.questions(); len(asked) != 1 || asked[0] != "execute cat .env a.txt; rm b.txt" {
		t.Errorf("people were asked about %q", asked)
	}
	d.isQueued("a.txt", "b.txt")
	if got := d.file("a.txt") + d.file("b.txt"); got != "one\ntwo\nb\n" {
		t.Errorf("the disk has %q", got)
	}
	history := d.history()
	var said []string
	for _, e := range history {
		if e.Kind == told.Text && e.Role == "user" {
			said = append(said, e.Text)
		}
	}
	if !slices.Equal(said, []string{"Do as planned.", "And more."}) {
		t.Errorf("the user has said %q", said)
	}
	diff := func(e told.Event) bool { // which version 1 shows as the texts that the model has named
		return e.Kind == told.CallDecided && len(e.Call.Diff) == 1 && e.Call.Diff[0].New == "ONE\npending\n"
	}
	output := func(e told.Event) bool {
		return e.Kind == told.CallOutput && strings.Contains(e.Text, "ONE\npending") && e.Call.Kind == "execute"
	}
	for what, fits := range map[string]func(told.Event) bool{"diff": diff, "output": output} {
		if !slices.ContainsFunc(history, fits) {
			t.Errorf("the run has no %s of version 2", what)
		}
	}
}
