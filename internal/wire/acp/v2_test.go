package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestVersion2 is a whole conversation.
func TestVersion2(t *testing.T) {
	w := newWorld()
	c, a := dial(t, w.world(), Options{Version: Version2, Client: Implementation{Name: "host", Version: "1"}})
	ctx := t.Context()
	go func() {
		req := a.expect("initialize")
		for _, want := range []string{`"protocolVersion":2`, `"info":{"name":"host","version":"1"}`, `"capabilities":{"elicitation":{"form":{},"url":{}}}`, `"clientCapabilities":{`} {
			if !strings.Contains(req.line, want) {
				t.Errorf("the host says %s", req.line)
			}
		}
		a.reply(req, oneLine(all2))
		a.reply(a.expect("auth/login"), `{}`)
		req = a.expect("session/new")
		if want := `{"additionalDirectories":["/other"],"cwd":"/project","mcpServers":[{"type":"stdio","name":"ours","command":"/bin/tools","args":[],"env":[]},{"type":"http","name":"web","url":"http://127.0.0.1","headers":[]}]}`; string(req.Params) != want {
			t.Errorf("the session is to have %s, want %s", req.Params, want)
		}
		a.reply(req, `{"sessionId":"s1","configOptions":[{"configId":"m","name":"Model","category":"model","type":"select","currentValue":"a","options":[{"groupId":"g","name":"G","options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]}]},{"id":"old"},7],"availableCommands":[{"type":"command","name":"web","description":"d"}]}`)
	}()
	agent, err := c.Initialize(ctx)
	if err != nil {
		t.Fatal(err)
	}
	can := agent.Capabilities
	if agent.ProtocolVersion != 2 || agent.Agent.Name != "fake" || !can.LoadSession || can.Session.List == nil || can.Session.Close == nil || can.Session.Fork == nil || can.Auth.Logout == nil ||
		!can.Prompt.Image || can.Prompt.Audio || !can.MCP.Stdio || !can.MCP.HTTP || can.MCP.SSE {
		t.Errorf("it offers %+v", can)
	}
	if m := agent.AuthMethods; len(m) != 2 || m[0].ID != "key" || m[1].Env["A"] != "b" || m[1].Args[0] != "login" {
		t.Errorf("one signs in by %+v", agent.AuthMethods)
	}
	if err := c.Authenticate(ctx, "key"); err != nil {
		t.Error(err)
	}
	s, err := c.NewSession(ctx, SessionParams{Dir: "/project", Directories: []string{"/other"},
		MCPServers: []MCPServer{{Name: "ours", Command: "/bin/tools"}, {Type: "http", Name: "web", URL: "http://127.0.0.1"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Config) != 1 || s.Config[0].ID != "m" || s.Config[0].Value != "a" || len(s.Config[0].Choices) != 2 || s.Config[0].Choices[0].Group != "G" {
		t.Errorf("the settings are %+v", s.Config)
	}
	if u := get(t, w.updates); u.Kind != CommandsChanged || u.Commands[0].Name != "web" {
		t.Errorf("the commands are %s", u.Raw)
	}

	prompt, end := prompting(t, s, a)
	a.runs("s1")
	a.takes(prompt, "u1")
	a.update("s1", "agent_message_chunk", `"messageId":"m","content":{"type":"text","text":"one"}`)
	a.idles("s1", "max_tokens")
	get(t, end).want(t, StopMaxTokens)
	if u := get(t, w.updates); u.Kind != AgentMessageChunk || u.Chunk.Content.Text != "one" {
		t.Errorf("told %s", u.Raw)
	}
	a.synced()
	if len(w.updates) != 0 {
		t.Errorf("told %s", (<-w.updates).Raw)
	}

	go func() {
		req := a.expect("session/set_config_option")
		if want := `{"configId":"m","sessionId":"s1","type":"id","value":"b"}`; string(req.Params) != want {
			t.Errorf("the setting is %s", req.Params)
		}
		a.reply(req, `{"configOptions":[{"configId":"m","name":"Model","type":"select","currentValue":"b","options":[]}]}`)
		req = a.expect("session/set_config_option")
		if !strings.Contains(req.line, `"type":"boolean","value":true`) {
			t.Errorf("the switch is %s", req.Params)
		}
		a.reply(req, `{"configOptions":[]}`)
		a.reply(a.expect("session/close"), `{}`)
		req = a.expect("session/resume")
		if strings.Contains(req.line, "replayFrom") {
			t.Errorf("resumed by %s", req.line)
		}
		a.reply(req, `{}`)
		req = a.expect("session/close")
		a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"Not found"}}`, req.ID))
		req = a.expect("session/resume")
		if !strings.Contains(req.line, `"replayFrom":{"type":"start"}`) {
			t.Errorf("loaded by %s", req.line)
		}
		a.update("s1", "user_message", `"messageId":"u1","content":[{"type":"text","text":"before"}]`)
		a.idles("s1", "end_turn")
		a.reply(req, `{}`)
		a.reply(a.expect("auth/logout"), `{}`)
	}()
	if options, err := s.SetConfig(ctx, "m", "b"); err != nil || len(options) != 1 || options[0].Value != "b" {
		t.Errorf("set to %+v, %v", options, err)
	}
	if _, err := s.SetConfig(ctx, "x", true); err != nil {
		t.Error(err)
	}
	if err := s.SetMode(ctx, "code"); err == nil {
		t.Error("there are modes")
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	s, err = c.ResumeSession(ctx, "s1", SessionParams{Dir: "/project"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("a session that the agent has not: %v", err)
	}
	if _, err := c.LoadSession(ctx, "s1", SessionParams{Dir: "/project"}); err != nil {
		t.Fatal(err)
	}
	if u := get(t, w.updates); u.Message == nil || u.Message.Content[0].Text != "before" {
		t.Errorf("the history has %s", u.Raw)
	}
	if err := c.Logout(ctx); err != nil {
		t.Error(err)
	}
}

// TestDownToVersion1: an agent that answers with version 1 is driven in it.
func TestDownToVersion1(t *testing.T) {
	w := newWorld()
	w.files["/f"] = "text"
	c, a := dial(t, w.world(), Options{Version: Version2})
	s := open(t, c, a)
	if got := a.ask("1", "fs/read_text_file", `{"sessionId":"s1","path":"/f"}`); string(got.Result) != `{"content":"text"}` {
		t.Errorf("got %s", got.line)
	}
	prompt, end := prompting(t, s, a)
	a.reply(prompt, `{"stopReason":"refusal"}`)
	get(t, end).want(t, StopRefusal)
}

// TestUpdates2 has one update of each kind, and some that are wrong.
func TestUpdates2(t *testing.T) {
	text := func(c []Content) (all string) {
		for _, one := range c {
			all += one.Text
		}
		return all
	}
	for _, test := range []struct {
		raw  string
		want func(Update) bool
	}{
		{`{"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"a"},7,{"type":"text","text":"b"}]}`, func(u Update) bool { return u.Message.ID == "m" && text(u.Message.Content) == "ab" }},
		{`{"sessionUpdate":"agent_message","messageId":"m"}`, func(u Update) bool { return u.Message.Content == nil }},
		{`{"sessionUpdate":"agent_message","messageId":"m","content":"x"}`, func(u Update) bool { return u.Message.Content == nil }},
		{`{"sessionUpdate":"agent_thought","messageId":"m","content":null}`, func(u Update) bool { return u.Message.Content != nil && len(u.Message.Content) == 0 }},
		{`{"sessionUpdate":"agent_message"}`, func(u Update) bool { return u.Err != nil && u.Message == nil }},
		{`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}`, func(u Update) bool { return u.Err != nil && u.Chunk == nil }},
		{`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"T","kind":"edit","status":"in_progress","rawInput":{"a":1},"locations":[{"path":"/f"},9]}`,
			func(u Update) bool {
				return u.Tool.Title == "T" && u.Tool.Kind == "edit" && u.Tool.Status == StatusInProgress && len(u.Tool.Locations) == 1 && u.Tool.Content == nil && !u.Tool.Untitled && string(u.Tool.RawInput) == `{"a":1}`
			}},
		{`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":null,"kind":null,"status":null,"content":null,"locations":null}`,
			func(u Update) bool {
				return u.Tool.Untitled && u.Tool.Kind == "other" && u.Tool.Status == StatusPending && u.Tool.Content != nil && u.Tool.Locations != nil && len(u.Tool.Content)+len(u.Tool.Locations) == 0
			}},
		{`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":7,"content":"x","status":{}}`, func(u Update) bool {
			return !u.Tool.Untitled && u.Tool.Title == "" && u.Tool.Content == nil && u.Tool.Status == ""
		}},
		{`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"cancelled"}`, func(u Update) bool { return u.Tool.Status == StatusFailed }},
		{`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"paused"}`, func(u Update) bool { return u.Tool.Status == StatusInProgress }},
		{`{"sessionUpdate":"tool_call_update","title":"no id"}`, func(u Update) bool { return u.Err != nil && u.Tool == nil }},
		{`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"content","content":{"type":"text","text":"x"}}}`,
			func(u Update) bool {
				return u.Kind == ToolCallChanged && u.Tool.Content == nil && u.Tool.More[0].Content.Text == "x"
			}},
		{`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":[]}`, func(u Update) bool { return u.Err == nil && len(u.Tool.More) == 0 }},
		{`{"sessionUpdate":"tool_call_content_chunk","content":{"type":"content"}}`, func(u Update) bool { return u.Err != nil && u.Tool == nil }},
		{`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"terminal","terminalId":"x"},{"type":"hologram"},{"type":"diff","changes":[{"operation":"move","oldPath":"/a","path":"/b"}]}]}`,
			func(u Update) bool {
				c := u.Tool.Content
				return len(c) == 2 && c[0].Type == ShowsTheirs && c[0].Terminal == "x" && c[1].Path == "/b" && c[1].From == "/a"
			}},
		{`{"sessionUpdate":"available_commands_update","availableCommands":[{"type":"command","name":"web","description":"d","input":{"type":"text","hint":"h"}},{"type":"_new","name":"x"},7]}`,
			func(u Update) bool { return len(u.Commands) == 1 && u.Commands[0].Input.Hint == "h" }},
		{`{"sessionUpdate":"config_option_update","configOptions":[{"configId":"b","name":"B","type":"boolean","currentValue":true},{"name":"no id"}]}`,
			func(u Update) bool { return len(u.Config) == 1 && u.Config[0].ID == "b" && u.Config[0].On }},
		{`{"sessionUpdate":"session_info_update","title":"New"}`, func(u Update) bool { return *u.Info.Title == "New" }},
		{`{"sessionUpdate":"notice","severity":"warning","title":"T"}`, func(u Update) bool { return u.Notice.Title == "T" }},
		{`{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed","summary":[{"type":"text","text":"s"}]}`, func(u Update) bool { return u.Compaction.Summary[0].Text == "s" }},
		{`{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"p","content":"# x"}}`, func(u Update) bool { return u.Kind == "plan_update" && u.Plan == nil && u.Err == nil }},
		{`{"sessionUpdate":"plan_update","plan":7}`, func(u Update) bool { return u.Err != nil }},
		{`{"sessionUpdate":"tool_call","toolCallId":"c"}`, func(u Update) bool { return u.Kind == "tool_call" && u.Tool == nil && u.Err == nil }},
		{`{"sessionUpdate":"_vendor","x":1}`, func(u Update) bool { return u.Kind == "_vendor" && u.Err == nil }},
		{`{"sessionUpdate":"terminal_update","terminalId":"x","command":"make"}`, func(u Update) bool { return *u.Terminal == TerminalOutput{ID: "x"} }},
		{`{"sessionUpdate":"terminal_update","terminalId":"x","output":null}`, func(u Update) bool { return *u.Terminal == TerminalOutput{ID: "x", Whole: true} }},
		{`{"sessionUpdate":"terminal_update","terminalId":"x","output":{"data":"aGk="}}`, func(u Update) bool { return u.Terminal.Text == "hi" && u.Terminal.Whole }},
		{`{"sessionUpdate":"terminal_output_chunk","terminalId":"x","data":"!"}`, func(u Update) bool { return u.Err != nil && u.Terminal == nil }},
		{`{"sessionUpdate":"terminal_output_chunk","data":"aGk="}`, func(u Update) bool { return u.Err != nil && u.Terminal == nil }},
		{`{"sessionUpdate":["plan"]}`, func(u Update) bool { return u.Err != nil && u.Kind == "" }},
		{`"text"`, func(u Update) bool { return u.Err != nil }},
	} {
		u := newTalk2(&Session{ID: "s"}).read("", json.RawMessage(test.raw))
		if !test.want(u) || u.Session != "s" || string(u.Raw) != test.raw {
			t.Errorf("%s is read as %+v", test.raw, u)
		}
	}
}

// TestUpsert2: what an update leaves out is what was said before.
func TestUpsert2(t *testing.T) {
	k := newTalk2(&Session{ID: "s"})
	read := func(kind, members string) Update {
		return k.read("", json.RawMessage(fmt.Sprintf(`{"sessionUpdate":%q,%s}`, kind, members)))
	}
	cost := func(want float64, members string) {
		t.Helper()
		u := read("usage_update", members)
		if u.Err != nil || want < 0 && u.Usage.Cost != nil || want >= 0 && (u.Usage.Cost == nil || u.Usage.Cost.Amount != want) {
			t.Errorf("%s costs %+v, %v", members, u.Usage, u.Err)
		}
	}
	cost(-1, `"used":1,"size":9`)
	cost(2, `"used":1,"size":9,"cost":{"amount":2,"currency":"EUR"}`)
	cost(2, `"used":1,"size":9`)
	cost(-1, `"used":1,"size":9,"cost":null`)
	cost(-1, `"used":1,"size":9`)

	plan := func(want, members string) {
		t.Helper()
		got := ""
		for _, e := range read("plan_update", members).Plan {
			got += e.Content
		}
		if got != want {
			t.Errorf("the plan is %q, want %q", got, want)
		}
	}
	plan("a", `"plan":{"type":"items","planId":"1","entries":[{"content":"a"}]}`)
	plan("ab", `"plan":{"type":"items","planId":"2","entries":[{"content":"b"}]}`)
	plan("cb", `"plan":{"type":"items","planId":"1","entries":[{"content":"c"},7]}`)
	plan("b", `"plan":{"type":"items","planId":"1","entries":[]}`)
	for i := range 5 * maxPlans {
		read("plan_update", fmt.Sprintf(`"plan":{"type":"items","planId":"many-%d","entries":[]}`, i))
	}
	if len(k.plans) != maxPlans || len(k.planOrder) != maxPlans {
		t.Errorf("%d plans are kept", len(k.plans))
	}

	// "ä" is C3 A4, and comes in two parts.
	shown := func(want, kind, members string) {
		t.Helper()
		if u := read(kind, members); u.Err != nil || u.Terminal.Text != want {
			t.Errorf("shown is %+v, %v, want %q", u.Terminal, u.Err, want)
		}
	}
	shown("x", TerminalChunk, `"terminalId":"x","data":"eMM="`)
	shown("", TerminalChunk, `"terminalId":"other","data":""`)
	shown("ä", TerminalChunk, `"terminalId":"x","data":"pA=="`)
	shown("\uFFFDx", TerminalChunk, `"terminalId":"x","data":"/3g="`)
	shown("x", TerminalChunk, `"terminalId":"x","data":"eMM="`)
	shown("y", TerminalChanged, `"terminalId":"x","output":{"data":"eQ=="}`)
	shown("z", TerminalChunk, `"terminalId":"x","data":"eg=="`)
	for i := range 2 * maxPartial {
		read(TerminalChunk, fmt.Sprintf(`"terminalId":"t%d","data":"ww=="`, i))
	}
	if len(k.partial) > maxPartial {
		t.Errorf("of %d terminals bytes are kept", len(k.partial))
	}
}
