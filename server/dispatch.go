package server

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

var errNotReady = lsp.Errorf(lsp.ServerNotInitialized, "the server is not initialized")

// Notification handles a notification, inline and in wire order. Nothing here
// may wait for the client.
func (s *Server) Notification(_ context.Context, method string, params json.RawMessage) {
	defer s.recovered(method)
	if method == "exit" {
		s.mu.Lock()
		s.exited = true
		s.mu.Unlock()
		return
	}
	s.mu.Lock()
	ready := s.state == running
	s.mu.Unlock()
	f, ok := notifications[method]
	switch {
	case !ready:
		s.log.Warn("notification ignored", "method", method, "reason", "the server is not running")
	case ok:
		f(s, params)
		if method == "sidecar/selection" || strings.HasPrefix(method, "textDocument/") {
			if f := s.current().ShownChanged; f != nil {
				f()
			}
		}
	case !strings.HasPrefix(method, "$/"):
		s.log.Debug("notification ignored", "method", method)
	}
}

// notifications are what the client may tell.
var notifications = map[string]func(*Server, json.RawMessage){
	"initialized":                         func(s *Server, _ json.RawMessage) { s.begin.Do(s.initialized) },
	"textDocument/didOpen":                func(s *Server, p json.RawMessage) { s.publisher.TextChanged(s.docs.Open(p)) },
	"textDocument/didChange":              func(s *Server, p json.RawMessage) { s.publisher.TextChanged(s.docs.Change(p)) },
	"textDocument/didSave":                func(s *Server, p json.RawMessage) { s.publisher.TextChanged(s.docs.Save(p)) },
	"textDocument/didClose":               func(s *Server, p json.RawMessage) { s.publisher.TextChanged(s.docs.Close(p)) },
	"workspace/didChangeConfiguration":    (*Server).didChangeConfiguration,
	"workspace/didChangeWorkspaceFolders": (*Server).didChangeFolders,
	"workspace/didChangeWatchedFiles":     (*Server).didChangeFiles,
	"window/workDoneProgress/cancel":      func(s *Server, p json.RawMessage) { s.progress.Cancel(p) },
	"sidecar/selection":                   func(s *Server, p json.RawMessage) { s.docs.Select(p) },
	"$/setTrace":                          func(*Server, json.RawMessage) {}, // the log is the trace
}

// Request handles a request. The connection handles others meanwhile, except
// during initialize and shutdown.
func (s *Server) Request(ctx context.Context, method string, params json.RawMessage) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("crash", "in", method, "panic", r, "stack", string(debug.Stack()))
			result, err = nil, lsp.Errorf(lsp.InternalError, "%s crashed; the log has the details", method)
		}
		var own *lsp.Error
		if errors.As(err, &own) {
			shown := *own
			shown.Message = s.opts.Hide(own.Message)
			err = &shown
		}
	}()
	s.mu.Lock()
	state := s.state
	s.mu.Unlock()
	switch {
	case method == "initialize" && state == created:
		return s.initialize(ctx, params)
	case state == created:
		return nil, errNotReady
	case state == stopped:
		return nil, lsp.Errorf(lsp.InvalidRequest, "the server was shut down")
	case method == "initialize":
		return nil, lsp.Errorf(lsp.InvalidRequest, "the server is initialized already")
	}
	if method != "shutdown" {
		s.awaitFolders(ctx)
	}
	f, ok := requests[method]
	if !ok {
		return nil, lsp.Errorf(lsp.MethodNotFound, "%.100s is not supported", method)
	}
	result, err = f(s, ctx, params)
	return result, rpcError(ctx, err)
}

// requests are what the client may ask once it is initialized.
var requests = map[string]func(*Server, context.Context, json.RawMessage) (any, error){
	"shutdown": (*Server).shutdown,
	"workspace/executeCommand": func(s *Server, ctx context.Context, p json.RawMessage) (any, error) {
		return commands.Execute(ctx, s.table, s.deps(), p)
	},
	"textDocument/codeLens": func(s *Server, _ context.Context, p json.RawMessage) (any, error) {
		return s.deps().Queue.Lenses(p)
	},
	"codeLens/resolve": (*Server).resolved,
	"textDocument/codeAction": func(s *Server, _ context.Context, p json.RawMessage) (any, error) {
		return s.deps().Queue.Actions(s.client, s.approvals, p)
	},
	"codeAction/resolve":          (*Server).resolved,
	"textDocument/documentSymbol": (*Server).documentSymbol,
	"workspace/symbol":            (*Server).workspaceSymbol,
}

// resolved answers a resolve request: lenses and actions are complete from the
// beginning.
func (*Server) resolved(_ context.Context, params json.RawMessage) (any, error) {
	var item map[string]json.RawMessage
	if err := client.Decode(params, &item); err != nil {
		return nil, err
	}
	return item, nil
}

// rpcError gives an error its code. An error that came from the client itself
// would be mistaken for ours with its own code, so only ours keep theirs.
func rpcError(ctx context.Context, err error) error {
	var own *lsp.Error
	var tool *tools.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return lsp.Errorf(lsp.RequestCancelled, "cancelled")
	case errors.As(err, &own):
		return own
	case errors.As(err, &tool):
		e := lsp.Errorf(lsp.RequestFailed, "%s", tool.Message)
		e.Data, _ = json.Marshal(map[string]any{"code": tool.Code})
		return e
	}
	return lsp.Errorf(lsp.RequestFailed, "%v", err)
}
