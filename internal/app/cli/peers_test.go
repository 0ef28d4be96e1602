package cli

import (
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/agenthook"
)

// TestWhoMay: each command, and each query that a server answers, has a row in the table
// of who may decide, so that it was thought about; and what decides is a person's.
func TestWhoMay(t *testing.T) {
	var names []string
	for _, cmd := range commands() {
		names = append(names, cmd.name)
	}
	for _, agent := range agenthook.Names() {
		names = append(names, "hook "+agent)
	}
	names = append(names, runQuery, agentQuery, acpQuery)
	caller := peers.Sandboxed()
	for _, q := range queries() {
		name, decides := q.called()
		names = append(names, name)
		if decides && caller.May(name) == nil {
			t.Errorf("%s decides, and needs no person", name)
		}
	}
	for _, name := range names {
		if !peers.Known(name) {
			t.Errorf("internal/doors/peers/table.go has no row for %q", name)
		}
	}
	for verb := range reviewVerbs {
		if caller.May("review "+verb) == nil {
			t.Errorf("review %s needs no person", verb)
		}
	}
	for verb := range agentVerbs {
		if caller.May("agent "+verb) == nil {
			t.Errorf("agent %s needs no person", verb)
		}
	}
	for _, verb := range append(pluginVerbs(), "a later one") {
		if caller.May("plugin "+verb) == nil {
			t.Errorf("plugin %s needs no person", verb)
		}
	}
	if caller.May("a later command") == nil || (peers.Who{}).May("review accept") == nil {
		t.Error("what nobody has thought about is open")
	}
	if i := slices.IndexFunc([]string{"call", "tools", "mcp", "tools list"}, func(name string) bool { return caller.May(name) != nil }); i >= 0 {
		t.Error("the control: a caller can't call")
	}
}
