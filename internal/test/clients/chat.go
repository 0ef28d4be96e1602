package clients

import (
	"encoding/json"
	"errors"
	"strings"
)

// chat is OpenAI's Chat Completions.
type chat struct{}

// chatPrefix is what opencode puts before the names of the server's tools.
const chatPrefix = "sidecar_"

func (chat) read(body []byte) (*Turn, error) {
	var b struct {
		Stream bool
		Tools  []struct{ Function struct{ Name string } }

		Messages []struct {
			Role      string
			Content   json.RawMessage
			ToolCalls []json.RawMessage `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &b); err != nil || !b.Stream {
		return nil, errors.Join(err, errors.New("a stream is expected"))
	}
	t := &Turn{offers: len(b.Tools) > 0}
	for _, tool := range b.Tools {
		if name, ok := strings.CutPrefix(tool.Function.Name, chatPrefix); ok {
			t.Tools = append(t.Tools, name)
		}
	}
	for _, m := range b.Messages {
		t.calls += len(m.ToolCalls)
		if m.Role == "tool" {
			t.Result = textOf(m.Content)
		}
	}
	return t, nil
}

func (chat) events(a answer, id string) []any {
	stop, delta := "stop", object{"role": "assistant", "content": a.text}
	if a.tool != "" {
		args, _ := json.Marshal(a.args)
		name := a.tool
		if !a.own {
			name = chatPrefix + a.tool
		}
		stop = "tool_calls"
		delta = object{"role": "assistant", "tool_calls": []any{object{"index": 0, "id": id, "type": "function", "function": object{"name": name, "arguments": string(args)}}}}
	}
	chunk := func(delta object, stop any) object {
		return object{"id": "chatcmpl-" + id, "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": stop}}}
	}
	last := chunk(object{}, stop)
	last["usage"] = object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	return []any{chunk(delta, nil), last}
}
