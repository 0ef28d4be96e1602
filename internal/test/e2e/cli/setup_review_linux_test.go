package cli_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// typed runs setup at a terminal on which a person has typed this.
func (p *person) typed(text string, args ...string) (shown, out string, code int) {
	p.t.Helper()
	other, tty := pty(p.t)
	seen := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(other) // ends with an error when nobody has the terminal any more
		seen <- string(data)
	}()
	if _, err := io.WriteString(other, text); err != nil {
		p.t.Fatal(err)
	}
	out, code = p.at(tty, args...)
	tty.Close()
	return <-seen, out, code
}

// TestSetupReview: review is offered first, and a yes does all that it takes; undo leaves
// nothing of it, with the records and without them.
func TestSetupReview(t *testing.T) {
	p := newPerson(t)
	mode := func() string {
		data, _ := os.ReadFile(config.UserFile())
		return string(data)
	}
	const question = "Review all its edits before they reach your files?"
	shown, out, code := p.typed("\ny\n", "claude")
	settings := p.read(".claude/settings.json")
	if code != 0 || !strings.Contains(shown, question) || !strings.Contains(settings, `"Edit"`) || !strings.Contains(settings, `"defaultMode": "default"`) || !strings.Contains(mode(), `"mode": "review"`) {
		t.Fatalf("exit %d\n%s\n%s\n%s\n%s", code, shown, out, settings, mode())
	}
	for _, part := range []string{"3 files written:", ".claude.json", config.UserFile(), "All edits of Claude Code wait for your review"} {
		if !strings.Contains(out, part) {
			t.Errorf("it does not say %q:\n%s", part, out)
		}
	}
	if shown, out, code = p.typed("", "claude"); code != 0 || shown != "" || !strings.Contains(out, "set up already") || !strings.Contains(out, "wait for your review") {
		t.Errorf("a second time: exit %d, %q\n%s", code, shown, out)
	}
	if out, code = p.at(nil, "claude", "--undo", "--yes"); code != 0 || mode() != "" || p.read(".claude/settings.json") != "" || p.read(".claude.json") != "" {
		t.Errorf("undo: exit %d\n%s%s", code, out, mode())
	}

	if out, code = p.at(nil, "gemini", "--review", "--yes"); code != 0 || !strings.Contains(mode(), "review") {
		t.Fatalf("exit %d\n%s", code, out)
	}
	if err := ownfile.RemoveAll(filepath.Join(p.home, ".local/state")); err != nil {
		t.Fatal(err)
	}
	if out, code = p.at(nil, "gemini", "--undo", "--yes"); code != 0 || strings.Contains(p.read(".gemini/settings.json"), "sidecar") || !strings.Contains(out, "The record of what setup did is gone") || !strings.Contains(out, "Your mode stays review") {
		t.Errorf("without the records: exit %d\n%s%s", code, out, p.read(".gemini/settings.json"))
	}

	e2e.Write(t, config.UserFile(), `{"mode": "manual"}`)
	if out, code = p.at(nil, "codex", "--review", "--yes"); code != 1 || !strings.Contains(out, "your mode is manual") || mode() != `{"mode": "manual"}` {
		t.Errorf("a stricter mode: exit %d\n%s%s", code, out, mode())
	}
	e2e.Write(t, config.UserFile(), `{}`)
	if out, code = p.at(nil, "opencode", "--review", "--yes", "--project"); code != 0 || mode() != `{}` {
		t.Errorf("exit %d\n%s", code, out)
	}
	if data, err := os.ReadFile(filepath.Join(p.dir, config.ProjectFile)); err != nil || !strings.Contains(string(data), "review") {
		t.Errorf("the project's settings: %s, %v", data, err)
	}
	if out, code = p.at(nil, "codex", "--yes"); code != 0 || !strings.Contains(out, "own tools are not reviewed") {
		t.Errorf("without review: exit %d\n%s", code, out)
	}
}

// TestSetupBrief: a person reads each file and the lines that come, and is asked; a dry run
// and JSON have the whole diff.
func TestSetupBrief(t *testing.T) {
	p := newPerson(t)
	e2e.Write(t, filepath.Join(p.home, ".claude/settings.json"), "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": [\"Read\"]\n  }\n}\n")
	shown, out, code := p.typed("y\nn\n", "claude")
	if code != 1 || !strings.Contains(shown, "Change 3 files? [Y/n]") {
		t.Fatalf("exit %d\n%s\n%s", code, shown, out)
	}
	for _, want := range []string{
		filepath.Join(p.home, ".claude.json") + " (new)\n  + \"mcpServers\": {\n  +   \"sidecar\": {\n",
		filepath.Join(p.home, ".claude/settings.json") + "\n  - \"allow\": [\"Read\"]\n  + \"allow\": [\"Read\", \"mcp__sidecar\"],\n  + \"deny\": [",
		config.UserFile() + " (new)\n  + \"mode\": \"review\"\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if lines := strings.Count(out, "\n"); lines > 20 || strings.Contains(out, "opus") || strings.Contains(out, "@@") {
		t.Errorf("%d lines:\n%s", lines, out)
	}
	for _, whole := range []string{"--dry-run", "--json"} {
		if out, _ := p.at(nil, "claude", "--review", whole); !strings.Contains(out, "opus") || !strings.Contains(out, "@@ -1,6 +1,") {
			t.Errorf("%s: %s", whole, out)
		}
	}
}
