// Command acpagent is an agent of the Agent Client Protocol that does what a prompt
// says, a line after the other. What it finds out it says as its message.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// first is the id of a conversation that is no fork.
const first = "conversation-1"

type agent struct {
	id    sdk.SessionId // of the conversation
	conn  *sdk.AgentSideConnection
	dir   string
	more  []string // directories
	tools []sdk.McpServer
	in    bool // signed in
	calls int
	stop  context.CancelFunc
}

func main() {
	a := &agent{in: os.Getenv("ACPAGENT_SIGN_IN") == ""}
	if os.Getenv("ACPAGENT_DEAD") != "" {
		fmt.Fprintln(os.Stderr, "this agent does not work")
		os.Exit(3)
	}
	a.conn = sdk.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	<-a.conn.Done()
}

func (a *agent) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	r := sdk.InitializeResponse{
		ProtocolVersion: 1, AgentInfo: &sdk.Implementation{Name: "scripted", Version: "1.2.3"},
		AgentCapabilities: sdk.AgentCapabilities{LoadSession: os.Getenv("ACPAGENT_FORGETS") == "", PromptCapabilities: sdk.PromptCapabilities{Image: true, EmbeddedContext: true}},
	}
	if os.Getenv("ACPAGENT_FORGETS") == "" {
		r.AgentCapabilities.SessionCapabilities.Fork = &sdk.SessionForkCapabilities{}
		r.AgentCapabilities.SessionCapabilities.List = &sdk.SessionListCapabilities{}
	}
	if os.Getenv("ACPAGENT_FOLDERS") != "" {
		r.AgentCapabilities.SessionCapabilities.AdditionalDirectories = &sdk.SessionAdditionalDirectoriesCapabilities{}
	}
	if !a.in {
		r.AuthMethods = []sdk.AuthMethod{{Agent: &sdk.AuthMethodAgent{Id: "key", Name: "With a key"}}}
	}
	return r, nil
}

func (a *agent) Authenticate(_ context.Context, p sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	a.in = p.MethodId == "key"
	return sdk.AuthenticateResponse{}, nil
}

func (a *agent) Logout(context.Context, sdk.LogoutRequest) (sdk.LogoutResponse, error) {
	return sdk.LogoutResponse{}, nil
}

func (a *agent) CloseSession(context.Context, sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	return sdk.CloseSessionResponse{}, nil
}

func (a *agent) NewSession(_ context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if !a.in {
		return sdk.NewSessionResponse{}, sdk.NewAuthRequired(nil)
	}
	a.id, a.dir, a.more, a.tools = first, p.Cwd, p.AdditionalDirectories, p.McpServers
	return sdk.NewSessionResponse{SessionId: a.id, Modes: &sdk.SessionModeState{CurrentModeId: "ask", AvailableModes: []sdk.SessionMode{{Id: "ask", Name: "Ask"}, {Id: "code", Name: "Code"}}}}, nil
}

func (a *agent) LoadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) { //nolint:unparam // of an interface
	if !a.in {
		return sdk.LoadSessionResponse{}, sdk.NewAuthRequired(nil)
	}
	if id := string(p.SessionId); !strings.HasSuffix(id, first) && !strings.HasPrefix(id, earlier) {
		return sdk.LoadSessionResponse{}, sdk.NewInvalidParams("there is no such conversation")
	}
	a.id, a.dir, a.more, a.tools = p.SessionId, p.Cwd, p.AdditionalDirectories, p.McpServers
	return sdk.LoadSessionResponse{}, errors.Join(a.tell(ctx, sdk.UpdateUserMessageText("told before")), a.say(ctx, "said before"))
}

// UnstableForkSession names the fork after what it is one of.
func (a *agent) UnstableForkSession(_ context.Context, p sdk.UnstableForkSessionRequest) (sdk.UnstableForkSessionResponse, error) {
	if !strings.HasSuffix(string(p.SessionId), first) {
		return sdk.UnstableForkSessionResponse{}, errors.New("there is no such conversation")
	}
	a.id, a.dir, a.tools = "fork-of-"+p.SessionId, p.Cwd, nil
	for _, s := range p.McpServers {
		a.tools = append(a.tools, sdk.McpServer{Stdio: s.Stdio})
	}
	return sdk.UnstableForkSessionResponse{SessionId: a.id}, nil
}

func (a *agent) ResumeSession(context.Context, sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	return sdk.ResumeSessionResponse{}, errors.New("not offered")
}

func (a *agent) SetSessionMode(context.Context, sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	return sdk.SetSessionModeResponse{}, nil
}

func (a *agent) SetSessionConfigOption(context.Context, sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	return sdk.SetSessionConfigOptionResponse{ConfigOptions: []sdk.SessionConfigOption{}}, nil
}

func (a *agent) Cancel(context.Context, sdk.CancelNotification) error {
	if a.stop != nil {
		a.stop()
	}
	return nil
}

func (a *agent) tell(ctx context.Context, u sdk.SessionUpdate) error {
	return a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: a.id, Update: u})
}

func (a *agent) say(ctx context.Context, text string) error {
	return a.tell(ctx, sdk.UpdateAgentMessageText(text))
}

// Prompt does what the lines of the prompt say.
func (a *agent) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	ctx, a.stop = context.WithCancel(ctx)
	defer a.stop()
	for _, block := range p.Prompt {
		switch {
		case block.Image != nil:
			if err := a.say(ctx, "a picture of the type "+block.Image.MimeType+"\n"); err != nil {
				return sdk.PromptResponse{}, err
			}
		case block.Resource != nil:
			if t := block.Resource.Resource.TextResourceContents; t != nil {
				if err := a.say(ctx, "attached "+t.Uri+": "+t.Text+"\n"); err != nil {
					return sdk.PromptResponse{}, err
				}
			}
		case block.Text != nil:
			for line := range strings.Lines(block.Text.Text) {
				word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				do := commands[word]
				if do == nil {
					do = (*agent).say
					rest = "heard: " + strings.TrimSpace(line) + "\n"
				}
				if err := do(a, ctx, rest); err != nil && ctx.Err() == nil {
					return sdk.PromptResponse{}, err
				}
				if ctx.Err() != nil {
					return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
				}
			}
		}
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
}

// commands are the words that a line may begin with; \n in their text is a new line.
var commands = map[string]func(a *agent, ctx context.Context, rest string) error{
	"say": func(a *agent, ctx context.Context, rest string) error { return a.say(ctx, unescape(rest)+"\n") },
	"who": func(a *agent, ctx context.Context, _ string) error { return a.say(ctx, string(a.id)+"\n") }, // the conversation is
	"folders": func(a *agent, ctx context.Context, _ string) error {
		return a.say(ctx, fmt.Sprintf("%q\n", a.more))
	},
	"think": func(a *agent, ctx context.Context, rest string) error {
		return a.tell(ctx, sdk.UpdateAgentThoughtText(rest))
	},
	"plan": func(a *agent, ctx context.Context, rest string) error {
		var plan []sdk.PlanEntry
		for i, step := range strings.Split(rest, "|") {
			e := sdk.PlanEntry{Content: step, Priority: sdk.PlanEntryPriorityMedium, Status: sdk.PlanEntryStatusPending}
			if i == 0 {
				e.Status = sdk.PlanEntryStatusInProgress
			}
			plan = append(plan, e)
		}
		return a.tell(ctx, sdk.UpdatePlan(plan...))
	},
	"picture": (*agent).picture, // in its message, and what a call shows: its type and its data in base64
	"write":   (*agent).write,   // a file, by itself
	"run":     (*agent).run,     // a command, by itself
	"fsread":  (*agent).fsread,
	"fswrite": (*agent).fswrite,
	"term":    (*agent).term,
	"termin":  (*agent).termin,  // in the directory that comes first
	"command": (*agent).command, // the same, as a call that shows it
	"termenv": (*agent).termenv, // with the variable GIT_SSH_COMMAND
	"permit":  (*agent).permit,
	"tool":    (*agent).tool,
	"hang": func(_ *agent, ctx context.Context, _ string) error {
		<-ctx.Done()
		return ctx.Err()
	},
	"deaf": func(*agent, context.Context, string) error { select {} }, // to a cancel too
	"die": func(_ *agent, _ context.Context, rest string) error {
		fmt.Fprintln(os.Stderr, "its last words")
		code, _ := strconv.Atoi(rest)
		os.Exit(code)
		return nil
	},
}

func unescape(s string) string { return strings.ReplaceAll(s, `\n`, "\n") }

func (a *agent) call(ctx context.Context, kind sdk.ToolKind, title string, f func() (string, error), opts ...sdk.ToolCallStartOpt) error {
	a.calls++
	id := sdk.ToolCallId("call-" + strconv.Itoa(a.calls))
	opts = append(opts, sdk.WithStartKind(kind), sdk.WithStartStatus(sdk.ToolCallStatusInProgress))
	if err := a.tell(ctx, sdk.StartToolCall(id, title, opts...)); err != nil {
		return err
	}
	out, err := f()
	status := sdk.ToolCallStatusCompleted
	if err != nil {
		status, out = sdk.ToolCallStatusFailed, err.Error()
	}
	return errors.Join(a.tell(ctx, sdk.UpdateToolCall(id, sdk.WithUpdateStatus(status), sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(out))}))),
		a.say(ctx, out+"\n"))
}

func (a *agent) picture(ctx context.Context, rest string) error {
	mime, data, _ := strings.Cut(rest, " ")
	image := sdk.ImageBlock(data, mime)
	a.calls++
	id := sdk.ToolCallId("call-" + strconv.Itoa(a.calls))
	return errors.Join(a.tell(ctx, sdk.UpdateAgentMessage(image)), a.tell(ctx, sdk.StartToolCall(id, "Look")),
		a.tell(ctx, sdk.UpdateToolCall(id, sdk.WithUpdateStatus(sdk.ToolCallStatusCompleted), sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolContent(image)}))))
}

func (a *agent) write(ctx context.Context, rest string) error {
	path, text, _ := strings.Cut(rest, " ")
	return a.call(ctx, sdk.ToolKindEdit, "Write "+path, func() (string, error) {
		return "written", within(a.dir, path, unescape(text))
	}, sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: a.dir + "/" + path}}))
}

func (a *agent) run(ctx context.Context, line string) error {
	return a.call(ctx, sdk.ToolKindExecute, line, func() (string, error) {
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Dir = a.dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	})
}

func (a *agent) fsread(ctx context.Context, path string) error {
	r, err := a.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: a.id, Path: a.dir + "/" + path})
	return a.outcome(ctx, r.Content, err)
}

func (a *agent) fswrite(ctx context.Context, rest string) error {
	path, text, _ := strings.Cut(rest, " ")
	_, err := a.conn.WriteTextFile(ctx, sdk.WriteTextFileRequest{SessionId: a.id, Path: a.dir + "/" + path, Content: unescape(text)})
	return a.outcome(ctx, "written", err)
}

func (a *agent) outcome(ctx context.Context, text string, err error) error {
	if err != nil {
		text = "error: " + err.Error()
	}
	return a.say(ctx, text+"\n")
}

func (a *agent) term(ctx context.Context, line string) error { return a.terminal(ctx, line, nil, nil) }

func (a *agent) termin(ctx context.Context, rest string) error {
	dir, line, _ := strings.Cut(rest, " ")
	dir = a.dir + "/" + dir
	return a.terminal(ctx, line, &dir, nil)
}

func (a *agent) termenv(ctx context.Context, line string) error {
	return a.terminal(ctx, line, nil, []sdk.EnvVariable{{Name: "GIT_SSH_COMMAND", Value: "touch evil"}})
}

func (a *agent) terminal(ctx context.Context, line string, dir *string, env []sdk.EnvVariable) error {
	t, err := a.conn.CreateTerminal(ctx, sdk.CreateTerminalRequest{SessionId: a.id, Command: line, Cwd: dir, Env: env})
	if err != nil {
		return a.outcome(ctx, "", err)
	}
	end, err := a.conn.WaitForTerminalExit(ctx, sdk.WaitForTerminalExitRequest{SessionId: a.id, TerminalId: t.TerminalId})
	if err != nil {
		return err
	}
	out, err := a.conn.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: a.id, TerminalId: t.TerminalId})
	if err != nil {
		return err
	}
	if _, err := a.conn.ReleaseTerminal(ctx, sdk.ReleaseTerminalRequest{SessionId: a.id, TerminalId: t.TerminalId}); err != nil {
		return err
	}
	code := -1
	if end.ExitCode != nil {
		code = *end.ExitCode
	}
	return a.say(ctx, fmt.Sprintf("%s(exit code %d)\n", out.Output, code))
}

// command is a call that shows the terminal in which its command runs.
func (a *agent) command(ctx context.Context, line string) error {
	t, err := a.conn.CreateTerminal(ctx, sdk.CreateTerminalRequest{SessionId: a.id, Command: line})
	if err != nil {
		return a.outcome(ctx, "", err)
	}
	shown := []sdk.ToolCallContent{sdk.ToolTerminalRef(t.TerminalId)}
	return a.call(ctx, sdk.ToolKindExecute, line, func() (string, error) {
		end, err := a.conn.WaitForTerminalExit(ctx, sdk.WaitForTerminalExitRequest{SessionId: a.id, TerminalId: t.TerminalId})
		if err != nil {
			return "", err
		}
		out, err := a.conn.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: a.id, TerminalId: t.TerminalId})
		if err == nil && end.Signal != nil {
			err = errors.New(out.Output + "(ended by " + *end.Signal + ")")
		}
		return out.Output, err
	}, sdk.WithStartContent(shown))
}

// permit asks whether it may do something of a kind: to a file, or a command.
func (a *agent) permit(ctx context.Context, rest string) error {
	kind, what, _ := strings.Cut(rest, " ")
	a.calls++
	k := sdk.ToolKind(kind)
	u := sdk.ToolCallUpdate{ToolCallId: sdk.ToolCallId("call-" + strconv.Itoa(a.calls)), Kind: &k, Title: &what}
	if kind == "execute" {
		u.RawInput = map[string]any{"command": what}
	} else {
		path := what
		if !strings.HasPrefix(path, "/") {
			path = a.dir + "/" + path
		}
		u.Locations = []sdk.ToolCallLocation{{Path: path}}
	}
	r, err := a.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{SessionId: a.id, ToolCall: u, Options: []sdk.PermissionOption{
		{OptionId: "yes", Name: "Allow", Kind: sdk.PermissionOptionKindAllowOnce}, {OptionId: "no", Name: "Deny", Kind: sdk.PermissionOptionKindRejectOnce},
	}})
	if err != nil {
		return a.outcome(ctx, "", err)
	}
	answer := "cancelled"
	if r.Outcome.Selected != nil {
		answer = string(r.Outcome.Selected.OptionId)
	}
	return a.say(ctx, "permitted: "+answer+"\n")
}

// tool calls a tool of the first MCP server that it was given.
func (a *agent) tool(ctx context.Context, rest string) error {
	name, raw, _ := strings.Cut(rest, " ")
	server := a.tools[0].Stdio
	c := mcp.NewClient(&mcp.Implementation{Name: "acpagent", Version: "1"}, nil)
	cmd := exec.CommandContext(ctx, server.Command, server.Args...)
	cmd.Stderr = os.Stderr
	s, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return a.outcome(ctx, "", err)
	}
	defer func() { _ = s.Close() }()
	var args map[string]any
	if err := json.Unmarshal([]byte(raw), &args); err != nil {
		return err
	}
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return a.outcome(ctx, "", err)
	}
	var text strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			_, _ = io.WriteString(&text, t.Text)
		}
	}
	return a.say(ctx, text.String()+"\n")
}

// within writes a file below a directory, whatever is a link there.
func within(dir, name, text string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(name, []byte(text), 0o600)
}
