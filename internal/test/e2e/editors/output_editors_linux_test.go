package editors_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// outputProject is a project whose commands have a world and may run, with the user's
// configuration.
func outputProject(t *testing.T) (dir, config string) {
	t.Helper()
	e2e.WorldIn(t, e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n"})) // skips where there are none
	dir = t.TempDir()
	e2e.Write(t, filepath.Join(dir, "a.txt"), "a\n")
	e2e.Write(t, filepath.Join(dir, ".gitignore"), "out/\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "first"}} {
		e2e.GitIn(t, dir, args...)
	}
	return dir, os.Getenv("XDG_CONFIG_HOME")
}

// TestNeovimOutput: held output is listed, accepted and dropped in Neovim.
func TestNeovimOutput(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		needs.Skip(t, needs.Neovim, "no nvim on this machine; make test installs it")
	}
	dir, config := outputProject(t)
	out, err := runNeovimAt(t, config, nvim, program.ServerAnywhere(t), dir, "output.lua")
	if err != nil || !strings.Contains(out, "\ndone") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestEmacsOutput: the same in Emacs.
func TestEmacsOutput(t *testing.T) {
	emacs := emacsWithEglot(t)
	dir, config := outputProject(t)
	t.Setenv("SIDECAR_LS", program.ServerAnywhere(t))
	t.Setenv("SIDECAR_LOG", filepath.Join(t.TempDir(), "sidecar.log"))
	emacsAgent(t, emacs, config, dir, "output.el")
}
