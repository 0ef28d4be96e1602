package agents_test

import (
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestAgentForks: a fork knows the conversation and has a session of its own, and the
// run that it was made of goes on as if nothing was.
func TestAgentForks(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.Agent("say hello\nwrite a.txt changed", nil)
	c.Stopped(1)
	e2e.Command[struct{}](r, "sidecar.mode.set", e2e.Object{"session": c.Session, "mode": "cautious"})
	d := c.Fork()
	i := d.Info()
	if i.ForkOf != c.Run || i.Session == c.Session || i.State != told.Idle || i.Title != "say hello" || i.Ref != "fork-of-conversation-1" {
		t.Errorf("the fork is %+v", i)
	}
	if got := e2e.Command[struct{ Mode string }](r, "sidecar.mode.get", e2e.Object{"session": d.Session}).Mode; got != "cautious" {
		t.Errorf("the fork has the mode %s", got)
	}
	e2e.Command[struct{}](r, "sidecar.mode.set", e2e.Object{"session": d.Session, "mode": "review"})
	d.Tell(`tool write_file {"path": "d.txt", "content": "by the fork\n"}`+"\nwho", nil)
	if reason, why, said := d.Stopped(1); reason != told.Done || !strings.HasSuffix(said, "\nfork-of-conversation-1\n") || strings.Contains(said, "hello") {
		t.Errorf("the fork ended by %s (%s) and says %q", reason, why, said)
	}
	c.Tell("who", nil)
	if _, _, said := c.Stopped(2); !strings.HasSuffix(said, "written\nconversation-1\n") {
		t.Errorf("what was forked says %q", said)
	}
	r.IsQueued("a.txt", "d.txt")
	for _, e := range r.Pending().Edits {
		want := map[string]string{"a.txt": c.Session, "d.txt": d.Session}[e.Path]
		for _, h := range e.Hunks {
			if len(h.Sessions) != 1 || h.Sessions[0] != want {
				t.Errorf("%s is of %v, want %s", e.Path, h.Sessions, want)
			}
		}
	}
	d.Tell("die 1", nil)
	d.Stopped(2)
	d.Tell("who", nil)
	if _, why, said := d.Stopped(3); !strings.HasSuffix(said, "\nfork-of-conversation-1\n") || strings.Contains(said, "fork-of-fork") {
		t.Errorf("started again, the fork says %q (%s)", said, why)
	}

	events := c.History()
	first, last := events[0].Seq, events[len(events)-1].Seq
	r.NoFork(e2e.Object{"run": c.Run, "at": first}, "at its end alone")
	r.NoFork(e2e.Object{"run": "nonesuch"}, "no such run")
	r.NoFork(e2e.Object{"run": c.Run, "what": "files"}, "only a conversation is forked")
	e2e.Command[struct{}](r, "sidecar.agent.fork", e2e.Object{"run": c.Run, "at": last, "what": "conversation"})
	d.Tell("hang", nil)
	e2e.Until(t, "it never worked", func() bool { return d.Info().State == told.Running })
	r.NoFork(e2e.Object{"run": d.Run}, "works on a prompt")
	e2e.Command[struct{}](r, "sidecar.agent.close", e2e.Object{"run": c.Run})
	e := c.Fork()
	e.Tell("who", nil)
	if _, why, said := e.Stopped(1); said != "fork-of-conversation-1\n" {
		t.Errorf("the fork of one that has ended says %q (%s)", said, why)
	}
}

// TestAgentForksNot: an agent that offers no fork is told so, also before it was started.
func TestAgentForksNot(t *testing.T) {
	t.Setenv("ACPAGENT_FORGETS", "1")
	r, _ := e2e.Mortal(t, e2e.AgentProject(t, map[string]string{"a.txt": "a\n"}))
	c := r.Agent("say hello", nil)
	c.Stopped(1)
	r.NoFork(e2e.Object{"run": c.Run}, "can't fork a conversation; start a new run")
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := e2e.WorldIn(t, r.Dir)
	again.NoFork(e2e.Object{"run": c.Run}, "can't fork a conversation; start a new run")
}

// TestAgentForksNothing: there must be a conversation.
func TestAgentForksNothing(t *testing.T) {
	t.Setenv("ACPAGENT_DEAD", "1")
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	c := r.Agent("say hello", nil)
	c.Stopped(1)
	r.NoFork(e2e.Object{"run": c.Run}, "no conversation yet")
}
