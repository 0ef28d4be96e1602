package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestAgentKeepsItsSession: after a restart the session of a run is in the shadow and
// the mode that it was in, and so is that of a fork.
func TestAgentKeepsItsSession(t *testing.T) {
	dir := e2e.AgentProject(t, map[string]string{"a.txt": "a\n"})
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	r, cmd := e2e.Mortal(t, dir)
	e2e.Command[e2e.Object](r, "sidecar.shadow.create", e2e.Object{"id": "try"})
	shadow := filepath.Join(".sidecar", "shadows", "try")
	begun := map[*e2e.Conversation]struct{ mode, root string }{
		r.Agent("run pwd", e2e.Object{"shadow": "try", "mode": "audit"}):                   {"cautious", shadow},
		r.Agent("write b.txt made\nrun pwd", e2e.Object{"shadow": "try", "mode": "audit"}): {"audit", shadow},
		r.Agent("run pwd", nil): {"review", ""},
	}
	for c, want := range begun {
		if _, why, said := c.Stopped(1); !strings.HasSuffix(strings.TrimSpace(said), filepath.Join(dir, want.root)) {
			t.Errorf("it works in %q (%s), want %s", said, why, want.root)
		}
		if want.mode == "cautious" {
			e2e.Command[e2e.Object](r, "sidecar.mode.set", e2e.Object{"session": c.Session, "mode": want.mode})
		}
	}
	r.IsQueued()
	if got, err := os.ReadFile(filepath.Join(dir, shadow, "b.txt")); err != nil || string(got) != "made" {
		t.Errorf("the shadow has %q (%v)", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b.txt")); err == nil {
		t.Error("what was written in the shadow is in the project")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := e2e.WorldIn(t, r.Dir)
	modes := func() map[string]string {
		all := map[string]string{}
		for _, s := range e2e.Command[struct {
			Sessions []struct{ Session, Mode string }
		}](again, "sidecar.session.list", nil).Sessions {
			all[s.Session] = s.Mode
		}
		return all
	}
	for before, want := range begun {
		c := &e2e.Conversation{Rig: again, Run: before.Run, Session: before.Session}
		f := c.Fork()
		if i := f.Info(); i.Mode != want.mode || modes()[f.Session] != want.mode || i.Shadow != c.Info().Shadow {
			t.Errorf("the fork is %+v, in the mode %q, want %q", i, modes()[f.Session], want.mode)
		}
		c.Tell("run pwd", nil)
		if _, why, said := c.Stopped(2); !strings.HasSuffix(strings.TrimSpace(said), filepath.Join(dir, want.root)) {
			t.Errorf("it goes on in %q (%s), want %s", said, why, want.root)
		}
		if i := c.Info(); i.Mode != want.mode || modes()[c.Session] != want.mode {
			t.Errorf("it goes on as %+v, in the mode %q, want %q", i, modes()[c.Session], want.mode)
		}
	}
}

// TestAgentSeesItsEdits: what an agent wrote by our tools it sees by its own at once.
func TestAgentSeesItsEdits(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	r.Agent("say hello\nwrite a.txt changed", nil).Stopped(1)
	var does strings.Builder
	for i := range 12 {
		fmt.Fprintf(&does, "tool write_file {\"path\": \"d%d.txt\", \"content\": \"by a tool\"}\nrun cat d%d.txt\nfswrite e%d.txt by the client\nrun cat e%d.txt\n", i, i, i, i)
	}
	_, why, said := r.Agent(does.String(), nil).Stopped(1)
	if tool, client := strings.Count(said, "by a tool"), strings.Count(said, "by the client"); tool != 12 || client != 12 {
		t.Errorf("it saw %d and %d of 12 (%s): %s", tool, client, why, said)
	}
}

// TestAgentModeIsGone: a run whose mode the settings have no more goes on in the mode
// review; while they have it, in that one.
func TestAgentModeIsGone(t *testing.T) {
	dir := e2e.AgentProject(t, map[string]string{"a.txt": "a\n"}, e2e.Object{"customModes": []e2e.Object{{"name": "mine", "base": "cautious"}}})
	r, cmd := e2e.Mortal(t, dir)
	c := r.Agent("say one", e2e.Object{"mode": "mine"})
	c.Stopped(1)
	for i, want := range []string{"mine", "review"} {
		r.Closes(cmd)
		if want == "review" {
			name := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "sidecar", "settings.json")
			var set e2e.Object
			data, err := os.ReadFile(name)
			if err == nil {
				err = json.Unmarshal(data, &set)
			}
			if err != nil {
				t.Fatal(err)
			}
			delete(set, "customModes")
			e2e.UserSettings(t, set)
		}
		r, cmd = e2e.Mortal(t, dir)
		c.Rig = r
		c.Tell(fmt.Sprintf("write b%d.txt changed", i), nil)
		if reason, why, _ := c.Stopped(2 + i); reason != "done" {
			t.Errorf("in the mode %s it ended by %s (%s)", want, reason, why)
		}
		if got := c.Info().Mode; got != want {
			t.Errorf("it goes on in the mode %q, want %q", got, want)
		}
	}
	if names := r.Queued(); !slices.Contains(names, "b1.txt") {
		t.Errorf("in the mode review, what it wrote does not wait: %q", names)
	}
	r.Closes(cmd)
}
