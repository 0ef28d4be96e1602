package endpoint

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/agenthook"
)

// approve is the tool that an agent's program can ask in the place of its user, by its
// option --permission-prompt-tool. It is no tool of the registry: only programs that can
// use it see it, and nothing is run by it.
const approve = "approve"

func approveTool() *sdk.Tool {
	no := false
	return &sdk.Tool{
		Name: approve, Title: "Ask the user's editor",
		Description: "For the agent's program, not for a model: whether a tool of its own may be used, by the policy of the workspace or by the user, who is asked in the editor. Nothing is run.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"tool_name":{"type":"string"},"input":{"type":"object"},"tool_use_id":{"type":"string"}},"required":["tool_name","input"]}`),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// approval is the answer.
type approval struct {
	Behaviour string          `json:"behavior"` // allow or deny
	Input     json.RawMessage `json:"updatedInput,omitempty"`
	Message   string          `json:"message,omitempty"`
}

// approve has a use of one of the agent's own tools decided on.
func (l *local) approve(ctx context.Context, c Call) (*sdk.CallToolResult, error) {
	var a struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(c.Arguments, &a); err != nil || a.Tool == "" || len(a.Input) == 0 {
		return failure("invalid_arguments: approve takes tool_name, the name of a tool of the agent's own, and input, the object of its arguments"), nil //nolint:nilerr // the agent is told
	}
	own := dispatch.Own{Session: l.session.ID, Mode: l.mode(), Agent: agenthook.Title(l.client.hooks), Tool: a.Tool, Arguments: a.Input}
	own.As, own.With = agenthook.Like(l.client.hooks, a.Tool, a.Input)
	ctx = WithAsker(ctx, nil) // its own user it would have asked itself
	res, err := l.dispatched(func(d *dispatch.Dispatcher) (*dispatch.Result, error) { return d.Permit(ctx, own) })
	if err != nil {
		return nil, err
	}
	answer := approval{Behaviour: agenthook.Allow, Input: a.Input}
	if !res.OK {
		answer = approval{Behaviour: agenthook.Deny, Message: res.Error.Message}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil
}
