package editors_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestEmacs runs a real Emacs with editors/emacs, twice over the same project.
func TestEmacs(t *testing.T) {
	slow.Test(t)
	emacs := emacsWithEglot(t)
	repo, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	server := program.ServerAnywhere(t)
	dir := t.TempDir()
	e2e.Write(t, filepath.Join(dir, "main.go"), sampleGo)
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil { // where Emacs sees a project
		t.Fatalf("git init: %v\n%s", err, out)
	}
	testdata := filepath.Join(repo, "internal/test/e2e/testdata/emacs")
	logged := filepath.Join(t.TempDir(), "sidecar.log")
	t.Setenv("SIDECAR_LS", server)
	t.Setenv("SIDECAR_LOG", logged)
	t.Setenv("SIDECAR_TESTDATA", testdata)
	t.Setenv("SIDECAR_EMACS", filepath.Join(repo, "editors/emacs"))
	for _, script := range []string{"first.el", "second.el"} {
		out, err := runEmacs(t, emacs, dir, "--load", filepath.Join(testdata, script))
		t.Logf("%s:\n%s", script, out)
		if err != nil || !strings.Contains(out, "\ndone") {
			log, _ := os.ReadFile(logged)
			t.Fatalf("%s: %v\nserver log:\n%s", script, err, log)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.NewReplacer(`"hello"`, `"good morning"`, `"you"`, `"world"`).Replace(sampleGo); string(got) != want {
		t.Fatalf("the file on disk is\n%s\nwant\n%s", got, want)
	}
}

// TestEmacsWithoutMode: a file for which Emacs has no mode is reviewed as others are.
func TestEmacsWithoutMode(t *testing.T) {
	emacs := emacsWithEglot(t)
	repo, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	e2e.Write(t, filepath.Join(dir, "main.go"), sampleGo)
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil { // where Emacs sees a project
		t.Fatalf("git init: %v\n%s", err, out)
	}
	testdata := filepath.Join(repo, "internal/test/e2e/testdata/emacs")
	t.Setenv("SIDECAR_LS", program.ServerAnywhere(t))
	t.Setenv("SIDECAR_LOG", filepath.Join(t.TempDir(), "sidecar.log"))
	t.Setenv("SIDECAR_TESTDATA", testdata)
	t.Setenv("SIDECAR_EMACS", filepath.Join(repo, "editors/emacs"))
	if out, err := runEmacs(t, emacs, dir, "--load", filepath.Join(testdata, "fundamental.el")); err != nil || !strings.Contains(out, "\ndone") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// emacsWithEglot is the program, if there is one that has what the plug-in needs.
func emacsWithEglot(t *testing.T) string {
	t.Helper()
	emacs, err := exec.LookPath("emacs")
	if err != nil {
		needs.Skip(t, needs.Emacs, "no emacs on this machine; make test installs it")
	}
	if out, err := runEmacs(t, emacs, t.TempDir(), "--eval", "(progn (package-initialize) (require 'eglot))"); err != nil {
		needs.Skip(t, needs.Emacs, fmt.Sprintf("this Emacs has no Eglot; make test installs it: %s", out))
	}
	return emacs
}

func runEmacs(t *testing.T, emacs, dir string, args ...string) (string, error) {
	t.Helper()
	return runEmacsAt(t, t.TempDir(), emacs, dir, args...)
}

func runEmacsAt(t *testing.T, home, emacs, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, emacs, append([]string{"--batch", "--no-init-file"}, args...)...)
	cmd.Dir = dir
	if err := ownfile.Mkdir(filepath.Join(home, ".emacs.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
