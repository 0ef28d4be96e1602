package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestDemo builds the server and runs the whole demo on it.
func TestDemo(t *testing.T) {
	slow.Test(t)
	if _, err := exec.LookPath("git"); err != nil {
		needs.Skip(t, needs.Git, "no git on this machine; make test installs it")
	}
	var out strings.Builder
	err := run(t.Context(), program.Server(t), &out, false)
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "All as it should be") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("the demo ended without its last line, or is coloured without a terminal")
	}

	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "An excerpt of its output:\n\n```\n")
	block, _, _ = strings.Cut(block, "```")
	if strings.Count(block, "\n") < 5 || !strings.Contains(out.String(), block) {
		t.Errorf("the README shows what the demo does not print:\n%s", block)
	}
}

// TestDemoFails checks that a server that is none makes the demo fail.
func TestDemoFails(t *testing.T) {
	for name, server := range map[string]string{"no file": filepath.Join(t.TempDir(), "none"), "no server": "/bin/true"} {
		t.Run(name, func(t *testing.T) {
			if err := run(t.Context(), server, new(strings.Builder), false); err == nil {
				t.Error("the demo passed")
			}
		})
	}
}

// TestMakeSample: the repository of the pages is made where a person wants it, and never
// over what is there.
func TestMakeSample(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		needs.Skip(t, needs.Git, "no git on this machine; make test installs it")
	}
	t.Chdir(t.TempDir())
	const dir = "sample/tally"
	var out strings.Builder
	if err := makeSample(t.Context(), dir, &out); err != nil || !strings.Contains(out.String(), dir) {
		t.Fatal(err, out.String())
	}
	if data, err := os.ReadFile(dir + "/count/count.go"); err != nil || !strings.Contains(string(data), "\nconst Most = 10\n") {
		t.Errorf("%v\n%s", err, data)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "status", "--porcelain").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	if err := makeSample(t.Context(), dir, &out); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a second time: %v", err)
	}
}
