package server

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
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
	People   *People

	// Initialized is closed when the client can be asked.
	Initialized <-chan struct{}

	// Diagnostics asks the client what it shows.
	Diagnostics *Diagnostics

	// Client is the name of the client's program, if it says it; Shown is what its
	// user has before them.
	Client string
	Shown  func(context.Context) Shown

	// ReviewChanged is to be called when the review queue changed; it never waits.
	ReviewChanged func()

	// KnowledgeChanged is to be called when the project index changed; it never waits.
	KnowledgeChanged func()

	// Editor lays the client's open documents over base. It is to be called
	// once for a set of folders, when nothing else can fail any more, and the
	// result to be the live view of every session that works in the main tree.
	Editor func(base workspace.View) *Editor
}

// Core is what the commands work on. Fields that stay nil are parts that are
// absent; their commands say so.
type Core struct {
	Dispatch Dispatcher
	Sessions *session.Store
	Review   *pendingedits.Store
	NoReview error // why Review is nil
	Bus      *events.Bus

	// SaveEdits reports whether documents are saved in which edits were applied: those
	// that had no other changes, and, once an edit is accepted, those that had; nil
	// means neither.
	SaveEdits func() (clean, accepted bool)

	// Introduced tells what pending edits would make worse; nil means that
	// nobody looks.
	Introduced Introduced

	// Shadows are the shadow workspaces; nil means none.
	Shadows   Shadows
	Knowledge Knowledge
	Backend   func() (any, error) // the language model in use; nil: there are no settings

	// Skills are what a session knows how to do; nil: there are none.
	Skills func(ctx context.Context, session string) (SkillList, error)

	// MCP are the MCP servers whose tools are offered; nil means none.
	MCP MCP

	// Plugins are the plugins of the workspace; nil means none.
	Plugins Plugins

	// Hooks are the hooks of the workspace; nil means none.
	Hooks Hooks

	// Setup puts this program into agents and editors; nil does not.
	Setup Setup

	// Agents drives agents; nil: there are none.
	Agents Agents

	// Output is what git ignores and dependencies, as sessions hold it; nil: there is none.
	Output Output

	// StateDir is a directory for files that are shown to the user.
	StateDir string

	// Audit reads the audit log and reports whether it is as it was written;
	// nil means that there is none.
	Audit func() (any, error)

	// ShownChanged is called when what Start.Shown tells may have changed, and must
	// not wait; nil means that nobody asks.
	ShownChanged func()

	// Configure loads the settings again, later layers over earlier ones, and
	// returns what is wrong with them, in words for the user.
	Configure func(layers ...json.RawMessage) []string

	// Batch reports whether what a session proposes is accepted as a whole or
	// not at all; nil means never.
	Batch func(session string) bool

	// DocumentSymbols returns the symbols of a text, outer ones first;
	// WorkspaceSymbols those of all files that fit a query, best first. What is
	// nil is not announced: most editors have a better source.
	DocumentSymbols  func(ctx context.Context, name string, text []byte) ([]pki.Symbol, error)
	WorkspaceSymbols func(ctx context.Context, query string) ([]pki.Definition, error)

	// Modes lists the modes that a session can have; nil means none.
	Modes func() []Mode

	// SetFolders follows the client when it adds or removes folders: it returns
	// the core that comes in the place of this one, with the same sessions,
	// events and pending edits, and what is wrong with the folders, in words for
	// the user. Calls that are on their way end as they began. nil means that
	// Start is called instead.
	SetFolders func(context.Context, []workspace.Folder) (next *Core, problems []string, err error)

	// Close ends the core after the last request.
	Close func() error
}

// Mode is a mode as a person chooses it.
type Mode struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Shadows makes, compares, merges and discards shadow workspaces.
type Shadows interface {
	Create(context.Context, shadow.CreateRequest) (shadow.Shadow, error)
	List(context.Context) ([]shadow.Shadow, error)
	Diff(ctx context.Context, id string) (shadow.Diff, error)
	Merge(ctx context.Context, id, into string) (shadow.Merge, error) // into: "" and review, or tree
	Discard(ctx context.Context, id string) (shadow.Discarded, error)
}

// Output lists output that sessions hold for review, and does what a person decides about
// it. Session "" is all of them.
type Output interface {
	HeldOutput(session string) ([]workspace.Held, error)
	AcceptOutput(session string) (files int, left []string, err error)
	DropOutput(session string) error
}

// Dispatcher runs tool calls: *dispatch.Dispatcher.
type Dispatcher interface {
	Call(context.Context, dispatch.Request) (*dispatch.Result, error)
	CallOver(context.Context, dispatch.Request, workspace.Files) (*dispatch.Result, error)
	Explain(context.Context, dispatch.Request) (dispatch.Explanation, error)
	Page(cursor string) (dispatch.Page, error)
	Metrics() map[string]dispatch.Metric
	List(dispatch.ListRequest) ([]*tools.Tool, []string, error)
	Unmatched(selectors []string) []string
	WithoutKits(selectors []string) []string
}
