package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

const permissionParams = `{"sessionId":"s1","toolCall":{"toolCallId":"c1","title":"rm"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}`

func TestVersions(t *testing.T) {
	for _, test := range []struct {
		reply string
		want  string // "" is success
	}{
		{`{"protocolVersion":1}`, ""},
		{`{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}`, "asked for version 1 and answers with 2: use an older release of the agent"},
		{`{"protocolVersion":3}`, "use an older release of the agent"},
		{`{"protocolVersion":0}`, "use a newer release"},
		{`{"protocolVersion":"2025-06-18"}`, "no version number"},
		{`{}`, "no version number"},
		{`null`, "no version number"},
		{`[1]`, "no version number"},
		{`{"protocolVersion":-1}`, "use a newer release"},
		{`{"protocolVersion":1,"agentInfo":7}`, "can't be read"},
	} {
		c, a := dial(t, newWorld().world(), Options{})
		go func() {
			asked := a.expect("initialize")
			if !strings.Contains(string(asked.Params), `"protocolVersion":1,`) && !strings.Contains(string(asked.Params), `"protocolVersion":1}`) {
				t.Errorf("asked with %s", asked.Params)
			}
			a.reply(asked, test.reply)
		}()
		_, err := c.Initialize(t.Context())
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.reply, err, test.want)
		}
	}
}

// TestRefusedVersion: what an agent says of its versions is shown as far as it is numbers.
func TestRefusedVersion(t *testing.T) {
	many := strings.Repeat("7,", 10000) + "8,9,10,11,12,13,14,15,16,17,18,19"
	for _, test := range []struct{ data, want string }{
		{`{"requested":1,"supported":[2]}`, "asked for version 1 and speaks 2"},
		{`{"requested":1,"supported":[3,2,3]}`, "speaks 3, 2"},
		{`{"supported":["2",-1,70000,null,{},2.5,4]}`, "speaks 4"},
		{`{"supported":[` + many + `]}`, "speaks 7, 8, 9, 10, 11, 12, 13, 14, 15, 16"},
		{`{"supported":[]}`, "does not say which it speaks"},
		{`{"supported":"2"}`, "does not say which it speaks"},
		{`[2]`, "does not say which it speaks"},
		{`"2"`, "does not say which it speaks"},
		{`null`, "does not say which it speaks"},
	} {
		c, a := dial(t, newWorld().world(), Options{})
		go func() {
			req := a.expect("initialize")
			a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"Unsupported","data":%s}}`, req.ID, test.data))
		}()
		if _, err := c.Initialize(t.Context()); !errors.Is(err, ErrVersion) || !strings.HasSuffix(err.Error(), test.want) {
			t.Errorf("%.200s: %v, want %q", test.data, err, test.want)
		}
	}
	c, a := dial(t, newWorld().world(), Options{})
	go func() {
		req := a.expect("initialize")
		a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Broken","data":{"supported":[2]}}}`, req.ID))
	}()
	if _, err := c.Initialize(t.Context()); err == nil || errors.Is(err, ErrVersion) {
		t.Errorf("another error: %v", err)
	}
}

func TestLongLines(t *testing.T) {
	w := newWorld()
	c, a := dial(t, w.world(), Options{MaxLine: 1000})
	s := open(t, c, a)
	long := strings.Repeat("x", 2000)

	got := a.ask("7", "fs/write_text_file", `{"sessionId":"s1","path":"/f","content":"`+long+`"}`)
	if got.Error == nil || got.Error.Code != CodeInvalidRequest || !strings.Contains(got.Error.Message, "in parts") {
		t.Errorf("a long request got %s", got.line)
	}
	// The id behind what is long is found, too; a nested one is not it.
	a.send(`{"jsonrpc":"2.0","method":"fs/write_text_file","params":{"id":1,"content":"` + long + `\"}"},"id":"eight"}`)
	if got := a.read(); string(got.ID) != `"eight"` {
		t.Errorf("a long request got %s", got.line)
	}
	prompt, end := prompting(t, s, a)
	a.reply(prompt, `{"stopReason":"end_turn","_meta":"`+long+`"}`)
	if e := get(t, end); e.err == nil || !strings.Contains(e.err.Error(), "a message may have 1000") {
		t.Errorf("a long answer gave %v", e.err)
	}
	got = a.ask("9", "fs/write_text_file", `{"sessionId":"s1","path":"/f","content":"short"}`)
	if got.Error != nil {
		t.Errorf("the control got %s", got.line)
	}
}

// TestHugeLine has a line of 100 MB, of which nothing may be kept.
func TestHugeLine(t *testing.T) {
	c, a := dial(t, newWorld().world(), Options{MaxLine: 1 << 20})
	open(t, c, a)
	part := []byte(strings.Repeat("y", 1<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	go func() {
		_, _ = io.WriteString(a.out, `{"jsonrpc":"2.0","id":5,"method":"fs/write_text_file","params":{"content":"`)
		for range 100 {
			_, _ = a.out.Write(part)
		}
		_, _ = io.WriteString(a.out, `"}}`+"\n")
	}()
	if got := a.read(); string(got.ID) != "5" || got.Error == nil {
		t.Errorf("the line got %s", got.line)
	}
	runtime.ReadMemStats(&after)
	if kept := after.TotalAlloc - before.TotalAlloc; kept > 20<<20 {
		t.Errorf("%d bytes were allocated for it", kept)
	}
	if got := a.ask("6", "fs/write_text_file", `{"sessionId":"s1","path":"/f","content":"short"}`); got.Error != nil {
		t.Errorf("the control got %s", got.line)
	}
}

func TestBadMessages(t *testing.T) {
	w := newWorld()
	w.files["/f"] = "text"
	c, a := dial(t, w.world(), Options{})
	open(t, c, a)
	for _, test := range []struct {
		line, id string
		code     int64
	}{
		{`{"jsonrpc":`, "null", CodeParse},
		{`{"id":1,"method":5}`, "1", CodeInvalidRequest},
		{`{"id":{},"method":"fs/read_text_file"}`, "null", CodeInvalidRequest},
		{`{"id":2}`, "2", CodeInvalidRequest},
		{`[{"id":3,"method":"x"}]`, "null", CodeInvalidRequest},
		{`{"id":4,"method":"fs/read_text_file"}`, "4", CodeInvalidParams},
		{`{"id":4,"method":"fs/read_text_file","params":[]}`, "4", CodeInvalidParams},
		{`{"id":4,"method":"fs/read_text_file","params":{"sessionId":"other","path":"/f"}}`, "4", CodeInvalidParams},
		{`{"id":4,"method":"fs/read_text_file","params":{"sessionId":7,"path":"/f"}}`, "4", CodeInvalidParams},
		{`{"id":4,"method":"fs/read_text_file","params":{"sessionId":"s1","path":["/f"]}}`, "4", CodeInvalidParams},
		{`{"id":4,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"f"}}`, "4", CodeInvalidParams},
		{`{"id":4,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/none"}}`, "4", CodeNotFound},
		{`{"id":4,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/f"}}`, "4", CodeInvalidParams},
		{`{"id":4,"method":"terminal/output","params":{"sessionId":"s1","terminalId":"none"}}`, "4", CodeNotFound},
		{`{"id":4,"method":"terminal/create","params":{"sessionId":"s1"}}`, "4", CodeInvalidParams},
		{`{"id":4,"method":"terminal/create","params":{"sessionId":"s1","command":"missing"}}`, "4", CodeNotFound},
		{`{"id":4,"method":"session/request_permission","params":{"sessionId":"s1","options":[]}}`, "4", CodeInvalidParams},
		{`{"id":4,"method":"elicitation/create","params":{"sessionId":"s1","mode":"_dance","message":"?"}}`, "4", CodeInvalidParams},
		{`{"id":"five","method":"_vendor/thing","params":{}}`, `"five"`, CodeMethodNotFound},
	} {
		a.send(test.line)
		got := a.read()
		if string(got.ID) != test.id || got.Error == nil || got.Error.Code != test.code {
			t.Errorf("%s got %s", test.line, got.line)
		}
	}
	if got := a.ask("9", "fs/read_text_file", `{"sessionId":"s1","path":"/f"}`); string(got.Result) != `{"content":"text"}` {
		t.Errorf("the control got %s", got.line)
	}
}

// TestNoise: agents print logs where only messages belong, and answer what
// nobody has asked.
func TestNoise(t *testing.T) {
	w := newWorld()
	c, a := dial(t, w.world(), Options{})
	s := open(t, c, a)
	prompt, end := prompting(t, s, a)
	a.send("warning: no key", "", "   ", `"text"`, `{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","id":"1","result":{}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"what?"}}`, `{"jsonrpc":"2.0","method":"session/update","params":7}`)
	a.reply(prompt, `{"stopReason":"end_turn"}`)
	a.reply(prompt, `{"stopReason":"refusal"}`) // once more
	get(t, end).want(t, StopEndTurn)
	prompt, end = prompting(t, s, a)
	a.reply(prompt, `{"stopReason":"max_tokens"}`)
	get(t, end).want(t, StopMaxTokens)
	if got, want := c.Stats(), (Stats{Noise: 2, Bad: 1, Replies: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestNoiseIsAnsweredOnlySoOften(t *testing.T) {
	c, a := dial(t, newWorld().world(), Options{})
	open(t, c, a)
	const n = maxRefused + 50
	go func() {
		for range n {
			a.send("{bad")
		}
		a.request("1", "none", "{}")
	}()
	answers := 0
	for ; string(a.read().ID) != "1"; answers++ {
	}
	if answers != maxRefused || c.Stats().Bad != n {
		t.Errorf("%d answers to %d messages", answers, c.Stats().Bad)
	}
}

func TestReusedID(t *testing.T) {
	w := newWorld()
	answer := make(chan string)
	w.permit = func(ctx context.Context, r PermissionRequest) (string, error) { return <-answer, nil }
	c, a := dial(t, w.world(), Options{})
	open(t, c, a)
	a.request("1", "session/request_permission", permissionParams)
	a.request("1", "fs/read_text_file", `{"sessionId":"s1","path":"/f"}`)
	if got := a.read(); string(got.ID) != "null" || !strings.Contains(got.line, "an id of its own") {
		t.Errorf("the second got %s", got.line)
	}
	answer <- "yes"
	if got := a.read(); string(got.ID) != "1" || !strings.Contains(got.line, `"optionId":"yes"`) {
		t.Errorf("the first got %s", got.line)
	}
	go func() { answer <- "no" }() // the id is free again
	if got := a.ask("1", "session/request_permission", permissionParams); !strings.Contains(got.line, `"optionId":"no"`) {
		t.Errorf("the control got %s", got.line)
	}
}

func TestTooManyRequests(t *testing.T) {
	w := newWorld()
	answer := make(chan string)
	w.permit = func(ctx context.Context, r PermissionRequest) (string, error) { return <-answer, nil }
	c, a := dial(t, w.world(), Options{MaxRequests: 2})
	open(t, c, a)
	a.request("1", "session/request_permission", permissionParams)
	a.request("2", "session/request_permission", permissionParams)
	if got := a.ask("3", "session/request_permission", permissionParams); got.Error == nil || !strings.Contains(got.line, "wait for their answers") {
		t.Errorf("the third got %s", got.line)
	}
	answer <- "yes"
	if got := a.read(); got.Error != nil {
		t.Errorf("got %s", got.line)
	}
	go func() { answer <- "yes"; answer <- "yes" }()
	a.request("4", "session/request_permission", permissionParams)
	for range 2 {
		if got := a.read(); got.Error != nil {
			t.Errorf("got %s", got.line)
		}
	}
}

// TestPermissionIsAnsweredOnce: the turn is cancelled while a person thinks, and
// the person answers all the same.
func TestPermissionIsAnsweredOnce(t *testing.T) {
	w := newWorld()
	asked, late := make(chan bool), make(chan bool)
	w.permit = func(ctx context.Context, r PermissionRequest) (string, error) {
		asked <- true
		<-late // against the contract
		return "yes", nil
	}
	c, a := dial(t, w.world(), Options{})
	s := open(t, c, a)
	prompt, end := prompting(t, s, a)
	a.request("1", "session/request_permission", permissionParams)
	a.request("2", "session/request_permission", permissionParams)
	<-asked
	<-asked
	done := make(chan bool)
	go func() { s.Cancel(); close(done) }()
	seen := map[string]int{}
	for range 3 {
		got := a.read()
		switch {
		case got.Method == "session/cancel":
		case !strings.Contains(got.line, `{"outcome":"cancelled"}`):
			t.Errorf("got %s", got.line)
		}
		seen[string(got.ID)]++
	}
	<-done
	if seen["1"] != 1 || seen["2"] != 1 || seen[""] != 1 {
		t.Errorf("the agent has seen %v", seen)
	}
	// Whoever asks after the cancellation gets the same, and nobody is asked.
	if got := a.ask("3", "session/request_permission", permissionParams); !strings.Contains(got.line, `"cancelled"`) {
		t.Errorf("got %s", got.line)
	}
	close(late)
	a.reply(prompt, `{"stopReason":"cancelled"}`)
	get(t, end).want(t, StopCancelled)
	// The next turn asks again; had a late answer been sent, it would be read here.
	prompt, end = prompting(t, s, a)
	go func() { <-asked }()
	if got := a.ask("4", "session/request_permission", permissionParams); !strings.Contains(got.line, `"yes"`) {
		t.Errorf("the control got %s", got.line)
	}
	a.reply(prompt, `{"stopReason":"end_turn"}`)
	get(t, end).want(t, StopEndTurn)
}

// TestNoPermissionByAccident: what is no option, an error and a panic permit
// nothing.
func TestNoPermissionByAccident(t *testing.T) {
	w := newWorld()
	c, a := dial(t, w.world(), Options{})
	open(t, c, a)
	for i, permit := range []func() (string, error){
		func() (string, error) { return "maybe", nil },
		func() (string, error) { return "", nil },
		func() (string, error) { return "yes", errors.New("nobody is there") },
		func() (string, error) { panic("a bug") },
	} {
		w.permit = func(context.Context, PermissionRequest) (string, error) { return permit() }
		if got := a.ask(fmt.Sprint(i), "session/request_permission", permissionParams); !strings.Contains(got.line, `"cancelled"`) {
			t.Errorf("%d got %s", i, got.line)
		}
	}
	w.permit = func(context.Context, PermissionRequest) (string, error) { return "no", nil }
	if got := a.ask("9", "session/request_permission", permissionParams); !strings.Contains(got.line, `"no"`) {
		t.Errorf("the control got %s", got.line)
	}
}

// TestFlood: an agent that tells more than the host takes waits in its pipe.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		hold := make(chan bool)
		n := 0
		w.onUpdate = func(Update) {
			if n++; n == 1 {
				<-hold
			}
		}
		c, a := dial(t, w.world(), Options{MaxQueued: 64 << 10})
		s := open(t, c, a)
		prompt, end := prompting(t, s, a)
		const flood = 4000
		text := strings.Repeat("z", 1000)
		var sent atomic.Int64
		go func() {
			for range flood {
				a.say("s1", text)
				sent.Add(1)
			}
			a.reply(prompt, `{"stopReason":"end_turn"}`)
		}()
		synctest.Wait()
		if sent.Load() > 400 {
			t.Errorf("%d updates are sent", sent.Load())
		}
		close(hold)
		(<-end).want(t, StopEndTurn)
		if n != flood {
			t.Errorf("%d updates came before the end of the turn, want %d", n, flood)
		}
	})
}

// TestNothingAfterClose: what waits in the inbox is given up.
func TestNothingAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		hold := make(chan bool)
		n := 0
		w.onUpdate = func(Update) { n++; <-hold }
		c, a := dial(t, w.world(), Options{})
		open(t, c, a)
		for range 10 {
			a.say("s1", "x")
		}
		synctest.Wait()
		c.Close()
		close(hold)
		<-c.Done()
		if n != 1 {
			t.Errorf("%d updates were told", n)
		}
	})
}

// TestCancelBeforeThePrompt: a cancellation that comes while a prompt is on its
// way goes out after it.
func TestCancelBeforeThePrompt(t *testing.T) {
	c, a := dial(t, newWorld().world(), Options{})
	s := open(t, c, a)
	turn, err := s.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Cancel()
	if err := s.send(turn, nil); err != nil {
		t.Fatal(err)
	}
	a.expect("session/cancel")
	prompt := a.expect("session/prompt")
	a.expect("session/cancel")
	a.reply(prompt, `{"stopReason":"cancelled"}`)
	if get(t, turn.done); turn.err != nil {
		t.Error(turn.err)
	}
}

func TestUpdatesOfOtherSessions(t *testing.T) {
	w := newWorld()
	c, a := dial(t, w.world(), Options{})
	go func() {
		a.reply(a.expect("initialize"), oneLine(all))
		req := a.expect("session/new")
		a.say("s1", "early")
		a.say("other", "never")
		a.reply(req, `{"sessionId":"s1"}`)
		a.say("s1", "then")
		a.say("other", "unknown")
		req = a.expect("session/close")
		a.say("s1", "last")
		a.reply(req, `{}`)
		a.say("s1", "after the end")
		a.request("1", "none", "{}")
	}()
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSession(t.Context(), SessionParams{Dir: "/project"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"early", "then"} {
		if u := get(t, w.updates); u.Chunk == nil || u.Chunk.Content.Text != want {
			t.Errorf("got %s, want %s", u.Raw, want)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if u := get(t, w.updates); u.Chunk.Content.Text != "last" {
		t.Errorf("got %s", u.Raw)
	}
	a.read()
	if len(w.updates) > 1 || c.Stats().Updates < 2 {
		t.Errorf("%d updates are left, %+v", len(w.updates), c.Stats())
	}
	if _, err := s.Prompt(t.Context(), Text("more")); !errors.Is(err, errSessionClosed) {
		t.Errorf("a closed session: %v", err)
	}
}

// TestWritesAreInOrder: two writes and a read of a file, none waited for.
func TestWritesAreInOrder(t *testing.T) {
	w := newWorld()
	first := make(chan bool)
	w.onWrite = func(path string) {
		if path == "/f" {
			<-first
		}
	}
	c, a := dial(t, w.world(), Options{})
	open(t, c, a)
	a.request("1", "fs/write_text_file", `{"sessionId":"s1","path":"/f","content":"one"}`)
	a.request("2", "fs/write_text_file", `{"sessionId":"s1","path":"/f","content":"two"}`)
	a.request("3", "fs/read_text_file", `{"sessionId":"s1","path":"/f"}`)
	if got := a.ask("4", "fs/write_text_file", `{"sessionId":"s1","path":"/g","content":"x"}`); got.Error != nil {
		t.Errorf("another file waits: %s", got.line)
	}
	close(first)
	for range 3 {
		if got := a.read(); string(got.ID) == "3" && string(got.Result) != `{"content":"two"}` {
			t.Errorf("read %s", got.line)
		}
	}
}
