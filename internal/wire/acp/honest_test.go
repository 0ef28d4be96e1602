package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// sdkAgent is an agent on somebody else's reading of the protocol.
type sdkAgent struct {
	conn     *sdk.AgentSideConnection
	outcomes chan string
	loaded   chan sdk.LoadSessionRequest
	problems chan error
}

func (a *sdkAgent) Initialize(_ context.Context, p sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	if caps := p.ClientCapabilities; !caps.Fs.ReadTextFile || !caps.Fs.WriteTextFile || !caps.Terminal || p.ClientInfo == nil || p.ClientInfo.Name != "host" {
		return sdk.InitializeResponse{}, fmt.Errorf("the host says %+v of itself", p)
	}
	return sdk.InitializeResponse{ProtocolVersion: 1, AgentInfo: &sdk.Implementation{Name: "sdk", Version: "0.13"},
		AgentCapabilities: sdk.AgentCapabilities{LoadSession: true, PromptCapabilities: sdk.PromptCapabilities{Image: true, EmbeddedContext: true},
			SessionCapabilities: sdk.SessionCapabilities{List: &sdk.SessionListCapabilities{}, Resume: &sdk.SessionResumeCapabilities{}, Close: &sdk.SessionCloseCapabilities{}}}}, nil
}

func (a *sdkAgent) Authenticate(_ context.Context, p sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	if p.MethodId != "key" {
		return sdk.AuthenticateResponse{}, sdk.NewAuthRequired(nil)
	}
	return sdk.AuthenticateResponse{}, nil
}

func (a *sdkAgent) Logout(context.Context, sdk.LogoutRequest) (sdk.LogoutResponse, error) {
	return sdk.LogoutResponse{}, nil
}

func (a *sdkAgent) Cancel(context.Context, sdk.CancelNotification) error { return nil }

func (a *sdkAgent) CloseSession(context.Context, sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	return sdk.CloseSessionResponse{}, nil
}

func (a *sdkAgent) ListSessions(context.Context, sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	return sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{{SessionId: "s1", Cwd: "/project", Title: sdk.Ptr("Work")}}, NextCursor: sdk.Ptr("more")}, nil
}

func (a *sdkAgent) NewSession(_ context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if p.Cwd != "/project" || len(p.McpServers) != 1 || p.McpServers[0].Stdio == nil || p.McpServers[0].Stdio.Command != "tools" {
		return sdk.NewSessionResponse{}, fmt.Errorf("the session is to have %+v", p)
	}
	return sdk.NewSessionResponse{SessionId: "s1", Modes: &sdk.SessionModeState{CurrentModeId: "ask",
		AvailableModes: []sdk.SessionMode{{Id: "ask", Name: "Ask"}, {Id: "code", Name: "Code"}}}}, nil
}

func (a *sdkAgent) ResumeSession(context.Context, sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	return sdk.ResumeSessionResponse{}, nil
}

func (a *sdkAgent) SetSessionMode(ctx context.Context, p sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	return sdk.SetSessionModeResponse{}, a.tell(ctx, sdk.SessionUpdate{CurrentModeUpdate: &sdk.SessionCurrentModeUpdate{CurrentModeId: p.ModeId}})
}

func (a *sdkAgent) SetSessionConfigOption(_ context.Context, p sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	if p.ValueId == nil || p.ValueId.Value != "big" {
		return sdk.SetSessionConfigOptionResponse{}, fmt.Errorf("the option is set to %+v", p)
	}
	return sdk.SetSessionConfigOptionResponse{ConfigOptions: []sdk.SessionConfigOption{}}, nil
}

func (a *sdkAgent) LoadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	a.loaded <- p
	return sdk.LoadSessionResponse{}, errors.Join(a.tell(ctx, sdk.UpdateUserMessageText("before")), a.tell(ctx, sdk.UpdateAgentMessageText("after")))
}

func (a *sdkAgent) tell(ctx context.Context, u sdk.SessionUpdate) error {
	return a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: "s1", Update: u})
}

// Prompt does what the first word of the prompt says.
func (a *sdkAgent) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	do := map[string]func(context.Context, sdk.PromptRequest) error{"work": a.work, "wait": a.wait}[p.Prompt[0].Text.Text]
	if err := do(ctx, p); err != nil {
		a.problems <- err
		return sdk.PromptResponse{}, err
	}
	if ctx.Err() != nil {
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil //nolint:nilerr // that is the answer to a cancel
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
}

func (a *sdkAgent) work(ctx context.Context, p sdk.PromptRequest) error {
	if len(p.Prompt) != 4 || p.Prompt[1].Image == nil || p.Prompt[2].Resource == nil || p.Prompt[3].ResourceLink == nil {
		return fmt.Errorf("the prompt is %+v", p.Prompt)
	}
	for _, u := range []sdk.SessionUpdate{
		sdk.UpdateAgentThoughtText("let me see"),
		sdk.UpdatePlan(sdk.PlanEntry{Content: "read", Priority: "high", Status: "in_progress"}),
		sdk.StartToolCall("c1", "Edit", sdk.WithStartKind(sdk.ToolKindEdit), sdk.WithStartStatus(sdk.ToolCallStatusPending),
			sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: "/project/f", Line: sdk.Ptr(3)}})),
	} {
		if err := a.tell(ctx, u); err != nil {
			return err
		}
	}
	read, err := a.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: "s1", Path: "/project/f", Line: sdk.Ptr(2), Limit: sdk.Ptr(1)})
	if err != nil || read.Content != "two\n" {
		return fmt.Errorf("read %q, %w", read.Content, err)
	}
	if _, err := a.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: "s1", Path: "/project/none"}); err == nil || !strings.Contains(err.Error(), "-32002") {
		return fmt.Errorf("a file that is not there gives %w", err)
	}
	if _, err := a.conn.WriteTextFile(ctx, sdk.WriteTextFileRequest{SessionId: "s1", Path: "/project/g", Content: "new"}); err != nil {
		return err
	}
	allowed, err := a.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{SessionId: "s1", ToolCall: sdk.ToolCallUpdate{ToolCallId: "c1"},
		Options: []sdk.PermissionOption{{OptionId: "yes", Name: "Yes", Kind: sdk.PermissionOptionKindAllowOnce}}})
	if err != nil || allowed.Outcome.Selected == nil || allowed.Outcome.Selected.OptionId != "yes" {
		return fmt.Errorf("the permission is %+v, %w", allowed, err)
	}
	if err := a.terminal(ctx); err != nil {
		return err
	}
	return a.tell(ctx, sdk.UpdateToolCall("c1", sdk.WithUpdateStatus(sdk.ToolCallStatusCompleted),
		sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolDiffContent("/project/f", "after", "before")})))
}

func (a *sdkAgent) terminal(ctx context.Context) error {
	t, err := a.conn.CreateTerminal(ctx, sdk.CreateTerminalRequest{SessionId: "s1", Command: "make", Args: []string{"all"}})
	if err != nil {
		return err
	}
	out, err := a.conn.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: "s1", TerminalId: t.TerminalId})
	if err != nil || out.Output != "make ran" || out.ExitStatus != nil {
		return fmt.Errorf("the output is %+v, %w", out, err)
	}
	if _, err := a.conn.KillTerminal(ctx, sdk.KillTerminalRequest{SessionId: "s1", TerminalId: t.TerminalId}); err != nil {
		return err
	}
	exit, err := a.conn.WaitForTerminalExit(ctx, sdk.WaitForTerminalExitRequest{SessionId: "s1", TerminalId: t.TerminalId})
	if err != nil || exit.Signal == nil {
		return fmt.Errorf("the exit is %+v, %w", exit, err)
	}
	_, err = a.conn.ReleaseTerminal(ctx, sdk.ReleaseTerminalRequest{SessionId: "s1", TerminalId: t.TerminalId})
	return err
}

// wait asks for a permission that nobody gives.
func (a *sdkAgent) wait(ctx context.Context, p sdk.PromptRequest) error {
	got, err := a.conn.RequestPermission(context.WithoutCancel(ctx), sdk.RequestPermissionRequest{SessionId: "s1", ToolCall: sdk.ToolCallUpdate{ToolCallId: "c2"},
		Options: []sdk.PermissionOption{{OptionId: "yes", Name: "Yes", Kind: sdk.PermissionOptionKindAllowOnce}}})
	if err != nil {
		return err
	}
	if got.Outcome.Cancelled == nil {
		return fmt.Errorf("the permission is %+v", got)
	}
	a.outcomes <- "cancelled"
	<-ctx.Done()
	return nil
}

// TestConversation is a whole one with an agent that is not ours: initialize,
// new, a prompt with updates, files, a terminal and a permission, cancel, load.
func TestConversation(t *testing.T) {
	w := newWorld()
	w.files["/project/f"] = "one\ntwo\nthree\n"
	w.permit = func(context.Context, PermissionRequest) (string, error) { return "yes", nil }
	fromAgent, agentOut := io.Pipe()
	agentIn, toAgent := io.Pipe()
	agent := &sdkAgent{outcomes: make(chan string, 1), loaded: make(chan sdk.LoadSessionRequest, 1), problems: make(chan error, 10)}
	agent.conn = sdk.NewAgentSideConnection(agent, agentOut, agentIn)
	c := Open(fromAgent, toAgent, w.world(), Options{Client: Implementation{Name: "host", Version: "1"}})
	defer func() {
		c.Close()
		get(t, c.Done())
		close(agent.problems)
		for err := range agent.problems {
			t.Error(err)
		}
	}()
	ctx := t.Context()

	if got, err := c.Initialize(ctx); err != nil || got.Agent.Name != "sdk" {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := c.Authenticate(ctx, "none"); err == nil || !strings.Contains(err.Error(), "sign in first") {
		t.Errorf("a bad method: %v", err)
	}
	if err := c.Authenticate(ctx, "key"); err != nil {
		t.Error(err)
	}
	s, err := c.NewSession(ctx, SessionParams{Dir: "/project", MCPServers: []MCPServer{{Name: "ours", Command: "tools"}}})
	if err != nil {
		t.Fatal(err)
	}
	if s.ID != "s1" || s.Modes == nil || s.Modes.Current != "ask" || len(s.Modes.Available) != 2 {
		t.Errorf("the session is %+v", s)
	}
	stopped, err := s.Prompt(ctx, Text("work"), Image("AAAA", "image/png"), Embedded("file:///project/f", "text/plain", "one"), Link("g", "file:///project/g"))
	ended{stopped, err}.want(t, StopEndTurn)
	var kinds []string
	var last Update
	for range 4 {
		last = get(t, w.updates)
		kinds = append(kinds, last.Kind)
	}
	if want := []string{AgentThoughtChunk, PlanChanged, ToolCallStarted, ToolCallChanged}; !slices.Equal(kinds, want) {
		t.Errorf("the updates are %v, want %v", kinds, want)
	}
	if d := last.Tool.Content[0]; last.Tool.Status != StatusCompleted || d.Type != "diff" || *d.OldText != "before" || d.NewText != "after" {
		t.Errorf("the call ended with %+v", last.Tool)
	}
	if w.files["/project/g"] != "new" {
		t.Errorf("the file has %q", w.files["/project/g"])
	}
	if err := s.SetMode(ctx, "code"); err != nil {
		t.Error(err)
	}
	if u := get(t, w.updates); u.Mode != "code" {
		t.Errorf("the mode is told as %s", u.Raw)
	}
	if _, err := s.SetConfig(ctx, "model", "big"); err != nil {
		t.Error(err)
	}
	sessions, cursor, err := c.ListSessions(ctx, "/project", "")
	if err != nil || len(sessions) != 1 || sessions[0].Title != "Work" || cursor != "more" {
		t.Errorf("the sessions are %+v, %q, %v", sessions, cursor, err)
	}
	if err := c.DeleteSession(ctx, "s1"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("deleting: %v", err)
	}

	asked := make(chan bool)
	w.permit = func(ctx context.Context, _ PermissionRequest) (string, error) {
		close(asked)
		<-ctx.Done()
		return "", ctx.Err()
	}
	end := make(chan ended, 1)
	go func() {
		stopped, err := s.Prompt(ctx, Text("wait"))
		end <- ended{stopped, err}
	}()
	<-asked
	s.Cancel()
	get(t, end).want(t, StopCancelled)
	if got := get(t, agent.outcomes); got != "cancelled" {
		t.Error(got)
	}

	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	if _, err := c.LoadSession(ctx, "s1", SessionParams{Dir: "/project"}); err != nil {
		t.Error(err)
	}
	if p := get(t, agent.loaded); p.SessionId != "s1" || p.McpServers == nil {
		t.Errorf("loaded %+v", p)
	}
	for _, want := range []string{"before", "after"} {
		if u := get(t, w.updates); u.Chunk.Content.Text != want {
			t.Errorf("the history has %s, want %s", u.Raw, want)
		}
	}
}

// TestUpdates has one update of each kind, and some that are wrong.
func TestUpdates(t *testing.T) {
	for _, test := range []struct {
		raw  string
		want func(Update) bool
	}{
		{`{"sessionUpdate":"user_message_chunk","messageId":"m","content":{"type":"text","text":"hi"}}`, func(u Update) bool { return u.Chunk.MessageID == "m" && u.Chunk.Content.Text == "hi" }},
		{`{"sessionUpdate":"agent_thought_chunk","content":{"type":"hologram","light":1}}`, func(u Update) bool { return strings.Contains(string(u.Chunk.Content.Raw), "light") }},
		{`{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"edit","locations":[{"path":"/f","line":1}],"content":[{"type":"terminal","terminalId":"x"}],"rawInput":{"a":1}}`,
			func(u Update) bool {
				return *u.Tool.Locations[0].Line == 1 && u.Tool.Content[0].Terminal == "x" && string(u.Tool.RawInput) == `{"a":1}`
			}},
		{`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":null,"content":null}`, func(u Update) bool { return u.Tool.Status == "" && u.Tool.Content == nil }},
		{`{"sessionUpdate":"plan","entries":[{"content":"x","priority":"low","status":"pending"}]}`, func(u Update) bool { return u.Plan[0].Content == "x" }},
		{`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"web","description":"d","input":{"hint":"h"}}]}`, func(u Update) bool { return u.Commands[0].Input.Hint == "h" }},
		{`{"sessionUpdate":"current_mode_update","currentModeId":"code"}`, func(u Update) bool { return u.Mode == "code" }},
		{`{"sessionUpdate":"config_option_update","configOptions":[{"id":"m","name":"Model","type":"select","currentValue":"a","options":[{"group":"g","name":"G","options":[{"value":"a","name":"A"}]}]},{"id":"b","name":"B","type":"boolean","currentValue":true}]}`,
			func(u Update) bool {
				return u.Config[0].Value == "a" && u.Config[0].Choices[0].Group == "G" && u.Config[1].On
			}},
		{`{"sessionUpdate":"session_info_update","title":"New"}`, func(u Update) bool { return *u.Info.Title == "New" && u.Info.UpdatedAt == nil }},
		{`{"sessionUpdate":"usage_update","used":5,"size":10,"cost":{"amount":0.5,"currency":"EUR"}}`, func(u Update) bool { return u.Usage.Used == 5 && u.Usage.Cost.Amount == 0.5 }},
		{`{"sessionUpdate":"notice","severity":"warning","title":"T"}`, func(u Update) bool { return u.Notice.Title == "T" }},
		{`{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed","summary":[{"type":"text","text":"s"}]}`, func(u Update) bool { return u.Compaction.Summary[0].Text == "s" }},
		{`{"sessionUpdate":"_vendor","x":1}`, func(u Update) bool {
			return u.Kind == "_vendor" && u.Err == nil && strings.Contains(string(u.Raw), `"x":1`)
		}},
		{`{"sessionUpdate":"tool_call","toolCallId":7}`, func(u Update) bool { return u.Err != nil && u.Tool == nil }},
		{`{"sessionUpdate":"tool_call","title":"no id"}`, func(u Update) bool { return u.Err != nil && u.Tool == nil }},
		{`{"sessionUpdate":"plan","entries":"none"}`, func(u Update) bool { return u.Err != nil && u.Plan == nil }},
		{`{"sessionUpdate":["plan"]}`, func(u Update) bool { return u.Err != nil && u.Kind == "" }},
		{`"text"`, func(u Update) bool { return u.Err != nil }},
	} {
		u := parseUpdate("s", json.RawMessage(test.raw))
		if !test.want(u) || u.Session != "s" || string(u.Raw) != test.raw {
			t.Errorf("%s is read as %+v", test.raw, u)
		}
	}
}

func TestCutLines(t *testing.T) {
	n := func(i int) *int { return &i }
	for _, test := range []struct {
		text        string
		line, limit *int
		want        string
	}{
		{"a\nb\nc", nil, nil, "a\nb\nc"},
		{"a\nb\nc", n(2), nil, "b\nc"},
		{"a\nb\nc", n(2), n(1), "b\n"},
		{"a\nb\nc", n(0), n(9), "a\nb\nc"},
		{"a\nb\nc", n(9), n(1), ""},
		{"a\nb\nc", n(-5), n(0), ""},
		{"", n(1), n(1), ""},
		{"a\n", n(1 << 40), n(1 << 40), ""},
	} {
		if got := cutLines(test.text, test.line, test.limit); got != test.want {
			t.Errorf("%q from %v, %v lines: %q, want %q", test.text, *test.line, test.limit, got, test.want)
		}
	}
}

// TestOffers: what the world doesn't have is neither offered nor served, and
// what the agent hasn't offered is not asked of it.
func TestOffers(t *testing.T) {
	c, a := dial(t, World{Host: newWorld()}, Options{})
	go func() {
		req := a.expect("initialize")
		if !strings.Contains(req.line, `"terminal":false`) || !strings.Contains(req.line, `"readTextFile":false`) || strings.Contains(req.line, "elicitation") {
			t.Errorf("offered %s", req.line)
		}
		a.reply(req, `{"protocolVersion":1}`)
		a.reply(a.expect("session/new"), `{"sessionId":"s1"}`)
	}()
	ctx := t.Context()
	if _, err := c.Initialize(ctx); err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSession(ctx, SessionParams{Dir: "/project"})
	if err != nil {
		t.Fatal(err)
	}
	for i, method := range []string{"fs/read_text_file", "terminal/create", "elicitation/create"} {
		if got := a.ask(fmt.Sprint(i), method, "{}"); got.Error == nil || got.Error.Code != CodeMethodNotFound {
			t.Errorf("%s got %s", method, got.line)
		}
	}
	unsupported := func(_ any, err error) {
		t.Helper()
		if !errors.Is(err, ErrUnsupported) {
			t.Errorf("got %v", err)
		}
	}
	unsupported(s.Prompt(ctx, Image("AAAA", "image/png")))
	unsupported(s.Prompt(ctx, Embedded("file:///f", "", "")))
	unsupported(c.LoadSession(ctx, "s", SessionParams{Dir: "/project"}))
	unsupported(c.ResumeSession(ctx, "s", SessionParams{Dir: "/project"}))
	unsupported(c.ForkSession(ctx, "s", SessionParams{Dir: "/project"}))
	unsupported(c.NewSession(ctx, SessionParams{Dir: "/project", MCPServers: []MCPServer{{Type: "http", URL: "http://127.0.0.1"}}}))
	unsupported(c.NewSession(ctx, SessionParams{Dir: "/project", Directories: []string{"/other"}}))
	unsupported(nil, c.Logout(ctx))
	if _, err := c.NewSession(ctx, SessionParams{Dir: "project"}); err == nil {
		t.Error("a relative directory was taken")
	}
}

func TestElicitation(t *testing.T) {
	w := newWorld()
	asked := make(chan ElicitRequest, 1)
	w.elicit = func(ctx context.Context, r ElicitRequest) (Elicited, error) {
		asked <- r
		if r.Message == "wait" {
			<-ctx.Done()
		}
		return Elicited{Action: "accept", Content: map[string]any{"name": "x"}}, nil
	}
	c, a := dial(t, w.world(), Options{})
	s := open(t, c, a)
	got := a.ask("1", "elicitation/create", `{"sessionId":"s1","mode":"form","message":"Name?","requestedSchema":{"type":"object"}}`)
	if string(got.Result) != `{"action":"accept","content":{"name":"x"}}` {
		t.Errorf("got %s", got.line)
	}
	if r := get(t, asked); r.Message != "Name?" || string(r.Schema) != `{"type":"object"}` {
		t.Errorf("asked %+v", r)
	}
	got = a.ask("2", "elicitation/create", `{"requestId":1,"mode":"url","message":"Sign in","elicitationId":"e","url":"https://example.com"}`)
	if r := get(t, asked); got.Error != nil || r.URL == "" || r.Session != "" {
		t.Errorf("got %s", got.line)
	}
	prompt, end := prompting(t, s, a)
	a.request("3", "elicitation/create", `{"sessionId":"s1","mode":"form","message":"wait"}`)
	get(t, asked)
	go s.Cancel()
	for range 2 {
		if got := a.read(); got.Method == "" && string(got.Result) != `{"action":"cancel"}` {
			t.Errorf("got %s", got.line)
		}
	}
	a.reply(prompt, `{"stopReason":"cancelled"}`)
	get(t, end).want(t, StopCancelled)
	// An agent takes a request back by itself, too.
	a.request("4", "elicitation/create", `{"sessionId":"s1","mode":"form","message":"wait"}`)
	get(t, asked)
	a.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":4}}`)
	if got := a.read(); got.Error == nil || got.Error.Code != CodeCancelled {
		t.Errorf("got %s", got.line)
	}
}
