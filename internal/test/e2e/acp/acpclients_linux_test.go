package acp_test

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// loudly has the model read a file, change it, and run a command that is asked about.
func loudly(t *testing.T, m *clients.Model) {
	e2e.Next(t, m).CallOwn("read_file", e2e.Object{"path": "a.txt"})
	e2e.Next(t, m).CallOwn("write_file", e2e.Object{"path": "a.txt", "content": "LOUD\n"})
	e2e.Next(t, m).CallOwn("run_command", e2e.Object{"command": "cp a.txt b.txt"})
	e2e.Next(t, m).Say("All is loud.")
}

func loudProject(t *testing.T) (dir string, model *clients.Model) {
	return e2e.Played(t, map[string]string{"a.txt": "a\n"}, e2e.Object{"toolPermissions": e2e.Object{}})
}

// TestACPByTheSDK: a client on the protocol's own SDK works with our agent.
func TestACPByTheSDK(t *testing.T) {
	sdk := clients.ACPSDK(t)
	dir, model := loudProject(t)
	cmd := exec.CommandContext(t.Context(), "node", "../testdata/acpclient.mjs", sdk, dir, "make it loud", program.ServerAnywhere(t), "acp", "--root", dir)
	byClient(t, cmd, model, "read Read file: a.txt\n", "edit Write file: a.txt\n", "diff "+dir+"/a.txt LOUD\n", "execute ", "asked ", "said All is loud.\n", "stopped end_turn\n")
}

// TestACPX: acpx works with our agent.
func TestACPX(t *testing.T) {
	acpx := clients.ACPX(t)
	dir, model := loudProject(t)
	t.Setenv("HOME", t.TempDir())
	cmd := exec.CommandContext(t.Context(), acpx, "--approve-all", "--agent", program.ServerAnywhere(t)+" acp", "--cwd", dir, "exec", "make it loud")
	byClient(t, cmd, model, "Read file: a.txt (completed)", "kind: edit", "diff "+dir+"/a.txt", "session/request_permission", "kind: execute", "All is loud.", "[done] end_turn")
}

func byClient(t *testing.T, cmd *exec.Cmd, model *clients.Model, want ...string) {
	t.Helper()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	loudly(t, model)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
	e2e.Contains(t, said.String(), want...)
}

// heardOf is our own host's view of an agent.
type heardOf struct {
	mu   sync.Mutex
	text string
}

func (h *heardOf) Update(_ context.Context, u acp.Update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case u.Err != nil:
		h.text += "unreadable: " + u.Err.Error() + "\n"
	case u.Notice != nil:
		h.text += u.Notice.Description + "\n"
	case u.Chunk != nil:
		h.text += u.Kind + " " + u.Chunk.Content.Text + "\n"
	case u.Tool != nil:
		h.text += u.Tool.Kind + " " + u.Tool.Status + "\n"
	}
}

func (h *heardOf) Permission(_ context.Context, r acp.PermissionRequest) (string, error) {
	return r.Options[0].ID, nil
}

// TestACPByOurHost: the host's side of this program drives the agent's side.
func TestACPByOurHost(t *testing.T) {
	dir, model := loudProject(t)
	_, in, out := acpProcess(t, dir, "--root", dir)
	h := &heardOf{}
	c := acp.Open(out, in, acp.World{Host: h}, acp.Options{Client: acp.Implementation{Name: "host", Version: "1"}})
	defer func() {
		c.Close()
		<-c.Done()
	}()
	says, err := c.Initialize(t.Context())
	if err != nil {
		t.Fatalf("it says %+v, %v", says, err)
	}
	s, err := c.NewSession(t.Context(), acp.SessionParams{Dir: dir, MCPServers: []acp.MCPServer{{Name: "theirs", Command: "none"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Config) != 2 || s.Modes == nil || s.Modes.Current != "review" {
		t.Errorf("the session is %+v", s)
	}
	go loudly(t, model)
	stopped, err := s.Prompt(t.Context(), acp.Text("make it loud"))
	if err != nil || stopped.Reason != acp.StopEndTurn {
		t.Errorf("it stopped for %+v, %v", stopped, err)
	}
	if err := s.SetMode(t.Context(), "autonomous"); err != nil {
		t.Error(err)
	}
	if _, err := s.SetConfig(t.Context(), "model", "played"); err != nil {
		t.Error(err)
	}
	list, _, err := c.ListSessions(t.Context(), dir, "")
	if err != nil || len(list) != 1 || list[0].ID != s.ID || list[0].Title != "make it loud" {
		t.Errorf("it lists %+v, %v", list, err)
	}
	id := s.ID
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err = c.LoadSession(t.Context(), id, acp.SessionParams{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	e2e.Contains(t, h.text, "not used here: theirs", "edit pending", " completed\n", "agent_message_chunk All is loud.\n", "user_message_chunk make it loud\n", "agent_message_chunk All is loud.\n")
	if strings.Contains(h.text, "unreadable") {
		t.Error(h.text)
	}
	h.mu.Unlock()
	if err := c.DeleteSession(t.Context(), id); err != nil {
		t.Error(err)
	}
}
