package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/backend"
	"github.com/sidecar-ls/sidecar-ls/internal/config/live"
	"github.com/sidecar-ls/sidecar-ls/internal/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/events"
	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/indexing"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/precheck"
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/repos"
	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/secrets"
	"github.com/sidecar-ls/sidecar-ls/internal/session"
	"github.com/sidecar-ls/sidecar-ls/internal/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/worker"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
	"github.com/sidecar-ls/sidecar-ls/tools/system"
)

// door is what differs between the ways into the core.
type door struct {
	log      *slog.Logger
	level    *slog.LevelVar
	client   []json.RawMessage                        // settings of the client
	approver dispatch.Approver                        // nil: nobody can be asked
	people   editor.People                            // nil: nobody can be asked
	shows    *server.Diagnostics                      // nil: nobody shows diagnostics
	live     func(base workspace.View) workspace.View // nil: the disk is what the user sees
	changed  func()                                   // the review queue changed; may be nil
	indexed  func()                                   // the project index changed; may be nil
	parser   string                                   // see outliner
	resident bool                                     // the core stays: searches remember what they read
	queue    queueUse
	warn     func(text string) // puts a text before the user; nil: the log has it
	mode     string            // of the default session; "" is that of the settings
	before   *core             // in whose place the core comes; nil: it is the first
	visit    *visit            // outlives cores that don't follow each other; nil: nothing does
}

// queueUse says when the review queue is opened. It is not opened without
// need, because that leaves traces in the workspace.
type queueUse int

const (
	queueNever  queueUse = iota
	queueByMode          // when the mode holds edits there, or there may be some
	queueAlways
)

// core is everything between a door and the files of one workspace.
type core struct {
	disk     *workspace.Disk
	live     workspace.View
	review   *pendingedits.Store // nil: reviewErr says why
	sessions *session.Store
	registry *tools.Registry
	dispatch *dispatch.Dispatcher
	settings *live.Settings
	shadows  *shadows
	repos    *repos.Repos
	bus      *events.Bus
	hide     *redact.Redactor
	audit    *auditlog.Log // nil: stateErr says why
	values   *secrets.Values
	home     statedir.Dir
	names    pendingedits.Names
	line     *line // of the cores that follow each other
	door     door  // without before
	keeps    bool  // the state of the core before

	watching  *watch.Lazy
	texts     *textindex.Index // nil: the core doesn't stay
	parsers   *worker.Parsers  // nil: parsing is done here
	servers   *langserver.Pool
	sources   *source.Manager // of MCP; nil: the core doesn't stay
	confiner  *confine.Confiner
	checker   *precheck.Checker // nil: nobody waits for what it finds
	knowledge *indexing.Knowledge
	problems  troubles // what the user should know: settings, recovery, the queue

	reviewErr error
	stateErr  error // home must not be used
}

// troubles is what went wrong while a core was opened.
type troubles struct {
	mu    sync.Mutex
	texts []string
	shown bool
}

// add keeps some for who opens the core, and returns whether that is too late:
// a queue that is open goes on while the rest is built.
func (t *troubles) add(texts ...string) (late bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.shown {
		t.texts = append(t.texts, texts...)
	}
	return t.shown
}

// show returns all of them. Those that come after it are too late.
func (t *troubles) show() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown = true
	return slices.Clone(t.texts)
}

// open builds the core for a workspace. A workspace whose review queue can't
// be opened still serves everything else.
func open(ctx context.Context, folders []workspace.Folder, d door) (*core, error) {
	if len(folders) == 0 {
		return nil, errors.New("sidecar-ls needs a workspace folder; open a folder in the editor, or name one with --root")
	}
	c := &core{bus: events.NewBus(), home: statedir.Dir(folders[0].Dir), names: namesOf(folders), line: new(line), door: d}
	c.door.before = nil
	opts := workspace.DiskOptions{StateDir: filepath.Join(c.home.State(), "apply"), Prepare: c.home.Prepare}
	if c.stateErr = c.home.Check(); c.stateErr != nil {
		opts.StateDir = "" // then only what needs no journal is atomic
	}
	c.keeps = d.before != nil && d.before.home == c.home && d.before.stateErr == nil && c.stateErr == nil
	disk, err := workspace.OpenDisk(folders, opts)
	if err != nil {
		return nil, err
	}
	c.disk, c.live = disk, disk
	c.watching = watch.NewLazy(disk)
	if d.before == nil {
		c.parsers = worker.NewParsers(d.parser)
		if d.visit != nil {
			c.line, d.visit.line = cmp.Or(d.visit.line, c.line), cmp.Or(d.visit.line, c.line)
		}
		c.line.now.Store(c)
	}
	for _, f := range folders {
		sandbox.Sweep(f.Dir)
	}
	if c.stateErr == nil {
		c.problems.add(confine.Leftovers(c.home)...)
	}
	if d.resident {
		c.texts = textindex.New(disk, c.watching.Subscribe, textindex.Options{})
	}
	hide := redact.OfLogger(d.log)
	if d.before == nil {
		c.settings = live.New(dirsOf(folders), live.Options{
			Level: d.level, Secrets: func(values []string) { hide.Know("settings", values) },
		})
		c.problems.add(c.settings.Load(d.client...)...)
		c.sessions = d.visit.sessions(c.line, d)
	} else {
		c.inherit(d.before)
	}
	c.hide = hide
	var finder secrets.Finder
	c.values = secrets.NewValues(disk, &finder, hide, c.settings.SensitiveOK)
	if c.shadows, err = newShadows(c, d, folders[0].Dir); err != nil {
		_ = c.watching.Close()
		c.values.Close()
		return nil, errors.Join(err, disk.Close())
	}
	c.repos = &repos.Repos{Options: gitrepo.Options{Trusted: c.settings.Trusted}, Shadow: c.shadows.m.Top}
	if d.resident {
		c.repos.Watch = c.watching
	}
	c.confiner = confine.New(confine.Options{
		Program: d.parser, Home: c.home, NoHome: c.stateErr, Settings: c.settings, Secrets: &finder, Repos: c.repos, Report: d.reportSetAside,
	})
	c.servers = newServers(c, d)
	c.knowledge = indexing.New(indexing.Options{
		Watch: c.watching, Parsers: c.parsers, Repos: c.repos.Options, Home: c.home, Settings: c.settings, Hide: hide, Log: d.log,
		Resident: d.resident, Changed: d.indexed,
	})
	mode, ok := c.settings.Mode(d.mode)
	if !ok {
		c.giveUp(d)
		return nil, usagef("there is no mode %q", d.mode)
	}
	if d.live != nil {
		c.live = d.live(disk)
	}
	if c.stateErr != nil {
		c.reviewErr = c.stateErr
	} else if c.keeps {
		c.review, c.reviewErr, c.audit = d.before.review, d.before.reviewErr, d.before.audit
	} else if d.queue == queueAlways || d.queue == queueByMode && (mode.ToStore || c.home.HasQueue()) {
		c.openReview(ctx, d)
	} else {
		c.reviewErr = errors.New("the review queue is not open")
	}
	if c.stateErr == nil && c.audit == nil {
		c.audit = auditlog.New(c.home.Logs(), auditlog.Options{
			Prepare: c.home.Prepare,
			Failed: func(err error) {
				d.log.Error("calls are not written down", "error", err)
				if d.warn != nil {
					d.warn("What tools do is not written down: " + hide.Text(err.Error()) + ". Calls go on.")
				}
			},
		})
	}
	c.registry = tools.NewRegistry(tools.RegistryOptions{
		Warn: func(text string) { d.log.Warn(text) },
		Changed: func([]string) {
			c.bus.Publish(events.Event{Type: events.ToolsChanged, ToolSet: &events.ToolSet{Activated: []string{}}})
		},
	})
	var check func(context.Context, string, []workspace.Change) *dispatch.Checked
	if d.resident && c.review != nil {
		c.checker = precheck.New(precheck.Options{
			Live: c.live, Queue: c.review, Servers: c.servers, Sessions: c.sessions, Settings: c.settings, Hide: hide,
			Refused: func() string { return c.serverSettings().Refused }, Changed: d.changed,
		})
		check = c.checker.Edit
	}
	c.dispatch = dispatch.New(dispatch.Options{
		After:    d.dispatcherBefore(),
		Check:    check,
		Registry: c.registry, Sessions: c.sessions, Approver: d.approver, Bus: c.bus, Audit: c.audit, Log: d.log,
		Redact:   hide,
		Settings: func() *dispatch.Settings { return c.settings.Dispatch() },
		Views:    c.destinations,

		Refresh:    c.values.Refresh,
		Unconfined: c.confiner.Weak,
		Sandbox:    func() string { return c.confiner.Words(folders[0].Dir) },
	})
	if err := c.registry.Register(tools.Builtin, builtins(c.editorTools(d), system.Deps{Pages: pager{c.dispatch}, Catalog: c.dispatch, Settings: c.settings.ForTools(), Backends: backend.Backends{Settings: c.settings}}, indexing.Symbols{Parsers: c.parsers}, c.git(), c.knowledge, c.shell(), c.texts, c.web(d.parser, hide))...); err != nil {
		c.giveUp(d)
		return nil, err
	}
	if d.resident {
		c.sources = newSources(c, d, hide)
	}
	if d.before != nil {
		if err := c.takeOver(ctx, d.before); err != nil {
			return nil, errors.Join(err, c.closeOwn())
		}
	}
	if c.checker != nil {
		c.checker.Begin()
	}
	return c, nil
}

// queueWait is how long an edit waits for another process that has the queue:
// one that ends its calls before it leaves, or a command that decides on edits.
const queueWait = 10 * time.Second

// queueErr says why what is pending is not known here, if it isn't.
func (c *core) queueErr() error {
	if c.review == nil {
		return c.reviewErr
	}
	return c.review.Locked()
}

// openReview finishes an interrupted accept and opens the review queue.
func (c *core) openReview(ctx context.Context, d door) {
	report, err := c.disk.Recover(ctx)
	if err != nil {
		c.problems.add("an interrupted change of files could not be finished: " + err.Error())
	}
	c.problems.add(recovered(report)...)
	c.review, c.reviewErr = pendingedits.Open(c.home.Queue(), c.live, pendingedits.Options{
		Notify:  c.tell,
		Decided: func(what pendingedits.Decision) { c.line.now.Load().writeDown(what) },
		Changed: func() {
			c.line.now.Load().checker.QueueChanged()
			if d.changed != nil {
				d.changed()
			}
		},
		Commits: c.line,
		Names:   c.names,
		Wait:    queueWait,
		Room:    func(ctx context.Context) { makeRoom(ctx, string(c.home)) },
		Report: func(text string) {
			if c.problems.add(text) {
				d.log.Warn("review", "problem", text)
			}
		},
		Prepare: c.home.Prepare,
	})
	if c.reviewErr != nil {
		c.review = nil
	}
}

// recovered says what was found of an interrupted change.
func recovered(r workspace.RecoverReport) []string {
	var told []string
	for _, row := range []struct {
		what  string
		names []string
	}{
		{"a change that was interrupted has been finished: ", r.Finished},
		{"a change was interrupted, and these files were changed since by somebody else; they are left as they are: ", r.Conflicts},
		{"kept for you to look at: ", r.Kept},
	} {
		if len(row.names) > 0 {
			told = append(told, row.what+strings.Join(row.names, ", "))
		}
	}
	return told
}

// tell puts a text into the next result of a session, if it is still open.
func (c *core) tell(sessionID, text string) {
	if s, err := c.sessions.Get(sessionID); err == nil {
		s.Tell(text)
	}
}

// batch reports whether what a session proposes is accepted as a whole or not
// at all.
func (c *core) batch(sessionID string) bool {
	s, err := c.sessions.Get(sessionID)
	if err != nil {
		return false
	}
	m, ok := c.settings.Mode(s.Mode())
	if s.Shadow != "" {
		m = m.InShadow()
	}
	return ok && m.Batch
}

// giveUp ends a core that could not be built.
func (c *core) giveUp(d door) {
	if d.before != nil {
		_ = c.closeOwn()
		return
	}
	_ = c.close()
}

// close ends the core, and those before it.
func (c *core) close() error {
	c.line.agents.close()
	c.line.ending.Wait()
	err := errors.Join(c.closeState(), c.closeOwn())
	c.parsers.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return errors.Join(err, c.bus.Close(ctx))
}

// closeOwn ends what no core that follows takes over.
func (c *core) closeOwn() error {
	c.checker.Close()
	c.servers.Close()
	if c.sources != nil {
		c.sources.Close()
	}
	c.confiner.Close()
	c.values.Close()
	if c.texts != nil {
		c.texts.Close()
	}
	return errors.Join(c.knowledge.Close(), c.watching.Close(), c.shadows.close(), c.disk.Close())
}

// closeState ends what is kept in home.
func (c *core) closeState() error {
	c.shadows.m.Close()
	var err error
	if c.review != nil {
		err = c.review.Close()
	}
	if c.audit != nil {
		err = errors.Join(err, c.audit.Close())
	}
	return err
}

// destinations are the views of every session that works in the main tree.
type destinations struct{ c *core }

func (d destinations) Live() workspace.View { return d.c.live }

func (d destinations) Pending(session, tool string, batch bool) workspace.View {
	if d.c.review == nil {
		return closedQueue{d.c.live, d.c.reviewErr}
	}
	return d.c.review.For(pendingedits.Proposer{Session: session, Tool: tool, Batch: batch})
}

func (d destinations) QueueCommit(ctx context.Context, session, message string, models []string) (int, error) {
	if d.c.review == nil {
		return 0, tools.Errorf(tools.Unavailable, "the commit can't be queued: %v; nothing was changed", d.c.reviewErr)
	}
	by := pendingedits.Proposer{Session: session, Batch: true}
	n, err := d.c.review.QueueCommit(ctx, by, message, models, false)
	if errors.Is(err, pendingedits.ErrNothingToCommit) && d.c.committer().staged(ctx, d.c.review.List(session)) {
		n, err = d.c.review.QueueCommit(ctx, by, message, models, true)
	}
	if errors.Is(err, pendingedits.ErrNothingToCommit) {
		return 0, tools.Errorf(tools.CommandFailed, "nothing to commit: no file of the batch changed since its last queued commit, and nothing is staged; edit files first")
	}
	return n, err
}

func (d destinations) ToDisk(context.Context) error { return nil }

func (d destinations) PendingCount() int {
	if d.c.review == nil {
		return 0
	}
	return len(d.c.review.List("").Edits)
}

// closedQueue stands for a review queue that could not be opened: what is
// there can be read, and an edit is refused with the reason.
type closedQueue struct {
	workspace.Files
	why error
}

func (q closedQueue) Apply(context.Context, ...workspace.Change) error {
	return tools.Errorf(tools.Unavailable, "the edit can't be held for review: %v; nothing was changed", q.why)
}

// pager is the dispatcher's pages for the tool that reads them.
type pager struct{ d *dispatch.Dispatcher }

func (p pager) Page(cursor string, most int) (system.Page, error) {
	pg, err := p.d.PageInResult(cursor, most)
	return system.Page{Content: pg.Content, Next: pg.NextCursor, LeftBytes: pg.LeftBytes, TotalBytes: pg.TotalBytes}, err
}

// reportSetAside reports what a program made that git would have run, and that
// was set aside: a command's result says it, and the user hears of a program
// that stays.
func (d door) reportSetAside(text string, argv []string) {
	if len(argv) == 0 {
		d.log.Warn(text)
		return
	}
	d.log.Warn(text, "program", filepath.Base(argv[0]))
	if d.warn != nil {
		d.warn(text)
	}
}
