package cli

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
)

// TestAuthors: whoever uses our tools over MCP or ACP is named as people know it, and not
// the tool. Controls: a shell's call, and sessions that only look alike.
func TestAuthors(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	a := newAuthors()
	for _, c := range []struct{ session, tool, command, edit, past string }{
		{session.NewID("mcp-claude-code"), "edit_file", "", "Claude Code", "Claude Code"},
		{session.NewID("mcp-gemini-cli-mcp-client-sidecar"), "edit_file", "", "Gemini CLI", "Gemini CLI"},
		{session.NewID("mcp-opencode"), "run_command", "make x", "OpenCode (make x)", "OpenCode"},
		{session.NewID("mcp-somebody-s-agent"), "edit_file", "", "somebody-s-agent", "somebody-s-agent"},
		{session.NewID("codex"), "apply_patch", "", "Codex", "Codex"},
		{session.NewID("builtin"), "edit_file", "", "SideCar Agent", "SideCar Agent"},
		{"claude", "run", "Claude Code", "Claude Code", "Claude Code"},
		{"sh", "run", "sh -c x", "run (sh -c x)", "sh"},
		{"shell", "edit_file", "", "edit_file", "edit_file"},
		{"default", "run_command", "make", "run_command (make)", "run_command"},
		{session.NewID("s"), "edit_file", "", "edit_file", "edit_file"},
		{"mcp-claude-code", "edit_file", "", "edit_file", "edit_file"},
	} {
		if edit, past := a.edit(c.session, c.tool, c.command), a.past(c.session, c.tool); edit != c.edit || past != c.past {
			t.Errorf("%s, %s: %q and %q, want %q and %q", c.session, c.tool, edit, past, c.edit, c.past)
		}
	}
}
