package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

var errNoTools = errors.New("tools are not available: no folder is open in the editor")

func (s *Server) dispatcher() (Dispatcher, error) {
	if d := s.current().Dispatch; d != nil {
		return d, nil
	}
	return nil, errNoTools
}

type listToolsArgs struct {
	Session string           `json:"session,omitempty"`
	Source  tools.SourceKind `json:"source,omitempty"`
	Server  string           `json:"server,omitempty"`
	Allow   []string         `json:"allow,omitempty"`
	Format  tools.Format     `json:"format,omitempty"`
	Strict  *bool            `json:"strict,omitempty"` // nil: follows the setting

	Registry session.Registry `json:"registry,omitempty"`
}

func (s *Server) listTools(_ context.Context, a listToolsArgs) (map[string]any, error) {
	d, err := s.dispatcher()
	if err != nil {
		return nil, err
	}
	switch a.Source {
	case "", tools.SourceBuiltin, tools.SourceMCP, tools.SourcePlugin:
	default:
		return nil, invalidParams("source: builtin, mcp or plugin is expected")
	}
	switch a.Format {
	case "", tools.FormatInfo, tools.FormatMCP, tools.FormatOpenAI, tools.FormatAnthropic, tools.FormatText:
	default:
		return nil, invalidParams("format: info, mcp, openai, anthropic or text is expected")
	}
	switch a.Registry {
	case "", session.Full, session.Lazy:
	default:
		return nil, invalidParams("registry: full or lazy is expected")
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
func (s *Server) callTool(ctx context.Context, token lsp.ProgressToken, a callToolArgs) (*dispatch.Result, error) {
	if err := checkObject(a.Arguments); err != nil {
		return nil, err
	}
	d, err := s.dispatcher()
	if err != nil {
		return dispatch.Unserved(dispatch.Request{Name: a.Name, CallID: a.CallID}, tools.Errorf(tools.Unavailable, "%v; ask the user to open one", err)), nil
	}
	if a.Model != "" {
		if st, err := s.session(a.Session); err == nil { // else the call says so
			st.UseModel(a.Model)
		}
	}
	ctx, job := s.progress.begin(ctx, token, a.Name)
	defer job.end()
	res, err := d.Call(ctx, dispatch.Request{
		Name: a.Name, Arguments: a.Arguments, Session: a.Session, CallID: a.CallID, Emit: job.emit,
	})
	if ctx.Err() != nil {
		return nil, lsp.Errorf(lsp.RequestCancelled, "cancelled")
	}
	return res, err
}

type readPageArgs struct {
	Cursor string `json:"cursor"`
}

func (s *Server) readPage(_ context.Context, a readPageArgs) (dispatch.Page, error) {
	d, err := s.dispatcher()
	if err != nil {
		return dispatch.Page{}, err
	}
	return d.Page(a.Cursor)
}

type metricsResult struct {
	Tools map[string]dispatch.Metric `json:"tools"`
}

func (s *Server) metrics(context.Context, none) (metricsResult, error) {
	d, err := s.dispatcher()
	if err != nil {
		return metricsResult{}, err
	}
	return metricsResult{d.Metrics()}, nil
}

type explainArgs struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Session   string          `json:"session,omitempty"`
}

func (s *Server) explain(ctx context.Context, a explainArgs) (dispatch.Explanation, error) {
	d, err := s.dispatcher()
	if err != nil {
		return dispatch.Explanation{}, err
	}
	if err := checkObject(a.Arguments); err != nil {
		return dispatch.Explanation{}, err
	}
	return d.Explain(ctx, dispatch.Request{Name: a.Name, Arguments: a.Arguments, Session: a.Session})
}

// checkObject refuses arguments that no tool could have.
func checkObject(args json.RawMessage) error {
	if len(args) == 0 || args[0] != '{' {
		return invalidParams("arguments: an object is expected")
	}
	return nil
}
