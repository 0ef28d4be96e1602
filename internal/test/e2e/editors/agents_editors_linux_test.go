package editors_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/stopwatch"
)

// agentSettings are the user's, in a directory of configuration, with the scripted agent.
func agentSettings(t *testing.T) (config string) {
	t.Helper()
	bin := program.Agent(t)
	settings, err := json.Marshal(e2e.Object{"commands.world": "overlay", "agents": e2e.Object{
		"scripted": e2e.Object{"program": bin, "acp": []string{}},
		"mute":     e2e.Object{"program": bin},
		"absent":   e2e.Object{"program": "no-such-agent", "acp": []string{}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	config = t.TempDir()
	e2e.Write(t, filepath.Join(config, "sidecar", "settings.json"), string(settings))
	return config
}

// conversations compares the text of a recorded run's buffer with the golden one, which
// is the same in all editors.
func conversations(t *testing.T, got string) {
	t.Helper()
	want, err := os.ReadFile("../testdata/agent/conversation.md")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("the conversation differs (-want +got):\n%s", d)
	}
}

// conversed is a project to talk about, where there are worlds.
func conversed(t *testing.T) (dir string) {
	t.Helper()
	e2e.WorldIn(t, e2e.AgentProject(t, map[string]string{"a.txt": "a\n"})) // skips where there are none
	dir = t.TempDir()
	e2e.Write(t, filepath.Join(dir, "a.txt"), "one\ntwo\n")
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil { // where Emacs sees a project
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return dir
}

// neovimAgent runs a script in a project of its own, with the scripted agent, and returns
// what it has printed.
func neovimAgent(t *testing.T, script string) string {
	t.Helper()
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		needs.Skip(t, needs.Neovim, "no nvim on this machine; make test installs it")
	}
	dir := conversed(t)
	out, err := runNeovimAt(t, agentSettings(t), nvim, program.ServerAnywhere(t), dir, script)
	if err != nil || !strings.Contains(out, "\ndone") {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// TestNeovimStopwatch: the first reviewed edit of an agent takes a new user at most three
// commands and two questions.
func TestNeovimStopwatch(t *testing.T) {
	out := neovimAgent(t, "stopwatch.lua")
	r := stopwatch.Row{Place: "Neovim", Agent: "scripted, over ACP"}
	_, counted, _ := strings.Cut(out, "scripted: ")
	if _, err := fmt.Sscanf(counted, "%d commands, %d questions, %f s", &r.Steps, &r.Questions, &r.Seconds); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.Check(t)
}

// TestNeovimAgent: a conversation with an agent in Neovim, from the choice of one until
// it goes on after the server was killed.
func TestNeovimAgent(t *testing.T) { neovimAgent(t, "agent.lua") }

// TestNeovimAgentGaps: events that are lost are asked for.
func TestNeovimAgentGaps(t *testing.T) { neovimAgent(t, "agent_gaps.lua") }

// TestNeovimAgentGolden: a recorded run, with all that agents may send and what they
// should not, as text.
func TestNeovimAgentGolden(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		needs.Skip(t, needs.Neovim, "no nvim on this machine; make test installs it")
	}
	name := filepath.Join(t.TempDir(), "conversation.md")
	t.Setenv("SIDECAR_OUT", name)
	out, err := runNeovim(t, nvim, "", t.TempDir(), "agent_golden.lua")
	if err != nil || !strings.Contains(out, "\ndone") || !strings.Contains(out, "Claude Code  claude · review · ? Needs you · 41 % · 1.50 EUR") {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	conversations(t, string(got))
}

// TestEmacsAgent: the same conversation in Emacs, and events that are lost.
func TestEmacsAgent(t *testing.T) {
	emacs := emacsWithEglot(t)
	dir := conversed(t)
	t.Setenv("SIDECAR_LS", program.ServerAnywhere(t))
	t.Setenv("SIDECAR_LOG", filepath.Join(t.TempDir(), "sidecar.log"))
	emacsAgent(t, emacs, agentSettings(t), dir, "agent.el")
}

// TestEmacsAgentGolden: the recorded run has the same text as in Neovim.
func TestEmacsAgentGolden(t *testing.T) {
	emacs := emacsWithEglot(t)
	dir, name := t.TempDir(), filepath.Join(t.TempDir(), "conversation.md")
	t.Setenv("SIDECAR_DIR", dir)
	t.Setenv("SIDECAR_OUT", name)
	if out := emacsAgent(t, emacs, t.TempDir(), dir, "agent_golden.el"); !strings.Contains(out, "Claude Code  claude · review · ? Needs you · 41 % · 1.50 EUR") {
		t.Errorf("the header is not in %s", out)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	conversations(t, string(got))
}

func emacsAgent(t *testing.T, emacs, config, dir, script string) string {
	t.Helper()
	repo, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	testdata := filepath.Join(repo, "internal/test/e2e/testdata/emacs")
	t.Setenv("SIDECAR_TESTDATA", testdata)
	t.Setenv("SIDECAR_EMACS", filepath.Join(repo, "editors/emacs"))
	out, err := runEmacsAt(t, config, emacs, dir, "--load", filepath.Join(testdata, script))
	if err != nil || !strings.Contains(out, "\ndone") {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}
