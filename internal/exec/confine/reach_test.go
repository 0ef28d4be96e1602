package confine

import (
	"testing"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
)

// TestCommandThatStarts: a connection that comes before its command's process is known waits for
// that; one of a session without commands waits for nothing.
func TestCommandThatStarts(t *testing.T) {
	w := &exits{running: map[string][]running{}}
	id, started := w.runs("s", "curl x", &sandbox.Cmd{})
	if c, starts := w.commandOf("s", boxnet.Client{}); c.Command != 0 || starts == nil {
		t.Errorf("while it starts: %+v, %v", c, starts)
	}
	if c, starts := w.commandOf("other", boxnet.Client{}); c.Command != 0 || starts != nil {
		t.Errorf("in another session: %+v, %v", c, starts)
	}
	close(started)
	if c, starts := w.commandOf("s", boxnet.Client{}); c.Command != id || c.Line != "curl x" || starts != nil {
		t.Errorf("once it runs: %+v, %v", c, starts)
	}
}
