//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestNPM: the packages for npm, installed from their files without a network, have the
// program, which gets its arguments and streams, and whose exit code counts. Without the package of this machine it
// says what is missing.
func TestNPM(t *testing.T) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip(err)
	}
	some, err := named([]string{runtime.GOOS + "-" + runtime.GOARCH})
	if err != nil {
		t.Skip(err)
	}
	out, packages := scratch(t)
	t.Chdir("../..")
	b := &build{version: "1.2.3", date: time.Unix(0, 0), out: out}
	const script = "#!/bin/sh\ncase $1 in\nversion) echo sidecar-ls 1.2.3 ;;\nmcp) read -r line; echo \"$2 got $line\" ;;\n*) exit 2 ;;\nesac\n"
	if err := errors.Join(packages.Mkdir(some[0].String(), 0o755), packages.WriteFile(filepath.Join(some[0].String(), some[0].program()), []byte(script), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := b.npm(some, []byte("none\n")); err != nil {
		t.Fatal(err)
	}
	home, own := scratch(t)
	system, cpu := some[0].npmSystem()
	starter, program := filepath.Join(out, "sidecar-ls-1.2.3-npm.tgz"), filepath.Join(out, "sidecar-ls-1.2.3-npm-"+system+"-"+cpu+".tgz")
	run := func(stdin string, name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stdin = home, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=", "npm_config_cache="+filepath.Join(home, "cache"), "npm_config_update_notifier=false")
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	installed := func(prefix string, files ...string) string {
		t.Helper()
		if err := own.Mkdir(prefix, 0o755); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--global", "--prefix", filepath.Join(home, prefix)}, files...)
		if text, err := run("", npm, args...); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return filepath.Join(home, prefix, "bin", "sidecar-ls")
	}
	whole := installed("whole", program, starter)
	if text, err := run("", whole, "version"); err != nil || !strings.HasPrefix(text, "sidecar-ls ") {
		t.Errorf("version: %v, %s", err, text)
	}
	if text, err := run("", whole, "nonesuch"); err == nil || err.(*exec.ExitError).ExitCode() != 2 { //nolint:errorlint,forcetypeassert // it is that of Run
		t.Errorf("its exit code is lost: %v, %s", err, text)
	}
	if text, err := run("{}\n", whole, "mcp", "--strict"); err != nil || text != "--strict got {}\n" {
		t.Errorf("its streams and arguments: %v, %s", err, text)
	}
	// On Windows node has a function that fails.
	arch, err := run("", "node", "-p", "process.arch")
	if err != nil {
		t.Fatal(arch)
	}
	module := filepath.Join("node_modules", "@sidecar-ls", "win32-"+strings.TrimSpace(arch))
	starts, err := os.ReadFile("internal/release/templates/sidecar-ls.cjs")
	if err := errors.Join(err, own.MkdirAll(module, 0o755), own.WriteFile(filepath.Join(module, "sidecar-ls.exe"), []byte(script), 0o755), own.WriteFile("sidecar-ls.cjs", starts, 0o644),
		own.WriteFile("windows.cjs", []byte(`Object.defineProperty(process, "platform", { value: "win32" }); process.execve = () => { throw new Error("unavailable"); };`), 0o644)); err != nil {
		t.Fatal(err)
	}
	if text, err := run("", "node", "-r", "./windows.cjs", "sidecar-ls.cjs", "version"); err != nil || text != "sidecar-ls 1.2.3\n" {
		t.Errorf("on Windows: %v, %s", err, text)
	}
	half := installed("half", starter)
	if text, err := run("", half, "version"); err == nil || !strings.Contains(text, "the package "+npmScope+system+"-"+cpu+" is not installed") {
		t.Errorf("without the program: %v, %s", err, text)
	}
}
