package mcp_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestAgentSignal: a signal ends the endpoint, and the command that it runs.
func TestAgentSignal(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			e2e.Home(t)
			e2e.UserSettings(t, e2e.Object{"toolPermissions": e2e.Object{"run_command": "allow"}, "sandbox": e2e.Object{"mode": "off"}})
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, "mcp", "--root", e2e.Project(t, nil))
			a := e2e.ConnectAgent(t, &sdk.CommandTransport{Command: cmd}, nil, e2e.MCPVersions[0], nil)
			p := &sdk.CallToolParams{Name: "run_command", Arguments: map[string]any{"command": "echo $BASHPID; exec sleep 1000"}}
			p.SetProgressToken("p")
			ended := make(chan string, 1)
			go func() {
				if res, err := a.CallTool(t.Context(), p); err == nil {
					ended <- e2e.TextOf(res)
				}
			}()
			var said string
			select {
			case said = <-a.Said:
			case text := <-ended:
				t.Fatal(text)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(said))
			if err != nil {
				t.Fatal(err)
			}
			command, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				t.Fatalf("the command does not run: %v", err)
			}
			defer unix.Close(command)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = a.Wait() // until its output ends
			_ = a.Close()
			if !cmd.ProcessState.Success() {
				t.Errorf("it ended with %v", cmd.ProcessState)
			}
			end := []unix.PollFd{{Fd: int32(command), Events: unix.POLLIN}}
			if n, err := unix.Poll(end, -1); n != 1 || err != nil { // until the command has ended
				t.Error(n, err)
			}
		})
	}
}
