package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// outputProject is a project whose commands have a world and may run, with the user's
// configuration.
func outputProject(t *testing.T) (dir, config string) {
	t.Helper()
	worldIn(t, worldProject(t, "overlay", map[string]string{"a.txt": "a\n"})) // skips where there are none
	dir = t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "a\n")
	write(t, filepath.Join(dir, ".gitignore"), "out/\n")
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return dir, os.Getenv("XDG_CONFIG_HOME")
}

// TestNeovimOutput: held output is listed, accepted and dropped in Neovim.
func TestNeovimOutput(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("no nvim on this machine; make test installs it")
	}
	dir, config := outputProject(t)
	out, err := runNeovimAt(t, config, nvim, buildServer(t), dir, "output.lua")
	if err != nil || !strings.Contains(out, "\ndone") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestEmacsOutput: the same in Emacs.
func TestEmacsOutput(t *testing.T) {
	emacs := emacsWithEglot(t)
	dir, config := outputProject(t)
	t.Setenv("SIDECAR_LS", buildServer(t))
	t.Setenv("SIDECAR_LOG", filepath.Join(t.TempDir(), "sidecar.log"))
	emacsAgent(t, emacs, config, dir, "output.el")
}
