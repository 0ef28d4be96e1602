package acp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// acpEditor is a client of our own agent, on somebody else's reading of the protocol.
type acpEditor struct {
	*sdk.ClientSideConnection
	t    *testing.T
	cmd  *exec.Cmd
	in   io.Closer
	dir  string
	form bool // it has forms

	permissions chan asked[sdk.RequestPermissionRequest, sdk.RequestPermissionResponse]
	forms       chan asked[sdk.UnstableCreateElicitationRequest, sdk.UnstableCreateElicitationResponse]

	mu      sync.Mutex
	updates []sdk.SessionNotification
}

// asked is a question of the agent that a test answers.
type asked[Q, A any] struct {
	q      Q
	ctx    context.Context // ends when it is taken back
	answer chan A
}

func (e *acpEditor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = append(e.updates, n)
	return nil
}

func ask[Q, A any](ctx context.Context, to chan asked[Q, A], q Q) (a A, err error) {
	one := asked[Q, A]{q, ctx, make(chan A, 1)}
	select {
	case to <- one:
	case <-ctx.Done():
		return a, ctx.Err()
	}
	select {
	case a := <-one.answer:
		return a, nil
	case <-ctx.Done():
		return a, ctx.Err()
	}
}

func (e *acpEditor) RequestPermission(ctx context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	return ask(ctx, e.permissions, p)
}

func (e *acpEditor) UnstableCreateElicitation(ctx context.Context, p sdk.UnstableCreateElicitationRequest) (sdk.UnstableCreateElicitationResponse, error) {
	return ask(ctx, e.forms, p)
}

var errNotHere = errors.New("not offered")

func (e *acpEditor) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	return sdk.ReadTextFileResponse{}, errNotHere
}

func (e *acpEditor) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	return sdk.WriteTextFileResponse{}, errNotHere
}

func (e *acpEditor) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	return sdk.CreateTerminalResponse{}, errNotHere
}

func (e *acpEditor) KillTerminal(context.Context, sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	return sdk.KillTerminalResponse{}, errNotHere
}

func (e *acpEditor) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	return sdk.TerminalOutputResponse{}, errNotHere
}

func (e *acpEditor) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	return sdk.ReleaseTerminalResponse{}, errNotHere
}

func (e *acpEditor) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	return sdk.WaitForTerminalExitResponse{}, errNotHere
}

// taken is what comes next, which must come.
func taken[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came")
	}
	return v
}

// acpProcess starts `sidecar-ls acp`, as an editor does.
func acpProcess(t *testing.T, dir string, args ...string) (cmd *exec.Cmd, in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), program.ServerAnywhere(t), append([]string{"acp", "--log-level", "error"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, in, out
}

// acpEditorIn starts an editor that works with our own agent in a directory.
func acpEditorIn(t *testing.T, dir string, form bool, args ...string) *acpEditor {
	t.Helper()
	cmd, in, out := acpProcess(t, t.TempDir(), args...)
	e := &acpEditor{
		t: t, cmd: cmd, in: in, dir: dir, form: form,
		permissions: make(chan asked[sdk.RequestPermissionRequest, sdk.RequestPermissionResponse]),
		forms:       make(chan asked[sdk.UnstableCreateElicitationRequest, sdk.UnstableCreateElicitationResponse]),
	}
	e.ClientSideConnection = sdk.NewClientSideConnection(e, in, out)
	t.Cleanup(e.leave)
	can := sdk.ClientCapabilities{}
	if form {
		can.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.ElicitationFormCapabilities{}}
	}
	says, err := e.Initialize(t.Context(), sdk.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: can, ClientInfo: &sdk.Implementation{Name: "test", Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	if c := says.AgentCapabilities; says.ProtocolVersion != 1 || !c.LoadSession || !c.PromptCapabilities.Image || !c.PromptCapabilities.EmbeddedContext || c.SessionCapabilities.List == nil || c.SessionCapabilities.Resume == nil || c.SessionCapabilities.Close == nil {
		t.Errorf("the agent says %+v", says)
	}
	return e
}

// leave ends the agent as an editor does, and waits for it.
func (e *acpEditor) leave() {
	if e.cmd.ProcessState == nil {
		_ = e.in.Close()
		_ = e.cmd.Wait() // how it ends is looked at by those who ask for that
	}
}

func (e *acpEditor) open() sdk.NewSessionResponse {
	e.t.Helper()
	s, err := e.NewSession(e.t.Context(), sdk.NewSessionRequest{Cwd: e.dir, McpServers: []sdk.McpServer{}})
	if err != nil {
		e.t.Fatal(err)
	}
	return s
}

// turn is a prompt that is under way.
type acpTurn struct {
	t    *testing.T
	done chan error
	stop sdk.StopReason
}

func (e *acpEditor) prompt(id sdk.SessionId, blocks ...sdk.ContentBlock) *acpTurn {
	p := &acpTurn{t: e.t, done: make(chan error, 1)}
	go func() {
		r, err := e.Prompt(e.t.Context(), sdk.PromptRequest{SessionId: id, Prompt: blocks})
		p.stop = r.StopReason
		p.done <- err
	}()
	return p
}

func (e *acpEditor) say(id sdk.SessionId, text string) *acpTurn {
	return e.prompt(id, sdk.TextBlock(text))
}

// ends checks how the prompt ends.
func (p *acpTurn) ends(want sdk.StopReason) {
	p.t.Helper()
	if err := taken(p.t, p.done); err != nil || p.stop != want {
		p.t.Errorf("the prompt ended with %q, %v, want %q", p.stop, err, want)
	}
}

// told is what the client was told since it was last asked for, in short.
func (e *acpEditor) told() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, n := range e.updates {
		switch u := n.Update; {
		case u.UserMessageChunk != nil:
			fmt.Fprintf(&b, "user %s\n", u.UserMessageChunk.Content.Text.Text)
		case u.AgentMessageChunk != nil:
			fmt.Fprintf(&b, "agent %s\n", u.AgentMessageChunk.Content.Text.Text)
		case u.AgentThoughtChunk != nil:
			fmt.Fprintf(&b, "thought %s\n", u.AgentThoughtChunk.Content.Text.Text)
		case u.ToolCall != nil:
			fmt.Fprintf(&b, "call %s %s %q\n", u.ToolCall.Kind, u.ToolCall.Status, u.ToolCall.Title)
		case u.ToolCallUpdate != nil:
			if u.ToolCallUpdate.Status == nil { // more of its output
				continue
			}
			fmt.Fprintf(&b, "changed %s", *u.ToolCallUpdate.Status)
			for _, l := range u.ToolCallUpdate.Locations {
				fmt.Fprintf(&b, " at %s", strings.TrimPrefix(l.Path, e.dir))
			}
			for _, c := range u.ToolCallUpdate.Content {
				if d := c.Diff; d != nil {
					old := "nothing"
					if d.OldText != nil {
						old = fmt.Sprintf("%q", *d.OldText)
					}
					fmt.Fprintf(&b, " diff of %s from %s to %q", strings.TrimPrefix(d.Path, e.dir), old, d.NewText)
				} else if c.Content != nil {
					fmt.Fprintf(&b, " says %.60q", c.Content.Content.Text.Text)
				}
			}
			b.WriteString("\n")
		case u.CurrentModeUpdate != nil:
			fmt.Fprintf(&b, "mode %s\n", u.CurrentModeUpdate.CurrentModeId)
		case u.SessionInfoUpdate != nil:
			fmt.Fprintf(&b, "title %s\n", *u.SessionInfoUpdate.Title)
		}
	}
	e.updates = nil
	return b.String()
}

func selected(id string) sdk.RequestPermissionResponse {
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(id))}
}
