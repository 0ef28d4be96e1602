package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestRunAfterSetup: an agent whose own tools setup has turned off isn't started by run, where
// it has those alone; once they are back it is.
func TestRunAfterSetup(t *testing.T) {
	p := newPerson(t)
	const program = "codex"
	e2e.Write(t, filepath.Join(p.bin, program), "#!/bin/sh\necho 'codex 1'\n")
	if err := ownfile.Chmod(filepath.Join(p.bin, program), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--review", "--only-ours"} {
		if out, code := p.command(nil, "setup", "codex", flag, "--yes"); code != 0 {
			t.Fatalf("%d %s", code, out)
		}
		out, code := p.command(nil, "run", "--yes", "--", "codex")
		if code != 1 || !strings.Contains(out, "its own tools are off") || !strings.Contains(out, "sidecar-ls setup codex --undo") || strings.Contains(out, "codex 1") {
			t.Errorf("%s: %d %s", flag, code, out)
		}
		if out, code := p.command(nil, "setup", "codex", "--undo", "--yes"); code != 0 {
			t.Fatalf("%d %s", code, out)
		}
	}
	if out, code := p.command(nil, "setup", "codex", "--no-review", "--yes"); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	if out, code := p.command(nil, "run", "--yes", "--", "codex"); code != 0 || !strings.Contains(out, "codex 1") {
		t.Errorf("the control: %d %s", code, out)
	}
}
