package acpdriver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// agent is the other end of the wire, line by line.
type agent struct {
	t   *testing.T
	in  *bufio.Reader
	out *io.PipeWriter
}

type wire struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	line   string
}

func (a *agent) read() wire {
	line, err := a.in.ReadString('\n')
	w := wire{line: line}
	if err == nil {
		err = json.Unmarshal([]byte(line), &w)
	}
	if err != nil {
		a.t.Errorf("the agent has read %q: %v", line, err)
	}
	return w
}

func (a *agent) send(line string) {
	if _, err := io.WriteString(a.out, line+"\n"); err != nil {
		a.t.Errorf("the agent can't write: %v", err)
	}
}

func (a *agent) reply(w wire, result string) {
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, w.ID, result))
}

func (a *agent) update(session, update string) {
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, session, update))
}

// begin starts a run with an agent.
func begin(t *testing.T, s *conversation.Store, opts Options) (*conversation.Run, *agent) {
	t.Helper()
	run, err := s.Start(conversation.Spec{Agent: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	return run, connect(t, run, opts, func(c *acp.Conn, a *agent) (*acp.Session, error) {
		go func() { a.reply(a.read(), `{"sessionId":"s1"}`) }()
		return c.NewSession(t.Context(), acp.SessionParams{Dir: "/project"})
	})
}

func connect(t *testing.T, run *conversation.Run, opts Options, open func(*acp.Conn, *agent) (*acp.Session, error)) *agent {
	t.Helper()
	fromAgent, out := io.Pipe()
	in, toAgent := io.Pipe()
	b := New(run, opts)
	c := acp.Open(fromAgent, toAgent, acp.World{Host: b, Elicitor: b}, acp.Options{})
	t.Cleanup(func() {
		c.Close()
		<-c.Done()
	})
	a := &agent{t, bufio.NewReader(in), out}
	go func() {
		a.reply(a.read(), `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true}}}`)
	}()
	init, err := c.Initialize(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session, err := open(c, a)
	if err != nil {
		t.Fatal(err)
	}
	b.opts.Close = func() error { c.Close(); return nil }
	b.Bind(session, init.Capabilities.Prompt)
	run.Attach(b)
	return a
}

func store(t *testing.T, dir string) *conversation.Store {
	t.Helper()
	s, err := conversation.Open(conversation.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func await(t *testing.T, sub *conversation.Subscription, fits func(conversation.Event) bool) conversation.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		e, err := sub.Next(ctx)
		if err != nil {
			t.Fatalf("it didn't come: %v", err)
		}
		if fits(e) {
			return e
		}
	}
}

func ofKind(kind string) func(conversation.Event) bool {
	return func(e conversation.Event) bool { return e.Kind == kind }
}

func prompt(t *testing.T, run *conversation.Run, item conversation.Item) {
	t.Helper()
	if _, err := run.Prompt(item, ""); err != nil {
		t.Fatal(err)
	}
}

// told returns the history without what the run says of itself and what
// people have said.
func told(t *testing.T, run *conversation.Run) []conversation.Event {
	t.Helper()
	events, _, err := run.History(0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(events, func(e conversation.Event) bool {
		return slices.Contains([]string{conversation.RunStart, conversation.StateNow, conversation.QueueNow, conversation.StepStart}, e.Kind) || e.Role == "user" || e.Ref != ""
	})
}

const permission = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c1","title":"Edit f","kind":"edit","content":[{"type":"diff","path":"/f","oldText":"a","newText":"b"}]},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}`

func TestConversation(t *testing.T) {
	run, a := begin(t, store(t, t.TempDir()), Options{})
	sub := run.Subscribe(0)
	prompt(t, run, conversation.Item{Text: "go"})
	req := a.read()
	for _, u := range []string{
		`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I "}}`,
		`{"sessionUpdate":"usage_update","used":5,"size":9,"cost":{"amount":1,"currency":"EUR"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"edit"}}`,
		`{"sessionUpdate":"plan","entries":[{"content":"x","priority":"high","status":"pending"}]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Edit","kind":"edit","status":"pending","locations":[{"path":"/f","line":3}],"rawInput":{"old":"a"}}`,
	} {
		a.update("s1", u)
	}
	a.update("other", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"wrong"}}`)
	a.send(permission)
	q := await(t, sub, ofKind(conversation.Asked))
	if q.Text != "Edit f" || len(q.Options) != 2 || q.Call == nil || *q.Call.Diff[0].Old != "a" {
		t.Errorf("asked %+v", q)
	}
	if i := run.Info(); i.State != conversation.Waiting {
		t.Error(i.State)
	}
	if err := run.Answer(q.Question, "y", "me"); err != nil {
		t.Error(err)
	}
	if got := a.read(); !strings.Contains(got.line, `"optionId":"y"`) {
		t.Errorf("the agent has %s", got.line)
	}
	for _, u := range []string{
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"content","content":{"type":"text","text":"one"}}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"content","content":{"type":"text","text":"one two"}}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"content","content":{"type":"text","text":"one two"}}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"diff","path":"/f","oldText":"a","newText":"b"}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c2","title":"Never told of","status":"failed"}`,
		`{"sessionUpdate":"session_info_update","title":"Editing f"}`,
		`{"sessionUpdate":"_new","light":1}`,
		`{"sessionUpdate":"plan","entries":7}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"done"}}`,
	} {
		a.update("s1", u)
	}
	a.reply(req, `{"stopReason":"end_turn"}`)
	if e := await(t, sub, ofKind(conversation.RunEnd)); e.Reason != conversation.Done {
		t.Errorf("ended with %+v", e)
	}
	var got []string
	for _, e := range told(t, run) {
		s := e.Kind
		switch {
		case e.Kind == conversation.Text || e.Kind == conversation.Thought:
			s += " " + e.Message + " " + e.Text
		case e.Call != nil && e.Kind != conversation.Asked:
			s += " " + e.Call.ID + " " + e.Call.Outcome + e.Text + e.Delta
		}
		got = append(got, strings.TrimSpace(s))
	}
	want := []string{"thought message-1 hm", "usage", "plan", "text message-2 I edit", "call.proposed c1", "question", "answered", "call.decided c1 allow",
		"call.started c1", "call.output c1 one", "call.output c1  two", "call.output c1", "call.finished c1 completed",
		"call.proposed c2", "call.started c2", "call.finished c2 failed", "note", "note", "note", "text m done", "run.end"}
	want = slices.DeleteFunc(want, func(s string) bool { return s == "call.output c1" })
	got = slices.DeleteFunc(got, func(s string) bool { return s == "call.output c1" })
	if !slices.Equal(got, want) {
		t.Errorf("the run has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	events := told(t, run)
	find := func(fits func(conversation.Event) bool) conversation.Event {
		i := slices.IndexFunc(events, fits)
		if i < 0 {
			t.Fatal("an event is missing")
		}
		return events[i]
	}
	if e := find(ofKind(conversation.CallProposed)); e.Call.Locations[0] != (conversation.Location{Path: "/f", Line: 3}) || !strings.Contains(string(e.Raw), "rawInput") {
		t.Errorf("proposed %+v", e)
	}
	if e := find(ofKind(conversation.CallFinished)); len(e.Call.Diff) != 1 || e.Call.OutputBytes != len("one two") {
		t.Errorf("finished %+v", e.Call)
	}
	if e := find(func(e conversation.Event) bool { return e.Reason == "_new" }); !strings.Contains(string(e.Raw), "light") {
		t.Errorf("unknown %+v", e)
	}
	if e := find(func(e conversation.Event) bool { return strings.Contains(e.Text, "can't be read") }); string(e.Raw) == "" {
		t.Errorf("unreadable %+v", e)
	}
	if i := run.Info(); i.Title != "Editing f" || i.Usage.Cost != 1 || i.State != conversation.Idle {
		t.Errorf("the info is %+v", i)
	}
}

func TestReasons(t *testing.T) {
	run, a := begin(t, store(t, t.TempDir()), Options{})
	sub := run.Subscribe(0)
	for stop, want := range map[string]string{"refusal": conversation.Refused, "max_tokens": conversation.Budget, "max_turn_requests": conversation.Budget, "cancelled": conversation.Interrupted, "end_turn": conversation.Done, "_new": conversation.Done} {
		prompt(t, run, conversation.Item{Text: "go"})
		a.reply(a.read(), fmt.Sprintf(`{"stopReason":%q}`, stop))
		if e := await(t, sub, ofKind(conversation.RunEnd)); e.Reason != want {
			t.Errorf("%s is %s, want %s", stop, e.Reason, want)
		}
	}
}

// TestCrash: the agent dies while a question is open.
func TestCrash(t *testing.T) {
	run, a := begin(t, store(t, t.TempDir()), Options{})
	sub := run.Subscribe(0)
	prompt(t, run, conversation.Item{Text: "go"})
	a.read()
	a.update("s1", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"last words"}}`)
	a.send(permission)
	await(t, sub, ofKind(conversation.Asked))
	_ = a.out.Close()
	if e := await(t, sub, ofKind(conversation.RunEnd)); e.Reason != conversation.Failed || !strings.Contains(e.Text, "the agent is gone") {
		t.Errorf("ended with %+v", e)
	}
	await(t, sub, func(e conversation.Event) bool { return e.State == conversation.Idle })
	if i := run.Info(); i.WaitingFor != "" {
		t.Errorf("it waits for %s", i.WaitingFor)
	}
	if c := told(t, run); c[0].Text != "last words" {
		t.Errorf("the last words are %+v", c[0])
	}
}

// TestCancel: an agent that takes its time is left to itself, and the next
// prompt waits for it.
func TestCancel(t *testing.T) {
	run, a := begin(t, store(t, t.TempDir()), Options{})
	sub := run.Subscribe(0)
	prompt(t, run, conversation.Item{Text: "go"})
	req := a.read()
	a.send(permission)
	await(t, sub, ofKind(conversation.Asked))
	cancelled := make(chan conversation.State, 1)
	go func() { cancelled <- run.Cancel() }()
	for range 2 { // the end of the question, and the cancellation
		if got := a.read(); got.Method != "session/cancel" && !strings.Contains(got.line, `"cancelled"`) {
			t.Errorf("the agent has %s", got.line)
		}
	}
	if state := <-cancelled; state != conversation.Idle {
		t.Error(state)
	}
	if e := await(t, sub, ofKind(conversation.RunEnd)); e.Reason != conversation.Interrupted {
		t.Errorf("ended with %+v", e)
	}
	prompt(t, run, conversation.Item{Text: "again"})
	a.reply(req, `{"stopReason":"cancelled"}`)
	a.reply(a.read(), `{"stopReason":"end_turn"}`)
	if e := await(t, sub, ofKind(conversation.RunEnd)); e.Reason != conversation.Done {
		t.Errorf("ended with %+v", e)
	}
}

func TestDecide(t *testing.T) {
	answer := "n"
	run, a := begin(t, store(t, t.TempDir()), Options{Decide: func(context.Context, acp.PermissionRequest) (string, string) { return answer, "rule 1" }})
	sub := run.Subscribe(0)
	prompt(t, run, conversation.Item{Text: "go"})
	req := a.read()
	a.send(permission)
	if got := a.read(); !strings.Contains(got.line, `"optionId":"n"`) {
		t.Errorf("the agent has %s", got.line)
	}
	if e := await(t, sub, ofKind(conversation.CallDecided)); e.Call.Outcome != "deny" || e.By != "rule 1" {
		t.Errorf("decided %+v", e)
	}
	a.reply(req, `{"stopReason":"end_turn"}`)
	await(t, sub, ofKind(conversation.RunEnd))
	if slices.ContainsFunc(told(t, run), ofKind(conversation.Asked)) {
		t.Error("people were asked")
	}
}

// TestLoad: a session is loaded after a restart, and its history is not told
// again.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	s := store(t, dir)
	run, a := begin(t, s, Options{})
	prompt(t, run, conversation.Item{Text: "go"})
	req := a.read()
	a.update("s1", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"said"}}`)
	sub := run.Subscribe(0)
	a.reply(req, `{"stopReason":"end_turn"}`)
	await(t, sub, ofKind(conversation.RunEnd))
	await(t, sub, func(e conversation.Event) bool { return e.State == conversation.Idle })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	before, err := store(t, dir).Get(run.ID())
	if err != nil {
		t.Fatal(err)
	}
	was := len(told(t, before))
	if before.Info().Ref != "s1" {
		t.Errorf("the info is %+v", before.Info())
	}
	a = connect(t, before, Options{DropHistory: true}, func(c *acp.Conn, a *agent) (*acp.Session, error) {
		go func() {
			req := a.read()
			a.update("s1", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"said"}}`)
			a.reply(req, `null`)
		}()
		return c.LoadSession(t.Context(), "s1", acp.SessionParams{Dir: "/project"})
	})
	if now := len(told(t, before)); now != was {
		t.Errorf("%d events, were %d", now, was)
	}
	sub = before.Subscribe(0)
	prompt(t, before, conversation.Item{Text: "more"})
	a.update("s1", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"new"}}`)
	a.reply(a.read(), `{"stopReason":"end_turn"}`)
	await(t, sub, func(e conversation.Event) bool { return e.Text == "new" })
	said := 0
	for _, e := range told(t, before) {
		if e.Text == "said" {
			said++
		}
	}
	if said != 1 {
		t.Errorf("it was said %d times", said)
	}
}

// TestOtherSessions: a connection may have more sessions than the run's.
func TestOtherSessions(t *testing.T) {
	run, err := store(t, t.TempDir()).Start(conversation.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	b := New(run, Options{})
	b.Bind(&acp.Session{ID: "s1"}, acp.PromptCapabilities{})
	for _, session := range []string{"s1", "s2"} {
		b.Update(t.Context(), acp.Update{Session: session, Kind: "_new", Raw: json.RawMessage(`"` + session + `"`)})
	}
	if c := told(t, run); len(c) != 1 || string(c[0].Raw) != `"s1"` {
		t.Errorf("told %+v", c)
	}
}

// TestManyCalls: an agent that begins calls and ends none is forgotten in part.
func TestManyCalls(t *testing.T) {
	run, err := store(t, t.TempDir()).Start(conversation.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	b := New(run, Options{})
	long := strings.Repeat("x", 8<<20)
	for i := range 20 {
		b.tool(acp.ToolCall{ID: fmt.Sprint("long", i), Content: []acp.ToolContent{{Type: "diff", Path: "/f", NewText: long}}}, acp.Update{})
	}
	if b.texts > maxTexts || len(b.calls) != 8 || len(b.order) != 8 {
		t.Errorf("%d calls hold %d bytes", len(b.calls), b.texts)
	}
	b.tool(acp.ToolCall{ID: "long19", Status: acp.StatusCompleted}, acp.Update{})
	if b.texts != 7*len(long) {
		t.Errorf("they hold %d bytes after the end of one", b.texts)
	}
	for i := range 2 * maxCalls {
		b.tool(acp.ToolCall{ID: fmt.Sprint(i)}, acp.Update{})
	}
	if len(b.calls) != maxCalls || len(b.order) != maxCalls || b.texts != 0 {
		t.Errorf("%d calls, %d bytes", len(b.calls), b.texts)
	}
}

// TestCommand: the command of a call can be ended alone while a terminal of ours runs it.
func TestCommand(t *testing.T) {
	run, err := store(t, t.TempDir()).Start(conversation.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	b := New(run, Options{})
	ours := []acp.ToolContent{{Type: acp.ShowsTerminal, Terminal: "term-1"}}
	b.tool(acp.ToolCall{ID: "ours", Title: "make", Content: ours}, acp.Update{})
	b.tool(acp.ToolCall{ID: "its own", Title: "make"}, acp.Update{})
	b.tool(acp.ToolCall{ID: "over", Title: "make", Content: ours, Status: acp.StatusCompleted}, acp.Update{})
	if got, err := b.Command("ours"); err != nil || got != (Command{"make", "term-1"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for id, want := range map[string]error{"its own": ErrItself, "over": ErrOver, "none": ErrNoCall} {
		if _, err := b.Command(id); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", id, err, want)
		}
	}
}

func TestAttachments(t *testing.T) {
	items := []conversation.Item{{Text: "see", Attachments: []conversation.Attachment{
		{Kind: "image", Data: "AAAA", Mime: "image/jpeg"},
		{Kind: "file", URI: "file:///d/f.go"},
		{Kind: "range", URI: "file:///d/f.go", Range: json.RawMessage(`{"start":{"line":1},"end":{"line":4}}`)},
		{Kind: "range", URI: "file:///d/f.go", Text: "code"},
		{Kind: "text", Text: "note"},
		{Kind: "hologram"},
	}}}
	line := func(takes acp.PromptCapabilities) string {
		var all []string
		for _, c := range blocks(items, takes) {
			all = append(all, c.Type+":"+c.Name+c.Text)
		}
		return strings.Join(all, "|")
	}
	want := "text:see|text:(There was an attachment of the kind \"image\", which you can't read.)|resource_link:f.go|text:file:///d/f.go (lines 2 to 5)|text:file:///d/f.go:\ncode|text:note|text:(There was an attachment of the kind \"hologram\", which you can't read.)"
	if got := line(acp.PromptCapabilities{}); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := line(acp.PromptCapabilities{Image: true, EmbeddedContext: true}); !strings.HasPrefix(got, "text:see|image:|") || !strings.Contains(got, "|resource:|") {
		t.Error(got)
	}
}

func TestElicit(t *testing.T) {
	run, a := begin(t, store(t, t.TempDir()), Options{})
	sub := run.Subscribe(0)
	form := `{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{"sessionId":"s1","mode":"form","message":"Set up","requestedSchema":{"type":"object","required":["a"],"properties":{"a":{"type":"string","oneOf":[{"const":"x","title":"X"}]},"b":{"type":"integer","title":"How many?"},"c":{"type":"boolean"}}}}}`
	answer := func(answers ...string) {
		t.Helper()
		a.send(form)
		for _, text := range answers {
			q := await(t, sub, ofKind(conversation.Asked))
			if err := run.Answer(q.Question, text, "me"); err != nil {
				t.Error(err)
			}
		}
	}
	answer("x", "many", "3", skip)
	if got := a.read(); string(got.Result) != `{"action":"accept","content":{"a":"x","b":3}}` {
		t.Errorf("the agent has %s", got.line)
	}
	answer(decline)
	if got := a.read(); string(got.Result) != `{"action":"decline"}` {
		t.Errorf("the agent has %s", got.line)
	}
	form = `{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"sessionId":"s1","mode":"url","message":"Look","elicitationId":"e","url":"https://example.com"}}`
	answer("accept")
	if got := a.read(); string(got.Result) != `{"action":"accept"}` {
		t.Errorf("the agent has %s", got.line)
	}
}
