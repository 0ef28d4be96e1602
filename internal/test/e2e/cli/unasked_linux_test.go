package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// A person at a terminal reads once that an agent's commands run without a question, and how
// to have them asked about. Controls: where they are asked about nothing is said, nor where
// nobody reads it.
func TestUnaskedAtTerminal(t *testing.T) {
	model := clients.NewModel()
	t.Cleanup(model.Close)
	profile := e2e.Object{"name": "played", "provider": "anthropic", "url": model.URL, "model": "scripted", "key": "sk-played-0123456789"}
	set := e2e.Object{"toolPermissions": e2e.Object{}, "backend.profiles": []e2e.Object{profile}, "backend.profile": "played", "commands.ask": "auto"}
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, set)
	mark := filepath.Join(os.Getenv("XDG_STATE_HOME"), "sidecar-ls", e2e.SaidUnasked)
	if err := ownfile.Remove(mark); err != nil {
		t.Fatal(err)
	}
	go func() {
		for turn := range model.Turns() {
			if strings.Contains(turn.Body, "tool_result") {
				turn.End()
			} else {
				turn.CallOwn("run_command", e2e.Object{"command": "sh -c 'touch b'"})
			}
		}
	}()
	run := func(answers ...[2]string) (said int) {
		t.Helper()
		shown := typing(t, dir, answers, "agent", "run", "--mode", "review", "builtin", "make b")
		if !strings.Contains(shown, "touch b") {
			t.Fatalf("it shows %s", shown)
		}
		if strings.Contains(shown, "without a question") != strings.Contains(shown, `"commands.ask": "always" in `+os.Getenv("XDG_CONFIG_HOME")) {
			t.Errorf("it says %s", shown)
		}
		return strings.Count(shown, "without a question")
	}
	if _, said, code := e2e.AgentLine(t, dir, "", "run", "--mode", "review", "builtin", "make b"); code != 0 || strings.Contains(said, "without a question") {
		t.Errorf("without a terminal: %d %s", code, said)
	}
	if said := run(); said != 1 {
		t.Errorf("it is said %d times at first", said)
	}
	if _, err := os.Lstat(mark); err != nil {
		t.Error(err)
	}
	if said := run(); said != 0 {
		t.Errorf("it is said %d times again", said)
	}
	if err := ownfile.Remove(mark); err != nil {
		t.Fatal(err)
	}
	set["commands.ask"] = "always"
	e2e.UserSettings(t, set)
	if said := run([2]string{"Run `sh -c 'touch b'`?", "y"}); said != 0 {
		t.Errorf("it is said %d times where people are asked", said)
	}
}
