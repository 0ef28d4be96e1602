package app_test

import (
	"context"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// hadBefore asks the scripted agent what it had.
func (r *rig) hadBefore(cursor string) server.AgentSessions {
	r.t.Helper()
	return command[server.AgentSessions](r, "sidecar.agent.sessions", object{"agent": "scripted", "cursor": cursor, "consent": true})
}

// refuses checks that a command fails, with these words, and that no run is open
// after it, nor a session of an agent.
func (r *rig) refuses(name string, args object, want string) {
	r.t.Helper()
	if err := r.ExecuteCommand(r.t.Context(), name, args, nil); err == nil || !strings.Contains(err.Error(), want) {
		r.t.Errorf("%s %v: %v, want %q", name, args, err, want)
	}
	for _, i := range r.list() {
		if i.State != told.Ended {
			r.t.Errorf("%s %v left %+v", name, args, i)
		}
	}
	r.noSessions()
}

// noSessions checks that no session of the scripted agent is open.
func (r *rig) noSessions() {
	r.t.Helper()
	for _, s := range command[struct{ Sessions []struct{ ID string } }](r, "sidecar.session.list", object{}).Sessions {
		if strings.HasPrefix(s.ID, "scripted-") {
			r.t.Errorf("the session %s is open", s.ID)
		}
	}
}

// TestAgentEarlier: what an agent had before in this folder is found, the newest first
// and in words that a person can read, and a run goes on with one, of which it has the
// history.
func TestAgentEarlier(t *testing.T) {
	r, _ := mortal(t, agentProject(t, map[string]string{"a.txt": "a\n"}))
	r.refuses("sidecar.agent.sessions", object{"agent": "scripted"}, "not allowed yet")
	list := r.hadBefore("")
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
	r.noSessions()
	if n := len(r.list()); n != 0 {
		t.Errorf("there are %d runs", n)
	}
	command[server.AgentSessions](r, "sidecar.agent.sessions", object{"agent": "scripted"}) // it is allowed now

	c := r.agent("who", object{"resume": "earlier-1"})
	if reason, why, said := c.stopped(1); reason != told.Done || said != "said beforeearlier-1\n" {
		t.Fatalf("it ended by %s (%s) and says %q", reason, why, said)
	}
	i := c.info()
	if i.Ref != "earlier-1" || i.Title != "who" || i.State != told.Idle {
		t.Errorf("the run is %+v", i)
	}
	var got []string
	for _, e := range c.history() {
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
	for _, s := range r.hadBefore("").Sessions {
		if want := map[string]string{"earlier-1": c.run}[s.ID]; s.Run != want {
			t.Errorf("the run of %s is %q, want %q", s.ID, s.Run, want)
		}
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.agent.run", object{"agent": "scripted", "resume": "earlier-1"}, nil); err == nil || !strings.Contains(err.Error(), c.run+" has this conversation already") {
		t.Errorf("resumed twice: %v", err)
	}
	d := &conversation{rig: r, run: command[struct{ Run string }](r, "sidecar.agent.run", object{"agent": "scripted", "resume": "earlier-3"}).Run}
	if i := d.info(); i.State != told.Idle || i.Ref != "earlier-3" || !strings.HasPrefix(i.Title, "ééé") {
		t.Errorf("without a prompt, the run is %+v", i)
	}

	c.tell("write a.txt changed", nil)
	c.stopped(2)
	for _, e := range r.pending().Edits {
		if m := e.Hunks[0].Message; m == nil || m.Run != c.run || m.Number != 3 || m.Text != "write a.txt changed" {
			t.Errorf("the message of %s is %+v", e.Path, m)
		}
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.rig = worldIn(t, r.dir)
	c.tell("who", nil)
	if _, why, said := c.stopped(3); !strings.HasSuffix(said, "written\nearlier-1\n") || strings.Count(said, "said before") != 1 {
		t.Errorf("after a restart it says %q (%s)", said, why)
	}
	command[struct{}](c.rig, "sidecar.agent.close", object{"run": c.run})
	again := c.agent("who", object{"resume": "earlier-1"})
	if _, why, said := again.stopped(1); !strings.HasSuffix(said, "earlier-1\n") {
		t.Errorf("resumed once more, it says %q (%s)", said, why)
	}
}

// TestAgentEarlierSignsIn: the person is asked on the way to an earlier conversation.
func TestAgentEarlierSignsIn(t *testing.T) {
	t.Setenv("ACPAGENT_SIGN_IN", "1")
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	begun := make(chan error, 1)
	go func() {
		begun <- r.ExecuteCommand(t.Context(), "sidecar.agent.run", object{"agent": "scripted", "consent": true, "resume": "earlier-1", "prompt": "who"}, nil)
	}()
	until(t, "it never began", func() bool { return len(r.list()) == 1 })
	c := &conversation{rig: r, run: r.list()[0].Run}
	c.answer(c.asked(), "key")
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	if _, why, said := c.stopped(1); said != "said beforeearlier-1\n" {
		t.Errorf("it says %q (%s)", said, why)
	}
}

// TestAgentEarlierNot: there is a clear word for what can't be had.
func TestAgentEarlierNot(t *testing.T) {
	const sessions, run = "sidecar.agent.sessions", "sidecar.agent.run"
	scripted := func(more object) object {
		args := object{"agent": "scripted", "consent": true}
		for k, v := range more {
			args[k] = v
		}
		return args
	}
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	r.refuses(run, object{"agent": "scripted", "resume": "earlier-1"}, "not allowed yet")
	r.refuses(sessions, object{"agent": "nobody"}, "no such agent")
	r.refuses(sessions, object{"agent": "mute"}, "sidecar-ls run --")
	r.refuses(sessions, object{"agent": "absent", "consent": true}, "is not on PATH; install it")
	r.refuses(sessions, scripted(object{"cursor": "a\x1bb"}), "cursor:")
	r.refuses(run, scripted(object{"resume": "nonesuch"}), "no such conversation")
	r.refuses(run, scripted(object{"resume": "nonesuch", "prompt": "say hello"}), "sidecar.agent.sessions lists")
	r.refuses(run, scripted(object{"resume": "no id"}), "resume:")
	r.refuses(run, scripted(object{"resume": strings.Repeat("i", 2000)}), "resume:")
	for env, want := range map[string]string{"FORGETS": "no list of its conversations", "DEAD": "does not work", "SIGN_IN": "start a run, which asks you how"} {
		t.Run(env, func(t *testing.T) {
			t.Setenv("ACPAGENT_"+env, "1")
			r := agentRig(t, map[string]string{"a.txt": "a\n"})
			r.refuses(sessions, scripted(nil), want)
			switch env {
			case "FORGETS":
				r.refuses(run, scripted(object{"resume": "earlier-1"}), "start a run without resume")
			case "DEAD":
				r.refuses(run, scripted(object{"resume": "earlier-1"}), want)
			}
		})
	}
}

// TestAgentEarlierHostile: an agent that tells too much, or nonsense, or nothing, costs
// one command.
func TestAgentEarlierHostile(t *testing.T) {
	asks := object{"agent": "scripted", "consent": true}
	for lists, want := range map[string]string{
		"huge": "a message may have", "wrong": "can't be read", "cursor": "can't be used", "die": "its last words", "hang": "",
		"endless": "", "round": "", "many": "", "writes": "",
	} {
		t.Run(lists, func(t *testing.T) {
			t.Setenv("ACPAGENT_LISTS", lists)
			r := agentRig(t, map[string]string{"a.txt": "a\n"})
			if want != "" {
				r.refuses("sidecar.agent.sessions", asks, want)
				return
			}
			if lists == "hang" {
				ctx, cancel := context.WithCancel(t.Context())
				failed := make(chan error, 1)
				go func() { failed <- r.ExecuteCommand(ctx, "sidecar.agent.sessions", asks, nil) }()
				until(t, "it was never started", func() bool {
					return len(command[struct{ Sessions []struct{ ID string } }](r, "sidecar.session.list", object{}).Sessions) > 1
				})
				cancel()
				if err := <-failed; err == nil {
					t.Error("it answered")
				}
				until(t, "its session stays open", func() bool {
					return len(command[struct{ Sessions []struct{ ID string } }](r, "sidecar.session.list", object{}).Sessions) == 1
				})
				return
			}
			list := r.hadBefore("")
			r.noSessions()
			switch lists {
			case "endless":
				if len(list.Sessions) != 0 || list.Next != "21" {
					t.Errorf("it had %d, and more by %q", len(list.Sessions), list.Next)
				}
				if next := r.hadBefore(list.Next).Next; next != "41" {
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
				r.isQueued("left.txt") // not on the disk
			}
		})
	}
}
