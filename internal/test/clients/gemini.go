package clients

import (
	"cmp"
	"encoding/json"
	"strings"
)

// gemini is Google's streamGenerateContent.
type gemini struct{}

// geminiPrefix is what Gemini CLI puts before the names of the server's tools.
const geminiPrefix = "mcp_sidecar_"

func (gemini) read(body []byte) (*Turn, error) {
	var b struct {
		Tools    []struct{ FunctionDeclarations []struct{ Name string } }
		Contents []struct {
			Parts []struct {
				FunctionCall     json.RawMessage
				FunctionResponse struct {
					Response struct{ Output, Error string }
				}
			}
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, err
	}
	t := &Turn{}
	for _, list := range b.Tools {
		for _, tool := range list.FunctionDeclarations {
			t.offers = true
			if name, ok := strings.CutPrefix(tool.Name, geminiPrefix); ok {
				t.Tools = append(t.Tools, name)
			}
		}
	}
	for _, c := range b.Contents {
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				t.calls++
			}
			if r := p.FunctionResponse.Response; r.Output+r.Error != "" {
				t.Result = cmp.Or(r.Output, r.Error)
			}
		}
	}
	return t, nil
}

func (gemini) events(a answer, id string) []any {
	part := object{"text": a.text}
	if a.tool != "" {
		name := a.tool
		if !a.own {
			name = geminiPrefix + a.tool
		}
		part = object{"functionCall": object{"id": id, "name": name, "args": a.args}}
	}
	return []any{object{
		"candidates":    []any{object{"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "scripted", "responseId": id,
	}}
}
