package agents_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestAgentDoors: what a killed server leaves in the directory for temporary files is
// removed by the next one, and what a server uses that runs is not.
func TestAgentDoors(t *testing.T) {
	tmp := t.TempDir()
	doors := func() []string {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(tmp, "sidecar-door-*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	dir := e2e.AgentProject(t, map[string]string{"a.txt": "a\n"})
	t.Setenv("TMPDIR", tmp)
	r, cmd := e2e.Mortal(t, dir)
	r.Agent("say hello", nil).Stopped(1)
	left := doors()
	other := agentRig(t, map[string]string{"a.txt": "a\n"})
	other.Agent("say hello", nil).Stopped(1)
	if len(left) != 1 || len(doors()) != 2 {
		t.Fatalf("there are %v and %v", left, doors())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	e2e.WorldIn(t, dir).List()
	if _, err := os.Stat(left[0]); err == nil || len(doors()) != 1 {
		t.Errorf("there are %v", doors())
	}
}
