package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// provider plays one on loopback, over all wires. What it does is the name of the model
// that it is asked for: see scenes.
type provider struct {
	*httptest.Server
	t    *testing.T
	gone chan string // models whose caller went away in the middle

	mu     sync.Mutex
	asked  map[string]int
	bodies map[string][]json.RawMessage
	keys   []string
}

// scene is what a model says.
type scene struct {
	think, text string
	calls       []Block
	stop        Stop
	own         bool // it sends what only it understands
}

// scenes are those that go well; the others end in refuses or in the middle of text.
var scenes = map[string]scene{
	"text":      {text: "Hello, wörld.", stop: Done},
	"parallel":  {text: "Two reads.", stop: Calls, calls: []Block{{ID: "t1", Name: "read_file", Args: `{"path":"a.go"}`}, {ID: "t2", Name: "read_file", Args: `{"path":"b.go"}`}}},
	"split":     {stop: Calls, calls: []Block{{ID: "t1", Name: "write_file", Args: `{"path":"ü.txt","content":"a\"b\\n\u00e9 漢字 \ud83d\ude00"}`}}},
	"malformed": {stop: Length, calls: []Block{{ID: "t1", Name: "write_file", Args: `{"path":"x.txt","content":"half`}}},
	"empty":     {stop: Calls, calls: []Block{{ID: "t1", Name: "git_status"}}},
	"reasons":   {think: "I should look.", text: "Looking.", stop: Calls, own: true, calls: []Block{{ID: "t1", Name: "read_file", Args: `{"path":"a.go"}`}}},
	"refuses":   {text: "I can't help with that.", stop: Refused},
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{t: t, gone: make(chan string, 8), asked: map[string]int{}, bodies: map[string][]json.RawMessage{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q struct{ Model string }
	_ = json.Unmarshal(body, &q)
	p.mu.Lock()
	p.asked[q.Model]++
	n := p.asked[q.Model]
	p.bodies[q.Model] = append(p.bodies[q.Model], body)
	p.keys = append(p.keys, r.Header.Get("X-Api-Key")+r.Header.Get("Authorization"))
	p.mu.Unlock()
	if p.refuses(w, q.Model, n) {
		return
	}
	if q.Model == "slow" {
		select {
		case <-r.Context().Done():
		case <-time.After(200 * time.Millisecond): // a model that is loaded first
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := stream{w, r, p, q.Model, n}
	say := scenes[q.Model]
	if say.stop == "" {
		say = scenes["text"]
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/messages"):
		s.messages(say)
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		s.completions(say)
	case strings.HasSuffix(r.URL.Path, "/responses"):
		s.responses(say)
	default:
		http.NotFound(w, r)
	}
}

// refuses answers what ends before a stream begins.
func (p *provider) refuses(w http.ResponseWriter, model string, n int) bool {
	for _, r := range []struct {
		model  string
		times  int // 0: always
		status int
		kind   string
		header string
	}{
		{"limited", 1, 429, "rate_limit_error", "Retry-After-Ms: 30"},
		{"limited long", 0, 429, "rate_limit_error", "Retry-After: 3600"},
		{"busy twice", 2, 529, "overloaded_error", ""},
		{"busy", 0, 529, "overloaded_error", ""},
		{"bad", 0, 400, "invalid_request_error", ""},
		{"bad key", 0, 401, "authentication_error", ""},
		{"absent", 0, 404, "not_found_error", ""},
		{"unpaid", 0, 429, "insufficient_quota", ""},
		{"too long", 0, 400, "context_length_exceeded", ""},
	} {
		if r.model != model || r.times > 0 && n > r.times {
			continue
		}
		if name, value, ok := strings.Cut(r.header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(r.status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":"it is %s"}}`, r.kind, model)
		return true
	}
	if model == "elsewhere" {
		w.Header().Set("Location", "http://127.0.0.1:1/other")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
	return false
}

// stream is one answer.
type stream struct {
	w     http.ResponseWriter
	r     *http.Request
	p     *provider
	model string
	n     int
}

func (s stream) send(event any) {
	text, isText := event.(string)
	if !isText {
		data, err := json.Marshal(event)
		if err != nil {
			s.p.t.Error(err)
		}
		text = string(data)
	}
	fmt.Fprintf(s.w, ": a comment\r\nevent: x\ndata: %s\n\n", text)
	s.w.(http.Flusher).Flush()
}

// middle plays what happens between two pieces of a text; true: the stream is over.
func (s stream) middle(fault any) bool {
	first := s.n == 1
	switch s.model {
	case "cut", "cut once":
		if s.model == "cut" || first {
			c, _, err := s.w.(http.Hijacker).Hijack()
			if err == nil {
				c.Close()
			}
			return true
		}
	case "half": // the body ends as if it were whole
		return true
	case "fails once":
		if first {
			s.send(fault)
			return true
		}
	case "garbled":
		s.send("{")
		return true
	case "comments", "many comments":
		line := []byte(": " + strings.Repeat("x", 64<<10) + "\n")
		if s.model == "comments" {
			line = []byte(": wait\n")
		}
		for s.r.Context().Err() == nil {
			if _, err := s.w.Write(line); err != nil {
				break
			}
			s.w.(http.Flusher).Flush()
		}
		s.p.gone <- s.model
		return true
	case "quiet", "cancelled":
		<-s.r.Context().Done()
		s.p.gone <- s.model
		return true
	}
	return false
}

// pieces cuts a text into runes.
func pieces(text string) []string { return strings.Split(text, "") }

type obj = map[string]any

func (s stream) messages(say scene) {
	s.send(obj{"type": "message_start", "message": obj{"model": s.model + "-1", "usage": obj{"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 90, "output_tokens": 1}}})
	s.send(obj{"type": "ping"})
	i := -1
	block := func(start obj, kind, member string, parts []string) bool {
		i++
		s.send(obj{"type": "content_block_start", "index": i, "content_block": start})
		for n, part := range parts {
			s.send(obj{"type": "content_block_delta", "index": i, "delta": obj{"type": kind, member: part}})
			if n == 1 && kind == "text_delta" && s.middle(obj{"type": "error", "error": obj{"type": "overloaded_error", "message": "Overloaded"}}) {
				return false
			}
		}
		if start["type"] == "thinking" {
			s.send(obj{"type": "content_block_delta", "index": i, "delta": obj{"type": "signature_delta", "signature": "SIG"}})
			s.send(obj{"type": "content_block_delta", "index": i, "delta": obj{"type": "signature_delta", "signature": "=="}})
		}
		s.send(obj{"type": "content_block_stop", "index": i})
		return true
	}
	if say.think != "" {
		block(obj{"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", pieces(say.think))
		block(obj{"type": "redacted_thinking", "data": "SECRET"}, "", "", nil)
	}
	if say.text != "" && !block(obj{"type": "text", "text": ""}, "text_delta", "text", pieces(say.text)) {
		return
	}
	for _, c := range say.calls {
		block(obj{"type": "tool_use", "id": c.ID, "name": c.Name, "input": obj{}}, "input_json_delta", "partial_json", append([]string{""}, pieces(c.Args)...))
	}
	s.send(obj{"type": "message_delta", "delta": obj{"stop_reason": map[Stop]string{Done: "end_turn", Calls: "tool_use", Length: "max_tokens", Refused: "refusal"}[say.stop]}, "usage": obj{"output_tokens": 42}})
	s.send(obj{"type": "message_stop"})
}

func (s stream) completions(say scene) {
	chunk := func(delta obj, finish any) {
		s.send(obj{"model": s.model + "-1", "choices": []any{obj{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	chunk(obj{"role": "assistant", "content": ""}, nil)
	for _, part := range pieces(say.think) {
		chunk(obj{"reasoning_content": part}, nil)
	}
	if say.think != "" {
		chunk(obj{"reasoning_details": []any{obj{"index": 0, "type": "reasoning.text", "text": "de"}}}, nil)
		chunk(obj{"reasoning_details": []any{obj{"index": 0, "type": "reasoning.text", "text": "tails", "signature": "SIG"}}}, nil)
	}
	for n, part := range pieces(say.text) {
		chunk(obj{"content": part}, nil)
		if n == 1 && s.middle(obj{"error": obj{"message": "Overloaded", "type": "server_error", "code": 503}}) {
			return
		}
	}
	longest := 0
	for i, c := range say.calls { // the pieces of calls are interleaved, as some servers do
		call := obj{"index": i, "id": c.ID, "type": "function", "function": obj{"name": c.Name, "arguments": ""}}
		if say.own {
			call["extra_content"] = obj{"google": obj{"thought_signature": "THOUGHT=="}}
		}
		chunk(obj{"tool_calls": []any{call}}, nil)
		longest = max(longest, len(pieces(c.Args)))
	}
	for n := range longest {
		for i, c := range say.calls {
			if parts := pieces(c.Args); n < len(parts) {
				chunk(obj{"tool_calls": []any{obj{"index": i, "function": obj{"arguments": parts[n]}}}}, nil)
			}
		}
	}
	chunk(obj{}, map[Stop]string{Done: "stop", Calls: "tool_calls", Length: "length", Refused: "content_filter"}[say.stop])
	s.send(obj{"choices": []any{}, "usage": obj{"prompt_tokens": 105, "completion_tokens": 42, "prompt_tokens_details": obj{"cached_tokens": 90}}})
	s.send("[DONE]")
}

func (s stream) responses(say scene) {
	s.send(obj{"type": "response.created", "response": obj{"model": s.model + "-1"}})
	i := -1
	item := func(started, whole obj, kind string, parts []string) bool {
		i++
		s.send(obj{"type": "response.output_item.added", "output_index": i, "item": started})
		for n, part := range parts {
			s.send(obj{"type": kind, "output_index": i, "delta": part})
			if n == 1 && kind == "response.output_text.delta" && s.middle(obj{"type": "response.failed", "response": obj{"error": obj{"code": "server_error", "message": "Overloaded"}}}) {
				return false
			}
		}
		s.send(obj{"type": "response.output_item.done", "output_index": i, "item": whole})
		return true
	}
	if say.think != "" {
		item(obj{"type": "reasoning", "id": "rs_1"}, obj{"type": "reasoning", "id": "rs_1", "summary": []any{obj{"type": "summary_text", "text": say.think}}, "encrypted_content": "SECRET"}, "response.reasoning_summary_text.delta", pieces(say.think))
	}
	if say.text != "" {
		kind, member := "output_text", "text"
		if say.stop == Refused {
			kind, member = "refusal", "refusal"
		}
		if !item(obj{"type": "message"}, obj{"type": "message", "id": "msg_1", "role": "assistant", "content": []any{obj{"type": kind, member: say.text}}}, "response.output_text.delta", pieces(say.text)) {
			return
		}
	}
	for _, c := range say.calls {
		whole := obj{"type": "function_call", "id": "fc_1", "call_id": c.ID, "name": c.Name, "arguments": c.Args}
		item(obj{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": ""}, whole, "response.function_call_arguments.delta", pieces(c.Args))
	}
	end := obj{"model": s.model + "-1", "usage": obj{"input_tokens": 105, "output_tokens": 42, "input_tokens_details": obj{"cached_tokens": 90}}}
	if say.stop == Length {
		end["incomplete_details"] = obj{"reason": "max_output_tokens"}
		s.send(obj{"type": "response.incomplete", "response": end})
		return
	}
	s.send(obj{"type": "response.completed", "response": end})
}
