package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
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
	review, install, _ := strings.Cut(block, "…\n")
	shown(t, out.String(), review)
	if _, err := exec.LookPath("npm"); err != nil {
		needs.Skip(t, needs.Node, err)
	}
	if _, why, lacks := strings.Cut(out.String(), notInstalled); lacks {
		needs.Skip(t, needs.Overlay, why)
	}
	shown(t, out.String(), install)
}

// shown checks that the demo prints what the README shows of it.
func shown(t *testing.T, out, excerpt string) {
	t.Helper()
	if strings.Count(excerpt, "\n") < 5 || !strings.Contains(out, excerpt) {
		t.Errorf("the README shows what the demo does not print:\n%s", excerpt)
	}
}

// TestNotInstalled: a machine that lacks something for the install is shown that in a line, and
// the demo goes on.
func TestNotInstalled(t *testing.T) {
	for _, c := range []struct {
		name, says string
		lacks      func(t *testing.T, settings string)
	}{
		{"npm", "this machine has no npm\n", func(t *testing.T, _ string) { t.Setenv("PATH", t.TempDir()) }},
		{"sandbox", "each command is asked about here; sandbox: ", func(t *testing.T, settings string) {
			for need, program := range map[needs.Need]string{needs.Git: "git", needs.Node: "npm"} {
				if _, err := exec.LookPath(program); err != nil {
					needs.Skip(t, need, err)
				}
			}
			if err := ownfile.WriteFile(settings, []byte(`{"sandbox.mode": "off"}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			d := &demo{ctx: t.Context(), server: program.Server(t), dir: t.TempDir(), out: printer{w: &out}}
			t.Cleanup(d.close)
			if err := d.settings(); err != nil {
				t.Fatal(err)
			}
			c.lacks(t, filepath.Join(d.dir, "home", "sidecar", "settings.json"))
			if err := d.install(); err != nil {
				t.Error(err)
			}
			if !strings.Contains(out.String(), notInstalled+c.says) || strings.Contains(out.String(), "run_command") || d.editor != nil {
				t.Errorf("it shows\n%s", out.String())
			}
		})
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
