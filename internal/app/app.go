// Package app builds a server of its parts. What lives differently long is built
// apart:
//
//	Client            as long as a connection: settings, sessions, events, workers
//	 └─ Home          as long as one state directory: review queue, audit log, shadows
//	     └─ Workspace as long as a set of folders: files, indexes, processes, dispatcher
//
// When the client changes its folders, a new Workspace comes in the place of the
// old one, which ends with its last call. The Home stays if its directory does.
package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app/indexing"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/worker"
	"github.com/sidecar-ls/sidecar-ls/internal/extend"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/files/secrets"
	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/batchcommit"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/precheck"
	"github.com/sidecar-ls/sidecar-ls/internal/git/repos"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/agents"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// Options are what differs between those who open a workspace. Log is needed.
type Options struct {
	Log      *slog.Logger
	Level    *slog.LevelVar     // follows the setting log.level; nil: nothing does
	Programs *lookup.Finder     // finds what runs outside of the sandbox; nil: as on this system
	Program  string             // this program's path, which is started again for what is confined; "" confines nothing
	Layers   []json.RawMessage  // settings of the client
	Machine  config.MachineFile // an administrator's settings; the zero value: there are none
	Mode     string             // of the default session; "": that of the settings
	Queue    QueueUse
	EditWait time.Duration // how long an edit waits for what it broke; 0: as usual

	// Resident says that the process stays: what changes is watched, and searches
	// remember what they read.
	Resident bool

	User User

	// Person serves a command line, over the socket of the workspace; nil serves none.
	Person func(context.Context, *Client, peers.Peer)
}

// User is the way to whoever uses the workspace. What is nil is not there.
type User struct {
	Approver    dispatch.Approver
	People      editor.People
	Team        agents.Team
	Plans       agents.Plans
	Diagnostics Diagnostics // what the editor shows

	Warn          func(text string)                        // puts a text before the user
	QueueChanged  func()                                   // the review queue changed
	IndexChanged  func()                                   // the project index changed
	OpenDocuments func(base workspace.View) workspace.View // the files as the user sees them
}

// Diagnostics reads the diagnostics that the editor shows: *documents.Diagnostics.
type Diagnostics interface {
	Shown(ctx context.Context, name string) ([]langserver.Problem, error)
}

// QueueUse says when the review queue is opened. It is not opened without need,
// because that leaves traces in the workspace.
type QueueUse int

// The uses of the queue.
const (
	QueueNever  QueueUse = iota
	QueueByMode          // when the mode holds edits there, or there may be some
	QueueAlways
)

// ErrMode says that there is no mode of that name.
var ErrMode = errors.New("there is no such mode")

// Client is who the server works for: an editor, an agent, or a command line.
type Client struct {
	Settings *live.Settings
	Sessions *session.Store
	Bus      *events.Bus
	Hide     *redact.Redactor
	Parsers  *worker.Parsers

	o    Options
	host *endpoint.Host // nil: nobody attaches

	home      atomic.Pointer[Home]
	workspace atomic.Pointer[Workspace] // nil: the client has no folder open
	ending    sync.WaitGroup            // workspaces that were replaced, until their calls have ended
	left      []string                  // folders that were the first and are not now
	close     func() error
}

// Home is what one state directory holds: it lives as long as a workspace has
// that directory.
type Home struct {
	Dir      statedir.Dir
	Err      error               // Dir must not be used
	Queue    *pendingedits.Store // nil: QueueErr says why
	QueueErr error
	Audit    *auditlog.Log // nil: Err says why
	Shadows  *shadow.Manager

	said    []string // what was set aside of the directory
	options homeOptions
}

// homeOptions are what a Home is made with.
type homeOptions struct {
	settings *live.Settings
	hide     *redact.Redactor
	log      *slog.Logger
	user     queueUser
}

// queueUser hears of the review queue.
type queueUser interface {
	Notify(session, text string)
	Changed()
	Warn(text string)
}

// Workspace is everything between a client and the files of one set of folders.
type Workspace struct {
	Client *Client
	Home   *Home

	Disk     *workspace.Disk
	Live     workspace.View // as the user sees the files
	Registry *tools.Registry
	Dispatch *dispatch.Dispatcher
	Index    *indexing.Knowledge
	Confiner *confine.Confiner
	Servers  *langserver.Pool
	Skills   *skills.Library
	Sources  *source.Manager   // of MCP; nil: the process doesn't stay
	Checker  *precheck.Checker // nil: nobody waits for what it finds

	Extensions *extend.Extensions
	Problems   live.Problems // what the user should know: settings, recovery, the queue

	commits *batchcommit.Committer
	repos   *repos.Repos
	watch   *watch.Lazy
	texts   *textindex.Index // nil: the process doesn't stay
	values  *secrets.Values
	shadows *shadow.Open
	tree    *pendingedits.Tree
}
