package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// client is the way to the client, and what it can do. Its abilities are set
// once, by initialize.
type client struct {
	conn *lsp.Conn
	log  *slog.Logger
	hide func(string) string
	can  abilities
}

// abilities are the client's capabilities as far as they change what we send.
type abilities struct {
	versionedEdits bool // documentChanges in workspace edits
	deleteFiles    bool
	createFiles    bool
	renameFiles    bool
	configuration  bool // workspace/configuration
	progress       bool // window/workDoneProgress/create
	showDocument   bool
	lensRefresh    bool
	literalActions bool // code actions that are more than commands
	symbolTree     bool // symbols of a document as a tree
	sidecar        lsp.SidecarCapabilities
}

// abilitiesOf reads what the client says about itself. Some clients declare
// only one half of workspace edits although they can do both; they get the
// plain form, which all of them understand.
func abilitiesOf(c lsp.ClientCapabilities) abilities {
	edit := c.Workspace.WorkspaceEdit
	full := edit.DocumentChanges && len(edit.ResourceOperations) > 0
	can := func(op string) bool { return full && slices.Contains(edit.ResourceOperations, op) }
	literal := string(c.TextDocument.CodeAction.Literal)
	return abilities{
		versionedEdits: full,
		createFiles:    can("create"),
		deleteFiles:    can("delete"),
		renameFiles:    can("rename"),
		configuration:  c.Workspace.Configuration,
		progress:       c.Window.WorkDoneProgress,
		showDocument:   c.Window.ShowDocument.Support,
		lensRefresh:    c.Workspace.CodeLens.RefreshSupport,
		literalActions: literal != "" && literal != "null" && literal != "false",
		symbolTree:     c.TextDocument.DocumentSymbol.Hierarchical,
		sidecar:        c.Experimental.Sidecar,
	}
}

// call asks the client. An error that it answers comes back as a *clientError:
// passed on as it is, it would read as ours.
func (c *client) call(ctx context.Context, method string, params, result any) error {
	err := c.conn.Call(ctx, method, params, result)
	var e *lsp.Error
	if errors.As(err, &e) {
		return &clientError{method, e.Code, e.Message}
	}
	return err
}

// clientError is an error that the client answered.
type clientError struct {
	method  string
	code    int64
	message string
}

func (e *clientError) Error() string {
	return "the editor answered " + e.method + " with: " + e.message
}

// unsupported reports whether the client does not know the method.
func unsupported(err error) bool {
	var e *clientError
	return errors.As(err, &e) && e.code == lsp.MethodNotFound
}

// notify tells the client something; that it can't be told is logged.
func (c *client) notify(ctx context.Context, method string, params any) {
	if err := c.conn.Notify(ctx, method, params); err != nil && ctx.Err() == nil {
		c.log.Warn("notification not sent", "method", method, "error", err)
	}
}

// warn puts a message before the user.
func (c *client) warn(ctx context.Context, message string) {
	c.notify(ctx, "window/showMessage", lsp.ShowMessageParams{Type: lsp.MessageWarning, Message: c.hide(message)})
}
