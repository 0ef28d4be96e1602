package commands

import (
	"errors"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
	"github.com/sidecar-ls/sidecar-ls/server/review"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Deps are what a command can work on: the parts of the workspace as it is now, and the
// ways to the client.
type Deps struct {
	*Parts
	Queue       *review.Queue
	Client      *client.Client
	People      *client.People
	Approvals   *client.Approvals
	Progress    *client.Progress
	Transcripts *Transcripts
	CallIDs     *CallIDs // nil: none is refused
}

// Queue is the review queue over the documents as they are live.
func (p *Parts) Queue(docs *documents.Documents, live *documents.Editor, changed func()) *review.Queue {
	q := &review.Queue{Store: p.Review, Docs: docs, Live: live, Introduced: p.Introduced, Changed: changed}
	if p.Settings != nil {
		q.Batches = p.Settings
	}
	if p.Agents != nil {
		q.Requests = requests{p.Agents}
	}
	return q
}

// requests are those of the agents whose runs are open.
type requests struct{ Agents }

// Request implements review.Requests.
func (r requests) Request(sessions []string, hunk string) (run string, q conversation.Request, ok bool) {
	m := r.Opened() // whoever lists edits asks
	if m == nil {
		return "", q, false
	}
	return m.Request(sessions, hunk)
}

func approvals(d *Deps) (*client.Approvals, error) { return d.Approvals, nil }

func all(d *Deps) (*Deps, error) { return d, nil }

// queue is the review queue, where it can be used.
func queue(d *Deps) (*review.Queue, error) {
	switch {
	case d.Review != nil:
		return d.Queue, d.Review.Locked()
	case d.NoReview != nil:
		return nil, d.NoReview
	}
	return nil, review.ErrNone
}

// part is a part of the workspace, or why it isn't there.
func part[T comparable](p T, missing error) (T, error) {
	var none T
	if p == none {
		return none, missing
	}
	return p, nil
}

var errNoSessions = errors.New("sessions are not available: no folder is open in the editor")

func dispatcher(d *Deps) (Dispatcher, error) {
	return part(d.Dispatch, errors.New("tools are not available: no folder is open in the editor"))
}

func sessions(d *Deps) (*session.Store, error) { return part(d.Sessions, errNoSessions) }

func manager(d *Deps) (*agents.Manager, error) {
	if d.Agents == nil {
		return nil, errors.New("agents are not available: no folder is open in the editor")
	}
	return d.Agents.Manager()
}

func shadows(d *Deps) (Shadows, error) {
	return part(d.Shadows, errors.New("shadow workspaces are not available: no folder is open in the editor"))
}

func knowledge(d *Deps) (Knowledge, error) {
	return part(d.Knowledge, errors.New("the project index is not available: no folder is open in the editor"))
}

func mcp(d *Deps) (MCP, error) {
	return part(d.MCP, errors.New("there are no MCP servers: no folder is open in the editor"))
}

func plugins(d *Deps) (Plugins, error) {
	return part(d.Plugins, tools.Errorf(tools.Unavailable, "there are no plugins: no folder is open in the editor"))
}

func setup(d *Deps) (Setup, error) {
	return part(d.Setup, errors.New("this server sets up no clients; run `sidecar-ls setup` in a terminal"))
}

func always(d *Deps) (Always, error) {
	return part(d.Always, errors.New("there are no rules: no folder is open in the editor"))
}

func settings(d *Deps) (Settings, error) { return part(d.Settings, errNoSessions) }

func model(d *Deps) (Reports, error) {
	return part(d.Reports, errors.New("there are no settings: no folder is open in the editor"))
}

func records(d *Deps) (Reports, error) {
	return part(d.Reports, errors.New("there is no audit log: no folder is open in the editor"))
}

// Transcripts are the conversations that are shown as documents, by run: their files
// follow them.
type Transcripts struct {
	mu    sync.Mutex
	shown map[string]bool
}

// NewTranscripts shows none.
func NewTranscripts() *Transcripts { return &Transcripts{shown: map[string]bool{}} }
