package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestAgentAlone: without an editor the endpoint has the same tools, with the
// same gate, redaction and limits as every other door.
func TestAgentAlone(t *testing.T) {
	for _, version := range e2e.MCPVersions {
		t.Run(version, func(t *testing.T) {
			e2e.Home(t)
			long := strings.Repeat("a line of some length\n", 2000)
			dir := e2e.Project(t, map[string]string{"a.txt": "one\n", "long.txt": long, ".env": "TOKEN=hush-hush-4711\n", "b.txt": "the token is hush-hush-4711\n"})
			a := e2e.AgentProcess(t, dir, version, nil)
			if r := a.InitializeResult(); r.ProtocolVersion != version || r.ServerInfo.Name != "sidecar-ls" || r.Capabilities.Tools == nil || !r.Capabilities.Tools.ListChanged || r.Instructions == "" {
				t.Errorf("initialize: %+v", r)
			}

			list, names := a.List()
			out, _, code := e2e.RunCLI(t, "", "tools", "--root", dir, "--format", "mcp")
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
				text, ok := a.Call(c.tool, args)
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
			if err := json.Unmarshal(meta, &rest); err != nil || len(e2e.TextOf(res)) > 16_000 || rest.Truncated.Cursor == "" {
				t.Fatalf("%d bytes, %s", len(e2e.TextOf(res)), meta)
			}
			if text, ok := a.Call("read_result", map[string]any{"cursor": rest.Truncated.Cursor}); !ok || !strings.Contains(text, "some length") {
				t.Errorf("the rest: %v %s", ok, text)
			}

			if err := a.Close(); err != nil {
				t.Errorf("the end: %v\n%s", err, a.Stderr)
			}
		})
	}
}

// TestAgentAsks: without an editor the agent's user decides, if the agent can ask.
func TestAgentAsks(t *testing.T) {
	for _, version := range e2e.MCPVersions {
		t.Run(version, func(t *testing.T) {
			e2e.Home(t)
			e2e.UserSettings(t, e2e.Object{"sandbox": e2e.Object{"mode": "off"}})
			dir := e2e.Project(t, nil)
			u := &e2e.User{}
			a := e2e.NewAgent(t, dir, version, u.Elicit)
			for _, c := range []struct {
				what, answer string
				tool         string
				args         e2e.Object
				ok           bool
				asked        int
			}{
				{"denied", "Deny", "write_file", e2e.Object{"path": "a.txt", "content": "one\n"}, false, 1},
				{"dismissed", "", "write_file", e2e.Object{"path": "a.txt", "content": "one\n"}, false, 1},
				{"allowed", "Allow", "write_file", e2e.Object{"path": "b.txt", "content": "one\n"}, true, 1},
				{"allowed for the session", "Allow for session", "write_file", e2e.Object{"path": "c.txt", "content": "one\n"}, true, 1},
				{"and so never again", "Deny", "write_file", e2e.Object{"path": "d.txt", "content": "one\n"}, true, 0},
				{"irrecoverable, another word", "confirm", "run_command", e2e.Object{"command": "rm -rf e/*; touch e.txt"}, false, 1},
				{"irrecoverable, the word", "CONFIRM", "run_command", e2e.Object{"command": "rm -rf e/*; touch f.txt"}, true, 1},
				{"a question of the model", "that", "ask_user", e2e.Object{"question": "Which?", "options": []string{"this", "that"}, "allow_custom": false}, true, 1},
			} {
				u.Answer, u.Asked = c.answer, nil
				if text, ok := a.Call(c.tool, c.args); ok != c.ok || len(u.Asked) != c.asked {
					t.Errorf("%s: ok %v, asked %q: %s", c.what, ok, u.Asked, text)
				}
				if c.what == "allowed" && !strings.Contains(u.Asked[0], "+one") {
					t.Errorf("what is asked does not show the change: %q", u.Asked)
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
	for _, version := range e2e.MCPVersions {
		t.Run(version, func(t *testing.T) {
			e2e.Home(t)
			e2e.UserSettings(t, e2e.Object{"toolPermissions": e2e.Object{"run_command": "allow"}, "sandbox": e2e.Object{"mode": "off"}})
			a := e2e.NewAgent(t, e2e.Project(t, nil), version, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := &sdk.CallToolParams{Name: "run_command", Arguments: map[string]any{"command": "echo begun; exec sleep 1000"}}
			p.SetProgressToken("p")
			ended := make(chan error, 1)
			go func() {
				_, err := a.CallTool(ctx, p)
				ended <- err
			}()
			if said := <-a.Said; said != "begun" {
				t.Errorf("said %q", said)
			}
			cancel()
			if err := <-ended; err == nil {
				t.Error("a cancelled call has a result")
			}
			// A session's commands run one after the other: this one runs once the
			// first has ended.
			if text, ok := a.Call("run_command", map[string]any{"command": "echo after"}); !ok || !strings.Contains(text, "after") {
				t.Errorf("%v %s", ok, text)
			}
		})
	}
}

// TestAgentAttached: with an editor's server at hand, the editor is asked and
// its review queue has the edits.
func TestAgentAttached(t *testing.T) {
	for _, version := range e2e.MCPVersions {
		t.Run(version, func(t *testing.T) {
			e2e.Home(t)
			dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
			r := e2e.Connect(t, dir, fakeeditor.Options{})
			u := &e2e.User{Answer: "Allow"}
			a := e2e.NewAgent(t, dir, version, u.Elicit)

			r.Choose("Deny")
			if text, ok := a.Call("write_file", map[string]any{"path": "a.txt", "content": "two\n"}); ok || !strings.Contains(text, "not_approved") {
				t.Errorf("the editor's user said no: %v %s", ok, text)
			}
			r.Choose("Allow")
			if text, ok := a.Call("write_file", map[string]any{"path": "a.txt", "content": "two\n"}); !ok || r.File("a.txt") != "two\n" {
				t.Errorf("the editor's user said yes: %v %s", ok, text)
			}
			if len(u.Asked) > 0 {
				t.Errorf("the agent's user was asked too: %q", u.Asked)
			}

			sessions := e2e.Command[struct {
				Sessions []struct{ Session, Mode string }
			}](r, "sidecar.session.list", e2e.Object{}).Sessions
			var own string
			for _, s := range sessions {
				if strings.HasPrefix(s.Session, "mcp-some-agent-") {
					own = s.Session
				}
			}
			if own == "" {
				t.Fatalf("sessions: %+v", sessions)
			}
			e2e.Command[e2e.Object](r, "sidecar.mode.set", e2e.Object{"session": own, "mode": "review"})
			if text, ok := a.Call("edit_file", map[string]any{"path": "a.txt", "search": "two", "replace": "three"}); !ok {
				t.Fatal(text)
			}
			if text, _ := a.Call("read_file", map[string]any{"path": "a.txt"}); text != "three\n" || r.File("a.txt") != "two\n" {
				t.Errorf("the agent reads %q, the disk has %q", text, r.File("a.txt"))
			}
			if list := r.Pending(); len(list.Edits) != 1 || list.Edits[0].Path != "a.txt" {
				t.Fatalf("pending: %+v", list)
			}
			if res := r.Accept(nil); len(res.Accepted) != 1 || r.File("a.txt") != "three\n" {
				t.Errorf("accept: %+v, the file has %q", res, r.File("a.txt"))
			}
			if err := a.Close(); err != nil {
				t.Errorf("the end: %v\n%s", err, a.Stderr)
			}
		})
	}
}

// TestAgentsAttachedTwice: two agents of one editor have a session each, and
// one queue.
func TestAgentsAttachedTwice(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review"})
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"})
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	a, b := e2e.NewAgent(t, dir, e2e.MCPVersions[0], nil), e2e.NewAgent(t, dir, e2e.MCPVersions[1], nil)
	done := make(chan string, 2)
	for _, p := range []struct {
		*e2e.Agent
		path string
	}{{a, "a.txt"}, {b, "b.txt"}} {
		go func() {
			text, ok := p.Call("write_file", map[string]any{"path": p.path, "content": "two\n"})
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
	if text, _ := a.Call("read_file", map[string]any{"path": "b.txt"}); text != "two\n" {
		t.Errorf("the first does not see the second's edit: %q", text)
	}
	if list := r.Pending(); len(list.Edits) != 2 {
		t.Errorf("pending: %+v", list)
	}
}

// TestAgentOutlivesItsEditor: a server that is killed in the middle of a call
// ends that call with a clear error; the next one is served without it, with
// what was pending, and a new server takes over.
func TestAgentOutlivesItsEditor(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review", "commands.ask": "always"})
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	r, cmd := e2e.EditorProcess(t, dir)
	asked := make(chan struct{})
	r.Answer("window/showMessageRequest", func(ctx context.Context, _ json.RawMessage) (any, error) {
		close(asked)
		<-ctx.Done() // nobody answers
		return nil, ctx.Err()
	})
	a := e2e.NewAgent(t, dir, e2e.MCPVersions[1], nil)
	if text, ok := a.Call("write_file", map[string]any{"path": "a.txt", "content": "two\n"}); !ok {
		t.Fatal(text)
	}
	result := make(chan string, 1)
	go func() {
		text, _ := a.Call("run_command", map[string]any{"command": "touch x"})
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
	if text, ok := a.Call("read_file", map[string]any{"path": "a.txt"}); !ok || text != "two\n" {
		t.Fatalf("alone, with what was pending: %v %s", ok, text)
	}
	<-a.Changed // the tools are those of another process now
	if text, ok := a.Call("write_file", map[string]any{"path": "a.txt", "content": "three\n"}); !ok {
		t.Fatalf("alone: %s", text)
	}

	again := e2e.Connect(t, dir, fakeeditor.Options{}) // takes the queue over
	if list := again.Pending(); len(list.Edits) != 1 {
		t.Fatalf("pending: %+v", list)
	}
	if text, ok := a.Call("write_file", map[string]any{"path": "b.txt", "content": "four\n"}); !ok {
		t.Fatalf("attached again: %s", text)
	}
	if list := again.Pending(); len(list.Edits) != 2 {
		t.Errorf("pending: %+v", list)
	}
}

// TestAgentsAlone: agents without an editor share a core, whoever came first,
// and give the queue free for who decides on it.
func TestAgentsAlone(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review", "sandbox": e2e.Object{"mode": "off"}})
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	u := &e2e.User{Answer: "Allow"}
	first := e2e.NewAgent(t, dir, e2e.MCPVersions[0], nil)
	second := e2e.NewAgent(t, dir, e2e.MCPVersions[1], u.Elicit)
	if text, ok := first.Call("write_file", map[string]any{"path": "a.txt", "content": "two\n"}); !ok {
		t.Fatal(text)
	}
	if text, ok := second.Call("edit_file", map[string]any{"path": "a.txt", "search": "two", "replace": "three"}); !ok {
		t.Fatal(text)
	}
	// Each is asked by its own agent: the first can't ask.
	if text, ok := first.Call("run_command", map[string]any{"command": "true > x"}); ok {
		t.Errorf("nobody allowed that: %s", text)
	}
	if text, ok := second.Call("run_command", map[string]any{"command": "true > x"}); !ok || len(u.Asked) != 1 {
		t.Errorf("asked %q: %s", u.Asked, text)
	}
	if out, stderr, code := e2e.RunCLI(t, "", "review", "--root", dir, "accept"); code != 0 || !strings.Contains(out, "accepted a.txt") {
		t.Fatalf("review: %d %s %s", code, out, stderr)
	}
	for _, a := range []*e2e.Agent{first, second} {
		if text, ok := a.Call("read_file", map[string]any{"path": "a.txt"}); !ok || !strings.HasPrefix(text, "three\n") || !strings.Contains(text, "accepted your edit of a.txt") {
			t.Errorf("after it was accepted: %v %s", ok, text)
		}
	}
	// The first was the host; the second goes on without it.
	if err := first.Close(); err != nil {
		t.Errorf("the end: %v\n%s", err, first.Stderr)
	}
	text, ok := second.Call("write_file", map[string]any{"path": "b.txt", "content": "x\n"})
	if strings.Contains(text, "not known whether it took effect") { // the call was on its way already
		text, ok = second.Call("write_file", map[string]any{"path": "b.txt", "content": "x\n"})
	}
	if !ok {
		t.Errorf("alone: %s", text)
	}
}
