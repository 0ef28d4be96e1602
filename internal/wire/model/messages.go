package model

import (
	"encoding/json"
	"net/http"
	"strings"
)

// messages is the wire of Anthropic's Messages.
type messages struct{}

func (messages) path() string { return "/v1/messages" }

func (messages) header(key string) http.Header {
	h := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	return h
}

// fields is an object of JSON.
type fields map[string]any

// defaultTokens are those of an answer where the wire needs a number.
const defaultTokens = 8192

// thinking is how many tokens a model may think, by effort.
var thinking = map[string]int{"low": 2048, "medium": 8192, "high": 24576}

func (messages) body(p Profile, r Request) (fields, error) {
	most := firstOf(r.MaxTokens, p.Tokens, defaultTokens)
	body := fields{"model": p.Model, "max_tokens": most, "stream": true}
	switch n := thinking[r.Effort]; {
	case r.Effort == "":
	case p.Adaptive:
		body["output_config"] = fields{"effort": r.Effort}
		body["thinking"] = fields{"type": "adaptive", "display": "summarized"} // else a person sees nothing of it
	case n > 0:
		if most += n; p.Longest > n {
			most = min(most, p.Longest)
		}
		body["max_tokens"] = most
		body["thinking"] = fields{"type": "enabled", "budget_tokens": n}
	}
	if r.System != "" {
		body["system"] = []any{p.marked(fields{"type": "text", "text": r.System})}
	}
	if len(r.Tools) > 0 {
		var tools []any
		for i, t := range r.Tools {
			tool := fields{"name": t.Name, "description": t.Description, "input_schema": t.Schema}
			if i == len(r.Tools)-1 {
				tool = p.marked(tool)
			}
			tools = append(tools, tool)
		}
		body["tools"] = tools
		if r.NoCalls {
			body["tool_choice"] = fields{"type": "none"}
		}
	}
	marked := map[int]bool{} // the last two messages of the user's
	for i := len(r.Messages) - 1; i >= 0 && len(marked) < 2; i-- {
		if r.Messages[i].Role == User && lastBlock(messageContent(p, r.Messages[i])) != nil {
			marked[i] = true
		}
	}
	var err error
	body["messages"], err = r.write(p, marked, func(i int, m Message) []any {
		content := messageContent(p, m)
		if len(content) == 0 {
			return nil
		}
		if marked[i] {
			p.marked(lastBlock(content))
		}
		return []any{fields{"role": m.Role, "content": content}}
	})
	return body, err
}

// lastBlock is the last block of a message, if it is one that can be marked.
func lastBlock(content []any) fields {
	if len(content) == 0 {
		return nil
	}
	last, _ := content[len(content)-1].(fields)
	return last
}

// marked marks what ends a part that may be cached.
func (p Profile) marked(block fields) fields {
	if p.Cache {
		block["cache_control"] = fields{"type": "ephemeral"}
	}
	return block
}

// messageContent is the content of a message. Results come first, as the wire wants.
func messageContent(p Profile, m Message) (content []any) {
	var after []any
	for _, b := range m.Blocks {
		switch {
		case b.Raw != nil && b.Raw.From == p.from():
			after = append(after, b.Raw.Data)
		case b.Kind == Text && b.Text != "":
			after = append(after, fields{"type": "text", "text": b.Text})
		case b.Kind == Call:
			after = append(after, fields{"type": "tool_use", "id": b.ID, "name": b.Name, "input": b.input()})
		case b.Kind == Image && p.Vision:
			after = append(after, imageBlock(b))
		case b.Kind == Result:
			content = append(content, resultBlock(p, b))
		}
	}
	return append(content, after...)
}

func imageBlock(b Block) fields {
	return fields{"type": "image", "source": fields{"type": "base64", "media_type": b.Media, "data": b.Data}}
}

func resultBlock(p Profile, b Block) fields {
	var content []any
	if b.Text != "" {
		content = append(content, fields{"type": "text", "text": b.Text})
	}
	for _, i := range b.Images {
		if p.Vision {
			content = append(content, imageBlock(i))
		}
	}
	out := fields{"type": "tool_result", "tool_use_id": b.ID, "content": content}
	if content == nil {
		delete(out, "content")
	}
	if b.Failed {
		out["is_error"] = true
	}
	return out
}

// shownOfUnreadable is how much a model is shown of arguments of its own that were no
// JSON, in bytes.
const shownOfUnreadable = 300

// input is the arguments of a call as the wire wants them: an object. Of what is none,
// the model is shown the beginning under a name that no tool has.
func (b Block) input() json.RawMessage {
	if b.Readable() {
		return json.RawMessage(b.Args)
	}
	text := strings.ToValidUTF8(b.Args[:min(len(b.Args), shownOfUnreadable)], "")
	out, _ := marshal(fields{"_unreadable_arguments": text})
	return out
}

// firstOf is the first number that is not 0.
func firstOf(all ...int) int {
	for _, n := range all {
		if n != 0 {
			return n
		}
	}
	return 0
}

func (messages) listen(p Profile, hear func(Piece)) listener {
	return &messageListener{p: p, hear: hear}
}

type messageListener struct {
	p    Profile
	hear func(Piece)
	a    Answer
	at   map[int]int                        // blocks of the answer, by their index on the wire
	raw  map[int]map[string]json.RawMessage // the blocks as they began
	come map[int]*coming
}

// coming is what has come of a block. A text to which each of many small pieces was added
// by itself would be copied as often.
type coming struct{ text, args strings.Builder }

// join puts what has come of a block into it.
func (l *messageListener) join(index int) {
	i, ok := l.at[index]
	if !ok {
		return
	}
	b, c := &l.a.Blocks[i], l.come[index]
	b.Text = c.text.String()
	if c.args.Len() > 0 {
		b.Args = c.args.String()
	}
}

// messageEvent is every event; each has some of these.
type messageEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string       `json:"model"`
		Usage messageUsage `json:"usage"`
	} `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        struct {
		Type        string          `json:"type"`
		Text        string          `json:"text"`
		Thinking    string          `json:"thinking"`
		Signature   string          `json:"signature"`
		PartialJSON string          `json:"partial_json"`
		Citation    json.RawMessage `json:"citation"`
		StopReason  string          `json:"stop_reason"`
	} `json:"delta"`
	Usage messageUsage `json:"usage"`
}

type messageUsage struct {
	Input  *int64 `json:"input_tokens"`
	Output *int64 `json:"output_tokens"`
	Read   *int64 `json:"cache_read_input_tokens"`
	Write  *int64 `json:"cache_creation_input_tokens"`
}

// add lays what an event says of usage over what earlier ones said.
func (u messageUsage) add(to *Usage) {
	for _, one := range []struct{ from, to *int64 }{{u.Input, &to.Input}, {u.Output, &to.Output}, {u.Read, &to.CacheRead}, {u.Write, &to.CacheWrite}} {
		if one.from != nil {
			*one.to = *one.from
		}
	}
}

// messageStops are the reasons of the wire.
var messageStops = map[string]Stop{
	"end_turn": Done, "stop_sequence": Done, "pause_turn": Done, "tool_use": Calls, "max_tokens": Length, "model_context_window_exceeded": Length, "refusal": Refused,
}

func (l *messageListener) event(data []byte) (last bool, err error) {
	if s, is := errorIn(data); is {
		return true, refusal(http.StatusOK, s, nil)
	}
	var e messageEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return true, failed(Garbled, err.Error())
	}
	switch e.Type {
	case "message_start":
		l.a.Model = e.Message.Model
		e.Message.Usage.add(&l.a.Usage)
	case "content_block_start":
		return false, l.begin(e)
	case "content_block_delta":
		l.more(e)
	case "content_block_stop":
		l.end(e.Index)
	case "message_delta":
		if e.Delta.StopReason != "" {
			l.a.Stop = stopOf(messageStops, e.Delta.StopReason)
		}
		e.Usage.add(&l.a.Usage)
	case "message_stop":
		if l.a.Stop == "" {
			return true, failed(Cut, "the answer has no reason for its end")
		}
		return true, nil
	}
	return false, nil
}

// stopOf is a reason of the wire, or Done for one that is not known yet.
func stopOf(known map[string]Stop, reason string) Stop {
	if s, ok := known[reason]; ok {
		return s
	}
	return Done
}

func (l *messageListener) begin(e messageEvent) error {
	var b struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Name string `json:"name"`
		Text string `json:"text"`
	}
	raw := map[string]json.RawMessage{}
	if json.Unmarshal(e.ContentBlock, &b) != nil || json.Unmarshal(e.ContentBlock, &raw) != nil {
		return failed(Garbled, "a block can't be read")
	}
	if l.at == nil {
		l.at, l.raw, l.come = map[int]int{}, map[int]map[string]json.RawMessage{}, map[int]*coming{}
	}
	l.join(e.Index) // one that never ended
	l.at[e.Index], l.raw[e.Index], l.come[e.Index] = len(l.a.Blocks), raw, &coming{}
	block := Block{Kind: Other}
	switch b.Type {
	case "text":
		block = Block{Kind: Text}
		l.come[e.Index].text.WriteString(b.Text)
	case "thinking":
		block = Block{Kind: Reasoning}
	case "tool_use":
		block = Block{Kind: Call, ID: b.ID, Name: b.Name}
		l.hear(Piece{Kind: Call, ID: b.ID, Name: b.Name})
	}
	l.a.Blocks = append(l.a.Blocks, block)
	return nil
}

func (l *messageListener) more(e messageEvent) {
	i, ok := l.at[e.Index]
	if !ok {
		return
	}
	b, raw, come := &l.a.Blocks[i], l.raw[e.Index], l.come[e.Index]
	switch e.Delta.Type {
	case "text_delta":
		come.text.WriteString(e.Delta.Text)
		l.hear(Piece{Kind: Text, Text: e.Delta.Text})
	case "thinking_delta":
		come.text.WriteString(e.Delta.Thinking)
		l.hear(Piece{Kind: Reasoning, Text: e.Delta.Thinking})
	case "signature_delta":
		var had string
		_ = json.Unmarshal(raw["signature"], &had)
		set(raw, "signature", had+e.Delta.Signature)
	case "input_json_delta":
		come.args.WriteString(e.Delta.PartialJSON)
		if b.Kind == Call {
			l.hear(Piece{Kind: Call, ID: b.ID, Name: b.Name, Text: e.Delta.PartialJSON})
		}
	case "citations_delta":
		var list []json.RawMessage
		_ = json.Unmarshal(raw["citations"], &list)
		set(raw, "citations", append(list, e.Delta.Citation))
	}
}

// set sets a member of an object.
func set(object map[string]json.RawMessage, name string, v any) {
	if data, err := marshal(v); err == nil {
		object[name] = data
	}
}

// end keeps the provider's own block of what is more than its neutral one.
func (l *messageListener) end(index int) {
	i, ok := l.at[index]
	if !ok {
		return
	}
	l.join(index)
	b, raw := &l.a.Blocks[i], l.raw[index]
	switch b.Kind {
	case Reasoning:
		set(raw, "thinking", b.Text)
	case Text:
		if raw["citations"] == nil {
			return
		}
		set(raw, "text", b.Text)
	case Call:
		if b.Args == "" {
			b.Args = "{}" // a tool without arguments
		}
		return
	case Other:
		if b.Args != "" {
			raw["input"] = json.RawMessage(b.Args)
		}
	}
	if data, err := marshal(raw); err == nil {
		b.Raw = &Raw{From: l.p.from(), Data: data}
	}
}

func (l *messageListener) answer() Answer {
	for index := range l.at { // of what never ended, as much as came
		l.join(index)
	}
	return l.a
}
