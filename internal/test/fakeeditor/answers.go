package fakeeditor

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Answer scripts the reply to a method, instead of what the editor does by
// itself; nil takes that back. Methods that it knows nothing of, as
// sidecar/approve, are unknown to the editor until they are scripted.
func (e *Editor) Answer(method string, answer Answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if answer == nil {
		delete(e.answers, method)
		return
	}
	e.answers[method] = answer
}

// Lacks makes the editor answer "method not found", as Helix does to
// window/showMessageRequest although its capabilities don't tell.
func (e *Editor) Lacks(method string) {
	e.Answer(method, func(context.Context, json.RawMessage) (any, error) {
		return nil, lsp.Errorf(lsp.MethodNotFound, "method not found: %s", method)
	})
}

// Choose scripts window/showMessageRequest: each question is answered with the
// next title, "" closes it without an answer, and so does everything after the
// last. A title that is not on offer is an error.
func (e *Editor) Choose(titles ...string) {
	left := make(chan string, len(titles))
	for _, t := range titles {
		left <- t
	}
	close(left)
	e.Answer("window/showMessageRequest", func(_ context.Context, params json.RawMessage) (any, error) {
		var p lsp.ShowMessageRequestParams
		if err := lsp.Params(params, &p); err != nil {
			return nil, err
		}
		title := <-left
		if title == "" {
			return nil, nil
		}
		for _, a := range p.Actions {
			if a.Title == title {
				return a, nil
			}
		}
		return nil, fmt.Errorf("%q is not on offer in %q", title, p.Message)
	})
}

// handler is the side of the editor that the connection sees.
type handler struct{ e *Editor }

func (h handler) Notification(_ context.Context, method string, params json.RawMessage) {
	e := h.e
	e.mu.Lock()
	defer e.mu.Unlock()
	e.recorded.Notifications = append(e.recorded.Notifications, Message{method, params})
	switch method {
	case "textDocument/publishDiagnostics":
		var p lsp.PublishDiagnosticsParams
		if lsp.Params(params, &p) == nil {
			e.recorded.Diagnostics[p.URI] = p.Diagnostics
		}
	case "$/progress":
		var p struct {
			Token lsp.ProgressToken    `json:"token"`
			Value lsp.WorkDoneProgress `json:"value"`
		}
		if lsp.Params(params, &p) == nil {
			e.recorded.Progress[p.Token] = append(e.recorded.Progress[p.Token], p.Value)
		}
	}
	e.event()
}

func (h handler) Request(ctx context.Context, method string, params json.RawMessage) (any, error) {
	e := h.e
	e.mu.Lock()
	e.recorded.Requests = append(e.recorded.Requests, Message{method, params})
	answer := e.answers[method]
	e.event()
	e.mu.Unlock()
	if answer != nil {
		return answer(ctx, params)
	}
	switch method {
	case "workspace/applyEdit":
		var p lsp.ApplyWorkspaceEditParams
		if err := lsp.Params(params, &p); err != nil {
			return nil, err
		}
		return e.apply(ctx, p), nil
	case "workspace/configuration":
		return e.configuration(params)
	case "workspace/workspaceFolders":
		return e.opts.Folders, nil
	case "window/showDocument":
		return lsp.ShowDocumentResult{Success: true}, nil
	case "window/showMessageRequest", "window/workDoneProgress/create", "client/registerCapability",
		"client/unregisterCapability", "workspace/codeLens/refresh", "workspace/diagnostic/refresh":
		return nil, nil
	}
	return nil, lsp.Errorf(lsp.MethodNotFound, "method not found: %s", method)
}

func (e *Editor) configuration(params json.RawMessage) (any, error) {
	var p lsp.ConfigurationParams
	if err := lsp.Params(params, &p); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	values := make([]any, len(p.Items))
	for i, item := range p.Items {
		values[i] = e.opts.Settings[item.Section]
	}
	return values, nil
}

// Configure changes the settings and tells the server to ask again.
func (e *Editor) Configure(ctx context.Context, settings map[string]any) error {
	e.mu.Lock()
	e.opts.Settings = settings
	e.mu.Unlock()
	return e.conn.Notify(ctx, "workspace/didChangeConfiguration", lsp.DidChangeConfigurationParams{})
}
