package model

import (
	"encoding/json"
	"net/http"
)

// responses is the wire of OpenAI's Responses, with nothing kept at the provider: the
// whole conversation is sent each time, with the model's encrypted reasoning.
type responses struct{}

func (responses) path() string { return "/responses" }

func (responses) header(key string) http.Header { return bearer(key) }

func (responses) body(p Profile, r Request) (fields, error) {
	body := fields{"model": p.Model, "stream": true, "store": false, "include": []string{"reasoning.encrypted_content"}}
	if r.System != "" {
		body["instructions"] = r.System
	}
	if n := firstOf(r.MaxTokens, p.Tokens); n > 0 {
		body["max_output_tokens"] = n
	}
	if r.Effort != "" {
		body["reasoning"] = fields{"effort": r.Effort, "summary": "auto"}
	}
	if len(r.Tools) > 0 {
		var tools []any
		for _, t := range r.Tools {
			tools = append(tools, fields{"type": "function", "name": t.Name, "description": t.Description, "parameters": t.Schema, "strict": false})
		}
		body["tools"] = tools
		if r.NoCalls {
			body["tool_choice"] = "none"
		}
	}
	var err error
	body["input"], err = r.write(p, nil, func(_ int, m Message) []any { return responseItems(p, m) })
	return body, err
}

// responseItems are the items of a message, in their order.
func responseItems(p Profile, m Message) (items []any) {
	var content []any // of a message that is not put down yet
	flush := func() {
		if content != nil {
			items = append(items, fields{"type": "message", "role": m.Role, "content": content})
			content = nil
		}
	}
	image := func(b Block) {
		if p.Vision {
			content = append(content, fields{"type": "input_image", "image_url": dataURL(b)})
		}
	}
	for _, b := range m.Blocks {
		switch {
		case b.Raw != nil && b.Raw.From == p.from():
			flush()
			items = append(items, b.Raw.Data)
		case b.Kind == Text && b.Text != "" && m.Role == Assistant:
			content = append(content, fields{"type": "output_text", "text": b.Text})
		case b.Kind == Text && b.Text != "":
			content = append(content, fields{"type": "input_text", "text": b.Text})
		case b.Kind == Image:
			image(b)
		case b.Kind == Call:
			flush()
			args := b.Args
			if !b.Readable() {
				args = string(b.input())
			}
			items = append(items, fields{"type": "function_call", "call_id": b.ID, "name": b.Name, "arguments": args})
		case b.Kind == Result:
			flush()
			items = append(items, fields{"type": "function_call_output", "call_id": b.ID, "output": b.Text})
			for _, i := range b.Images {
				image(i)
			}
		}
	}
	flush()
	return items
}

func (responses) listen(p Profile, hear func(Piece)) listener {
	return &responseListener{p: p, hear: hear, open: map[int]Block{}}
}

type responseListener struct {
	p    Profile
	hear func(Piece)
	a    Answer
	open map[int]Block // calls that are being written, by the index of their item
}

// responseItem is a part of the output.
type responseItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

// responseEvent is every event; each has some of these.
type responseEvent struct {
	Type     string          `json:"type"`
	Index    int             `json:"output_index"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response struct {
		Model      string `json:"model"`
		Error      *said  `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
			In     struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"input_tokens_details"`
			Out struct {
				Reasoning int64 `json:"reasoning_tokens"`
			} `json:"output_tokens_details"`
		} `json:"usage"`
	} `json:"response"`

	said // of the event error
}

func (l *responseListener) event(data []byte) (last bool, err error) {
	var e responseEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return true, failed(Garbled, err.Error())
	}
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		l.hear(Piece{Kind: Text, Text: e.Delta})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		l.hear(Piece{Kind: Reasoning, Text: e.Delta})
	case "response.output_item.added":
		var item responseItem
		if json.Unmarshal(e.Item, &item) == nil && item.Type == "function_call" {
			l.open[e.Index] = Block{ID: item.CallID, Name: item.Name}
			l.hear(Piece{Kind: Call, ID: item.CallID, Name: item.Name})
		}
	case "response.function_call_arguments.delta":
		if b, ok := l.open[e.Index]; ok {
			l.hear(Piece{Kind: Call, ID: b.ID, Name: b.Name, Text: e.Delta})
		}
	case "response.output_item.done":
		return false, l.item(e.Item)
	case "response.completed", "response.incomplete":
		l.end(e)
		return true, nil
	case "response.failed":
		s := said{Message: "the provider gave up"}
		if e.Response.Error != nil {
			s = *e.Response.Error
		}
		return true, refusal(http.StatusOK, s, nil)
	case "error":
		if s, is := errorIn(data); is {
			return true, refusal(http.StatusOK, s, nil)
		}
		s := e.said
		s.Type = ""
		return true, refusal(http.StatusOK, s, nil)
	}
	return false, nil
}

// item takes a part of the output that is whole.
func (l *responseListener) item(raw json.RawMessage) error {
	var item responseItem
	if err := json.Unmarshal(raw, &item); err != nil {
		return failed(Garbled, "a part of the answer can't be read: "+err.Error())
	}
	b := Block{Kind: Other, Raw: &Raw{From: l.p.from(), Data: raw}}
	switch item.Type {
	case "message":
		b.Kind = Text
		for _, c := range item.Content {
			b.Text += c.Text + c.Refusal
			if c.Refusal != "" {
				l.a.Stop = Refused
			}
		}
	case "reasoning":
		b.Kind = Reasoning
		for i, s := range item.Summary {
			if i > 0 {
				b.Text += "\n\n"
			}
			b.Text += s.Text
		}
		for _, c := range item.Content {
			b.Text += c.Text
		}
	case "function_call":
		b.Kind, b.ID, b.Name, b.Args = Call, item.CallID, item.Name, item.Arguments
		if b.Args == "" {
			b.Args = "{}" // a tool without arguments
		}
		if !b.Readable() {
			b.Raw = nil // the provider would not take it back
		}
	}
	l.a.Blocks = append(l.a.Blocks, b)
	return nil
}

// end says why the answer ends, and what it took.
func (l *responseListener) end(e responseEvent) {
	u := e.Response.Usage
	l.a.Model = e.Response.Model
	l.a.Usage = Usage{Input: max(0, u.Input-u.In.Cached), Output: u.Output, Reasoning: u.Out.Reasoning, CacheRead: u.In.Cached}
	switch {
	case l.a.Stop == Refused:
	case e.Response.Incomplete.Reason == "content_filter":
		l.a.Stop = Refused
	case e.Type == "response.incomplete":
		l.a.Stop = Length
	default:
		l.a.Stop = Done
		for _, b := range l.a.Blocks {
			if b.Kind == Call {
				l.a.Stop = Calls
			}
		}
	}
}

func (l *responseListener) answer() Answer { return l.a }
