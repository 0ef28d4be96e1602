package mcp_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// serverOf is how an agent's program starts the server, with what tells it
// where settings and sockets are.
func serverOf(t *testing.T, path, dir string) clients.Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := clients.Options{Path: path, Dir: dir, Server: []string{self, "mcp", "--root", dir}}
	for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		o.Env = append(o.Env, name+"="+os.Getenv(name))
	}
	return o
}

// TestRealAgents: the programs that people use reach the editor's queue, its
// user and the workspace, and their models read what there is to read.
func TestRealAgents(t *testing.T) {
	slow.Test(t)
	for _, program := range clients.Programs {
		t.Run(program.Name, func(t *testing.T) {
			path := program.Find(t)
			e2e.Home(t)
			e2e.UserSettings(t, e2e.Object{"mode": "review", "toolPermissions": e2e.Object{"run_command": "allow"}, "sandbox": e2e.Object{"mode": "off"}})
			dir := e2e.Project(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"})
			fifo := filepath.Join(dir, "said")
			if err := unix.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			r, _ := e2e.EditorProcess(t, dir)
			t.Cleanup(func() { _ = r.Shutdown(t.Context()) })
			c := program.Start(t, serverOf(t, path, dir))
			reads := func(turn *clients.Turn, want string) {
				t.Helper()
				if !strings.Contains(turn.Result, want) {
					t.Errorf("the model reads %q, without %q", turn.Result, want)
				}
			}
			held := func() {
				t.Helper()
				if list := r.Pending(); len(list.Edits) != 1 {
					t.Errorf("pending: %+v", list)
				}
			}

			turn := c.Turn()
			for _, name := range []string{"read_file", "edit_file", "run_command", "ask_user"} {
				if !slices.Contains(turn.Tools, name) {
					t.Fatalf("%s is not offered to the model: %q", name, turn.Tools)
				}
			}
			turn.Call("read_file", e2e.Object{"path": "a.txt"})
			turn = c.Turn()
			reads(turn, "one")
			turn.Call("edit_file", e2e.Object{"path": "a.txt", "search": "one", "replace": "two"})
			turn = c.Turn()
			reads(turn, "Held for review")
			held()
			if res := r.Accept(nil); len(res.Accepted) != 1 || r.File("a.txt") != "two\n" {
				t.Errorf("accept: %+v, the file has %q", res, r.File("a.txt"))
			}
			turn.Call("edit_file", e2e.Object{"path": "b.txt", "search": "one", "replace": "three"})
			turn = c.Turn()
			reads(turn, "accepted")
			held()
			e2e.Command[e2e.Object](r, "sidecar.review.reject", e2e.Object{"reason": "keep it short"})
			r.Choose("that")
			turn.Call("ask_user", e2e.Object{"question": "Which?", "options": []string{"this", "that"}, "allow_custom": false})
			turn = c.Turn()
			reads(turn, "that")
			reads(turn, "keep it short")
			turn.Call("run_command", e2e.Object{"command": "exec 3>said; echo begun >&3; exec sleep 1000"})
			opened := make(chan *os.File, 1)
			go func() {
				f, _ := os.Open(fifo) // until the command opens it too
				opened <- f
			}()
			var said *os.File
			select {
			case said = <-opened:
			case turn := <-c.Turns():
				t.Fatalf("the command did not run: %s", turn.Result)
			}
			defer said.Close()
			out := bufio.NewReader(said)
			if line, err := out.ReadString('\n'); line != "begun\n" {
				t.Fatalf("%q, %v", line, err)
			}
			c.Interrupt()
			if _, err := io.Copy(io.Discard, out); err != nil { // until the command has ended
				t.Error(err)
			}
			c.Wait()
			if r.File("b.txt") != "one\n" {
				t.Errorf("what was rejected is there: %q", r.File("b.txt"))
			}
		})
	}
}

// TestRealAgentWithoutUser: a program without a terminal closes the question
// itself, and its model reads that nobody can be asked.
func TestRealAgentWithoutUser(t *testing.T) {
	program := clients.Programs[0] // says cancel; how fast does not matter then
	path := program.Find(t)
	e2e.Home(t)
	dir := e2e.Project(t, nil)
	c := program.Start(t, serverOf(t, path, dir))
	c.Turn().Call("write_file", e2e.Object{"path": "a.txt", "content": "one\n"})
	turn := c.Turn()
	if !strings.Contains(turn.Result, "nobody can be asked") || strings.Contains(turn.Result, "the user did not") {
		t.Errorf("the model reads %q", turn.Result)
	}
	turn.End()
	c.Wait()
}
