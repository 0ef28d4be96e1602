package trust_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// acceptAll is what a command line asks a server to accept everything.
func acceptAll(dir string) string {
	args, _ := json.Marshal(e2e.Object{"dir": dir, "chosen": nil})
	return fmt.Sprintf(`{"query": "review accept", "args": %s}`, args)
}

// selfAccept tries what an agent could do to accept its own pending edit: by
// the connection that it has, and by commands that it runs. It returns how many
// ways were tried, how many held, and how many controls showed that the edit can
// be accepted.
func selfAccept(r *e2e.Rig, server string) (tried, held, controls int) {
	t, dir := r.T, r.Dir
	t.Helper()
	r.Mode("review")
	if res := r.Tool("write_file", e2e.Object{"path": "own.txt", "content": "own\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	try := func(what string, attempt func() string) {
		t.Helper()
		tried++
		said := attempt()
		_, err := os.Stat(filepath.Join(dir, "own.txt"))
		if list := r.Pending(); len(list.Edits) != 1 || !os.IsNotExist(err) {
			t.Errorf("%s: the agent has accepted its own edit: %s", what, said)
			return
		}
		held++
	}

	// The connection of an agent is for tools alone, whatever is said over it and
	// whatever it wishes.
	for _, wish := range []attach.Wish{{}, {Mode: "autonomous"}, {Session: "person"}} {
		for _, line := range []string{
			acceptAll(dir),
			`{"jsonrpc": "2.0", "id": 1, "method": "review accept", "params": {}}`,
			`{"jsonrpc": "2.0", "id": 1, "method": "workspace/executeCommand", "params": {"command": "sidecar.review.accept", "arguments": [{}]}}`,
			"person\n" + acceptAll(dir),
		} {
			try("by the connection: "+line, func() string {
				c, _, err := attach.Dial(t.Context(), dir, wish)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if _, err := c.Write([]byte(line + "\n")); err != nil {
					return err.Error()
				}
				answer, _ := bufio.NewReader(c).ReadString('\n') // an error, or the end
				return answer
			})
		}
	}
	agent := e2e.AgentProcess(t, dir, e2e.MCPVersions[0], nil)
	for _, name := range []string{"review accept", "sidecar.review.accept", "review.accept", "person", "sidecar.policy.allowAlways", "policy.allowAlways", "policy_add", "sidecar.policy.suggest"} {
		try("by the tool "+name, func() string {
			text, _ := agent.Call(name, e2e.Object{})
			return text
		})
	}
	if text, ok := agent.Call("read_file", e2e.Object{"path": "a.txt"}); !ok {
		t.Errorf("control: the agent can't work: %s", text)
	}

	// Commands of the agent see no socket.
	r.Mode("autonomous")
	for _, line := range []string{" review accept", " review accept own.txt", " review accept --root " + dir, " shadow merge x"} {
		try("by a command:"+line, func() string {
			return r.Tool("run_command", e2e.Object{"command": "n=" + server + "; $n" + line}).Content
		})
	}
	r.Mode("review")

	out, err := exec.CommandContext(t.Context(), server, "review", "accept", "--root", dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "accepted own.txt") {
		t.Errorf("control: a person in a shell: %v: %s", err, out)
	} else {
		controls++
	}
	return tried, held, controls
}

// TestOwnProgramsDecideNothing: also without a sandbox, a command that the
// server has started for an agent can't accept that agent's edits.
func TestOwnProgramsDecideNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		needs.Skip(t, needs.Linux, "who is at the other end of a socket is known on Linux")
	}
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"toolPermissions": e2e.Object{"run_command": "allow"}, "sandbox": e2e.Object{"mode": "off"}})
	dir := e2e.Project(t, nil)
	server := program.ServerAnywhere(t)
	e, err := fakeeditor.StartProcess(exec.CommandContext(t.Context(), server, "serve", "--log-level", "error"), fakeeditor.Options{Root: dir})
	if err == nil {
		_, err = e.Initialize(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &e2e.Rig{Editor: e, T: t, Dir: dir}
	r.Mode("review")
	if res := r.Tool("write_file", e2e.Object{"path": "own.txt", "content": "own\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	for _, line := range []string{"review accept", "review reject", "review undo", "review list"} {
		res := r.Tool("run_command", e2e.Object{"command": fmt.Sprintf("XDG_RUNTIME_DIR=%s %s %s --root %s", os.Getenv("XDG_RUNTIME_DIR"), server, line, dir)})
		if res.OK || !strings.Contains(res.Content, "only a person decides") {
			t.Errorf("%s: %v %s", line, res.OK, res.Content)
		}
	}
	if res := r.Tool("run_command", e2e.Object{"command": fmt.Sprintf("%s policy test ls --root %s", server, dir)}); !res.OK {
		t.Errorf("what decides nothing: %s", res.Content)
	}
	if list := r.Pending(); len(list.Edits) != 1 {
		t.Errorf("pending: %+v", list.Edits)
	}
	if out, err := exec.CommandContext(t.Context(), server, "review", "accept", "--root", dir).CombinedOutput(); err != nil || r.File("own.txt") != "own\n" {
		t.Errorf("control: a person in a shell: %v: %s", err, out)
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
