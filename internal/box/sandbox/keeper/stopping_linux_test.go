package keeper

import (
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStopping: a process that has no program of its own yet is ended where its
// parent waits for it; all others are stopped.
func TestStopping(t *testing.T) {
	// A subshell keeps its parent's name until it executes another program.
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "(echo own; (echo own; read -r _); :) | (read -r _; read -r _; exec sleep 1000)")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	root := cmd.Process.Pid
	defer func() {
		_ = in.Close()
		_ = unix.Kill(-root, unix.SIGKILL)
		_ = cmd.Wait()
	}()
	var got map[string]int
	for want := map[string]int{"child": 1, "program": 1, "below": 1}; !maps.Equal(got, want); { // nothing tells when all are there
		if t.Context().Err() != nil {
			t.Fatalf("%v", got)
		}
		got = map[string]int{}
		for _, p := range Descendants(root) {
			line, _ := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/cmdline")
			signal := stopping(root, p)
			switch program := strings.HasPrefix(string(line), "sleep"); {
			case program && signal == unix.SIGSTOP:
				got["program"]++
			case !program && p.parent == root && signal == unix.SIGKILL:
				got["child"]++
			case p.parent != root && signal == unix.SIGSTOP:
				got["below"]++
			}
		}
	}
}
