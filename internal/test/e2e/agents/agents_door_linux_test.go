package agents_test

import (
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// TestServerOfAgentsOwn: the MCP server that stands in an agent's own settings, as setup puts
// it there, works in the session of the run: what it edits waits for review. A stricter mode
// that the settings name still counts.
func TestServerOfAgentsOwn(t *testing.T) {
	self := program.ServerAnywhere(t)
	r := e2e.ServeBy(t, e2e.AgentProject(t, map[string]string{"a.txt": "one\n"}), fakeeditor.Options{}, self)
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"own","version":"1"}}}`
	const begun = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	call := func(file string) string {
		return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"` + file + `","content":"x"}}}`
	}
	// Each line goes out when the one before is answered; the second answer ends it.
	line := func(file, flags string) string {
		return "run rm -f f; mkfifo /tmp/f && env -u TMPDIR " + self + " mcp --root . " + flags + ` </tmp/f | { exec 3>/tmp/f; echo '` + begin + `' >&3; read -r x; echo '` + begun + `' >&3; echo '` + call(file) + `' >&3; read -r x; echo "$x"; exec 3>&-; }; rm -f /tmp/f`
	}
	c := r.Agent(line("b.txt", "")+"\n"+line("c.txt", "--mode plan"), nil)
	reason, why, said := c.Stopped(1)
	if reason != told.Done || why != "" {
		t.Errorf("it ended by %s: %s", reason, why)
	}
	if !strings.Contains(said, "Held for review") {
		t.Errorf("it says %s", said)
	}
	r.IsQueued("b.txt")
}
