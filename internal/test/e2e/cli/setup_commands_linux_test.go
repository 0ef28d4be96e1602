package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/setup"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestSetupCommands: an editor's user sees the diff, and decides.
func TestSetupCommands(t *testing.T) {
	p := newPerson(t)
	type result struct {
		Changed     []struct{ Path, Diff string }
		Left, Notes []string
	}
	r, _ := e2e.EditorProcess(t, p.dir)
	t.Cleanup(func() { _ = r.Shutdown(t.Context()) })
	state := func() string {
		list := e2e.Command[struct{ Clients []setup.Client }](r, "sidecar.setup.list", e2e.Object{})
		return list.Clients[1].Name + " " + list.Clients[1].Roads[0].State
	}
	if s := state(); s != "codex off" {
		t.Error(s)
	}
	args := e2e.Object{"client": "codex", "roads": []string{"mcp"}}
	for _, answer := range []string{"Deny", ""} {
		r.Choose(answer)
		if err := r.ExecuteCommand(t.Context(), "sidecar.setup.apply", args, nil); err == nil || !strings.Contains(err.Error(), "nothing was written") || p.read(".codex/config.toml") != "" {
			t.Errorf("%q: %v", answer, err)
		}
	}
	r.Choose("Allow")
	got := e2e.Command[result](r, "sidecar.setup.apply", args)
	if len(got.Changed) != 1 || !strings.Contains(got.Changed[0].Diff, "+[mcp_servers.sidecar]") || !strings.Contains(p.read(".codex/config.toml"), "sidecar-ls") || state() != "codex on" {
		t.Errorf("%+v", got)
	}
	if again := e2e.Command[result](r, "sidecar.setup.apply", args); len(again.Changed) != 0 {
		t.Errorf("%+v", again)
	}
	r.Choose("Allow")
	if back := e2e.Command[result](r, "sidecar.setup.undo", args); len(back.Changed) != 1 || p.read(".codex/config.toml") != "" {
		t.Errorf("%+v", back)
	}
	r.Choose("Allow")
	e2e.Command[result](r, "sidecar.setup.apply", e2e.Object{"client": "opencode", "roads": []string{}, "project": true})
	if data, err := os.ReadFile(filepath.Join(p.dir, "opencode.json")); err != nil || !strings.Contains(string(data), "sidecar-ls") {
		t.Errorf("%s, %v", data, err)
	}
}
