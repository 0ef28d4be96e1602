package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAgentKeepsItsSession: after a restart the session of a run is in the shadow and
// the mode that it was in, and so is that of a fork.
func TestAgentKeepsItsSession(t *testing.T) {
	dir := agentProject(t, map[string]string{"a.txt": "a\n"})
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	r, cmd := mortal(t, dir)
	command[object](r, "sidecar.shadow.create", object{"id": "try"})
	shadow := filepath.Join(".sidecar", "shadows", "try")
	begun := map[*conversation]struct{ mode, root string }{
		r.agent("run pwd", object{"shadow": "try", "mode": "audit"}):                   {"cautious", shadow},
		r.agent("write b.txt made\nrun pwd", object{"shadow": "try", "mode": "audit"}): {"audit", shadow},
		r.agent("run pwd", nil): {"review", ""},
	}
	for c, want := range begun {
		if _, why, said := c.stopped(1); !strings.HasSuffix(strings.TrimSpace(said), filepath.Join(dir, want.root)) {
			t.Errorf("it works in %q (%s), want %s", said, why, want.root)
		}
		if want.mode == "cautious" {
			command[object](r, "sidecar.mode.set", object{"session": c.session, "mode": want.mode})
		}
	}
	r.isQueued()
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
	again := worldIn(t, r.dir)
	modes := func() map[string]string {
		all := map[string]string{}
		for _, s := range command[struct {
			Sessions []struct{ Session, Mode string }
		}](again, "sidecar.session.list", nil).Sessions {
			all[s.Session] = s.Mode
		}
		return all
	}
	for before, want := range begun {
		c := &conversation{again, before.run, before.session}
		f := c.fork()
		if i := f.info(); i.Mode != want.mode || modes()[f.session] != want.mode || i.Shadow != c.info().Shadow {
			t.Errorf("the fork is %+v, in the mode %q, want %q", i, modes()[f.session], want.mode)
		}
		c.tell("run pwd", nil)
		if _, why, said := c.stopped(2); !strings.HasSuffix(strings.TrimSpace(said), filepath.Join(dir, want.root)) {
			t.Errorf("it goes on in %q (%s), want %s", said, why, want.root)
		}
		if i := c.info(); i.Mode != want.mode || modes()[c.session] != want.mode {
			t.Errorf("it goes on as %+v, in the mode %q, want %q", i, modes()[c.session], want.mode)
		}
	}
}

// TestAgentSeesItsEdits: what an agent wrote by our tools it sees by its own at once.
func TestAgentSeesItsEdits(t *testing.T) {
	r := agentRig(t, map[string]string{"a.txt": "a\n"})
	r.agent("say hello\nwrite a.txt changed", nil).stopped(1)
	var does strings.Builder
	for i := range 12 {
		fmt.Fprintf(&does, "tool write_file {\"path\": \"d%d.txt\", \"content\": \"by a tool\"}\nrun cat d%d.txt\nfswrite e%d.txt by the client\nrun cat e%d.txt\n", i, i, i, i)
	}
	_, why, said := r.agent(does.String(), nil).stopped(1)
	if tool, client := strings.Count(said, "by a tool"), strings.Count(said, "by the client"); tool != 12 || client != 12 {
		t.Errorf("it saw %d and %d of 12 (%s): %s", tool, client, why, said)
	}
}

// TestAgentModeIsGone: a run whose mode the settings have no more goes on in the mode
// review; while they have it, in that one.
func TestAgentModeIsGone(t *testing.T) {
	dir := agentProject(t, map[string]string{"a.txt": "a\n"}, object{"customModes": []object{{"name": "mine", "base": "cautious"}}})
	r, cmd := mortal(t, dir)
	c := r.agent("say one", object{"mode": "mine"})
	c.stopped(1)
	for i, want := range []string{"mine", "review"} {
		r.closes(cmd)
		if want == "review" {
			name := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "sidecar", "settings.json")
			var set object
			data, err := os.ReadFile(name)
			if err == nil {
				err = json.Unmarshal(data, &set)
			}
			if err != nil {
				t.Fatal(err)
			}
			delete(set, "customModes")
			userSettings(t, set)
		}
		r, cmd = mortal(t, dir)
		c.rig = r
		c.tell(fmt.Sprintf("write b%d.txt changed", i), nil)
		if reason, why, _ := c.stopped(2 + i); reason != "done" {
			t.Errorf("in the mode %s it ended by %s (%s)", want, reason, why)
		}
		if got := c.info().Mode; got != want {
			t.Errorf("it goes on in the mode %q, want %q", got, want)
		}
	}
	if names := r.queued(); !slices.Contains(names, "b1.txt") {
		t.Errorf("in the mode review, what it wrote does not wait: %q", names)
	}
	r.closes(cmd)
}
