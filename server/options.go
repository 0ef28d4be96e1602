package server

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
)

// Options are what a server needs. Start is needed; every other field may be
// left out.
type Options struct {
	Version string
	Log     *slog.Logger // nil means silence

	// Hide keeps secrets out of errors and messages, which may quote what they
	// are about; nil hides nothing.
	Hide func(text string) string

	// Start builds the core when the client initializes. Its error is the
	// answer to the client.
	Start func(context.Context, Start) (*Core, error)

	// Left is called when the client has left, or shut the server down and left
	// (orderly), while Serve may still wait for work to end.
	Left func(orderly bool)

	maxFrame int // bytes of a message; 0 is the usual limit
}

// Start is what the client says when it initializes, and the ways to it.
type Start struct {
	Folders  []workspace.Folder // none: the client opened no folder
	Settings json.RawMessage    // initializationOptions.sidecar, or nil
	Approver dispatch.Approver
	People   *client.People

	// Initialized is closed when the client can be asked.
	Initialized <-chan struct{}

	// Diagnostics asks the client what it shows.
	Diagnostics *documents.Diagnostics

	// Client is the name of the client's program, if it says it; Shown is what its
	// user has before them.
	Client string
	Shown  func() documents.Shown

	// ReviewChanged is to be called when the review queue changed; it never waits.
	ReviewChanged func()

	// KnowledgeChanged is to be called when the project index changed; it never waits.
	KnowledgeChanged func()

	// Editor lays the client's open documents over base. It is to be called
	// once for a set of folders, when nothing else can fail any more, and the
	// result to be the live view of every session that works in the main tree.
	Editor func(base workspace.View) *documents.Editor
}

// Core is the workspace as the server knows it. Parts that are nil are absent.
type Core struct {
	commands.Parts
	Lifecycle
	Bus *events.Bus

	// DocumentSymbols and WorkspaceSymbols are not announced where they are nil: most
	// editors have a better source.
	DocumentSymbols  DocumentSymbols
	WorkspaceSymbols WorkspaceSymbols

	// ShownChanged is called when what Start.Shown tells may have changed, and must
	// not wait; nil means that nobody asks.
	ShownChanged func()
}

// Lifecycle is how a core follows its client.
type Lifecycle interface {
	// Configure loads the settings again, later layers over earlier ones, and
	// returns what is wrong with them, in words for the user.
	Configure(layers ...json.RawMessage) []string

	// SetFolders follows the client when it adds or removes folders: it returns
	// the core that comes in the place of this one, with the same sessions,
	// events and pending edits, and what is wrong with the folders, in words for
	// the user. Calls that are on their way end as they began.
	SetFolders(context.Context, []workspace.Folder) (next *Core, problems []string, err error)

	// Close ends the core after the last request.
	Close() error
}

// DocumentSymbols returns the symbols of a text, outer ones first.
type DocumentSymbols interface {
	OfDocument(ctx context.Context, name string, text []byte) ([]pki.Symbol, error)
}

// WorkspaceSymbols returns the symbols of all files that fit a query, best first.
type WorkspaceSymbols interface {
	OfWorkspace(ctx context.Context, query string) ([]pki.Definition, error)
}

// What commands answer, as those read it who ask over the wire.
type (
	// KnowledgeStatus is how far the project index is.
	KnowledgeStatus = commands.KnowledgeStatus
	// MCPStatus describes an MCP server.
	MCPStatus = source.Status
	// Skill is a skill as people choose it.
	Skill = commands.Skill
	// SkillList is what a session knows how to do.
	SkillList = commands.SkillList
)
