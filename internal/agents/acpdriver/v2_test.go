package acpdriver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// begin2 starts a run with an agent of version 2.
func begin2(t *testing.T, opts Options) (*conversation.Run, *Bridge, *agent) {
	t.Helper()
	run, err := store(t, t.TempDir()).Start(conversation.Spec{Agent: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	fromAgent, out := io.Pipe()
	in, toAgent := io.Pipe()
	b := New(run, opts)
	c := acp.Open(fromAgent, toAgent, acp.World{Host: b, Elicitor: b}, acp.Options{Version: acp.Version2})
	t.Cleanup(func() {
		c.Close()
		<-c.Done()
	})
	a := &agent{t, bufio.NewReader(in), out}
	go func() {
		a.reply(a.read(), `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{"prompt":{"image":{}}}}}`)
		a.reply(a.read(), `{"sessionId":"s1"}`)
	}()
	init, err := c.Initialize(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session, err := c.NewSession(t.Context(), acp.SessionParams{Dir: "/project"})
	if err != nil {
		t.Fatal(err)
	}
	b.opts.Close = func() error { c.Close(); return nil }
	b.Bind(session, init.Capabilities.Prompt)
	run.Attach(b)
	return run, b, a
}

// says sends updates of the session.
func (a *agent) says(updates ...string) {
	for _, u := range updates {
		a.update("s1", u)
	}
}

// tells is what the run has, one line an event.
func tells(events []conversation.Event) (lines []string) {
	for _, e := range events {
		line := e.Kind
		switch {
		case e.Kind == conversation.Text || e.Kind == conversation.Thought:
			line += " " + e.Role + " " + e.Message + " " + e.Text + e.Delta
		case e.Call != nil:
			line += " " + e.Call.ID + " " + e.Call.Outcome + " " + e.Text + e.Delta
		default:
			line += " " + e.Reason + e.Text
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

const (
	running = `{"sessionUpdate":"state_update","state":"running"}`
	idle    = `{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}`
)

// TestConversation2 has what is another in version 2: messages as wholes, parts of calls,
// the agent's terminals, diffs with patches, and the end of the turn.
func TestConversation2(t *testing.T) {
	run, b, a := begin2(t, Options{})
	sub := run.Subscribe(0)
	prompt(t, run, conversation.Item{Text: "go"})
	req := a.read()
	a.says(`{"sessionUpdate":"user_message","messageId":"u","content":[{"type":"text","text":"go"}]}`)
	a.reply(req, `{"messageId":"u"}`)
	a.says(running,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"one "}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"two"}}`,
		`{"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"one two"}]}`,
		`{"sessionUpdate":"agent_message","messageId":"m"}`,
		`{"sessionUpdate":"agent_thought","messageId":"m","content":[{"type":"text","text":"hm"}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"make","kind":"execute","status":"in_progress"}`,
		`{"sessionUpdate":"terminal_update","terminalId":"x","command":"make","output":{"data":"YQ=="}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"terminal","terminalId":"x"}]}`,
		`{"sessionUpdate":"terminal_output_chunk","terminalId":"x","data":"Yg=="}`,
		`{"sessionUpdate":"terminal_output_chunk","terminalId":"never seen","data":"Yg=="}`,
	)
	await(t, sub, func(e conversation.Event) bool { return e.Kind == conversation.CallOutput && e.Delta == "b" })
	if _, err := b.Command("c"); !errors.Is(err, ErrItself) {
		t.Errorf("the command is ours: %v", err)
	}
	a.says(
		`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"content","content":{"type":"text","text":"and"}}}`,
		`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"diff","changes":[{"operation":"modify","path":"/f"}],"patch":{"format":"git_patch","text":"--- /f\n+++ /f\n@@ -1 +1 @@\n-a\n+b\n"}}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","title":null}`,
		`{"sessionUpdate":"terminal_output_chunk","terminalId":"x","data":"Yw=="}`,
		`{"sessionUpdate":"agent_message","messageId":"n","content":[{"type":"text","text":"wrong"}]}`,
		`{"sessionUpdate":"agent_message","messageId":"n","content":[]}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"n","content":{"type":"text","text":"right"}}`,
		idle)
	if e := await(t, sub, ofKind(conversation.RunEnd)); e.Reason != conversation.Done {
		t.Errorf("ended with %+v", e)
	}
	events := told(t, run)
	got := slices.DeleteFunc(tells(events), func(s string) bool { return s == "call.output c" })
	want := []string{"text assistant m one two", "thought assistant m#2 hm", "call.proposed c", "call.started c", "call.output c  a", "call.output c  b", "call.output c  \nand",
		"call.finished c completed", "text assistant n right", "run.end done"}
	if !slices.Equal(got, want) {
		t.Errorf("the run has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, e := range events {
		if e.Kind == conversation.CallFinished && (len(e.Call.Diff) != 1 || *e.Call.Diff[0].Old != "a\n" || e.Call.Diff[0].New != "b\n" || e.Call.Title != "" || e.Call.OutputBytes != 6) {
			t.Errorf("the call ended as %+v", e.Call)
		}
	}
	all, _, err := run.History(0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	said := slices.DeleteFunc(all, func(e conversation.Event) bool { return e.Role != "user" })
	if len(said) != 1 || said[0].Text != "go" {
		t.Errorf("the user has said %+v", said)
	}
}

// TestAlone2: an agent works by itself, asks, and is cancelled.
func TestAlone2(t *testing.T) {
	rested := make(chan bool, 1)
	run, _, a := begin2(t, Options{Rested: func() { rested <- true }})
	sub := run.Subscribe(0)
	a.says(running, `{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"by myself"}}`)
	a.send(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","title":"Look around?","description":"to see","subject":{"type":"command","command":"rm -r x","cwd":"/project"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}`)
	q := await(t, sub, ofKind(conversation.Asked))
	if q.Text != "Look around?\nrm -r x\nto see" || q.Call != nil {
		t.Errorf("asked %q, %+v", q.Text, q.Call)
	}
	if err := run.Answer(q.Question, "y", "me"); err != nil {
		t.Error(err)
	}
	if got := a.read(); !strings.Contains(got.line, `"optionId":"y"`) {
		t.Errorf("answered %s", got.line)
	}
	if e := await(t, sub, func(e conversation.Event) bool { return e.Answer == "y" && e.Kind == conversation.Note }); e.Reason != "allow" || e.Text != "rm -r x" {
		t.Errorf("decided %+v", e)
	}
	if state := run.Cancel(); state != conversation.Idle {
		t.Error(state)
	}
	if got := a.read(); got.Method != "session/cancel" {
		t.Errorf("the agent has %s", got.line)
	}
	a.says(`{"sessionUpdate":"state_update","state":"idle","stopReason":"cancelled"}`)
	await(t, sub, func(e conversation.Event) bool { return e.Reason == "rested" })
	<-rested
	prompt(t, run, conversation.Item{Text: "go"})
	a.reply(a.read(), `{"messageId":"u"}`)
	a.says(running, `{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"no money"}}`)
	if e := await(t, sub, ofKind(conversation.RunEnd)); e.Reason != conversation.Failed || !strings.Contains(e.Text, "no money") {
		t.Errorf("ended with %+v", e)
	}
	if len(rested) != 0 {
		t.Error("the end of a turn is the end of its own work")
	}
}

// TestMessages2: what is told of messages that come as wholes and in parts.
func TestMessages2(t *testing.T) {
	_, b, _ := begin2(t, Options{})
	wholeOf := func(kind, id string, blocks ...acp.Content) acp.Update {
		return acp.Update{Kind: kind, Message: &acp.Message{ID: id, Content: append([]acp.Content{}, blocks...)}}
	}
	part := func(text string) acp.Update {
		return acp.Update{Kind: acp.AgentMessageChunk, Chunk: &acp.Chunk{MessageID: "m", Content: acp.Text(text)}}
	}
	picture := acp.Image(pixel, "image/png")
	for _, test := range []struct {
		name  string
		tells []acp.Update
		want  string
	}{
		{"nothing", []acp.Update{wholeOf(acp.AgentMessage, "m")}, ""},
		{"a whole and more", []acp.Update{wholeOf(acp.AgentMessage, "m", acp.Text("a")), wholeOf(acp.AgentMessage, "m", acp.Text("a"), acp.Text("b")), part("c")}, "+a+b+c"},
		{"another whole", []acp.Update{part("a"), wholeOf(acp.AgentMessage, "m", acp.Text("b")), part("c")}, "+a=b+c"},
		{"cleared", []acp.Update{part("a"), wholeOf(acp.AgentMessage, "m"), part("b"), part("c")}, "+a=b+c"},
		{"ids of each kind", []acp.Update{part("a"), wholeOf(acp.AgentThought, "m", acp.Text("a")), wholeOf(acp.UserMessage, "m", acp.Text("a"))}, "+a+a+a"},
		{"pictures once", []acp.Update{wholeOf(acp.AgentMessage, "m", picture), wholeOf(acp.AgentMessage, "m", acp.Text("a"), picture), wholeOf(acp.AgentMessage, "m", picture, picture)}, "!+a!"},
		{"what has not changed", []acp.Update{part("a"), {Kind: acp.AgentMessage, Message: &acp.Message{ID: "m"}}, part("b")}, "+a+b"},
	} {
		b.messages = nil
		got := ""
		for _, u := range test.tells {
			for _, e := range b.translate(u) {
				switch {
				case len(e.Images) > 0:
					got += "!"
				case e.Delta != "":
					got += "+" + e.Delta
				default:
					got += "=" + e.Text
				}
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	long := strings.Repeat("x", maxMessageTexts/3)
	for i := range 10 * maxMessages {
		b.translate(wholeOf(acp.AgentMessage, fmt.Sprint(i), acp.Text(long[:i])))
	}
	if len(b.messages) > maxMessages {
		t.Errorf("%d messages are remembered", len(b.messages))
	}
	for i := range 10 {
		b.translate(wholeOf(acp.AgentMessage, fmt.Sprint("long", i), acp.Text(long)))
	}
	b.translate(part(long + long))
	if b.translate(part(long + long)); slices.ContainsFunc(b.messages, func(m *message) bool { return strings.HasSuffix(m.key, "\nm") }) {
		t.Error("a message is remembered that is too long")
	}
	if len(b.messages) > 4 { // the last one is not counted yet
		t.Errorf("%d long messages are remembered", len(b.messages))
	}
}

// TestTerminals2: terminals that show too much, and too many of them.
func TestTerminals2(t *testing.T) {
	_, b, _ := begin2(t, Options{})
	tool := func(id string, content ...acp.ToolContent) {
		b.translate(acp.Update{Kind: acp.ToolCallChanged, Raw: []byte("{}"), Tool: &acp.ToolCall{ID: id, Content: append([]acp.ToolContent{}, content...)}})
	}
	show := func(id, text string, whole bool) (all string) {
		for _, e := range b.translate(acp.Update{Kind: acp.TerminalChunk, Terminal: &acp.TerminalOutput{ID: id, Text: text, Whole: whole}}) {
			all += e.Text + e.Delta
		}
		return all
	}
	x := acp.ToolContent{Type: acp.ShowsTheirs, Terminal: "x"}
	tool("c", x)
	if got := show("x", "a", false); got != "a" {
		t.Errorf("shown is %q", got)
	}
	if got := show("x", "b", true); got != "b" {
		t.Errorf("shown is %q", got)
	}
	tool("c")
	if got := show("x", "c", false); got != "" {
		t.Errorf("a call shows %q that has no terminal any more", got)
	}
	tool("c", x)
	long := strings.Repeat("é", maxScreen)
	if got := show("x", long, false); len(got) > maxScreen+len(notShown) || !strings.HasSuffix(got, "é"+notShown) {
		t.Errorf("shown are %d bytes", len(got))
	}
	if got := show("x", "more", false); got != "" {
		t.Errorf("behind the end is shown %q", got)
	}
	if got := show("x", "short", true); got != "short" {
		t.Errorf("shown is %q", got)
	}
	for i := range 2 * maxScreens {
		show(fmt.Sprint(i), "x", false)
	}
	for i := range 2 * maxShowing {
		tool(fmt.Sprint(i), acp.ToolContent{Type: acp.ShowsTheirs, Terminal: "last"})
	}
	if n := strings.Count(show("last", "y", false), "y"); len(b.screens) != maxScreens || n != maxShowing {
		t.Errorf("%d terminals are remembered, and %d calls show one", len(b.screens), n)
	}
	for i := range 2 * maxCalls {
		tool(fmt.Sprint("other", i), acp.ToolContent{Content: &acp.Content{Type: acp.TypeText, Text: "text"}})
	}
	if got := show("last", "z", false); got != "" || b.texts != maxCalls*2*len("text") {
		t.Errorf("calls that are forgotten show %q, and %d bytes are held", got, b.texts)
	}
}

// TestUndecided2: a permission of nothing that is known is people's to give, and one that
// offers nothing is cancelled.
func TestUndecided2(t *testing.T) {
	decided := make(chan acp.PermissionRequest, 2)
	run, _, a := begin2(t, Options{Decide: func(_ context.Context, r acp.PermissionRequest) (string, string) {
		decided <- r
		return "", ""
	}})
	sub := run.Subscribe(0)
	a.send(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","title":"Go on?","options":[]}}`)
	if got := a.read(); !strings.Contains(got.line, `"cancelled"`) {
		t.Errorf("got %s", got.line)
	}
	a.send(`{"jsonrpc":"2.0","id":2,"method":"session/request_permission","params":{"sessionId":"s1","title":"Go on?","options":[{"optionId":"y","name":"Yes","kind":"_perhaps"}]}}`)
	q := await(t, sub, ofKind(conversation.Asked))
	if q.Text != "Go on?" {
		t.Errorf("asked %q", q.Text)
	}
	if err := run.Answer(q.Question, "y", "me"); err != nil {
		t.Error(err)
	}
	if got := a.read(); !strings.Contains(got.line, `"optionId":"y"`) {
		t.Errorf("got %s", got.line)
	}
	if e := await(t, sub, func(e conversation.Event) bool { return e.Answer == "y" && e.Kind == conversation.Note }); e.Reason != "deny" || e.Text != "Go on?" {
		t.Errorf("decided %+v", e)
	}
	for range 2 {
		if r := <-decided; r.Tool.ID != "" || r.Tool.Kind != "" {
			t.Errorf("decided about %+v", r)
		}
	}
}

// TestDropHistory2: what a run's journal has is not told again when the session is loaded.
func TestDropHistory2(t *testing.T) {
	run, err := store(t, t.TempDir()).Start(conversation.Spec{Agent: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	b := New(run, Options{DropHistory: true})
	for _, u := range []acp.Update{
		{Kind: acp.UserMessage, Message: &acp.Message{ID: "u", Content: []acp.Content{acp.Text("go")}}},
		{Kind: acp.AgentMessage, Message: &acp.Message{ID: "m", Content: []acp.Content{acp.Text("done")}}},
		{Kind: acp.ToolCallChanged, Raw: []byte("{}"), Tool: &acp.ToolCall{ID: "c", Title: "make"}},
		{Kind: acp.TerminalChanged, Terminal: &acp.TerminalOutput{ID: "x", Text: "old", Whole: true}},
		{Kind: acp.NoticeGiven, Raw: []byte("{}"), Notice: &acp.Notice{Title: "kept"}},
	} {
		b.Update(t.Context(), u)
	}
	if got := tells(told(t, run)); !slices.Equal(got, []string{"note noticekept"}) {
		t.Errorf("the run has %q", got)
	}
}
