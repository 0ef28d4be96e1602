package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestAgentsByTheirNames: edits of an agent are by its product, those of another program by
// its command line; and an agent that is installed first says what that takes.
func TestAgentsByTheirNames(t *testing.T) {
	p := newPerson(t)
	for name, script := range map[string]string{"claude": "#!/bin/sh\necho x >by-claude.txt\n", "npm": "#!/bin/sh\nexit 1\n"} {
		e2e.Write(t, filepath.Join(p.bin, name), script)
		if err := ownfile.Chmod(filepath.Join(p.bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := p.command(nil, "agent", "list"); code != 0 || !strings.Contains(out, "after one question: npm installs @agentclientprotocol/claude-agent-acp") {
		t.Errorf("list: exit %d\n%s", code, out)
	}
	if out, code := p.command(nil, "run", "--yes", "--", "claude"); code != 0 {
		t.Fatalf("run: exit %d\n%s", code, out)
	}
	if out, code := p.command(nil, "run", "--", "sh", "-c", "echo y >by-sh.txt"); code != 0 {
		t.Fatalf("run: exit %d\n%s", code, out)
	}
	out, _ := p.command(nil, "review")
	if !strings.Contains(out, "by Claude Code\n") || strings.Contains(out, p.bin) || !strings.Contains(out, "by run (sh -c echo y >by-sh.txt)") {
		t.Errorf("review:\n%s", out)
	}
	if out, code := p.command(nil, "review", "accept"); code != 0 {
		t.Fatalf("accept: exit %d\n%s", code, out)
	}
	if out, _ := p.command(nil, "review", "history"); !strings.Contains(out, "you accepted  made by Claude Code") && !strings.Contains(out, "you accepted  made by sh") {
		t.Errorf("history:\n%s", out)
	}
}

// TestFaultsAreSaidOnce: what is wrong in the settings is said once by a command that runs
// something, whether it looks once or twice.
func TestFaultsAreSaidOnce(t *testing.T) {
	p := newPerson(t)
	e2e.SettingsFile(t, `{"mode": "review", "result.maxBytes": "many"}`)
	for name, script := range map[string]string{"claude": "#!/bin/sh\n", "npm": "#!/bin/sh\nexit 1\n"} {
		e2e.Write(t, filepath.Join(p.bin, name), script)
		if err := ownfile.Chmod(filepath.Join(p.bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"run", "--", "true"}, {"run", "--yes", "--", "claude"}, {"agent", "list"}, {"agent", "run", "--yes", "claude", "x"}} {
		out, _ := p.command(nil, args[0], args[1:]...)
		if n := strings.Count(out, "result.maxBytes"); n != 1 {
			t.Errorf("%q says it %d times:\n%s", args, n, out)
		}
	}
}
