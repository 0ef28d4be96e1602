package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Model is a language model that a test plays: an agent's program asks it what
// to do next, over the interface of its maker, and gets what the test says.
type Model struct {
	*httptest.Server
	turns chan *Turn
	alone bool // the program has its own tools alone
}

// Turn is one request of the program.
type Turn struct {
	Tools  []string // those of the server sidecar that the model is offered, without a prefix
	Result string   // of the latest call, as the model reads it

	// Used is how many tokens the model says that it has read; 0 is one. Messages alone
	// says it.
	Used int

	Body   string // of the request
	offers bool   // the model is offered a tool
	calls  int    // in the conversation so far
	reply  chan answer
}

// answer is a call, or words that end the conversation.
type answer struct {
	tool string
	own  bool // the tool is the program's own
	args any
	text string

	several []Called
	used    int
}

// Call has the model call a tool of the server.
func (t *Turn) Call(tool string, args any) { t.reply <- answer{tool: tool, args: args} }

// CallOwn has the model call a tool of the program's own.
func (t *Turn) CallOwn(tool string, args any) { t.reply <- answer{tool: tool, own: true, args: args} }

// Called is a call of a tool of the program's own.
type Called struct {
	Tool string
	Args any
}

// CallAllOwn has the model call several tools of the program's own at once, over
// Messages.
func (t *Turn) CallAllOwn(calls ...Called) { t.reply <- answer{several: calls} }

// End has the model say that all is done.
func (t *Turn) End() { t.Say("Done.") }

// Say has the model say this, and call nothing: its turn ends.
func (t *Turn) Say(text string) { t.reply <- answer{text: text} }

// NewModel starts a model on this machine, for a program that has its own tools and
// perhaps those of the server. Close ends it.
func NewModel() *Model { return serveModel(true) }

func serveModel(alone bool) *Model {
	m := &Model{turns: make(chan *Turn), alone: alone}
	m.Server = httptest.NewServer(m)
	return m
}

// newModel starts a model that ends with its test.
func newModel(t testing.TB, alone bool) *Model {
	m := serveModel(alone)
	t.Cleanup(m.Close)
	return m
}

// makers are the interfaces, by the end of their path.
var makers = map[string]maker{
	"/messages":              anthropic{},
	"/responses":             openai{},
	"/chat/completions":      chat{},
	":streamGenerateContent": gemini{},
}

// maker reads requests and writes answers as one maker of models has it.
type maker interface {
	read(body []byte) (*Turn, error)
	events(a answer, id string) []any // those of some makers have a type
}

// ServeHTTP answers a program.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		fmt.Fprint(w, `{"object": "list", "data": [{"id": "scripted", "object": "model"}]}`)
		return
	}
	var by maker
	for end, one := range makers {
		if strings.HasSuffix(r.URL.Path, end) {
			by = one
		}
	}
	body, err := io.ReadAll(r.Body)
	if by == nil || err != nil {
		http.NotFound(w, r)
		return
	}
	turn, err := by.read(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	turn.Body = string(body)
	a := answer{text: "A title"} // what a program asks on the side, without tools
	if turn.Tools != nil || m.alone && turn.offers {
		turn.reply = make(chan answer, 1)
		select {
		case m.turns <- turn:
		case <-r.Context().Done():
			return
		}
		select {
		case a = <-turn.reply:
			a.used = turn.Used
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range by.events(a, fmt.Sprint("call_", turn.calls)) {
		data, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		var kind struct{ Type string }
		_ = json.Unmarshal(data, &kind)
		if kind.Type != "" {
			fmt.Fprintf(w, "event: %s\n", kind.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	if by == (chat{}) {
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// prefix is what programs put before the names of the server's tools.
const prefix = "mcp__sidecar"

type object = map[string]any

// anthropic is Messages.
type anthropic struct{}

func (anthropic) read(body []byte) (*Turn, error) {
	var b struct {
		Stream   bool
		Tools    []struct{ Name string }
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &b); err != nil || !b.Stream {
		return nil, errors.Join(err, errors.New("a stream is expected"))
	}
	t := &Turn{offers: len(b.Tools) > 0}
	for _, tool := range b.Tools {
		if name, ok := strings.CutPrefix(tool.Name, prefix+"__"); ok {
			t.Tools = append(t.Tools, name)
		}
	}
	for _, m := range b.Messages {
		var parts []struct {
			Type    string
			Content json.RawMessage
		}
		_ = json.Unmarshal(m.Content, &parts) // or it is text
		for _, p := range parts {
			switch p.Type {
			case "tool_use":
				t.calls++
			case "tool_result":
				t.Result = textOf(p.Content)
			}
		}
	}
	return t, nil
}

// textOf is a text, or the texts of a list.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(content, &parts)
	for _, p := range parts {
		text += p.Text
	}
	return text
}

func (anthropic) events(a answer, id string) []any {
	if a.several != nil {
		return severalCalls(a.several, id, max(1, a.used))
	}
	stop, block, delta := "end_turn", object{"type": "text", "text": ""}, object{"type": "text_delta", "text": a.text}
	if a.tool != "" {
		args, _ := json.Marshal(a.args)
		name := a.tool
		if !a.own {
			name = prefix + "__" + a.tool
		}
		stop, block = "tool_use", object{"type": "tool_use", "id": "toolu_" + id, "name": name, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": string(args)}
	}
	return []any{
		object{"type": "message_start", "message": object{"id": "msg_" + id, "type": "message", "role": "assistant", "model": "scripted", "content": []any{}, "stop_reason": nil, "usage": object{"input_tokens": max(1, a.used), "output_tokens": 1}}},
		object{"type": "content_block_start", "index": 0, "content_block": block},
		object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 1}},
		object{"type": "message_stop"},
	}
}

// severalCalls are calls in one answer.
func severalCalls(calls []Called, id string, used int) []any {
	all := []any{object{"type": "message_start", "message": object{"id": "msg_" + id, "type": "message", "role": "assistant", "model": "scripted", "content": []any{}, "stop_reason": nil, "usage": object{"input_tokens": used, "output_tokens": 1}}}}
	for i, c := range calls {
		args, _ := json.Marshal(c.Args)
		all = append(all,
			object{"type": "content_block_start", "index": i, "content_block": object{"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d", id, i), "name": c.Tool, "input": object{}}},
			object{"type": "content_block_delta", "index": i, "delta": object{"type": "input_json_delta", "partial_json": string(args)}},
			object{"type": "content_block_stop", "index": i})
	}
	return append(all, object{"type": "message_delta", "delta": object{"stop_reason": "tool_use"}, "usage": object{"output_tokens": 1}}, object{"type": "message_stop"})
}

// openai is Responses.
type openai struct{}

func (openai) read(body []byte) (*Turn, error) {
	type tool struct {
		Type, Name string
		Tools      []struct{ Name string }
	}
	var b struct {
		Stream bool
		Tools  []tool
		Input  []struct {
			Type   string
			Output json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &b); err != nil || !b.Stream {
		return nil, errors.Join(err, errors.New("a stream is expected"))
	}
	t := &Turn{offers: len(b.Tools) > 0}
	for _, space := range b.Tools {
		if space.Type == "namespace" && space.Name == prefix {
			for _, one := range space.Tools {
				t.Tools = append(t.Tools, one.Name)
			}
		}
	}
	for _, item := range b.Input {
		switch item.Type {
		case "function_call":
			t.calls++
		case "function_call_output":
			t.Result = textOf(item.Output)
		}
	}
	return t, nil
}

func (openai) events(a answer, id string) []any {
	item := object{"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed", "content": []any{object{"type": "output_text", "text": a.text, "annotations": []any{}}}}
	if a.tool != "" {
		args, _ := json.Marshal(a.args)
		item = object{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": a.tool, "arguments": string(args), "status": "completed"}
		if !a.own {
			item["namespace"] = prefix
		}
	}
	response := func(status string, output ...any) object {
		return object{
			"id": "resp_" + id, "object": "response", "created_at": 1, "status": status, "model": "scripted", "output": output,
			"usage": object{"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 2},
		}
	}
	return []any{
		object{"type": "response.created", "sequence_number": 0, "response": response("in_progress")},
		object{"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item},
		object{"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item},
		object{"type": "response.completed", "sequence_number": 3, "response": response("completed", item)},
	}
}
