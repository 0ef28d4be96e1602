package agents_test

import (
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// endless is a command that writes, and then goes on until somebody ends it.
const endless = "echo begun | tee begun.txt; while :; do sleep 1; done"

// TestAgentStopsCommand: a command that we run for an agent is stopped alone; the agent
// hears that and goes on, and what the command wrote is pending.
func TestAgentStopsCommand(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.Agent("command "+endless+"\nsay and on", nil)
	elsewhere := strings.Replace(endless, "begun.txt", "other.txt", 1)
	other := r.Agent("command "+elsewhere, nil)
	call, kept := c.Running(endless, "terminal:"), other.Running(elsewhere, "terminal:")
	e2e.Until(t, "they did not both write", func() bool { return len(r.Queued()) == 2 })

	r.NoStop(e2e.Object{"run": c.Run, "call": "nonesuch"}, "no such call")
	r.NoStop(e2e.Object{"run": "nonesuch", "call": call}, "no such run")
	r.NoStop(e2e.Object{"run": c.Run}, "call: missing")
	e2e.Command[struct{}](r, "sidecar.agent.stop", e2e.Object{"run": c.Run, "call": call})
	reason, why, said := c.Stopped(1)
	if reason != told.Done || !strings.HasSuffix(said, "begun\n\n[The user has stopped this command.]\n(ended by SIGKILL)\nand on\n") {
		t.Errorf("it ended by %s (%s) and says %q", reason, why, said)
	}
	notes := 0
	for _, e := range c.History() {
		if e.Kind == told.Note && e.Reason == "stopped" {
			notes++
			if e.Call == nil || e.Call.ID != call || !strings.HasSuffix(e.Text, endless) {
				t.Errorf("it is told as %+v", e)
			}
		}
	}
	if notes != 1 {
		t.Errorf("it is told %d times", notes)
	}
	r.NoStop(e2e.Object{"run": c.Run, "call": call}, "has ended")
	if st := other.List()[1].State; st != told.Running {
		t.Errorf("the other run is %s", st)
	}
	e2e.Command[struct{}](r, "sidecar.agent.stop", e2e.Object{"run": other.Run, "call": kept})
	other.Stopped(1)
	r.IsQueued("begun.txt", "other.txt")

	e2e.Command[struct{}](r, "sidecar.agent.close", e2e.Object{"run": c.Run})
	r.NoStop(e2e.Object{"run": c.Run, "call": call}, "does not run")
}

// TestAgentStopsNothing: what an agent runs by itself is not ours to stop, and nothing
// happens to it.
func TestAgentStopsNothing(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.Agent("run "+endless, nil)
	call := c.Running(endless, "")
	r.NoStop(e2e.Object{"run": c.Run, "call": call}, "stop the agent instead")
	if st := c.List()[0].State; st != told.Running {
		t.Errorf("it is %s", st)
	}
	for _, e := range c.History() {
		if e.Kind == told.CallFinished || e.Kind == told.Note && e.Reason == "stopped" {
			t.Errorf("there is %+v", e)
		}
	}
	e2e.Command[struct{}](r, "sidecar.agent.cancel", e2e.Object{"run": c.Run})
	if reason, _, _ := c.Stopped(1); reason != told.Interrupted {
		t.Errorf("it ended by %s", reason)
	}
}
