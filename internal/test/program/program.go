// Package program builds the programs that tests start: once for all packages of a run, in
// bin/test, where the next run finds what has not changed.
package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
)

const module = "github.com/sidecar-ls/sidecar-ls"

var (
	server  = once("cmd/sidecar-ls", "sidecar-ls")
	forTest = once("internal/test/server", filepath.Join("anywhere", "sidecar-ls"))
	agent   = once("internal/test/acpagent", "acpagent")
)

// Server is what `make build` makes.
func Server(t testing.TB) string { return path(t, server) }

// ServerAnywhere is Server, but takes programs from temporary directories, too, where
// those of tests lie.
func ServerAnywhere(t testing.TB) string { return path(t, forTest) }

// Agent is the agent that does as its prompts say.
func Agent(t testing.TB) string { return path(t, agent) }

func path(t testing.TB, build func() (string, error)) string {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// once returns a function that builds a package as a program of a name. Packages are tested
// beside each other: one builds, and the others find it done.
func once(pkg, name string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		_, here, _, _ := runtime.Caller(0)
		dir := filepath.Join(filepath.Dir(here), "../../../bin/test")
		bin := filepath.Join(dir, name)
		if runtime.GOOS == "windows" {
			bin += ".exe"
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return "", err
		}
		defer func() { _ = lock.Close() }()
		if err := filelock.Lock(lock); err != nil {
			return "", err
		}
		build := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-buildvcs=false", "-o", bin, module+"/"+pkg)
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
		return bin, nil
	})
}
