package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// The versions of MCP that the endpoint is tried with: one in which the agent
// says first who it is and is asked by the server, and one without either.
var mcpVersions = []string{"2025-06-18", "2026-07-28"}

// agent is an agent's side of `sidecar-ls mcp`, spoken to with the official SDK.
type agent struct {
	*sdk.ClientSession
	t       *testing.T
	changed chan struct{} // the list of tools is another
	said    chan string   // progress
	stderr  *bytes.Buffer
}

// elicitation answers what the agent's user is asked.
type elicitation func(*sdk.ElicitParams) (*sdk.ElicitResult, error)

// user is the user of an agent.
type user struct {
	answer string // to everything; "" declines
	asked  []string
}

func (u *user) elicit(p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	u.asked = append(u.asked, p.Message)
	if u.answer == "" {
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": u.answer}}, nil
}

// agentProcess is an agent whose endpoint is a process of its own.
func agentProcess(t *testing.T, dir, version string, user elicitation) *agent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd, stderr := exec.Command(self, "mcp", "--root", dir), new(bytes.Buffer)
	cmd.Stderr = stderr
	return connectAgent(t, &sdk.CommandTransport{Command: cmd}, stderr, version, user)
}

// newAgent is an agent whose endpoint runs in this process.
func newAgent(t *testing.T, dir, version string, user elicitation, flags ...string) *agent {
	t.Helper()
	in, toIt := io.Pipe()
	fromIt, out := io.Pipe()
	stderr := new(bytes.Buffer)
	ended := make(chan int, 1)
	self, _ := os.Executable()
	go func() {
		ended <- cli.Main(context.Background(), append([]string{"mcp", "--root", dir}, flags...), cli.Streams{In: in, Out: out, Err: stderr, Self: self, Programs: anywhere.Programs()})
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = toIt.Close()
		if code := <-ended; code != 0 {
			t.Errorf("the endpoint: exit code %d\n%s", code, stderr)
		}
	})
	return connectAgent(t, &sdk.IOTransport{Reader: fromIt, Writer: toIt}, stderr, version, user)
}

func connectAgent(t *testing.T, over sdk.Transport, stderr *bytes.Buffer, version string, user elicitation) *agent {
	t.Helper()
	a := &agent{t: t, changed: make(chan struct{}, 100), said: make(chan string, 100), stderr: stderr}
	o := &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { a.changed <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			a.said <- r.Params.Message
		},
	}
	if user != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return user(r.Params) }
	}
	var err error
	a.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "Some Agent", Version: "1"}, o).Connect(t.Context(), over, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// call calls a tool and returns its text.
func (a *agent) call(tool string, args any) (text string, ok bool) {
	a.t.Helper()
	res, err := a.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	return textOf(res), !res.IsError
}

func textOf(res *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// list lists the tools and their names.
func (a *agent) list() ([]*sdk.Tool, []string) {
	a.t.Helper()
	res, err := a.ListTools(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	var names []string
	for _, t := range res.Tools {
		names = append(names, t.Name)
	}
	return res.Tools, names
}

// TestAgentAlone: without an editor the endpoint has the same tools, with the
// same gate, redaction and limits as every other door.
func TestAgentAlone(t *testing.T) {
	for _, version := range mcpVersions {
		t.Run(version, func(t *testing.T) {
			home(t)
			long := strings.Repeat("a line of some length\n", 2000)
			dir := project(t, map[string]string{"a.txt": "one\n", "long.txt": long, ".env": "TOKEN=hush-hush-4711\n", "b.txt": "the token is hush-hush-4711\n"})
			a := agentProcess(t, dir, version, nil)
			if r := a.InitializeResult(); r.ProtocolVersion != version || r.ServerInfo.Name != "sidecar-ls" || r.Capabilities.Tools == nil || !r.Capabilities.Tools.ListChanged || r.Instructions == "" {
				t.Errorf("initialize: %+v", r)
			}

			list, names := a.list()
			out, _, code := runCLI(t, "", "tools", "--root", dir, "--format", "mcp")
			var want struct {
				Tools []struct {
					Name, Title, Description string
					InputSchema              any
					Annotations              tools.Hints
				}
			}
			if err := json.Unmarshal([]byte(out), &want); code != 0 || err != nil {
				t.Fatal(code, err)
			}
			if !slices.IsSorted(names) {
				t.Errorf("not sorted: %v", names)
			}
			for _, w := range want.Tools {
				i := slices.Index(names, w.Name)
				if i < 0 {
					if w.Name != "tool_search" && w.Name != "ask_user" { // all are listed, and nobody can be asked
						t.Errorf("%s is not listed", w.Name)
					}
					continue
				}
				g := list[i]
				h := tools.Hints{ReadOnly: g.Annotations.ReadOnlyHint, Idempotent: g.Annotations.IdempotentHint, Destructive: *g.Annotations.DestructiveHint, OpenWorld: *g.Annotations.OpenWorldHint}
				if g.Name != w.Name || g.Title != w.Title || g.Description != w.Description || h != w.Annotations || !reflect.DeepEqual(g.InputSchema, w.InputSchema) {
					t.Errorf("%s is another than in tools.list", w.Name)
				}
			}

			for name, c := range map[string]struct {
				tool, args, want string
				ok               bool
			}{
				"a file":            {"read_file", `{"path":"a.txt"}`, "one\n", true},
				"a slip in a name":  {"functions.read_file", `{"path":"a.txt"}`, "one\n", true},
				"no arguments":      {"read_file", ``, "path", false},
				"unknown argument":  {"read_file", `{"path":"a.txt","x":1}`, "x", false},
				"unknown tool":      {"reed_file", `{}`, "did you mean read_file", false},
				"outside":           {"read_file", `{"path":"../x"}`, "outside_workspace", false},
				"sensitive":         {"read_file", `{"path":".env"}`, "sensitive_path", false},
				"secret in a text":  {"read_file", `{"path":"b.txt"}`, "[REDACTED", true},
				"not of the core":   {"git_log", `{}`, "", false}, // no repository here; the tool answered
				"nobody can decide": {"write_file", `{"path":"a.txt","content":"two\n"}`, "sidecar-ls review", false},
				"nobody can answer": {"ask_user", `{"question":"Which?","options":["this","that"]}`, "best judgement", false},
			} {
				var args any
				if c.args != "" {
					args = json.RawMessage(c.args)
				}
				text, ok := a.call(c.tool, args)
				if ok != c.ok || !strings.Contains(text, c.want) || strings.Contains(text, "hush") {
					t.Errorf("%s: ok %v, %s", name, ok, text)
				}
			}
			if data, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(data) != "one\n" {
				t.Errorf("a.txt is %q, without anybody's leave", data)
			}

			res, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_file", Arguments: map[string]any{"path": "long.txt"}})
			if err != nil {
				t.Fatal(err)
			}
			var rest struct{ Truncated struct{ Cursor string } }
			meta, _ := json.Marshal(res.Meta["sidecar-ls/result"])
			if err := json.Unmarshal(meta, &rest); err != nil || len(textOf(res)) > 16_000 || rest.Truncated.Cursor == "" {
				t.Fatalf("%d bytes, %s", len(textOf(res)), meta)
			}
			if text, ok := a.call("read_result", map[string]any{"cursor": rest.Truncated.Cursor}); !ok || !strings.Contains(text, "some length") {
				t.Errorf("the rest: %v %s", ok, text)
			}

			if err := a.Close(); err != nil {
				t.Errorf("the end: %v\n%s", err, a.stderr)
			}
		})
	}
}

// TestAgentAsks: without an editor the agent's user decides, if the agent can ask.
func TestAgentAsks(t *testing.T) {
	for _, version := range mcpVersions {
		t.Run(version, func(t *testing.T) {
			home(t)
			userSettings(t, object{"sandbox": object{"mode": "off"}})
			dir := project(t, nil)
			u := &user{}
			a := newAgent(t, dir, version, u.elicit)
			for _, c := range []struct {
				what, answer string
				tool         string
				args         object
				ok           bool
				asked        int
			}{
				{"denied", "Deny", "write_file", object{"path": "a.txt", "content": "one\n"}, false, 1},
				{"dismissed", "", "write_file", object{"path": "a.txt", "content": "one\n"}, false, 1},
				{"allowed", "Allow", "write_file", object{"path": "b.txt", "content": "one\n"}, true, 1},
				{"allowed for the session", "Allow for session", "write_file", object{"path": "c.txt", "content": "one\n"}, true, 1},
				{"and so never again", "Deny", "write_file", object{"path": "d.txt", "content": "one\n"}, true, 0},
				{"irrecoverable, another word", "confirm", "run_command", object{"command": "rm -rf e/*; touch e.txt"}, false, 1},
				{"irrecoverable, the word", "CONFIRM", "run_command", object{"command": "rm -rf e/*; touch f.txt"}, true, 1},
				{"a question of the model", "that", "ask_user", object{"question": "Which?", "options": []string{"this", "that"}, "allow_custom": false}, true, 1},
			} {
				u.answer, u.asked = c.answer, nil
				if text, ok := a.call(c.tool, c.args); ok != c.ok || len(u.asked) != c.asked {
					t.Errorf("%s: ok %v, asked %q: %s", c.what, ok, u.asked, text)
				}
				if c.what == "allowed" && !strings.Contains(u.asked[0], "+one") {
					t.Errorf("what is asked does not show the change: %q", u.asked)
				}
			}
			for name, there := range map[string]bool{"a.txt": false, "b.txt": true, "c.txt": true, "d.txt": true, "e.txt": false, "f.txt": true} {
				if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// TestAgentProgress: what a command says is told while it runs, and a
// cancelled one ends.
func TestAgentProgress(t *testing.T) {
	for _, version := range mcpVersions {
		t.Run(version, func(t *testing.T) {
			home(t)
			userSettings(t, object{"toolPermissions": object{"run_command": "allow"}, "sandbox": object{"mode": "off"}})
			a := newAgent(t, project(t, nil), version, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := &sdk.CallToolParams{Name: "run_command", Arguments: map[string]any{"command": "echo begun; exec sleep 1000"}}
			p.SetProgressToken("p")
			ended := make(chan error, 1)
			go func() {
				_, err := a.CallTool(ctx, p)
				ended <- err
			}()
			if said := <-a.said; said != "begun" {
				t.Errorf("said %q", said)
			}
			cancel()
			if err := <-ended; err == nil {
				t.Error("a cancelled call has a result")
			}
			// A session's commands run one after the other: this one runs once the
			// first has ended.
			if text, ok := a.call("run_command", map[string]any{"command": "echo after"}); !ok || !strings.Contains(text, "after") {
				t.Errorf("%v %s", ok, text)
			}
		})
	}
}

// editorProcess is an editor whose server is a process.
func editorProcess(t *testing.T, dir string) (*rig, *exec.Cmd) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "serve")
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: dir})
	if err == nil {
		_, err = e.Initialize(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return &rig{e, t, dir}, cmd
}

// TestAgentAttached: with an editor's server at hand, the editor is asked and
// its review queue has the edits.
func TestAgentAttached(t *testing.T) {
	for _, version := range mcpVersions {
		t.Run(version, func(t *testing.T) {
			home(t)
			dir := project(t, map[string]string{"a.txt": "one\n"})
			r := connect(t, dir, fakeeditor.Options{})
			u := &user{answer: "Allow"}
			a := newAgent(t, dir, version, u.elicit)

			r.Choose("Deny")
			if text, ok := a.call("write_file", map[string]any{"path": "a.txt", "content": "two\n"}); ok || !strings.Contains(text, "not_approved") {
				t.Errorf("the editor's user said no: %v %s", ok, text)
			}
			r.Choose("Allow")
			if text, ok := a.call("write_file", map[string]any{"path": "a.txt", "content": "two\n"}); !ok || r.file("a.txt") != "two\n" {
				t.Errorf("the editor's user said yes: %v %s", ok, text)
			}
			if len(u.asked) > 0 {
				t.Errorf("the agent's user was asked too: %q", u.asked)
			}

			sessions := command[struct {
				Sessions []struct{ Session, Mode string }
			}](r, "sidecar.session.list", object{}).Sessions
			var own string
			for _, s := range sessions {
				if strings.HasPrefix(s.Session, "mcp-some-agent-") {
					own = s.Session
				}
			}
			if own == "" {
				t.Fatalf("sessions: %+v", sessions)
			}
			command[object](r, "sidecar.mode.set", object{"session": own, "mode": "review"})
			if text, ok := a.call("edit_file", map[string]any{"path": "a.txt", "search": "two", "replace": "three"}); !ok {
				t.Fatal(text)
			}
			if text, _ := a.call("read_file", map[string]any{"path": "a.txt"}); text != "three\n" || r.file("a.txt") != "two\n" {
				t.Errorf("the agent reads %q, the disk has %q", text, r.file("a.txt"))
			}
			if list := r.pending(); len(list.Edits) != 1 || list.Edits[0].Path != "a.txt" {
				t.Fatalf("pending: %+v", list)
			}
			if res := r.accept(nil); len(res.Accepted) != 1 || r.file("a.txt") != "three\n" {
				t.Errorf("accept: %+v, the file has %q", res, r.file("a.txt"))
			}
			if err := a.Close(); err != nil {
				t.Errorf("the end: %v\n%s", err, a.stderr)
			}
		})
	}
}

// TestAgentsAttachedTwice: two agents of one editor have a session each, and
// one queue.
func TestAgentsAttachedTwice(t *testing.T) {
	home(t)
	userSettings(t, object{"mode": "review"})
	dir := project(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"})
	r := connect(t, dir, fakeeditor.Options{})
	a, b := newAgent(t, dir, mcpVersions[0], nil), newAgent(t, dir, mcpVersions[1], nil)
	done := make(chan string, 2)
	for _, p := range []struct {
		*agent
		path string
	}{{a, "a.txt"}, {b, "b.txt"}} {
		go func() {
			text, ok := p.call("write_file", map[string]any{"path": p.path, "content": "two\n"})
			if ok {
				text = ""
			}
			done <- text
		}()
	}
	for range 2 {
		if text := <-done; text != "" {
			t.Error(text)
		}
	}
	if text, _ := a.call("read_file", map[string]any{"path": "b.txt"}); text != "two\n" {
		t.Errorf("the first does not see the second's edit: %q", text)
	}
	if list := r.pending(); len(list.Edits) != 2 {
		t.Errorf("pending: %+v", list)
	}
}

// TestAgentOutlivesItsEditor: a server that is killed in the middle of a call
// ends that call with a clear error; the next one is served without it, with
// what was pending, and a new server takes over.
func TestAgentOutlivesItsEditor(t *testing.T) {
	home(t)
	userSettings(t, object{"mode": "review"})
	dir := project(t, map[string]string{"a.txt": "one\n"})
	r, cmd := editorProcess(t, dir)
	asked := make(chan struct{})
	r.Answer("window/showMessageRequest", func(ctx context.Context, _ json.RawMessage) (any, error) {
		close(asked)
		<-ctx.Done() // nobody answers
		return nil, ctx.Err()
	})
	a := newAgent(t, dir, mcpVersions[1], nil)
	if text, ok := a.call("write_file", map[string]any{"path": "a.txt", "content": "two\n"}); !ok {
		t.Fatal(text)
	}
	result := make(chan string, 1)
	go func() {
		text, _ := a.call("run_command", map[string]any{"command": "touch x"})
		result <- text
	}()
	<-asked
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if text := <-result; !strings.Contains(text, "not known whether it took effect") {
		t.Errorf("the call in the middle: %s", text)
	}
	_ = r.Wait(t.Context())
	if text, ok := a.call("read_file", map[string]any{"path": "a.txt"}); !ok || text != "two\n" {
		t.Fatalf("alone, with what was pending: %v %s", ok, text)
	}
	<-a.changed // the tools are those of another process now
	if text, ok := a.call("write_file", map[string]any{"path": "a.txt", "content": "three\n"}); !ok {
		t.Fatalf("alone: %s", text)
	}

	again := connect(t, dir, fakeeditor.Options{}) // takes the queue over
	if list := again.pending(); len(list.Edits) != 1 {
		t.Fatalf("pending: %+v", list)
	}
	if text, ok := a.call("write_file", map[string]any{"path": "b.txt", "content": "four\n"}); !ok {
		t.Fatalf("attached again: %s", text)
	}
	if list := again.pending(); len(list.Edits) != 2 {
		t.Errorf("pending: %+v", list)
	}
}

// TestAgentsAlone: agents without an editor share a core, whoever came first,
// and give the queue free for who decides on it.
func TestAgentsAlone(t *testing.T) {
	home(t)
	userSettings(t, object{"mode": "review", "sandbox": object{"mode": "off"}})
	dir := project(t, map[string]string{"a.txt": "one\n"})
	u := &user{answer: "Allow"}
	first := newAgent(t, dir, mcpVersions[0], nil)
	second := newAgent(t, dir, mcpVersions[1], u.elicit)
	if text, ok := first.call("write_file", map[string]any{"path": "a.txt", "content": "two\n"}); !ok {
		t.Fatal(text)
	}
	if text, ok := second.call("edit_file", map[string]any{"path": "a.txt", "search": "two", "replace": "three"}); !ok {
		t.Fatal(text)
	}
	// Each is asked by its own agent: the first can't ask.
	if text, ok := first.call("run_command", map[string]any{"command": "true > x"}); ok {
		t.Errorf("nobody allowed that: %s", text)
	}
	if text, ok := second.call("run_command", map[string]any{"command": "true > x"}); !ok || len(u.asked) != 1 {
		t.Errorf("asked %q: %s", u.asked, text)
	}
	if out, stderr, code := runCLI(t, "", "review", "--root", dir, "accept"); code != 0 || !strings.Contains(out, "accepted a.txt") {
		t.Fatalf("review: %d %s %s", code, out, stderr)
	}
	for _, a := range []*agent{first, second} {
		if text, ok := a.call("read_file", map[string]any{"path": "a.txt"}); !ok || !strings.HasPrefix(text, "three\n") || !strings.Contains(text, "accepted your edit of a.txt") {
			t.Errorf("after it was accepted: %v %s", ok, text)
		}
	}
	// The first was the host; the second goes on without it.
	if err := first.Close(); err != nil {
		t.Errorf("the end: %v\n%s", err, first.stderr)
	}
	text, ok := second.call("write_file", map[string]any{"path": "b.txt", "content": "x\n"})
	if strings.Contains(text, "not known whether it took effect") { // the call was on its way already
		text, ok = second.call("write_file", map[string]any{"path": "b.txt", "content": "x\n"})
	}
	if !ok {
		t.Errorf("alone: %s", text)
	}
}
