package model

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// ChatFlags are what servers of Chat Completions do differently. The zero value is
// OpenAI's own.
type ChatFlags struct {
	Reasoning     string // the member with the model's reasoning: reasoning_content or reasoning; "": either
	SendReasoning bool   // it is sent back with the calls that it led to
	OldMaxTokens  bool   // the bound of an answer is max_tokens, not max_completion_tokens
	NoUsage       bool   // it does not take stream_options
}

// completions is the wire of OpenAI's Chat Completions, which llama.cpp, vLLM, LM
// Studio, Ollama, OpenRouter and Gemini speak too.
type completions struct{}

func (completions) path() string { return "/chat/completions" }

func (completions) header(key string) http.Header { return bearer(key) }

func bearer(key string) http.Header {
	h := http.Header{}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

func (completions) body(p Profile, r Request) (fields, error) {
	body := fields{"model": p.Model, "stream": true}
	if !p.Chat.NoUsage {
		body["stream_options"] = fields{"include_usage": true}
	}
	if n := firstOf(r.MaxTokens, p.Tokens); n > 0 {
		if p.Chat.OldMaxTokens {
			body["max_tokens"] = n
		} else {
			body["max_completion_tokens"] = n
		}
	}
	if r.Effort != "" {
		body["reasoning_effort"] = r.Effort
	}
	if len(r.Tools) > 0 {
		var tools []any
		for _, t := range r.Tools {
			tools = append(tools, fields{"type": "function", "function": fields{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
		}
		body["tools"] = tools
		if r.NoCalls {
			body["tool_choice"] = "none"
		}
	}
	list, err := r.write(p, nil, func(_ int, m Message) []any {
		if m.Role == Assistant {
			return []any{assistantTurn(p, m)}
		}
		return userTurns(p, m)
	})
	if err != nil {
		return nil, err
	}
	if r.System != "" {
		system, err := marshal(fields{"role": "system", "content": r.System})
		if err != nil {
			return nil, err
		}
		list = slices.Insert(list, 0, system)
	}
	body["messages"] = list
	return body, nil
}

// assistantTurn is what the model said.
func assistantTurn(p Profile, m Message) fields {
	out := fields{"role": Assistant}
	text, reasoning := "", ""
	var calls []any
	for _, b := range m.Blocks {
		own := fields{}
		if b.Raw != nil && b.Raw.From == p.from() {
			_ = json.Unmarshal(b.Raw.Data, &own)
		}
		switch b.Kind {
		case Text:
			text += b.Text
		case Reasoning:
			reasoning += b.Text
			maps.Copy(out, own)
		case Call:
			args := b.Args
			if !b.Readable() {
				args = string(b.input())
			}
			own["id"], own["type"] = b.ID, "function"
			own["function"] = fields{"name": b.Name, "arguments": args}
			calls = append(calls, own)
		}
	}
	if text != "" || calls == nil {
		out["content"] = text
	}
	if calls != nil {
		out["tool_calls"] = calls
	}
	if p.Chat.SendReasoning && reasoning != "" {
		name := p.Chat.Reasoning
		if name == "" {
			name = "reasoning_content"
		}
		out[name] = reasoning
	}
	return out
}

// userTurns are the results of calls, each a turn of its own, then what the user says.
// A result has no images on this wire: they come after it.
func userTurns(p Profile, m Message) (turns []any) {
	var parts []any
	for _, b := range m.Blocks {
		switch {
		case b.Kind == Result:
			turns = append(turns, fields{"role": "tool", "tool_call_id": b.ID, "content": b.Text})
			for _, i := range b.Images {
				if p.Vision {
					parts = append(parts, fields{"type": "text", "text": fmt.Sprintf("The image of the result of %s:", b.ID)}, imagePart(i))
				}
			}
		case b.Kind == Text && b.Text != "":
			parts = append(parts, fields{"type": "text", "text": b.Text})
		case b.Kind == Image && p.Vision:
			parts = append(parts, imagePart(b))
		}
	}
	if len(parts) == 0 {
		return turns
	}
	var content any = parts
	if only, ok := parts[0].(fields); ok && len(parts) == 1 && only["type"] == "text" {
		content = only["text"] // some servers know nothing else
	}
	return append(turns, fields{"role": User, "content": content})
}

func imagePart(b Block) fields {
	return fields{"type": "image_url", "image_url": fields{"url": dataURL(b)}}
}

func dataURL(b Block) string {
	return "data:" + b.Media + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
}

func (completions) listen(p Profile, hear func(Piece)) listener {
	return &chatListener{p: p, hear: hear, calls: map[int]*chatCall{}}
}

type chatListener struct {
	p    Profile
	hear func(Piece)

	text, reasoning strings.Builder
	refusal         string
	details         []fields // reasoning_details, which OpenRouter sends
	calls           map[int]*chatCall
	order           []*chatCall
	stop            Stop
	usage           Usage
	model           string
}

// chatCall is a call that is being written. Its arguments may come in very many pieces.
type chatCall struct {
	Block
	args strings.Builder
	own  fields // what the provider alone knows of it
}

// chatEvent is a chunk.
type chatEvent struct {
	Model   string `json:"model"`
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   string            `json:"content"`
			Refusal   string            `json:"refusal"`
			Content2  string            `json:"reasoning_content"`
			Reasoning string            `json:"reasoning"`
			Details   []fields          `json:"reasoning_details"`
			Calls     []json.RawMessage `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		In         struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Out struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
}

// chatStops are the reasons of the wire.
var chatStops = map[string]Stop{"stop": Done, "tool_calls": Calls, "function_call": Calls, "length": Length, "content_filter": Refused}

func (l *chatListener) event(data []byte) (last bool, err error) {
	if string(data) == "[DONE]" {
		if l.stop == "" {
			return true, failed(Cut, "the answer has no reason for its end")
		}
		return true, nil
	}
	if s, is := errorIn(data); is {
		return true, refusal(http.StatusOK, s, nil)
	}
	var e chatEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return true, failed(Garbled, err.Error())
	}
	if e.Model != "" {
		l.model = e.Model
	}
	if u := e.Usage; u != nil {
		l.usage = Usage{Input: max(0, u.Prompt-u.In.Cached), Output: u.Completion, CacheRead: u.In.Cached, Reasoning: u.Out.Reasoning}
	}
	for _, c := range e.Choices {
		if c.Index != 0 {
			continue
		}
		l.say(Text, &l.text, c.Delta.Content)
		l.refusal += c.Delta.Refusal
		l.say(Reasoning, &l.reasoning, reasoningIn(l.p.Chat.Reasoning, c.Delta.Content2, c.Delta.Reasoning))
		l.detail(c.Delta.Details)
		for _, raw := range c.Delta.Calls {
			if err := l.call(raw); err != nil {
				return true, failed(Garbled, "a call can't be read: "+err.Error())
			}
		}
		if c.FinishReason != "" {
			l.stop = stopOf(chatStops, c.FinishReason)
		}
	}
	return false, nil
}

// reasoningIn is what a chunk has of the model's reasoning. A server that has it under
// both names says the same twice.
func reasoningIn(name, content, reasoning string) string {
	if name == "reasoning" || name == "" && content == "" {
		return reasoning
	}
	return content
}

func (l *chatListener) say(kind Kind, to *strings.Builder, text string) {
	if text != "" {
		to.WriteString(text)
		l.hear(Piece{Kind: kind, Text: text})
	}
}

// detail lays more of the details over those that there are: texts go on, other
// members are set.
func (l *chatListener) detail(more []fields) {
	for _, d := range more {
		at := slices.IndexFunc(l.details, func(had fields) bool { return had["index"] == d["index"] && had["type"] == d["type"] })
		if at < 0 || d["index"] == nil {
			l.details = append(l.details, d)
			continue
		}
		for name, v := range d {
			had, isText := l.details[at][name].(string)
			text, too := v.(string)
			if isText && too && (name == "text" || name == "summary" || name == "data") {
				v = had + text
			}
			l.details[at][name] = v
		}
	}
}

// call takes a part of a call. Servers that have no index send calls whole.
func (l *chatListener) call(raw json.RawMessage) error {
	var t struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	own := fields{}
	if err := json.Unmarshal(raw, &t); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &own); err != nil {
		return err
	}
	for _, known := range []string{"index", "id", "type", "function"} {
		delete(own, known)
	}
	var b *chatCall
	if t.Index != nil {
		b = l.calls[*t.Index]
		if b != nil && t.ID != "" && b.ID != "" && t.ID != b.ID { // a server whose calls all have the same index
			b = nil
		}
	}
	if b == nil {
		b = &chatCall{Block: Block{Kind: Call}, own: fields{}}
		l.order = append(l.order, b)
		if t.Index != nil {
			l.calls[*t.Index] = b
		}
	}
	if b.ID == "" {
		b.ID = t.ID
	}
	if b.Name == "" {
		b.Name = t.Function.Name
	}
	b.args.WriteString(t.Function.Arguments)
	maps.Copy(b.own, own)
	l.hear(Piece{Kind: Call, ID: b.ID, Name: b.Name, Text: t.Function.Arguments})
	return nil
}

func (l *chatListener) answer() Answer {
	a := Answer{Stop: l.stop, Usage: l.usage, Model: l.model}
	if l.reasoning.Len() > 0 || l.details != nil {
		b := Block{Kind: Reasoning, Text: l.reasoning.String()}
		if l.details != nil {
			b.Raw = l.raw(fields{"reasoning_details": l.details})
		}
		a.Blocks = append(a.Blocks, b)
	}
	if l.text.Len() > 0 {
		a.Blocks = append(a.Blocks, Block{Kind: Text, Text: l.text.String()})
	}
	if l.refusal != "" {
		a.Stop = Refused
		a.Blocks = append(a.Blocks, Block{Kind: Text, Text: l.refusal})
	}
	for i, b := range l.order {
		if b.Args = b.args.String(); b.Args == "" {
			b.Args = "{}" // a tool without arguments
		}
		if b.ID == "" {
			b.ID = fmt.Sprintf("call-%d", i+1) // some servers have none
		}
		if len(b.own) > 0 {
			b.Raw = l.raw(b.own)
		}
		a.Blocks = append(a.Blocks, b.Block)
	}
	if len(l.order) > 0 && a.Stop == Done {
		a.Stop = Calls // some servers say stop
	}
	return a
}

func (l *chatListener) raw(own fields) *Raw {
	data, err := marshal(own)
	if err != nil {
		return nil
	}
	return &Raw{From: l.p.from(), Data: data}
}
