package acpserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// TestCommands: a client is told the commands of a run when they change, and the latest
// ones when it opens it.
func TestCommands(t *testing.T) {
	h := newHost(t)
	conn := h.serve()
	p := newPeer(t, conn, conn)
	id := p.open(h.dir, object{})
	run, err := h.store.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		raw, err := json.Marshal(object{"sessionUpdate": acp.CommandsChanged, "availableCommands": []object{{"name": name, "description": "d"}}})
		if err == nil {
			err = run.Emit(conversation.Event{Kind: conversation.Note, Reason: acp.CommandsChanged, Raw: raw})
		}
		if err != nil {
			t.Fatal(err)
		}
		p.told(name)
	}
	conn = h.serve()
	p = newPeer(t, conn, conn)
	p.ask("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
	p.ask("session/load", object{"sessionId": id, "cwd": h.dir, "mcpServers": []any{}})
	p.told("second")
	if all := inShort(t, p.raw); strings.Contains(all, "first") {
		t.Errorf("it is told what does not hold any more: %s", all)
	}
}
