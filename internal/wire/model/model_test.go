package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// ask asks the played provider over a wire.
func (p *provider) ask(ctx context.Context, wire, model string, r Request, change ...func(*Client)) (a Answer, heard []Piece, err error) {
	c := p.client(wire, model)
	for _, f := range change {
		f(c)
	}
	if r.Messages == nil {
		r.Messages = []Message{{Role: User, Blocks: []Block{{Kind: Text, Text: "hi"}}}}
	}
	a, err = c.Ask(ctx, r, func(piece Piece) { heard = append(heard, piece) })
	return a, heard, err
}

func (p *provider) client(wire, model string) *Client {
	return &Client{
		Profile: Profile{Name: "played", Wire: wire, URL: p.URL, Model: model, Cache: true, Vision: true, Chat: ChatFlags{SendReasoning: true}, Key: func() (string, error) { return "the key", nil }},
		Policy:  Policy{Base: time.Millisecond},
	}
}

func eachWire(t *testing.T, test func(t *testing.T, p *provider, wire string)) {
	t.Helper()
	for wire := range wires {
		t.Run(wire, func(t *testing.T) { test(t, newProvider(t), wire) })
	}
}

// text is what blocks of a kind say.
func text(blocks []Block, kind Kind) (all string) {
	for _, b := range blocks {
		if b.Kind == kind {
			all += b.Text
		}
	}
	return all
}

func calls(blocks []Block) (all []Block) {
	for _, b := range blocks {
		if b.Kind == Call {
			b.Kind, b.Raw = "", nil
			all = append(all, b)
		}
	}
	return all
}

// TestAnswers: what a model says comes whole, and as it comes.
func TestAnswers(t *testing.T) {
	eachWire(t, func(t *testing.T, p *provider, wire string) {
		for name, want := range scenes {
			if wire == "responses" && name == "malformed" {
				continue // a call that is not whole is no item of its own there: see TestCutCall
			}
			a, heard, err := p.ask(t.Context(), wire, name, Request{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if a.Stop != want.stop || text(a.Blocks, Text) != want.text || text(a.Blocks, Reasoning) != want.think || a.Model != name+"-1" {
				t.Errorf("%s: %+v", name, a)
			}
			args := ""
			want.calls = slices.Clone(want.calls)
			for i, c := range want.calls {
				args += c.Args
				if c.Args == "" {
					want.calls[i].Args = "{}"
				}
			}
			equal := func(a, b Block) bool { return a.ID == b.ID && a.Name == b.Name && a.Args == b.Args }
			if got := calls(a.Blocks); !slices.EqualFunc(got, want.calls, equal) {
				t.Errorf("%s: calls %+v, want %+v", name, got, want.calls)
			}
			var said, thought, wrote string
			for _, h := range heard {
				switch h.Kind {
				case Text:
					said += h.Text
				case Reasoning:
					thought += h.Text
				case Call:
					wrote += h.Text
				}
			}
			if said != want.text || thought != want.think || len(wrote) != len(args) {
				t.Errorf("%s: heard %q, thought %q, calls %q", name, said, thought, wrote)
			}
			u := a.Usage
			if u.CacheRead != 90 || u.Output != 42 || u.Input+u.CacheWrite != 15 {
				t.Errorf("%s: usage %+v", name, u)
			}
		}
	})
}

// TestCutCall: arguments that were cut off are no call with fewer arguments.
func TestCutCall(t *testing.T) {
	for _, wire := range []string{"anthropic", "chat"} {
		p := newProvider(t)
		a, _, err := p.ask(t.Context(), wire, "malformed", Request{})
		if err != nil {
			t.Fatal(err)
		}
		got := calls(a.Blocks)
		if a.Stop != Length || len(got) != 1 || got[0].Readable() || got[0].Args != `{"path":"x.txt","content":"half` {
			t.Errorf("%s: %+v", wire, a)
		}
		again := []Message{{Role: User, Blocks: []Block{{Kind: Text, Text: "hi"}}}, {Role: Assistant, Blocks: a.Blocks}, {Role: User, Blocks: []Block{{Kind: Result, ID: "t1", Text: "no JSON", Failed: true}}}}
		if _, _, err := p.ask(t.Context(), wire, "text", Request{Messages: again}); err != nil {
			t.Fatal(err)
		}
		if body := string(p.bodies["text"][0]); !json.Valid([]byte(body)) || !strings.Contains(body, "_unreadable_arguments") {
			t.Errorf("%s: it is sent back as %s", wire, body)
		}
	}
	for args, want := range map[string]bool{`{}`: true, `{"a":1}`: true, ``: false, `null`: false, `[]`: false, `{"a":1`: false, `{"a":1}}`: false} {
		if got := (Block{Kind: Call, Args: args}).Readable(); got != want {
			t.Errorf("%s: readable %v", args, got)
		}
	}
}

// TestSentBack: what only the provider understands goes back to it as it came, and to
// nobody else.
func TestSentBack(t *testing.T) {
	eachWire(t, func(t *testing.T, p *provider, wire string) {
		a, _, err := p.ask(t.Context(), wire, "reasons", Request{})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := json.Marshal(a.Blocks) // as a journal keeps them
		if err != nil {
			t.Fatal(err)
		}
		var blocks []Block
		if err := json.Unmarshal(kept, &blocks); err != nil {
			t.Fatal(err)
		}
		next := Request{Messages: []Message{
			{Role: User, Blocks: []Block{{Kind: Text, Text: "hi"}}}, {Role: Assistant, Blocks: blocks},
			{Role: User, Blocks: []Block{{Kind: Result, ID: "t1", Text: "package a"}, {Kind: Text, Text: "go on"}}},
		}}
		for _, model := range []string{"reasons", "text"} {
			if _, _, err := p.ask(t.Context(), wire, model, next); err != nil {
				t.Fatal(err)
			}
		}
		own := map[string][]string{
			"anthropic": {`{"signature":"SIG==","thinking":"I should look.","type":"thinking"}`, `{"data":"SECRET","type":"redacted_thinking"}`},
			"chat":      {`"extra_content":{"google":{"thought_signature":"THOUGHT=="}}`, `"reasoning_details":[{"index":0,"signature":"SIG","text":"details","type":"reasoning.text"}]`},
			"responses": {`"encrypted_content":"SECRET"`, `"id":"rs_1"`},
		}[wire]
		for _, want := range own {
			if body := string(p.bodies["reasons"][1]); !strings.Contains(body, want) {
				t.Errorf("sent back: %s\nwithout %s", body, want)
			}
			if body := string(p.bodies["text"][0]); strings.Contains(body, want) {
				t.Errorf("another model gets %s", want)
			}
		}
		for _, body := range []json.RawMessage{p.bodies["reasons"][1], p.bodies["text"][0]} {
			for _, want := range []string{"Looking.", "package a", "go on", "read_file", "t1"} {
				if !strings.Contains(string(body), want) {
					t.Errorf("%s\nhas no %s", body, want)
				}
			}
		}
		if other := text(blocks, Reasoning); wire == "chat" != strings.Contains(string(p.bodies["text"][0]), other) {
			t.Errorf("the reasoning %q in %s", other, p.bodies["text"][0])
		}
	})
}

// TestRetries: what may go well later is asked again, so often and after so long as the
// policy and the provider say; what was heard before is void then.
func TestRetries(t *testing.T) {
	eachWire(t, func(t *testing.T, p *provider, wire string) {
		for model, want := range map[string]struct {
			asked int
			cause Cause // of the failure; "": it goes well
			after time.Duration
		}{
			"limited":      {2, "", 30 * time.Millisecond},
			"limited long": {1, Limit, time.Hour},
			"busy twice":   {3, "", 0},
			"busy":         {3, Busy, 0},
			"cut once":     {2, "", 0},
			"cut":          {3, Cut, 0},
			"half":         {3, Cut, 0},
			"fails once":   {2, "", 0},
			"garbled":      {3, Garbled, 0},
			"bad":          {1, Rejected, 0},
			"bad key":      {1, Key, 0},
			"absent":       {1, Missing, 0},
			"unpaid":       {1, Credit, 0},
			"too long":     {1, TooLong, 0},
			"elsewhere":    {1, Rejected, 0},
		} {
			a, heard, err := p.ask(t.Context(), wire, model, Request{})
			f := FailureOf(err)
			if p.asked[model] != want.asked || (f == nil) != (want.cause == "") || f != nil && (f.Cause != want.cause || f.After != want.after) {
				t.Errorf("%s: asked %d times, %v", model, p.asked[model], err)
			}
			if cut := int64(min(want.asked, p.asked[model])); wire == "anthropic" && want.cause == Cut && (a.Lost != Usage{Input: 10 * cut, Output: cut, CacheRead: 90 * cut, CacheWrite: 5 * cut}) {
				t.Errorf("%s: lost is %+v", model, a.Lost)
			}
			if f != nil && len(a.Blocks) > 0 {
				t.Errorf("%s: a failure has the answer %+v", model, a)
			}
			again, said := 0, ""
			for _, h := range heard {
				if h.Again != nil {
					again, said = again+1, ""
					if want.after > 0 && h.Again.After != want.after {
						t.Errorf("%s: it waits %v", model, h.Again.After)
					}
				}
				said += h.Text
			}
			if again != want.asked-1 || f == nil && said != "Hello, wörld." {
				t.Errorf("%s: told of %d more tries, heard %q", model, again, said)
			}
		}
	})
}

// TestNoCalls: a model that may call nothing is sent its tools all the same, because caches
// begin with them.
func TestNoCalls(t *testing.T) {
	eachWire(t, func(t *testing.T, p *provider, wire string) {
		r := Request{Tools: []Tool{{Name: "read_file", Schema: json.RawMessage(`{}`)}}}
		for _, no := range []bool{false, true} {
			r.NoCalls = no
			if _, _, err := p.ask(t.Context(), wire, "text", r); err != nil {
				t.Fatal(err)
			}
		}
		choice := map[string]string{"anthropic": `"tool_choice":{"type":"none"}`}[wire]
		if choice == "" {
			choice = `"tool_choice":"none"`
		}
		for n, body := range p.bodies["text"] {
			if strings.Contains(string(body), choice) != (n == 1) || !strings.Contains(string(body), "read_file") {
				t.Errorf("request %d is %s", n, body)
			}
		}
	})
}

// TestQuiet: a stream on which nothing comes is dead; until it begins it may take longer.
func TestQuiet(t *testing.T) {
	eachWire(t, func(t *testing.T, p *provider, wire string) {
		_, _, err := p.ask(t.Context(), wire, "quiet", Request{}, func(c *Client) { c.Policy = Policy{Tries: 1, Idle: 50 * time.Millisecond} })
		if f := FailureOf(err); f == nil || f.Cause != Quiet {
			t.Errorf("it ended by %v", err)
		}
		<-p.gone
		for start, want := range map[time.Duration]Cause{0: Quiet, time.Minute: ""} {
			_, _, err := p.ask(t.Context(), wire, "slow", Request{}, func(c *Client) { c.Policy = Policy{Tries: 1, Idle: 50 * time.Millisecond, Start: start} })
			if f := FailureOf(err); (f == nil) != (want == "") || f != nil && f.Cause != want {
				t.Errorf("one that begins late ended by %v, want %q", err, want)
			}
		}
	})
}

// TestCancelled: the provider sees it at once.
func TestCancelled(t *testing.T) {
	eachWire(t, func(t *testing.T, p *provider, wire string) {
		ctx, cancel := context.WithCancel(t.Context())
		c := p.client(wire, "cancelled")
		_, err := c.Ask(ctx, Request{Messages: []Message{{Role: User, Blocks: []Block{{Kind: Text, Text: "hi"}}}}}, func(Piece) { cancel() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ended by %v", err)
		}
		<-p.gone
		if p.asked["cancelled"] != 1 {
			t.Errorf("asked %d times", p.asked["cancelled"])
		}
	})
	t.Run("while it waits", func(t *testing.T) {
		p := newProvider(t)
		ctx, cancel := context.WithCancel(t.Context())
		c := p.client("chat", "busy")
		c.Policy.Base = time.Hour
		_, err := c.Ask(ctx, Request{}, func(piece Piece) { cancel() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ended by %v", err)
		}
	})
}

// TestUnreachable: nobody is there, or no key is.
func TestUnreachable(t *testing.T) {
	p := newProvider(t)
	for name, c := range map[string]struct {
		change func(*Client)
		cause  Cause
	}{
		"nobody": {func(c *Client) { c.Profile.URL = "http://127.0.0.1:1" }, Network},
		"no key": {func(c *Client) {
			c.Profile.Key = func() (string, error) { return "", errors.New("LAB_KEY is not set") }
		}, Key},
		"no wire": {func(c *Client) { c.Profile.Wire = "telegraph" }, Rejected},
		"no url":  {func(c *Client) { c.Profile.URL = "::" }, Rejected},
	} {
		_, _, err := p.ask(t.Context(), "chat", "text", Request{}, c.change)
		if f := FailureOf(err); f == nil || f.Cause != c.cause || strings.Contains(err.Error(), "the key") && c.cause != Key {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(p.asked) > 0 {
		t.Errorf("asked: %v", p.asked)
	}
}

// TestStablePrefix: a request begins as the one before it did, byte for byte.
func TestStablePrefix(t *testing.T) {
	eachWire(t, func(t *testing.T, p *provider, wire string) {
		r := Request{System: "You are <one> & only.", Tools: []Tool{{"read_file", "reads", json.RawMessage(`{"type":"object"}`)}}}
		var before string
		for i := range 3 {
			r.Messages = append(r.Messages, Message{User, []Block{{Kind: Text, Text: "turn"}}}, Message{Assistant, []Block{{Kind: Text, Text: "ok"}}})
			if _, _, err := p.ask(t.Context(), wire, "text", r, func(c *Client) { c.Profile.Cache = false }); err != nil {
				t.Fatal(err)
			}
			list := map[string]string{"anthropic": "messages", "chat": "messages", "responses": "input"}[wire]
			var body map[string]json.RawMessage
			if err := json.Unmarshal(p.bodies["text"][i], &body); err != nil {
				t.Fatal(err)
			}
			now := strings.TrimSuffix(string(body[list]), "]")
			if !strings.HasPrefix(now, before) {
				t.Errorf("%s\ndoes not begin with\n%s", now, before)
			}
			before = now
		}
		if body := string(p.bodies["text"][0]); !strings.Contains(body, "<one> & only") {
			t.Errorf("what is inside is escaped: %s", body)
		}
	})
}

// TestMarks: what may be cached is marked at four places at most.
func TestMarks(t *testing.T) {
	p := newProvider(t)
	r := Request{System: "s", Tools: []Tool{{Name: "a", Schema: json.RawMessage(`{}`)}, {Name: "b", Schema: json.RawMessage(`{}`)}}}
	for range 4 {
		r.Messages = append(r.Messages, Message{User, []Block{{Kind: Text, Text: "turn"}}}, Message{Assistant, []Block{{Kind: Text, Text: "ok"}}})
	}
	if _, _, err := p.ask(t.Context(), "anthropic", "text", r); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(p.bodies["text"][0]), "cache_control"); n != 4 {
		t.Errorf("%d marks: %s", n, p.bodies["text"][0])
	}
}

// TestImages: they are sent to models that see, and to no others.
func TestImages(t *testing.T) {
	eachWire(t, func(t *testing.T, p *provider, wire string) {
		image := Block{Kind: Image, Media: "image/png", Data: []byte("PNG"), Text: "an image, 800×600"}
		r := Request{Messages: []Message{
			{User, []Block{image}}, {Assistant, []Block{{Kind: Text, Text: "what is it?"}}}, {User, []Block{{Kind: Text, Text: "look"}, image}}, {Assistant, []Block{{Kind: Call, ID: "t1", Name: "shot", Args: "{}"}}},
			{User, []Block{{Kind: Result, ID: "t1", Text: "a picture", Images: []Block{image}}}},
		}}
		for i, sees := range []bool{true, false} {
			if _, _, err := p.ask(t.Context(), wire, "text", r, func(c *Client) { c.Profile.Vision = sees }); err != nil {
				t.Fatal(err)
			}
			want := 0
			if sees {
				want = 3
			}
			if n := strings.Count(string(p.bodies["text"][i]), "UE5H"); n != want {
				t.Errorf("%d images are sent, want %d: %s", n, want, p.bodies["text"][i])
			}
			if n := strings.Count(string(p.bodies["text"][i]), "[an image, 800×600, not shown to this model]"); n != 3-want {
				t.Errorf("of %d images it is told that they are not shown, want %d: %s", n, 3-want, p.bodies["text"][i])
			}
		}
	})
}

// TestManyPieces: what is long and comes in small pieces is not copied for each of them,
// which takes a minute for a megabyte.
func TestManyPieces(t *testing.T) {
	const n, most = 16 << 10, 400 << 20
	piece := strings.Repeat("x", 16)
	for wire, kinds := range map[string][][]string{
		"anthropic": {
			{`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + piece + `"}}`},
			{`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"` + piece + `"}}`},
			{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"b","input":{}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + piece + `"}}`},
		},
		"chat": {
			{`{}`, `{"choices":[{"delta":{"content":"` + piece + `"}}]}`},
			{`{}`, `{"choices":[{"delta":{"reasoning_content":"` + piece + `"}}]}`},
			{`{}`, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"b","arguments":"` + piece + `"}}]}}]}`},
		},
	} {
		for _, events := range kinds {
			l := wires[wire].listen(Profile{}, func(Piece) {})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for i := range n + 1 {
				if _, err := l.event([]byte(events[min(i, 1)])); err != nil {
					t.Fatal(err)
				}
			}
			b := l.answer().Blocks[0]
			runtime.ReadMemStats(&after)
			if len(b.Text+b.Args) != n*len(piece) {
				t.Errorf("%s: of %s there are %d bytes", wire, events[1], len(b.Text+b.Args))
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > most {
				t.Errorf("%s: %s takes %d MB", wire, events[1], took>>20)
			}
		}
	}
}

func TestAfter(t *testing.T) {
	for said, want := range map[string]time.Duration{"2": 2 * time.Second, "0.5": time.Second / 2, "": 0, "x": 0, "-1": 0, "Wed, 21 Oct 2015 07:28:00 GMT": 0} {
		if got := after(map[string][]string{"Retry-After": {said}}); got != want {
			t.Errorf("%q: %v, want %v", said, got, want)
		}
	}
	soon := time.Now().Add(time.Minute).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
	if got := after(map[string][]string{"Retry-After": {soon}}); got <= 0 || got > time.Minute {
		t.Errorf("%s: %v", soon, got)
	}
}

// TestKeyQuoted: a provider's words have no key in them, wherever they come.
func TestKeyQuoted(t *testing.T) {
	for wire := range wires {
		for name, status := range map[string]int{"refused": http.StatusBadRequest, "in the stream": http.StatusOK} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				said := `{"type":"error","error":{"type":"invalid_request_error","message":"what is ` + r.Header.Get("X-Api-Key") + r.Header.Get("Authorization") + ` for?"}}`
				if status == http.StatusOK {
					said = "data: " + said + "\n\n"
				}
				w.WriteHeader(status)
				fmt.Fprint(w, said)
			}))
			c := &Client{Profile: Profile{Wire: wire, URL: s.URL, Model: "m", Key: func() (string, error) { return "a-secret", nil }}}
			_, err := c.Ask(t.Context(), Request{}, nil)
			if err == nil || strings.Contains(err.Error(), "a-secret") || !strings.Contains(err.Error(), "[the key] for?") {
				t.Errorf("%s, %s: %v", wire, name, err)
			}
			s.Close()
		}
	}
}
