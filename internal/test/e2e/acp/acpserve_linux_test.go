package acp_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestACP: an editor works with our own agent over ACP, beside an editor that has the
// folder open, which shows the same run, and alone.
func TestACP(t *testing.T) {
	for _, beside := range []bool{true, false} {
		t.Run(map[bool]string{true: "beside", false: "alone"}[beside], func(t *testing.T) {
			dir, model := e2e.Played(t, map[string]string{"a.txt": "one\ntwo\n", ".git/HEAD": "ref: refs/heads/main\n"}, e2e.Object{"toolPermissions": e2e.Object{}})
			var r *e2e.Rig
			if beside {
				r = e2e.RunIn(t, dir)
			}
			e := acpEditorIn(t, dir, false)
			s := e.open()
			if s.Modes == nil || s.Modes.CurrentModeId != "review" || !slices.ContainsFunc(s.Modes.AvailableModes, func(m sdk.SessionMode) bool { return m.Id == "autonomous" && m.Description != nil }) {
				t.Errorf("the modes are %+v", s.Modes)
			}
			if len(s.ConfigOptions) != 2 || s.ConfigOptions[1].Select == nil || s.ConfigOptions[1].Select.CurrentValue != "played" {
				t.Errorf("the options are %+v", s.ConfigOptions)
			}
			p := e.say(s.SessionId, "make it loud")
			turn := e2e.Next(t, model)
			if !strings.Contains(turn.Body, "make it loud") {
				t.Errorf("the model is asked %s", turn.Body)
			}
			turn.CallAllOwn(clients.Called{Tool: "read_file", Args: e2e.Object{"path": "a.txt"}}, clients.Called{Tool: "write_file", Args: e2e.Object{"path": "a.txt", "content": "ONE\nTWO\n"}})
			e2e.Next(t, model).CallOwn("run_command", e2e.Object{"command": "cp a.txt c.txt && cat c.txt"})
			q := taken(t, e.permissions)
			if q.q.ToolCall.Title == nil || !strings.Contains(*q.q.ToolCall.Title, "cp a.txt c.txt && cat c.txt") || len(q.q.Options) < 2 || q.q.Options[0].Kind != sdk.PermissionOptionKindAllowOnce {
				t.Errorf("the permission is %+v", q.q)
			}
			q.answer <- selected("allow_once")
			turn = e2e.Next(t, model)
			if !strings.Contains(turn.Result, "ONE\nTWO") {
				t.Errorf("the command did not see it: %q", turn.Result)
			}
			turn.Say("It is loud.")
			p.ends(sdk.StopReasonEndTurn)
			e2e.Contains(t, e.told(), "title make it loud\n", `call read pending "Read`, `call edit pending`, `changed completed at /a.txt says `, ` diff of /a.txt from "one\ntwo\n" to "ONE\nTWO\n" says "This waits for your review`,
				`call execute pending`, `changed completed`, "agent It is loud.\n")
			if got, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(got) != "one\ntwo\n" {
				t.Errorf("the disk has %q", got)
			}
			if beside {
				c := &e2e.Conversation{Rig: r, Run: string(s.SessionId)}
				if i := c.Info(); i.Agent != "builtin" || i.Title != "make it loud" {
					t.Errorf("the editor lists %+v", i)
				}
				r.IsQueued("a.txt", "c.txt")
			} else if out, said, code := e2e.AgentLine(t, dir, "", "runs"); code != 0 || !strings.Contains(out, string(s.SessionId)) {
				t.Errorf("a shell sees %d %s%s", code, out, said)
			}
			if _, err := e.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: s.SessionId, ModeId: "autonomous"}); err != nil {
				t.Error(err)
			}
			if _, err := e.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: s.SessionId, ModeId: "nonesuch"}); err == nil {
				t.Error("it takes a mode that there is not")
			}
			p = e.prompt(s.SessionId, sdk.TextBlock("write b.txt as "), sdk.ResourceLinkBlock("a.txt", "file://"+dir+"/a.txt"), sdk.ImageBlock("iVBORw0KGgo=", "image/png"))
			turn = e2e.Next(t, model)
			if !strings.Contains(turn.Body, "write b.txt as @a.txt") || !strings.Contains(turn.Body, "points to a.txt") || !strings.Contains(turn.Body, "iVBORw0KGgo=") {
				t.Errorf("the model is asked %s", turn.Body)
			}
			turn.CallOwn("write_file", e2e.Object{"path": "b.txt", "content": "b\n"})
			e2e.Next(t, model).End()
			p.ends(sdk.StopReasonEndTurn)
			e2e.Contains(t, e.told(), "mode autonomous\n", "changed completed at /b.txt")
			if got, _ := os.ReadFile(filepath.Join(dir, "b.txt")); string(got) != "b\n" {
				t.Errorf("autonomous: the disk has %q", got)
			}
			if list, err := e.ListSessions(t.Context(), sdk.ListSessionsRequest{Cwd: &dir}); err != nil || len(list.Sessions) != 1 || *list.Sessions[0].Title != "make it loud" {
				t.Errorf("it lists %+v, %v", list, err)
			}
			e.leave()
			if code := e.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("it ends with %d", code)
			}

			again := acpEditorIn(t, dir, false)
			if _, err := again.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: s.SessionId, Cwd: dir, McpServers: []sdk.McpServer{}}); err != nil {
				t.Fatal(err)
			}
			e2e.Contains(t, again.told(), "user make it loud\n", "call read", "agent It is loud.\n", "user write b.txt as @a.txt\n", "agent Done.\n")
			p = again.say(s.SessionId, "and now?")
			if turn = e2e.Next(t, model); !strings.Contains(turn.Body, "make it loud") {
				t.Errorf("it has forgotten: %s", turn.Body)
			}
			turn.End()
			p.ends(sdk.StopReasonEndTurn)
			if told := again.told(); strings.Contains(told, "user ") {
				t.Errorf("the client is told its own prompt: %s", told)
			}
		})
	}
}

// TestACPQuestions: what the agent asks in words is a form, or a message that the next
// prompt answers. A prompt that is cancelled takes its questions back.
func TestACPQuestions(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "a\n"}, e2e.Object{"toolPermissions": e2e.Object{}})
	question := e2e.Object{"question": "Which?", "options": []string{"this", "that"}}

	e := acpEditorIn(t, dir, true, "--root", dir)
	s := e.open()
	p := e.say(s.SessionId, "ask me")
	e2e.Next(t, model).CallOwn("ask_user", question)
	q := taken(t, e.forms)
	if q.q.Form == nil || q.q.Form.Message != "Which?" {
		t.Errorf("the form is %+v", q.q)
	}
	q.answer <- sdk.UnstableCreateElicitationResponse{Accept: &sdk.UnstableCreateElicitationAccept{Action: "accept", Content: map[string]any{"choice": "2"}}}
	turn := e2e.Next(t, model)
	if turn.Result != "that" {
		t.Errorf("the answer is %q", turn.Result)
	}
	turn.CallOwn("run_command", e2e.Object{"command": "touch x"})
	permission := taken(t, e.permissions)
	if err := e.Cancel(t.Context(), sdk.CancelNotification{SessionId: s.SessionId}); err != nil {
		t.Fatal(err)
	}
	<-permission.ctx.Done()
	p.ends(sdk.StopReasonCancelled)

	// A client that answers a permission with cancelled has cancelled the prompt.
	p = e.say(s.SessionId, "again")
	e2e.Next(t, model).CallOwn("run_command", e2e.Object{"command": "touch x"})
	permission = taken(t, e.permissions)
	permission.answer <- sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}
	p.ends(sdk.StopReasonCancelled)
	e.leave()

	e = acpEditorIn(t, dir, false, "--root", dir)
	s = e.open()
	p = e.say(s.SessionId, "ask me")
	e2e.Next(t, model).CallOwn("ask_user", question)
	p.ends(sdk.StopReasonEndTurn)
	e2e.Contains(t, e.told(), "Which?\n- 1 (this)\n- 2 (that)\n", "a number, or any text")
	p = e.say(s.SessionId, "neither")
	if turn = e2e.Next(t, model); turn.Result != "neither" {
		t.Errorf("the answer is %q", turn.Result)
	}
	turn.Say("So be it.")
	p.ends(sdk.StopReasonEndTurn)
	e2e.Contains(t, e.told(), "agent So be it.\n")
}

// TestACPSteer: a prompt while one is under way is refused; a steer is heard.
func TestACPSteer(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "a\n"})
	e := acpEditorIn(t, dir, false, "--root", dir)
	s := e.open()
	if _, err := e.CallExtension(t.Context(), "_sidecar/steer", e2e.Object{"sessionId": s.SessionId, "text": "too early"}); err == nil {
		t.Error("it is steered while it does nothing")
	}
	p := e.say(s.SessionId, "work")
	turn := e2e.Next(t, model)
	second := e.say(s.SessionId, "a second prompt")
	if err := taken(t, second.done); err == nil || !strings.Contains(err.Error(), "not over") {
		t.Errorf("a second prompt: %v", err)
	}
	if _, err := e.CallExtension(t.Context(), "_sidecar/steer", e2e.Object{"sessionId": s.SessionId, "text": "be quick"}); err != nil {
		t.Fatal(err)
	}
	turn.CallOwn("read_file", e2e.Object{"path": "a.txt"})
	if turn = e2e.Next(t, model); !strings.Contains(turn.Body, "be quick") || strings.Contains(turn.Body, "a second prompt") {
		t.Errorf("the model is asked %s", turn.Body)
	}
	turn.End()
	p.ends(sdk.StopReasonEndTurn)
}

// TestACPModelMissing: without a model to ask, the client is told what to set.
func TestACPModelMissing(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n"})
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	e := acpEditorIn(t, dir, false)
	_, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: dir, McpServers: []sdk.McpServer{}})
	var bad *sdk.RequestError
	if !errors.As(err, &bad) || bad.Code != -32000 || !strings.Contains(bad.Message, "backend.profiles") {
		t.Errorf("it says %v", err)
	}
}

// TestACPMakesRoom: an editor that comes later gets the folder, and the client goes on
// in the editor's server.
func TestACPMakesRoom(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "a\n"})
	e := acpEditorIn(t, dir, false, "--root", dir)
	s := e.open()
	p := e.say(s.SessionId, "before")
	e2e.Next(t, model).End()
	p.ends(sdk.StopReasonEndTurn)

	r := e2e.RunIn(t, dir)
	p = e.say(s.SessionId, "write it")
	turn := e2e.Next(t, model)
	if !strings.Contains(turn.Body, "before") {
		t.Errorf("it has forgotten: %s", turn.Body)
	}
	turn.CallOwn("write_file", e2e.Object{"path": "a.txt", "content": "b\n"})
	e2e.Next(t, model).End()
	p.ends(sdk.StopReasonEndTurn)
	r.IsQueued("a.txt")
	if i := (&e2e.Conversation{Rig: r, Run: string(s.SessionId)}).Info(); i.State != told.Idle {
		t.Errorf("the editor lists %+v", i)
	}
}

// TestACPClientGone: a client that goes away in the middle of a prompt, or of a
// permission, takes the prompt with it; the run stays.
func TestACPClientGone(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "a\n"}, e2e.Object{"toolPermissions": e2e.Object{}})
	r := e2e.RunIn(t, dir)
	for n, asks := range []bool{false, true} {
		e := acpEditorIn(t, dir, false)
		s := e.open()
		_ = e.say(s.SessionId, "work")
		turn := e2e.Next(t, model)
		if asks {
			turn.CallOwn("run_command", e2e.Object{"command": "touch x"})
			taken(t, e.permissions)
		}
		e.leave()
		c := &e2e.Conversation{Rig: r, Run: string(s.SessionId)}
		if reason, why, _ := c.Stopped(1); reason != told.Interrupted {
			t.Errorf("%d: it ended by %s: %s", n, reason, why)
		}
		if i := c.Info(); i.State != told.Idle || i.WaitingFor != "" {
			t.Errorf("%d: it is listed as %+v", n, i)
		}
	}
}

// TestACPRefusals: what can't be used is answered with an error, and what comes after it
// is served.
func TestACPRefusals(t *testing.T) {
	dir, model := e2e.Played(t, map[string]string{"a.txt": "a\n"})
	_, in, out := acpProcess(t, dir, "--root", dir)
	t.Cleanup(func() { _ = in.Close() })
	from := json.NewDecoder(out)
	type answer struct {
		ID     json.RawMessage
		Method string
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	read := func() (a answer) {
		t.Helper()
		for {
			a = answer{}
			if err := from.Decode(&a); err != nil {
				t.Fatal(err)
			}
			if a.Method == "" {
				return a
			}
		}
	}
	say := func(line string) answer {
		t.Helper()
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		return read()
	}
	request := func(method string, params any) answer {
		t.Helper()
		line, err := json.Marshal(e2e.Object{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		return say(string(line))
	}
	refuses := func(a answer, code int, want string) {
		t.Helper()
		if a.Error == nil || a.Error.Code != code || !strings.Contains(a.Error.Message, want) {
			t.Errorf("it answers %s %+v, want %d and %q", a.Result, a.Error, code, want)
		}
	}
	refuses(request("session/new", e2e.Object{"cwd": dir, "mcpServers": []any{}}), -32600, "before initialize")
	refuses(request("initialize", e2e.Object{}), -32602, "protocolVersion")
	if a := request("initialize", e2e.Object{"protocolVersion": 99}); a.Error != nil || !strings.Contains(string(a.Result), `"protocolVersion":1`) {
		t.Errorf("initialize: %s %+v", a.Result, a.Error)
	}
	refuses(say("hello"), -32700, "no JSON")
	refuses(say(`{"jsonrpc":"2.0","id":1`), -32700, "no JSON")
	refuses(say(`[]`), -32600, "batches")
	refuses(request("session/dance", e2e.Object{}), -32601, "session/dance")
	refuses(request("session/prompt", e2e.Object{"sessionId": "none", "prompt": []any{}}), -32602, "no session")
	refuses(request("session/list", e2e.Object{}), -32602, "cwd")
	refuses(request("authenticate", e2e.Object{"methodId": "x"}), -32602, "backend.profiles")
	outside := t.TempDir()
	refuses(request("session/new", e2e.Object{"cwd": outside, "mcpServers": []any{}}), -32602, "outside of the folders served here")
	refuses(request("session/new", e2e.Object{"cwd": "sub", "mcpServers": []any{}}), -32602, "no absolute path")
	refuses(request("session/new", e2e.Object{"cwd": dir, "additionalDirectories": []string{outside}, "mcpServers": []any{}}), -32602, "additional")
	refuses(request("session/load", e2e.Object{"sessionId": "none", "cwd": dir, "mcpServers": []any{}}), -32002, "there is no session")

	a := request("session/new", e2e.Object{"cwd": dir, "mcpServers": []any{}})
	var s struct{ SessionID string }
	if err := json.Unmarshal(a.Result, &s); err != nil || s.SessionID == "" {
		t.Fatalf("session/new: %s %+v", a.Result, a.Error)
	}
	prompt := func(blocks ...e2e.Object) answer {
		return request("session/prompt", e2e.Object{"sessionId": s.SessionID, "prompt": blocks})
	}
	refuses(prompt(), -32602, "empty")
	refuses(prompt(e2e.Object{"type": "audio", "data": "", "mimeType": "audio/wav"}), -32602, "audio")
	refuses(prompt(e2e.Object{"type": "image", "data": "!", "mimeType": "image/png"}), -32602, "base64")
	refuses(prompt(e2e.Object{"type": "text", "text": strings.Repeat("x", 300<<10)}), -32602, "attach a file")
	refuses(prompt(e2e.Object{"type": "text", "text": strings.Repeat("x", 33<<20)}), -32600, "bytes")
	refuses(request("session/set_config_option", e2e.Object{"sessionId": s.SessionID, "configId": "model", "value": "keyless"}), -32602, "NO_SUCH_KEY")
	refuses(request("session/set_config_option", e2e.Object{"sessionId": s.SessionID, "configId": "colour", "value": "red"}), -32602, "colour")

	// The control: the same connection serves a prompt.
	go func() { e2e.Next(t, model).End() }()
	if a := prompt(e2e.Object{"type": "text", "text": "hello"}); a.Error != nil || !strings.Contains(string(a.Result), "end_turn") {
		t.Errorf("a prompt: %s %+v", a.Result, a.Error)
	}
	for _, end := range []string{"session/close", "session/delete"} {
		if a := request(end, e2e.Object{"sessionId": s.SessionID}); a.Error != nil {
			t.Errorf("%s: %+v", end, a.Error)
		}
		refuses(prompt(e2e.Object{"type": "text", "text": "hello"}), -32602, "no session")
	}
	refuses(request("session/load", e2e.Object{"sessionId": s.SessionID, "cwd": dir, "mcpServers": []any{}}), -32002, "deleted")
}
