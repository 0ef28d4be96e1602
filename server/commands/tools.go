package commands

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type listToolsArgs struct {
	Session string           `json:"session,omitempty"`
	Source  tools.SourceKind `json:"source,omitempty"`
	Server  string           `json:"server,omitempty"`
	Allow   []string         `json:"allow,omitempty"`
	Format  tools.Format     `json:"format,omitempty"`
	Strict  *bool            `json:"strict,omitempty"` // nil: follows the setting

	Registry session.Registry `json:"registry,omitempty"`
}

func listTools(_ context.Context, d Dispatcher, a listToolsArgs) (map[string]any, error) {
	switch a.Source {
	case "", tools.SourceBuiltin, tools.SourceMCP, tools.SourcePlugin:
	default:
		return nil, client.InvalidParams("source: builtin, mcp or plugin is expected")
	}
	switch a.Format {
	case "", tools.FormatInfo, tools.FormatMCP, tools.FormatOpenAI, tools.FormatAnthropic, tools.FormatText:
	default:
		return nil, client.InvalidParams("format: info, mcp, openai, anthropic or text is expected")
	}
	switch a.Registry {
	case "", session.Full, session.Lazy:
	default:
		return nil, client.InvalidParams("registry: full or lazy is expected")
	}
	list, unmatched, err := d.List(dispatch.ListRequest{
		Session: a.Session, Filter: tools.Filter{Source: a.Source, Server: a.Server, Allow: a.Allow}, Model: a.Format.ForModels(), Registry: a.Registry,
	})
	if errors.Is(err, session.ErrUnknown) {
		return nil, sessionError(err)
	} else if err != nil {
		return nil, err
	}
	out, err := tools.Encode(list, a.Format, a.Strict != nil && *a.Strict)
	if err != nil {
		return nil, err
	}
	if len(unmatched) > 0 {
		out["warnings"] = unmatched
	}
	return out, nil
}

type callToolArgs struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Session   string          `json:"session,omitempty"`
	CallID    string          `json:"callId,omitempty"`
	Model     string          `json:"model,omitempty"`
}

// callTool runs a tool. However the call ends, its result is no RPC error,
// unless the client or the user cancelled it.
func callTool(ctx context.Context, d *Deps, token lsp.ProgressToken, a callToolArgs) (*dispatch.Result, error) {
	var err error
	if a.Arguments, err = object(a.Arguments); err != nil {
		return nil, err
	}
	if err = d.CallIDs.take(a.Session, a.CallID); err != nil {
		return nil, err
	}
	runs, err := dispatcher(d)
	if err != nil {
		return dispatch.Unserved(dispatch.Request{Name: a.Name, CallID: a.CallID}, tools.Errorf(tools.Unavailable, "%v; ask the user to open one", err)), nil
	}
	if a.Model != "" && d.Sessions != nil {
		if one, err := d.Sessions.Get(a.Session); err == nil { // else the call says so
			one.UseModel(a.Model)
		}
	}
	ctx, job := d.Progress.Begin(ctx, token, a.Name)
	defer job.End()
	res, err := runs.Call(ctx, dispatch.Request{
		Name: a.Name, Arguments: a.Arguments, Session: a.Session, CallID: a.CallID, Emit: job.Emit,
	})
	if ctx.Err() != nil {
		return nil, lsp.Errorf(lsp.RequestCancelled, "cancelled")
	}
	return res, err
}

type readPageArgs struct {
	Cursor string `json:"cursor"`
}

func readPage(_ context.Context, d Dispatcher, a readPageArgs) (dispatch.Page, error) {
	return d.Page(a.Cursor)
}

// MetricsResult are the statistics of the calls.
type MetricsResult struct {
	Tools map[string]dispatch.Metric `json:"tools"`
}

func metrics(_ context.Context, d Dispatcher, _ none) (MetricsResult, error) {
	return MetricsResult{d.Metrics()}, nil
}

type explainArgs struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Session   string          `json:"session,omitempty"`
}

func explain(ctx context.Context, d Dispatcher, a explainArgs) (dispatch.Explanation, error) {
	var err error
	if a.Arguments, err = object(a.Arguments); err != nil {
		return dispatch.Explanation{}, err
	}
	return d.Explain(ctx, dispatch.Request{Name: a.Name, Arguments: a.Arguments, Session: a.Session})
}

// object refuses arguments that no tool could have. Null and an empty array are an object
// without members.
func object(args json.RawMessage) (json.RawMessage, error) {
	switch {
	case string(args) == "null", isEmptyArray(args):
		return json.RawMessage("{}"), nil
	case len(args) == 0 || args[0] != '{':
		return nil, client.InvalidParams("arguments: an object is expected")
	}
	return args, nil
}
