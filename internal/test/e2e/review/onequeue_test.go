package review_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// bare is the environment that some agents start servers with: it does not say
// where sockets lie.
func bare(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	data, err := os.ReadFile(config.UserFile())
	if err == nil {
		e2e.Write(t, filepath.Join(home, ".config", "sidecar", "settings.json"), string(data))
	}
	return []string{"HOME=" + home, "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "TERM=dumb"}
}

// ownProgram is the server's program with arguments, in the environment of bare.
func ownProgram(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = env
	return cmd
}

// calledBy is `sidecar-ls call`, as a process.
func calledBy(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	out, err := ownProgram(t, env, append([]string{"call"}, args...)...).CombinedOutput()
	return string(out), err
}

// TestOneQueue: an editor's server, an agent's endpoint that was started with
// hardly any environment, and calls from a shell hold edits of one workspace,
// whichever comes first. Nobody's edit fails, and the editor has them all.
func TestOneQueue(t *testing.T) {
	for _, order := range [][]string{
		{"editor", "agent", "call"}, {"editor", "call", "agent"}, {"agent", "editor", "call"},
		{"agent", "call", "editor"}, {"call", "editor", "agent"}, {"call", "agent", "editor"},
	} {
		t.Run(strings.Join(order, " "), func(t *testing.T) {
			e2e.Home(t)
			e2e.UserSettings(t, e2e.Object{"mode": "review"})
			env := bare(t)
			dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
			var r *e2e.Rig
			var a *e2e.Agent
			edit := map[string]func(path string) string{
				"editor": func(path string) string {
					if r == nil {
						r, _ = e2e.EditorProcess(t, dir)
					}
					if res := r.Tool("write_file", e2e.Object{"path": path, "content": "x\n"}); !res.OK {
						return res.Content
					}
					return ""
				},
				"agent": func(path string) string {
					if a == nil {
						stderr := new(bytes.Buffer)
						cmd := ownProgram(t, env, "mcp", "--root", dir)
						cmd.Stderr = stderr
						a = e2e.ConnectAgent(t, &sdk.CommandTransport{Command: cmd}, stderr, e2e.MCPVersions[0], nil)
					}
					if text, ok := a.Call("write_file", e2e.Object{"path": path, "content": "x\n"}); !ok {
						return text
					}
					return ""
				},
				"call": func(path string) string {
					args, _ := json.Marshal(e2e.Object{"path": path, "content": "x\n"})
					if out, err := calledBy(t, env, "--root", dir, "--mode", "review", "write_file", string(args)); err != nil {
						return fmt.Sprint(err, out)
					}
					return ""
				},
			}
			var want []string
			for round := range 3 {
				for _, who := range order {
					path := fmt.Sprintf("%s-%d.txt", who, round)
					if failed := edit[who](path); failed != "" {
						t.Fatalf("round %d, %s: %s", round, who, failed)
					}
					want = append(want, path)
					slices.Sort(want)
					if r == nil {
						continue
					}
					var got []string
					for _, e := range r.Pending().Edits {
						got = append(got, e.Path)
					}
					if !slices.Equal(got, want) {
						t.Fatalf("round %d, after %s: the editor has %v, want %v", round, who, got, want)
					}
				}
			}
			if res := r.Accept(nil); len(res.Accepted) != len(want) {
				t.Errorf("accepted: %+v", res)
			}
			if err := a.Close(); err != nil {
				t.Errorf("the end of the agent: %v\n%s", err, a.Stderr)
			}
			if err := r.Shutdown(t.Context()); err != nil {
				t.Errorf("the end of the editor: %v", err)
			}
		})
	}
}

// TestOneQueueUnattached: also without the socket, what another process has
// held is in the queue of a server that was there before, and the server's own
// next edits work.
func TestOneQueueUnattached(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review", "mcp": e2e.Object{"attach": false}})
	env := bare(t)
	dir := e2e.Project(t, nil)
	r, _ := e2e.EditorProcess(t, dir)
	if list := r.Pending(); len(list.Edits) != 0 {
		t.Fatalf("pending: %+v", list)
	}
	if _, err := os.Stat(filepath.Join(dir, ".sidecar", "state", "pending")); err == nil {
		t.Error("looking made a queue")
	}
	if out, err := calledBy(t, env, "--root", dir, "--mode", "review", "write_file", `{"path":"a.txt","content":"x\n"}`); err != nil {
		t.Fatal(err, out)
	}
	if list := r.Pending(); len(list.Edits) != 1 || list.Edits[0].Path != "a.txt" {
		t.Errorf("pending: %+v", list)
	}
	if res := r.Tool("edit_file", e2e.Object{"path": "a.txt", "search": "x", "replace": "y"}); !res.OK {
		t.Errorf("the editor's own: %s", res.Content)
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestSecondEditor: while an editor has the project's review, another one's server says who
// has it and what to do, and has it once the first has left. Control: the first has it.
func TestSecondEditor(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review"})
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	first, cmd := e2e.EditorProcess(t, dir)
	if res := first.Tool("write_file", e2e.Object{"path": "a.txt", "content": "two\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	second, _ := e2e.EditorProcess(t, dir)
	want := fmt.Sprintf("another editor or shell (process %d) has this project's review: decide there, or close it; then this one takes over", cmd.Process.Pid)
	if err := second.ExecuteCommand(t.Context(), "sidecar.review.list", e2e.Object{}, nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), dir) {
		t.Errorf("review in the second: %v, want %s", err, want)
	}
	if err := second.ExecuteCommand(t.Context(), "sidecar.agent.list", e2e.Object{}, nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("agents in the second: %v, want %s", err, want)
	}
	first.IsQueued("a.txt")
	if err := first.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	e2e.Until(t, "the second does not take over", func() bool {
		return second.ExecuteCommand(t.Context(), "sidecar.review.list", e2e.Object{}, nil) == nil
	})
	second.IsQueued("a.txt")
	if res := second.Accept(nil); len(res.Accepted) != 1 || second.File("a.txt") != "two\n" {
		t.Errorf("accepted in the second: %+v", res)
	}
	if err := second.ExecuteCommand(t.Context(), "sidecar.agent.list", e2e.Object{}, nil); err != nil {
		t.Errorf("agents in the second: %v", err)
	}
	if err := second.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCallAttached: a call goes to the server that is there, in the mode of the
// command line, and is told as it would be without one.
func TestCallAttached(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "autonomous"})
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	alone, _, _ := e2e.RunCLI(t, "", "call", "--root", dir, "--json", "read_file", `{"path":"a.txt"}`)
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	uri, err := r.OpenFile(t.Context(), filepath.Join(dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Type(t.Context(), uri, "unsaved\n"); err != nil {
		t.Fatal(err)
	}
	r.Pending() // the server has taken in what was typed: the calls below come by another connection
	for _, c := range []struct {
		what string
		args []string
		out  string // or what standard error has
		code int
	}{
		{"what is not saved", []string{"read_file", `{"path":"a.txt"}`}, "unsaved\n", 0},
		{"a failure", []string{"read_file", `{"path":"b.txt"}`}, "not_found: ", 1},
		{"bad arguments", []string{"read_file", `{}`}, "invalid_arguments: ", 1},
		{"the mode plan", []string{"--mode", "plan", "write_file", `{"path":"b.txt","content":"x\n"}`}, "", 1},
		{"the mode review", []string{"--mode", "review", "write_file", `{"path":"b.txt","content":"x\n"}`}, "", 0},
		{"the mode of the settings", []string{"write_file", `{"path":"c.txt","content":"x\n"}`}, "", 0},
		{"no such mode", []string{"--mode", "bogus", "write_file", `{"path":"d.txt","content":"x\n"}`}, "bogus", 1},
	} {
		out, stderr, code := e2e.RunCLI(t, "", append([]string{"call", "--root", dir}, c.args...)...)
		if code != c.code || !strings.Contains(out+stderr, c.out) {
			t.Errorf("%s: exit %d\n%s%s", c.what, code, out, stderr)
		}
	}
	if list := r.Pending(); len(list.Edits) != 1 || list.Edits[0].Path != "b.txt" {
		t.Errorf("pending: %+v", list)
	}
	if r.File("c.txt") != "x\n" {
		t.Error("autonomous mode did not write")
	}
	var want, got map[string]any
	attached, _, _ := e2e.RunCLI(t, "", "call", "--root", dir, "--json", "read_file", `{"path":"a.txt"}`)
	if err := json.Unmarshal([]byte(alone), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(attached), &got); err != nil || got["content"] != "unsaved\n" || got["tool"] != "read_file" || got["ok"] != true {
		t.Errorf("%v, %v", got, err)
	}
	for member := range want {
		if _, ok := got[member]; !ok {
			t.Errorf("the result has no %s: %s", member, attached)
		}
	}
}

// TestOneQueueBusy: an agent that works without an editor can't leave at once
// when an editor is started, because a command of it runs. The editor's edit
// waits for that, and then the agent goes on with the editor.
func TestOneQueueBusy(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review", "sandbox": e2e.Object{"mode": "off"}, "toolPermissions": e2e.Object{"run_command": "allow"}})
	dir := e2e.Project(t, nil)
	env := bare(t)
	gate := filepath.Join(t.TempDir(), "gate")
	if err := exec.Command("mkfifo", gate).Run(); err != nil {
		t.Fatal(err)
	}
	stderr := new(bytes.Buffer)
	cmd := ownProgram(t, env, "mcp", "--root", dir)
	cmd.Stderr = stderr
	a := e2e.ConnectAgent(t, &sdk.CommandTransport{Command: cmd}, stderr, e2e.MCPVersions[0], nil)
	if text, ok := a.Call("write_file", e2e.Object{"path": "first.txt", "content": "x\n"}); !ok {
		t.Fatal(text)
	}
	running := make(chan string, 1)
	go func() {
		p := &sdk.CallToolParams{Name: "run_command", Arguments: e2e.Object{"command": "echo begun; cat " + gate}}
		p.SetProgressToken("p")
		res, err := a.CallTool(t.Context(), p)
		if err != nil || res.IsError {
			running <- fmt.Sprint(err, res)
			return
		}
		running <- ""
	}()
	if said := <-a.Said; said != "begun" {
		t.Fatal(said)
	}
	r, _ := e2e.EditorProcess(t, dir)
	edited := make(chan e2e.Result, 1)
	go func() { edited <- r.Tool("write_file", e2e.Object{"path": "second.txt", "content": "x\n"}) }()
	f, err := ownfile.OpenFile(gate, os.O_WRONLY, 0) // the command reads to the end
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if failed := <-running; failed != "" {
		t.Errorf("the command: %s", failed)
	}
	if res := <-edited; !res.OK {
		t.Errorf("the editor's edit: %s", res.Content)
	}
	text, ok := a.Call("write_file", e2e.Object{"path": "third.txt", "content": "x\n"})
	if !ok {
		t.Errorf("the agent's next edit: %s\n%s", text, stderr)
	}
	if list := r.Pending(); len(list.Edits) != 3 {
		t.Errorf("pending: %+v", list)
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
