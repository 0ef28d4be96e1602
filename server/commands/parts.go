package commands

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/plugin"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/shadowsetup"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/verify"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/review"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Parts are the parts of a workspace that commands work on. What is nil is absent; its
// commands say so.
type Parts struct {
	Dispatch Dispatcher
	Sessions *session.Store
	Settings Settings
	Reports  Reports

	Review     *pendingedits.Store
	NoReview   error             // why Review is nil
	Introduced review.Introduced // what pending edits would make worse

	Shadows   Shadows
	Output    Output // what git ignores and dependencies, as sessions hold it
	Ports     Ports  // that programs of sessions listen on
	Knowledge Knowledge
	MCP       MCP     // the servers whose tools are offered
	Plugins   Plugins // of the workspace
	Hooks     Hooks
	Setup     Setup // puts this program into agents and editors
	Always    Always
	Agents    Agents

	// StateDir is a directory for files that are shown to the user.
	StateDir string
}

// Always proposes command rules that allow for good, and writes one.
type Always interface {
	// Suggest lists rules by the questions of the last days; 0 are the default.
	Suggest(days int) (any, error)
	// Plan says what writing a rule would mean. An error says why there is no such rule.
	Plan(rule AlwaysRule, scope string) (AlwaysPlan, error)
}

// AlwaysRule is a rule as a person allows it.
type AlwaysRule struct {
	Prefix   []string `json:"prefix"`
	Decision string   `json:"decision,omitempty"`
	Rest     string   `json:"rest,omitempty"`
	Packages string   `json:"packages,omitempty"`
	Host     string   `json:"host,omitempty"`
}

// AlwaysPlan is what a person decides about.
type AlwaysPlan struct {
	Title, Reason, Body string
	File                string
	Figures             any
	Write               func() error
}

// Settings are what the settings say about sessions and documents.
type Settings interface {
	// Modes lists the modes that a session can have.
	Modes() []Mode
	// Batch reports whether what a session proposes is accepted as a whole or not at all.
	Batch(session string) bool
	// SaveEdits reports whether documents are saved in which edits were applied: those
	// that had no other changes, and, once an edit is accepted, those that had.
	SaveEdits() (clean, accepted bool)
}

// Reports describe parts of the workspace, for a person who asks.
type Reports interface {
	Backend() (any, error) // the language model in use
	Audit() (any, error)   // whether the audit log is as it was written
	// Effects lists what left a session, newest first; "" means every session.
	Effects(session string, limit int) ([]effects.Effect, error)
	Skills(ctx context.Context, session string) (SkillList, error)
}

// Mode is a mode as a person chooses it.
type Mode struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Shadows makes, compares, merges and discards shadow workspaces.
type Shadows interface {
	CreateShowing(ctx context.Context, r shadow.CreateRequest, emit func(text string)) (shadow.Shadow, error)
	SetUp(ctx context.Context, id string, emit func(text string)) (shadow.Setup, error)
	Renew(ctx context.Context, id string, emit func(text string)) (*shadow.Setup, error)
	Plan(offer string) (shadowsetup.Plan, error)
	Take(shadowsetup.Plan) error
	List(context.Context) ([]shadow.Shadow, error)
	Diff(ctx context.Context, id string) (shadow.Diff, error)
	Merge(ctx context.Context, id, into string) (shadow.Merge, error) // into: "" and review, or tree
	Discard(ctx context.Context, id string) (shadow.Discarded, error)
}

// Output lists output that sessions hold for review, and does what a person decides about
// it. Session "" is all of them.
type Output interface {
	verify.Output
	Accepted() workspace.Files // what a build of the person's sees: nothing that is pending
	AcceptOutput(session string) (files int, left []string, err error)
	DropOutput(session string) error
}

// Dispatcher runs tool calls: *dispatch.Dispatcher.
type Dispatcher interface {
	Call(context.Context, dispatch.Request) (*dispatch.Result, error)
	CallOver(context.Context, dispatch.Request, workspace.Files) (*dispatch.Result, error)
	CallFresh(context.Context, dispatch.Request, workspace.Files) (*dispatch.Result, error)
	Explain(context.Context, dispatch.Request) (dispatch.Explanation, error)
	Page(cursor string) (dispatch.Page, error)
	Metrics() map[string]dispatch.Metric
	List(dispatch.ListRequest) ([]*tools.Tool, []string, error)
	Unmatched(selectors []string) []string
	WithoutKits(selectors []string) []string
}

// Agents have the runs of the workspace's agents.
type Agents interface {
	// Manager opens the runs.
	Manager() (*agents.Manager, error)
	// Opened is the manager if the runs are open, else nil: then no agent works.
	Opened() *agents.Manager
	// Subscribe calls f for every event of every run from now on.
	Subscribe(f func(conversation.Event)) (cancel func())
}

// opened is the manager of the agents if their runs are open, else nil.
func (p *Parts) opened() *agents.Manager {
	if p.Agents != nil {
		return p.Agents.Opened()
	}
	return nil
}

// Hooks are the programs that hear of calls: *extend.Extensions.
type Hooks interface {
	ListHooks() (list []hooks.Status, problems []string)
}

// MCP has the MCP servers whose tools are offered.
type MCP interface {
	List() []source.Status
	Reconnect(ctx context.Context, name string) (source.Status, error)
	Trust(ctx context.Context, name, hash string) (source.Status, error)
	Show(ctx context.Context, name string, dirs []string) (source.Status, error)
	SignIn(ctx context.Context, name string, show func(ctx context.Context, address string) bool) (st source.Status, address string, err error)
}

// Plugins are the plugins of a workspace: *plugin.Manager.
type Plugins interface {
	Reload()
	List() []plugin.Status
	Decide(plugin.Decision) (plugin.Status, error)
	Again(id string) (plugin.Status, error)
}

// Knowledge is the project index as the commands see it.
type Knowledge interface {
	// Status says how far it is, and starts it if that has not been done.
	Status() (KnowledgeStatus, error)
	// Rebuild begins it again, in the background.
	Rebuild() error
}

// KnowledgeStatus is how far the project index is.
type KnowledgeStatus struct {
	Files     int    `json:"files"`
	Symbols   int    `json:"symbols"`
	Ready     bool   `json:"ready"`               // every file was looked at
	IndexedAt string `json:"indexedAt,omitempty"` // RFC 3339; absent before the first time
	Skipped   int    `json:"skipped"`             // files known by their paths alone
	Generated int    `json:"generated"`           // files known by their names alone
	Bytes     int64  `json:"bytes"`               // of memory
	Looked    int    `json:"looked"`              // files looked at so far, while it is not ready
	Parsed    int    `json:"parsed"`              // files whose symbols come from a parser; the others' from their lines
	Parseable int    `json:"parseable"`           // files that a parser may take, with those
	Error     string `json:"error,omitempty"`     // why the last look at the files ended early

	Embeddings KnowledgeEmbeddings `json:"embeddings,omitzero"` // absent where they are off
}

// KnowledgeEmbeddings is how far the vectors are that answers by meaning need.
type KnowledgeEmbeddings struct {
	State    string `json:"state"` // starting, working, ready, failing
	Model    string `json:"model"`
	Units    int    `json:"units"`           // that are to have vectors
	Embedded int    `json:"embedded"`        // that have
	Error    string `json:"error,omitempty"` // why it is failing
}

// SkillList is what a session knows how to do.
type SkillList struct {
	Skills   []Skill  `json:"skills"`
	Problems []string `json:"problems,omitempty"` // skills that are left out, and why
}

// Skill is a skill as people choose it.
type Skill struct {
	Name          string   `json:"name"`
	Description   string   `json:"description"`
	Origin        string   `json:"origin"`
	Kit           bool     `json:"kit,omitempty"`
	Missing       string   `json:"missing,omitempty"` // why it can't be used
	Tools         []string `json:"tools,omitempty"`   // that it needs
	Steps         []string `json:"steps,omitempty"`   // of a kit
	AllowedTools  []string `json:"allowedTools,omitempty"`
	Compatibility string   `json:"compatibility,omitempty"`
	License       string   `json:"license,omitempty"`
	Warnings      []string `json:"warnings,omitempty"`
}

// Setup puts this program into the agents and editors that people have.
type Setup interface {
	List(ctx context.Context) ([]SetupClient, error)
	Plan(client string, o SetupOptions) (SetupPlan, error)
	PlanUndo(client string, o SetupOptions) (SetupPlan, error)
}

// SetupClient is an agent or editor.
type SetupClient struct {
	Name    string      `json:"name"`
	Title   string      `json:"title"`
	Found   bool        `json:"found"`
	Version string      `json:"version,omitempty"`
	Roads   []SetupRoad `json:"roads"`
}

// SetupRoad is a way of a client to the workspace.
type SetupRoad struct {
	Road    string `json:"road"`
	State   string `json:"state"`
	What    string `json:"what"`
	Why     string `json:"why,omitempty"`
	Command string `json:"command,omitempty"`
}

// SetupOptions say what is to be set up.
type SetupOptions struct {
	Roads             []string
	Project, OnlyOurs bool
}

// SetupPlan is what would be changed. Apply changes it, and is nil where there
// is nothing to do.
type SetupPlan struct {
	Title    string
	Changed  []SetupChange
	Replaces []string // what is somebody else's
	Left     []string // what undo leaves
	Notes    []string
	Apply    func() error
}

// SetupChange is what becomes of a file.
type SetupChange struct {
	Path   string `json:"path"`
	Target string `json:"target,omitempty"`
	Diff   string `json:"diff"`
}
