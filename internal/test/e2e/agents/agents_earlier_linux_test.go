package agents_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestAgentEarlier: what an agent had before in this folder is found, the newest first
// and in words that a person can read, and a run goes on with one, of which it has the
// history.
func TestAgentEarlier(t *testing.T) {
	r, _ := e2e.Mortal(t, e2e.AgentProject(t, map[string]string{"a.txt": "a\n"}))
	r.Refuses("sidecar.agent.sessions", e2e.Object{"agent": "scripted"}, "not allowed yet")
	list := r.HadBefore("")
	if len(list.Sessions) != 2 || list.Next != "" {
		t.Fatalf("it had %+v", list)
	}
	long, tests := list.Sessions[0], list.Sessions[1]
	if long.ID != "earlier-3" || long.Title != strings.Repeat("é", 199)+"…" || tests.ID != "earlier-1" || tests.Title != "Fix the <U+001B>[31mtests<U+202E>" || tests.Run != "" {
		t.Errorf("it had %+v", list)
	}
	if tests.UpdatedAt == nil || tests.UpdatedAt.Format("15:04") != "02:04" {
		t.Errorf("it was updated at %v", tests.UpdatedAt)
	}
	r.NoSessions()
	if n := len(r.List()); n != 0 {
		t.Errorf("there are %d runs", n)
	}
	e2e.Command[agents.EarlierPage](r, "sidecar.agent.sessions", e2e.Object{"agent": "scripted"}) // it is allowed now

	c := r.Agent("who", e2e.Object{"resume": "earlier-1"})
	if reason, why, said := c.Stopped(1); reason != told.Done || said != "said beforeearlier-1\n" {
		t.Fatalf("it ended by %s (%s) and says %q", reason, why, said)
	}
	i := c.Info()
	if i.Ref != "earlier-1" || i.Title != "who" || i.State != told.Idle {
		t.Errorf("the run is %+v", i)
	}
	var got []string
	for _, e := range c.History() {
		if e.Kind == told.Text {
			got = append(got, e.Role+" "+e.Text)
		}
		if e.Reason == told.Resumed {
			got = append(got, e.Reason)
		}
	}
	if want := "user told before|assistant said before|resumed|user who|assistant earlier-1\n"; strings.Join(got, "|") != want {
		t.Errorf("the run has %q", got)
	}
	for _, s := range r.HadBefore("").Sessions {
		if want := map[string]string{"earlier-1": c.Run}[s.ID]; s.Run != want {
			t.Errorf("the run of %s is %q, want %q", s.ID, s.Run, want)
		}
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.agent.run", e2e.Object{"agent": "scripted", "resume": "earlier-1"}, nil); err == nil || !strings.Contains(err.Error(), c.Run+" has this conversation already") {
		t.Errorf("resumed twice: %v", err)
	}
	d := &e2e.Conversation{Rig: r, Run: e2e.Command[struct{ Run string }](r, "sidecar.agent.run", e2e.Object{"agent": "scripted", "resume": "earlier-3"}).Run}
	if i := d.Info(); i.State != told.Idle || i.Ref != "earlier-3" || !strings.HasPrefix(i.Title, "ééé") {
		t.Errorf("without a prompt, the run is %+v", i)
	}

	c.Tell("write a.txt changed", nil)
	c.Stopped(2)
	for _, e := range r.Pending().Edits {
		if m := e.Hunks[0].Message; m == nil || m.Run != c.Run || m.Number != 3 || m.Text != "write a.txt changed" {
			t.Errorf("the message of %s is %+v", e.Path, m)
		}
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Rig = e2e.WorldIn(t, r.Dir)
	c.Tell("who", nil)
	if _, why, said := c.Stopped(3); !strings.HasSuffix(said, "written\nearlier-1\n") || strings.Count(said, "said before") != 1 {
		t.Errorf("after a restart it says %q (%s)", said, why)
	}
	e2e.Command[struct{}](c.Rig, "sidecar.agent.close", e2e.Object{"run": c.Run})
	again := c.Agent("who", e2e.Object{"resume": "earlier-1"})
	if _, why, said := again.Stopped(1); !strings.HasSuffix(said, "earlier-1\n") {
		t.Errorf("resumed once more, it says %q (%s)", said, why)
	}
}

// TestAgentEarlierSignsIn: the person is asked on the way to an earlier conversation.
func TestAgentEarlierSignsIn(t *testing.T) {
	t.Setenv("ACPAGENT_SIGN_IN", "1")
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	begun := make(chan error, 1)
	go func() {
		begun <- r.ExecuteCommand(t.Context(), "sidecar.agent.run", e2e.Object{"agent": "scripted", "consent": true, "resume": "earlier-1", "prompt": "who"}, nil)
	}()
	e2e.Until(t, "it never began", func() bool { return len(r.List()) == 1 })
	c := &e2e.Conversation{Rig: r, Run: r.List()[0].Run}
	c.Reply(c.Asked(), "key")
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	if _, why, said := c.Stopped(1); said != "said beforeearlier-1\n" {
		t.Errorf("it says %q (%s)", said, why)
	}
}

// TestAgentEarlierNot: there is a clear word for what can't be had.
func TestAgentEarlierNot(t *testing.T) {
	const sessions, run = "sidecar.agent.sessions", "sidecar.agent.run"
	scripted := func(more e2e.Object) e2e.Object {
		args := e2e.Object{"agent": "scripted", "consent": true}
		for k, v := range more {
			args[k] = v
		}
		return args
	}
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	r.Refuses(run, e2e.Object{"agent": "scripted", "resume": "earlier-1"}, "not allowed yet")
	r.Refuses(sessions, e2e.Object{"agent": "nobody"}, "no such agent")
	r.Refuses(sessions, e2e.Object{"agent": "mute"}, "sidecar-ls run --")
	r.Refuses(sessions, e2e.Object{"agent": "absent", "consent": true}, "is not on PATH; install it")
	r.Refuses(sessions, scripted(e2e.Object{"cursor": "a\x1bb"}), "cursor:")
	r.Refuses(run, scripted(e2e.Object{"resume": "nonesuch"}), "no such conversation")
	r.Refuses(run, scripted(e2e.Object{"resume": "nonesuch", "prompt": "say hello"}), "sidecar.agent.sessions lists")
	r.Refuses(run, scripted(e2e.Object{"resume": "no id"}), "resume:")
	r.Refuses(run, scripted(e2e.Object{"resume": strings.Repeat("i", 2000)}), "resume:")
	for env, want := range map[string]string{"FORGETS": "no list of its conversations", "DEAD": "does not work", "SIGN_IN": "start a run, which asks you how"} {
		t.Run(env, func(t *testing.T) {
			t.Setenv("ACPAGENT_"+env, "1")
			r := agentRig(t, map[string]string{"a.txt": "a\n"})
			r.Refuses(sessions, scripted(nil), want)
			switch env {
			case "FORGETS":
				r.Refuses(run, scripted(e2e.Object{"resume": "earlier-1"}), "start a run without resume")
			case "DEAD":
				r.Refuses(run, scripted(e2e.Object{"resume": "earlier-1"}), want)
			}
		})
	}
}

// TestAgentEarlierHostile: an agent that tells too much, or nonsense, or nothing, costs
// one command.
func TestAgentEarlierHostile(t *testing.T) {
	asks := e2e.Object{"agent": "scripted", "consent": true}
	for lists, want := range map[string]string{
		"huge": "a message may have", "wrong": "can't be read", "cursor": "can't be used", "die": "its last words", "hang": "",
		"endless": "", "round": "", "many": "", "writes": "",
	} {
		t.Run(lists, func(t *testing.T) {
			t.Setenv("ACPAGENT_LISTS", lists)
			r := agentRig(t, map[string]string{"a.txt": "a\n"})
			if want != "" {
				r.Refuses("sidecar.agent.sessions", asks, want)
				return
			}
			if lists == "hang" {
				ctx, cancel := context.WithCancel(t.Context())
				failed := make(chan error, 1)
				go func() { failed <- r.ExecuteCommand(ctx, "sidecar.agent.sessions", asks, nil) }()
				e2e.Until(t, "it was never started", func() bool {
					return len(e2e.Command[struct{ Sessions []struct{ ID string } }](r, "sidecar.session.list", e2e.Object{}).Sessions) > 1
				})
				cancel()
				if err := <-failed; err == nil {
					t.Error("it answered")
				}
				e2e.Until(t, "its session stays open", func() bool {
					return len(e2e.Command[struct{ Sessions []struct{ ID string } }](r, "sidecar.session.list", e2e.Object{}).Sessions) == 1
				})
				return
			}
			list := r.HadBefore("")
			r.NoSessions()
			switch lists {
			case "endless":
				if len(list.Sessions) != 0 || list.Next != "21" {
					t.Errorf("it had %d, and more by %q", len(list.Sessions), list.Next)
				}
				if next := r.HadBefore(list.Next).Next; next != "41" {
					t.Errorf("there is more by %q", next)
				}
			case "round":
				if len(list.Sessions) != 3 || list.Next != "" {
					t.Errorf("it had %+v", list)
				}
			case "many":
				if len(list.Sessions) != 1000 || list.Next != "2" || list.Sessions[0].ID != "earlier-1-1499" {
					t.Errorf("it had %d, and more by %q", len(list.Sessions), list.Next)
				}
			case "writes":
				r.IsQueued("left.txt") // not on the disk
			}
		})
	}
}
