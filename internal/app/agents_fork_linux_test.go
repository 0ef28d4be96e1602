package app_test

import (
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// fork forks a run at its end.
func (c *conversation) fork() *conversation {
	c.t.Helper()
	d := &conversation{rig: c.rig, run: command[struct{ Run string }](c.rig, "sidecar.agent.fork", object{"run": c.run}).Run}
	d.session = d.info().Session
	return d
}

// info is the run as it is listed.
func (c *conversation) info() told.Info {
	c.t.Helper()
	for _, i := range c.list() {
		if i.Run == c.run {
			return i.Info
		}
	}
	c.t.Fatalf("%s is not listed", c.run)
	return told.Info{}
}

// noFork checks that a fork fails, with these words, and leaves no run that is open.
func (r *rig) noFork(args object, want string) {
	r.t.Helper()
	open := func() (n int) {
		for _, i := range r.list() {
			if i.State != told.Ended {
				n++
			}
		}
		return n
	}
	before := open()
	if err := r.ExecuteCommand(r.t.Context(), "sidecar.agent.fork", args, nil); err == nil || !strings.Contains(err.Error(), want) {
		r.t.Errorf("forked: %v, want %q", err, want)
	}
	if after := open(); after != before {
		r.t.Errorf("%d runs are open, and were %d", after, before)
	}
}

// TestAgentForks: a fork knows the conversation and has a session of its own, and the
// run that it was made of goes on as if nothing was.
func TestAgentForks(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.agent("say hello\nwrite a.txt changed", nil)
	c.stopped(1)
	command[struct{}](r, "sidecar.mode.set", object{"session": c.session, "mode": "cautious"})
	d := c.fork()
	i := d.info()
	if i.ForkOf != c.run || i.Session == c.session || i.State != told.Idle || i.Title != "say hello" || i.Ref != "fork-of-conversation-1" {
		t.Errorf("the fork is %+v", i)
	}
	if got := command[struct{ Mode string }](r, "sidecar.mode.get", object{"session": d.session}).Mode; got != "cautious" {
		t.Errorf("the fork has the mode %s", got)
	}
	command[struct{}](r, "sidecar.mode.set", object{"session": d.session, "mode": "review"})
	d.tell(`tool write_file {"path": "d.txt", "content": "by the fork\n"}`+"\nwho", nil)
	if reason, why, said := d.stopped(1); reason != told.Done || !strings.HasSuffix(said, "\nfork-of-conversation-1\n") || strings.Contains(said, "hello") {
		t.Errorf("the fork ended by %s (%s) and says %q", reason, why, said)
	}
	c.tell("who", nil)
	if _, _, said := c.stopped(2); !strings.HasSuffix(said, "written\nconversation-1\n") {
		t.Errorf("what was forked says %q", said)
	}
	r.isQueued("a.txt", "d.txt")
	for _, e := range r.pending().Edits {
		want := map[string]string{"a.txt": c.session, "d.txt": d.session}[e.Path]
		for _, h := range e.Hunks {
			if len(h.Sessions) != 1 || h.Sessions[0] != want {
				t.Errorf("%s is of %v, want %s", e.Path, h.Sessions, want)
			}
		}
	}
	d.tell("die 1", nil)
	d.stopped(2)
	d.tell("who", nil)
	if _, why, said := d.stopped(3); !strings.HasSuffix(said, "\nfork-of-conversation-1\n") || strings.Contains(said, "fork-of-fork") {
		t.Errorf("started again, the fork says %q (%s)", said, why)
	}

	events := c.history()
	first, last := events[0].Seq, events[len(events)-1].Seq
	r.noFork(object{"run": c.run, "at": first}, "at its end alone")
	r.noFork(object{"run": "nonesuch"}, "no such run")
	r.noFork(object{"run": c.run, "what": "files"}, "only a conversation is forked")
	command[struct{}](r, "sidecar.agent.fork", object{"run": c.run, "at": last, "what": "conversation"})
	d.tell("hang", nil)
	until(t, "it never worked", func() bool { return d.info().State == told.Running })
	r.noFork(object{"run": d.run}, "works on a prompt")
	command[struct{}](r, "sidecar.agent.close", object{"run": c.run})
	e := c.fork()
	e.tell("who", nil)
	if _, why, said := e.stopped(1); said != "fork-of-conversation-1\n" {
		t.Errorf("the fork of one that has ended says %q (%s)", said, why)
	}
}

// TestAgentForksNot: an agent that offers no fork is told so, also before it was started.
func TestAgentForksNot(t *testing.T) {
	t.Setenv("ACPAGENT_FORGETS", "1")
	r, _ := mortal(t, agentProject(t, map[string]string{"a.txt": "a\n"}))
	c := r.agent("say hello", nil)
	c.stopped(1)
	r.noFork(object{"run": c.run}, "can't fork a conversation; start a new run")
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := worldIn(t, r.dir)
	again.noFork(object{"run": c.run}, "can't fork a conversation; start a new run")
}

// TestAgentForksNothing: there must be a conversation.
func TestAgentForksNothing(t *testing.T) {
	t.Setenv("ACPAGENT_DEAD", "1")
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.agent("say hello", nil)
	c.stopped(1)
	r.noFork(object{"run": c.run}, "no conversation yet")
}
