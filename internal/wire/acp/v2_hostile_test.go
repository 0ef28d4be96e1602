package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// TestTurn2: what is the end of a turn, and what is not. A step is what the agent sends:
// run, req, idle:REASON, echo:ID, take:ID, none.
func TestTurn2(t *testing.T) {
	for name, test := range map[string]struct {
		before, steps string
		want          string // how it ends; "" is not
	}{
		"in order":                        {"", "take:u run idle:end_turn", StopEndTurn},
		"running first":                   {"", "run echo:u take:u idle:refusal", StopRefusal},
		"waiting for a person":            {"", "take:u req run idle:end_turn", StopEndTurn},
		"blocked from the beginning":      {"", "take:u req idle:end_turn", StopEndTurn},
		"no reason":                       {"", "take:u run idle:", ""},
		"a reason that is not known":      {"", "take:u run idle:_lunch", "_lunch"},
		"no idle":                         {"", "take:u run", "none"},
		"not even running":                {"", "take:u idle:end_turn", "none"},
		"a state that is not known":       {"", "take:u run state:asleep", "none"},
		"said again and then running":     {"", "idle:refusal take:u idle:refusal run idle:end_turn", StopEndTurn},
		"of another session":              {"", "take:u run other:idle", "none"},
		"idle before it is taken in":      {"run", "idle:refusal take:u run idle:end_turn", StopEndTurn},
		"idle of its own work alone":      {"run", "idle:refusal take:u", "none"},
		"taken in while it works":         {"run", "take:u idle:end_turn", StopEndTurn},
		"the answer comes last":           {"", "run echo:u idle:max_tokens take:u", StopMaxTokens},
		"the answer after its own work":   {"run", "idle:refusal run echo:u idle:max_tokens take:u", StopMaxTokens},
		"the echo of another one":         {"", "run echo:x idle:refusal take:u", "none"},
		"idle, told, and then taken":      {"run", "idle:refusal echo:u take:u", "none"},
		"idle twice":                      {"", "take:u run idle:end_turn idle:refusal", StopEndTurn},
		"the last reason, said on resume": {"run idle:refusal", "idle:refusal take:u run idle:end_turn", StopEndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, a, s := dial2(t)
			var prompt wire
			step := func(s string) {
				what, arg, _ := strings.Cut(s, ":")
				switch what {
				case "run":
					a.runs("s1")
				case "req":
					a.update("s1", "state_update", `"state":"requires_action","background":7`)
				case "state":
					a.update("s1", "state_update", fmt.Sprintf(`"state":%q`, arg))
				case "idle":
					a.idles("s1", arg)
				case "other":
					a.idles("s2", "end_turn")
				case "echo":
					a.update("s1", "user_message", fmt.Sprintf(`"messageId":%q,"content":[]`, arg))
				case "take":
					a.reply(prompt, fmt.Sprintf(`{"messageId":%q}`, arg))
				}
			}
			for _, s := range strings.Fields(test.before) {
				step(s)
			}
			prompt, end := prompting(t, s, a)
			for _, s := range strings.Fields(test.steps) {
				step(s)
			}
			a.synced()
			if test.want != "none" {
				get(t, end).want(t, test.want)
				return
			}
			select {
			case e := <-end:
				t.Errorf("the turn ended with %q, %v", e.Reason, e.err)
			default:
			}
			go s.Cancel() // which an idle state ends, also one that was said before
			a.expect("session/cancel")
			a.idles("s1", "cancelled")
			get(t, end).want(t, StopCancelled)
		})
	}
}

// TestBadTurn2: what fails a turn, after which the next one is as it should be.
func TestBadTurn2(t *testing.T) {
	failed := func(reply string) func(*fakeAgent, wire) {
		return func(a *fakeAgent, prompt wire) {
			a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, prompt.ID, reply))
		}
	}
	idle := func(members string) func(*fakeAgent, wire) {
		return func(a *fakeAgent, prompt wire) {
			a.takes(prompt, "u")
			a.runs("s1")
			a.update("s1", "state_update", `"state":"idle",`+members)
		}
	}
	for name, test := range map[string]struct {
		does func(*fakeAgent, wire)
		want string
		told bool // to stop
	}{
		"no messageId":         {failed(`"result":{}`), "without the messageId", true},
		"a messageId of null":  {failed(`"result":{"messageId":null}`), "without the messageId", true},
		"a number":             {failed(`"result":{"messageId":7}`), "without the messageId", true},
		"an answer of another": {failed(`"result":{"stopReason":"end_turn"}`), "without the messageId", true},
		"null":                 {failed(`"result":null`), "without the messageId", true},
		"refused":              {failed(`"error":{"code":-32602,"message":"empty"}`), "empty", false},
		"it fails":             {idle(`"stopReason":"error","error":{"code":-32603,"message":"broken","data":"no money"}`), "broken: no money", false},
		"it wants a key":       {idle(`"stopReason":"error","error":{"code":-32000,"message":"who?"}`), "sign in first", false},
		"it fails in silence":  {idle(`"stopReason":"error","error":"x"`), "does not say how", false},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, a, s := dial2(t)
			prompt, end := prompting(t, s, a)
			test.does(a, prompt)
			if e := get(t, end); e.err == nil || !strings.Contains(e.err.Error(), test.want) {
				t.Errorf("the turn ended with %q, %v, want %q", e.Reason, e.err, test.want)
			}
			if test.told {
				a.expect("session/cancel")
			}
			prompt, end = prompting(t, s, a)
			a.takes(prompt, "u2")
			a.runs("s1")
			a.idles("s1", "end_turn")
			get(t, end).want(t, StopEndTurn)
		})
	}
}

// TestCancel2: a cancellation is for prompts that are not taken in, too, and for what the
// agent does by itself.
func TestCancel2(t *testing.T) {
	w, _, a, s := dial2(t)
	prompt, end := prompting(t, s, a)
	go s.Cancel()
	a.expect("session/cancel")
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32800,"message":"Cancelled"}}`, prompt.ID))
	get(t, end).want(t, StopCancelled)

	prompt, end = prompting(t, s, a)
	go s.Cancel()
	a.expect("session/cancel")
	a.reply(prompt, `{"messageId":"u"}`) // and no more is said
	get(t, end).want(t, StopCancelled)

	prompt, end = prompting(t, s, a)
	a.takes(prompt, "v")
	a.runs("s1")
	a.synced()
	go s.Cancel()
	a.expect("session/cancel")
	a.update("s1", "state_update", `"state":"idle"`)
	get(t, end).want(t, StopCancelled)

	s.Cancel() // of nothing, and nothing is sent
	a.runs("s1")
	if u := get(t, w.updates); u.Work == nil || !u.Work.On {
		t.Errorf("told %s", u.Raw)
	}
	go s.Cancel()
	a.expect("session/cancel")
	a.idles("s1", "cancelled")
	if u := get(t, w.updates); u.Work == nil || u.Work.On {
		t.Errorf("told %s", u.Raw)
	}
}

// TestGoneAgent2: a turn whose prompt is answered ends with the connection, and with its
// session.
func TestGoneAgent2(t *testing.T) {
	_, c, a, s := dial2(t)
	prompt, end := prompting(t, s, a)
	a.takes(prompt, "u")
	a.runs("s1")
	a.synced()
	_ = a.out.Close()
	if e := get(t, end); !errors.Is(e.err, ErrGone) {
		t.Errorf("the turn ended with %v", e.err)
	}
	get(t, c.Done())

	_, _, a, s = dial2(t)
	prompt, end = prompting(t, s, a)
	a.takes(prompt, "u")
	a.synced()
	go func() {
		a.expect("session/cancel")
		a.reply(a.expect("session/close"), `{}`)
	}()
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if e := get(t, end); !errors.Is(e.err, errSessionClosed) {
		t.Errorf("the turn ended with %v", e.err)
	}
}

// TestNoEnd2: a turn that is cancelled and never ends keeps the next prompt only so long.
func TestNoEnd2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, a, s := dial2(t)
		ctx, stop := context.WithCancel(t.Context())
		end := make(chan ended, 1)
		go func() {
			stopped, err := s.Prompt(ctx, Text("go"))
			end <- ended{stopped, err}
		}()
		prompt := a.expect("session/prompt")
		a.takes(prompt, "u")
		a.runs("s1")
		a.synced()
		stop()
		a.expect("session/cancel")
		if e := <-end; !errors.Is(e.err, context.Canceled) {
			t.Errorf("ended with %v", e.err)
		}
		if _, err := s.Prompt(t.Context(), Text("more")); !errors.Is(err, ErrTimeout) {
			t.Errorf("the next prompt: %v", err)
		}
		a.idles("s1", "cancelled")
		_, after := prompting(t, s, a)
		if len(after) > 0 {
			t.Error((<-after).err)
		}
	})
}

// TestEcho2: a message that we sent is not told, whenever it comes; those of others are.
func TestEcho2(t *testing.T) {
	w, _, a, s := dial2(t)
	message := func(id, text string) {
		a.update("s1", "user_message_chunk", fmt.Sprintf(`"messageId":%q,"content":{"type":"text","text":%q}`, id, text))
	}
	prompt, end := prompting(t, s, a)
	message("x", "a hook's")
	message("u", "g")
	message("u", "o")
	message("x", "more")
	a.reply(prompt, `{"messageId":"u"}`)
	message("u", "late")
	a.update("s1", "user_message", `"messageId":"u","content":[{"type":"text","text":"whole"}]`)
	message("y", "another's")
	a.runs("s1")
	a.idles("s1", "end_turn")
	get(t, end).want(t, StopEndTurn)
	message("u", "later")
	message("z", "the last")
	for _, want := range []string{"a hook's", "more", "another's", "the last"} {
		if u := get(t, w.updates); u.Chunk == nil || u.Chunk.Content.Text != want {
			t.Errorf("told %s, want %s", u.Raw, want)
		}
	}

	// What might be ours is kept only so long.
	prompt, end = prompting(t, s, a)
	n := 0
	w.onUpdate = func(Update) { n++ }
	for range maxHeld + 10 {
		message("w", "x")
	}
	a.synced()
	if n != 10 {
		t.Errorf("%d messages were told, want 10", n)
	}
	a.reply(prompt, `{"messageId":"w2"}`)
	a.runs("s1")
	a.idles("s1", "end_turn")
	get(t, end).want(t, StopEndTurn)
	if n != maxHeld+10 {
		t.Errorf("%d messages were told", n)
	}
}

// TestEarly2: what a session tells before its id is known counts as if it came after.
func TestEarly2(t *testing.T) {
	w := newWorld()
	c, a := dial(t, w.world(), Options{Version: Version2})
	go func() {
		a.reply(a.expect("initialize"), oneLine(all2))
		req := a.expect("session/new")
		a.runs("s1")
		a.idles("s2", "end_turn")
		a.reply(req, `{"sessionId":"s1","availableCommands":[{"type":"command","name":"web","description":"d"}]}`)
	}()
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSession(t.Context(), SessionParams{Dir: "/project"})
	if err != nil {
		t.Fatal(err)
	}
	if u := get(t, w.updates); u.Kind != CommandsChanged {
		t.Errorf("told %s", u.Raw)
	}
	if u := get(t, w.updates); u.Work == nil || !u.Work.On {
		t.Errorf("told %s", u.Raw)
	}
	a.idles("s1", "refusal")
	if u := get(t, w.updates); u.Work == nil || u.Work.On {
		t.Errorf("told %s", u.Raw)
	}
	prompt, end := prompting(t, s, a)
	a.takes(prompt, "u")
	a.runs("s1")
	a.idles("s1", "end_turn")
	get(t, end).want(t, StopEndTurn)
}

// TestPermission2: what a permission is for, and what is none.
func TestPermission2(t *testing.T) {
	const options = `"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]`
	w, _, a, _ := dial2(t)
	var asked PermissionRequest
	w.permit = func(_ context.Context, r PermissionRequest) (string, error) {
		asked = r
		return "yes", nil
	}
	for _, test := range []struct {
		members string
		want    func(PermissionRequest) bool // nil: refused
	}{
		{`"title":"Edit?","description":"why","subject":{"type":"tool_call","toolCall":{"toolCallId":"c","kind":"edit","content":[{"type":"diff","changes":[{"operation":"add","path":"/f"}]}]}}`,
			func(r PermissionRequest) bool {
				return r.Title == "Edit?" && r.Detail == "why" && r.Tool.ID == "c" && r.Tool.Kind == "edit" && r.Tool.Content[0].Path == "/f"
			}},
		{`"title":"Run?","subject":{"type":"command","command":"rm -r x","cwd":"/project","toolCallId":null}`,
			func(r PermissionRequest) bool {
				return r.Tool.ID == "" && r.Tool.Kind == "execute" && r.Tool.Title == "rm -r x" && strings.Contains(string(r.Tool.RawInput), `"command":"rm -r x"`)
			}},
		{`"title":"Run?","subject":{"type":"command","command":"ls","cwd":"/project","toolCallId":"c"}`, func(r PermissionRequest) bool { return r.Tool.ID == "c" }},
		{`"title":"Go on?"`, func(r PermissionRequest) bool { return r.Title == "Go on?" && r.Tool.ID == "" && r.Tool.Kind == "" }},
		{`"title":"Go on?","subject":null,"description":7`, func(r PermissionRequest) bool { return r.Detail == "" && r.Tool.ID == "" }},
		{`"title":"Dance?","subject":{"type":"_dance","command":"rm"}`, func(r PermissionRequest) bool { return r.Tool.Kind == "" && r.Tool.Title == "" }},
		{`"title":"?","subject":{"type":"command","command":""}`, nil},
		{`"title":"?","subject":{"type":"tool_call"}`, nil},
		{`"title":"?","subject":{"type":"tool_call","toolCall":{"title":"no id"}}`, nil},
		{`"title":"?","subject":"rm"`, nil},
		{`"title":7`, nil},
	} {
		asked = PermissionRequest{}
		got := a.ask("1", "session/request_permission", `{"sessionId":"s1",`+test.members+`,`+options+`}`)
		switch {
		case test.want == nil:
			if got.Error == nil || got.Error.Code != CodeInvalidParams || asked.Raw != nil {
				t.Errorf("%s got %s", test.members, got.line)
			}
		case !strings.Contains(got.line, `"optionId":"yes"`) || !test.want(asked):
			t.Errorf("%s got %s, asked %+v", test.members, got.line, asked)
		}
	}
	for _, method := range []string{"fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output"} {
		if got := a.ask("2", method, `{"sessionId":"s1","path":"/f","content":"x","command":"ls"}`); got.Error == nil || got.Error.Code != CodeMethodNotFound {
			t.Errorf("%s got %s", method, got.line)
		}
	}
	if len(w.files)+len(w.terms) != 0 {
		t.Error("the world was reached")
	}
}

// TestOffers2: what the agent hasn't offered is not asked of it.
func TestOffers2(t *testing.T) {
	c, a := dial(t, newWorld().world(), Options{Version: Version2})
	go func() {
		a.reply(a.expect("initialize"), `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{"prompt":{"image":true},"mcp":null,"delete":[]}},"authMethods":"none"}`)
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
	unsupported := func(_ any, err error) {
		t.Helper()
		if !errors.Is(err, ErrUnsupported) {
			t.Errorf("got %v", err)
		}
	}
	unsupported(s.Prompt(ctx, Image("AAAA", "image/png")))
	unsupported(c.NewSession(ctx, SessionParams{Dir: "/project", MCPServers: []MCPServer{{Name: "ours", Command: "/bin/tools"}}}))
	unsupported(c.NewSession(ctx, SessionParams{Dir: "/project", MCPServers: []MCPServer{{Type: "sse", URL: "http://127.0.0.1"}}}))
	unsupported(c.ForkSession(ctx, "s1", SessionParams{Dir: "/project"}))
	unsupported(nil, c.DeleteSession(ctx, "s1"))
	unsupported(nil, c.Logout(ctx))
	unsupported(nil, s.SetMode(ctx, "code"))
}

// TestLongLines2: what is too long is told to the agent, and is neither the end of a turn
// nor content. The next that is short is.
func TestLongLines2(t *testing.T) {
	w := newWorld()
	c, a := dial(t, w.world(), Options{Version: Version2, MaxLine: 1000})
	s := open2(t, c, a)
	long := strings.Repeat("x", 2000)
	refused := func() {
		t.Helper()
		if got := a.read(); got.Error == nil || !strings.Contains(got.line, "a message may have 1000") {
			t.Errorf("got %s", got.line)
		}
	}
	prompt, end := prompting(t, s, a)
	a.takes(prompt, "u")
	a.runs("s1")
	a.update("s1", "agent_message", `"messageId":"m","content":[{"type":"text","text":"`+long+`"}]`)
	refused()
	a.update("s1", "state_update", `"state":"idle","stopReason":"refusal","_meta":"`+long+`"`)
	refused()
	a.idles("s1", "end_turn")
	get(t, end).want(t, StopEndTurn)
	if len(w.updates) != 0 {
		t.Errorf("told %s", (<-w.updates).Raw)
	}
	prompt, end = prompting(t, s, a)
	a.reply(prompt, `{"messageId":"`+long+`"}`)
	if e := get(t, end); e.err == nil || !strings.Contains(e.err.Error(), "a message may have 1000") {
		t.Errorf("ended with %q, %v", e.Reason, e.err)
	}
	prompt, end = prompting(t, s, a)
	a.takes(prompt, "v")
	a.runs("s1")
	a.idles("s1", "end_turn")
	get(t, end).want(t, StopEndTurn)
}
