package app_test

import (
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// endless is a command that writes, and then goes on until somebody ends it.
const endless = "echo begun | tee begun.txt; while :; do sleep 1; done"

// running waits until the agent's newest call goes on; where its command runs in a
// terminal of ours, until that is known.
func (c *conversation) running(title, uri string) (call string) {
	c.t.Helper()
	until(c.t, "no call goes on", func() bool {
		call = ""
		for _, e := range c.history() {
			switch {
			case e.Call == nil:
			case e.Kind == told.CallFinished && e.Call.ID == call:
				call = ""
			case e.Kind == told.CallStarted && e.Call.Title == title && strings.HasPrefix(e.Call.URI, uri):
				call = e.Call.ID
			}
		}
		return call != ""
	})
	return call
}

func (r *rig) noStop(args object, want string) {
	r.t.Helper()
	if err := r.ExecuteCommand(r.t.Context(), "sidecar.agent.stop", args, nil); err == nil || !strings.Contains(err.Error(), want) {
		r.t.Errorf("stopping %v: %v, want %q", args, err, want)
	}
}

// TestAgentStopsCommand: a command that we run for an agent is stopped alone; the agent
// hears that and goes on, and what the command wrote is pending.
func TestAgentStopsCommand(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.agent("command "+endless+"\nsay and on", nil)
	elsewhere := strings.Replace(endless, "begun.txt", "other.txt", 1)
	other := r.agent("command "+elsewhere, nil)
	call, kept := c.running(endless, "terminal:"), other.running(elsewhere, "terminal:")
	until(t, "they did not both write", func() bool { return len(r.queued()) == 2 })

	r.noStop(object{"run": c.run, "call": "nonesuch"}, "no such call")
	r.noStop(object{"run": "nonesuch", "call": call}, "no such run")
	r.noStop(object{"run": c.run}, "call: missing")
	command[struct{}](r, "sidecar.agent.stop", object{"run": c.run, "call": call})
	reason, why, said := c.stopped(1)
	if reason != told.Done || !strings.HasSuffix(said, "begun\n\n[The user has stopped this command.]\n(ended by SIGKILL)\nand on\n") {
		t.Errorf("it ended by %s (%s) and says %q", reason, why, said)
	}
	notes := 0
	for _, e := range c.history() {
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
	r.noStop(object{"run": c.run, "call": call}, "has ended")
	if st := other.list()[1].State; st != told.Running {
		t.Errorf("the other run is %s", st)
	}
	command[struct{}](r, "sidecar.agent.stop", object{"run": other.run, "call": kept})
	other.stopped(1)
	r.isQueued("begun.txt", "other.txt")

	command[struct{}](r, "sidecar.agent.close", object{"run": c.run})
	r.noStop(object{"run": c.run, "call": call}, "does not run")
}

// TestAgentStopsNothing: what an agent runs by itself is not ours to stop, and nothing
// happens to it.
func TestAgentStopsNothing(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.agent("run "+endless, nil)
	call := c.running(endless, "")
	r.noStop(object{"run": c.run, "call": call}, "stop the agent instead")
	if st := c.list()[0].State; st != told.Running {
		t.Errorf("it is %s", st)
	}
	for _, e := range c.history() {
		if e.Kind == told.CallFinished || e.Kind == told.Note && e.Reason == "stopped" {
			t.Errorf("there is %+v", e)
		}
	}
	command[struct{}](r, "sidecar.agent.cancel", object{"run": c.run})
	if reason, _, _ := c.stopped(1); reason != told.Interrupted {
		t.Errorf("it ended by %s", reason)
	}
}
