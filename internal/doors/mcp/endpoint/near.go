package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// A program that calls tools of a Remote backend and has a user of its own is
// the agent's side itself.

// Question is what the user is asked.
type Question struct {
	Text    string   // what it is about
	Field   string   // what the answer is called
	Note    string   // may be empty
	Options []string // one of them is the answer; nil: any text
}

// AskBy asks the user by f; !ok is a question that was dismissed.
func AskBy(f func(context.Context, Question) (answer string, ok bool, err error)) *Asker {
	return &Asker{ask: func(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		var asked form
		said, err := json.Marshal(p.RequestedSchema)
		if err == nil {
			err = json.Unmarshal(said, &asked)
		}
		if err == nil && len(asked.Properties) != 1 {
			err = fmt.Errorf("the question has %d fields, not one", len(asked.Properties))
		}
		if err != nil {
			return nil, err
		}
		for name, one := range asked.Properties {
			answer, ok, err := f(ctx, Question{p.Message, one.Title, one.Description, one.Enum})
			if err == nil && ok {
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{name: answer}}, nil
			}
			if err != nil {
				return nil, err
			}
		}
		return &sdk.ElicitResult{Action: "decline"}, nil
	}}
}

// CallBy runs a tool of a backend. The result is what its dispatcher gave.
func CallBy(ctx context.Context, b Backend, c Call) (*dispatch.Result, error) {
	res, err := b.Call(ctx, c)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	out := &dispatch.Result{Tool: c.Name, OK: !res.IsError}
	for _, part := range res.Content {
		switch part := part.(type) {
		case *sdk.TextContent:
			text.WriteString(part.Text)
		case *sdk.ImageContent:
			if i, err := tools.NewImage(part.Data); err == nil {
				out.Images = append(out.Images, i)
			}
		}
	}
	meta, ok := res.Meta[metaResult]
	if !ok && res.IsError {
		return nil, errors.New(text.String()) // no dispatcher said that
	}
	said, err := json.Marshal(meta)
	if err == nil {
		err = json.Unmarshal(said, out)
	}
	out.Content = text.String()
	if out.Error != nil {
		out.Content = strings.TrimPrefix(out.Content, string(out.Error.Code)+": ")
	}
	return out, err
}
