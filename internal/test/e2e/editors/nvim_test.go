package editors_test

import (
	"context"
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
)

const sampleGo = `package main

import "fmt"

const greeting = "hello"

func main() {
	fmt.Println(greeting)
}

func name() string {
	return "you"
}
`

// TestNeovim runs a real Neovim with the configuration of editors/nvim, three times
// over the same project.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		needs.Skip(t, needs.Neovim, "no nvim on this machine; make test installs it")
	}
	server := program.ServerAnywhere(t)
	dir := t.TempDir()
	e2e.Write(t, filepath.Join(dir, "main.go"), sampleGo)
	if err := ownfile.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"first.lua", "second.lua", "third.lua"} {
		out, err := runNeovim(t, nvim, server, dir, script)
		t.Logf("%s:\n%s", script, out)
		if err != nil || !strings.Contains(out, "\ndone") {
			log, _ := os.ReadFile(filepath.Join(dir, "..", "sidecar.log"))
			t.Fatalf("%s: %v\nserver log:\n%s", script, err, log)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`"hello"`, `"good morning"`, `"you"`, `"world"`,
		"package main\n\n", "package main\n\n\n// Typed by the user.\n").Replace(sampleGo)
	if string(got) != want {
		t.Fatalf("the file on disk is\n%s\nwant\n%s", got, want)
	}
}

// TestNeovimDraws: a hunk is drawn in a file while its user writes elsewhere.
func TestNeovimDraws(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		needs.Skip(t, needs.Neovim, "no nvim on this machine; make test installs it")
	}
	dir := t.TempDir()
	e2e.Write(t, filepath.Join(dir, "main.go"), sampleGo)
	if err := ownfile.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := runNeovim(t, nvim, program.ServerAnywhere(t), dir, "drawn.lua"); err != nil || !strings.Contains(out, "\ndone") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestNeovimWorld: an agent's work is tested in Neovim before anything of it is on the disk.
func TestNeovimWorld(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		needs.Skip(t, needs.Neovim, "no nvim on this machine; make test installs it")
	}
	server := program.ServerAnywhere(t)
	e2e.Home(t) // what has been compiled is found, too
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/a\n\ngo 1.24\n", "a.go": "package a\n\nfunc Sum(a, b int) int { return a - b }\n", "b.go": "package a\n\nvar b = \"b\"\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Fatal(Sum(1, 2))\n\t}\n}\n",
	} {
		e2e.Write(t, filepath.Join(dir, name), text)
	}
	if err := ownfile.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := t.TempDir()
	e2e.Write(t, filepath.Join(config, "sidecar", "settings.json"), `{"toolPermissions": {"run_tests": "allow", "run_command": "allow"}}`)
	out, err := runNeovimAt(t, config, nvim, server, dir, "world.lua")
	if strings.Contains(out, "saw the disk") {
		needs.Skip(t, needs.Overlay, "there are no worlds here: ", out)
	}
	if err != nil || !strings.Contains(out, "\ndone") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func runNeovim(t *testing.T, nvim, server, dir, script string) (string, error) {
	t.Helper()
	return runNeovimAt(t, t.TempDir(), nvim, server, dir, script)
}

func runNeovimAt(t *testing.T, home, nvim, server, dir, script string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	repo, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	testdata := filepath.Join(repo, "internal/test/e2e/testdata/nvim")
	cmd := exec.CommandContext(ctx, nvim, "--headless", "-u", "NONE", "-n",
		"--cmd", "set runtimepath+="+filepath.Join(repo, "editors/nvim"),
		"-c", "luafile "+filepath.Join(testdata, script))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SIDECAR_LS="+server, "SIDECAR_TESTDATA="+testdata,
		"SIDECAR_LOG="+filepath.Join(dir, "..", "sidecar.log"), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
