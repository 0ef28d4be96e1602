// Package client is the way to the editor at the other end: what it can do, and what
// the server asks its user, tells them and shows them.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Client is the way to the client. Conn and Can are set once, before it is used:
// when it connects, and by initialize.
type Client struct {
	Conn *lsp.Conn
	Can  Abilities
	Log  *slog.Logger
	Hide func(string) string // keeps secrets out of what the user reads
}

// Abilities are the client's capabilities as far as they change what we send.
type Abilities struct {
	VersionedEdits bool // documentChanges in workspace edits
	DeleteFiles    bool
	CreateFiles    bool
	RenameFiles    bool
	Configuration  bool // workspace/configuration
	Progress       bool // window/workDoneProgress/create
	ShowDocument   bool
	LensRefresh    bool
	LiteralActions bool // code actions that are more than commands
	SymbolTree     bool // symbols of a document as a tree
	Sidecar        lsp.SidecarCapabilities
}

// AbilitiesOf reads what the client says about itself. Some clients declare
// only one half of workspace edits although they can do both; they get the
// plain form, which all of them understand.
func AbilitiesOf(c lsp.ClientCapabilities) Abilities {
	edit := c.Workspace.WorkspaceEdit
	full := edit.DocumentChanges && len(edit.ResourceOperations) > 0
	can := func(op string) bool { return full && slices.Contains(edit.ResourceOperations, op) }
	literal := string(c.TextDocument.CodeAction.Literal)
	return Abilities{
		VersionedEdits: full,
		CreateFiles:    can("create"),
		DeleteFiles:    can("delete"),
		RenameFiles:    can("rename"),
		Configuration:  c.Workspace.Configuration,
		Progress:       c.Window.WorkDoneProgress,
		ShowDocument:   c.Window.ShowDocument.Support,
		LensRefresh:    c.Workspace.CodeLens.RefreshSupport,
		LiteralActions: literal != "" && literal != "null" && literal != "false",
		SymbolTree:     c.TextDocument.DocumentSymbol.Hierarchical,
		Sidecar:        c.Experimental.Sidecar,
	}
}

// Call asks the client. An error that it answers comes back as a *replyError:
// passed on as it is, it would read as ours.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	err := c.Conn.Call(ctx, method, params, result)
	var e *lsp.Error
	if errors.As(err, &e) {
		return &replyError{method, e.Code, e.Message}
	}
	return err
}

// replyError is an error that the client answered.
type replyError struct {
	method  string
	code    int64
	message string
}

func (e *replyError) Error() string {
	return "the editor answered " + e.method + " with: " + e.message
}

// Unsupported reports whether the client does not know the method.
func Unsupported(err error) bool {
	var e *replyError
	return errors.As(err, &e) && e.code == lsp.MethodNotFound
}

// Notify tells the client something; that it can't be told is logged.
func (c *Client) Notify(ctx context.Context, method string, params any) {
	if err := c.Conn.Notify(ctx, method, params); err != nil && ctx.Err() == nil {
		c.Log.Warn("notification not sent", "method", method, "error", err)
	}
}

// Warn puts a message before the user.
func (c *Client) Warn(ctx context.Context, message string) {
	c.Notify(ctx, "window/showMessage", lsp.ShowMessageParams{Type: lsp.MessageWarning, Message: c.Hide(message)})
}

// InvalidParams is the answer to a request with wrong parameters.
func InvalidParams(format string, args ...any) error {
	return lsp.Errorf(lsp.InvalidParams, format, args...)
}

// Decode decodes a request's params.
func Decode(params json.RawMessage, v any) error {
	if len(params) == 0 {
		return InvalidParams("params: missing")
	}
	if err := lsp.Unmarshal(params, v); err != nil {
		return InvalidParams("params: %v", err)
	}
	return nil
}
