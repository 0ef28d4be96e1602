package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// patience bounds every wait of a test; it is only reached when one fails.
const patience = 2 * time.Minute

// calls is a dispatcher of which a test sets what it needs.
type calls struct {
	call func(context.Context, dispatch.Request) (*dispatch.Result, error)
}

func (c *calls) Call(ctx context.Context, r dispatch.Request) (*dispatch.Result, error) {
	return c.call(ctx, r)
}

// CallFresh is Call, too.
func (c *calls) CallFresh(ctx context.Context, r dispatch.Request, _ workspace.Files) (*dispatch.Result, error) {
	return c.Call(ctx, r)
}

// CallOver is Call: what it is over is not looked at.
func (c *calls) CallOver(ctx context.Context, r dispatch.Request, _ workspace.Files) (*dispatch.Result, error) {
	return c.call(ctx, r)
}

func (c *calls) Explain(_ context.Context, r dispatch.Request) (dispatch.Explanation, error) {
	return dispatch.Explanation{Decision: "ask", Rule: r.Name}, nil
}

func (c *calls) Page(string) (dispatch.Page, error) {
	return dispatch.Page{}, tools.Errorf(tools.ExpiredCursor, "the cursor has expired")
}

func (c *calls) Metrics() map[string]dispatch.Metric {
	return map[string]dispatch.Metric{"grep": {Calls: 1, OK: 1}}
}

func (c *calls) Unmatched([]string) []string { return nil }

func (c *calls) WithoutKits(selectors []string) []string { return selectors }

func (c *calls) List(r dispatch.ListRequest) ([]*tools.Tool, []string, error) {
	if r.Session == "lost" {
		return nil, nil, session.ErrUnknown
	}
	return nil, nil, nil
}

// world is a server with a real disk and a real review queue, and its editor.
type world struct {
	*fakeeditor.Editor
	t        testing.TB
	ctx      context.Context
	dir      string
	state    string
	batch    bool // what is proposed is a batch
	server   *Server
	live     *documents.Editor
	store    *pendingedits.Store
	bus      *events.Bus
	approver dispatch.Approver
	people   *client.People
	tools    *calls
	indexed  func() // the project index has changed
}

// setup says how a world differs from the plain one.
type setup struct {
	files        map[string]string
	capabilities *lsp.ClientCapabilities
	options      any            // initializationOptions
	settings     map[string]any // of the client's configuration
	maxFrame     int
	bare         bool // initialize is left to the test
	noFolder     bool
	batch        bool
	commits      pendingedits.Committer
	fail         func(point string) error            // of the review queue
	wrap         func(workspace.View) workspace.View // around the disk
	configure    func(layers ...json.RawMessage) []string
	saving       func() // is called where it is asked which documents are saved
	knowledge    commands.Knowledge
	folding      func(dir string) workspace.Folding // of the disk
}

func newWorld(t testing.TB, set setup) *world {
	t.Helper()
	return newWorldAt(t, t.TempDir(), t.TempDir(), set)
}

// newWorldAt makes a world in folders that may have had one before.
func newWorldAt(t testing.TB, dir, state string, set setup) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	w := &world{t: t, ctx: ctx, dir: dir, state: state, batch: set.batch, tools: &calls{}, bus: events.NewBus()}
	for name, text := range set.files {
		if err := ownfile.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.server = New(Options{Version: "test", maxFrame: set.maxFrame, Start: func(_ context.Context, s Start) (*Core, error) { return w.core(s, set) }})
	opts := fakeeditor.Options{Root: w.dir, Capabilities: set.capabilities, InitializationOptions: set.options, Settings: set.settings}
	if set.noFolder {
		opts.Root = ""
	}
	w.Editor = fakeeditor.Serve(func(in io.Reader, out io.Writer) error {
		return w.server.Serve(context.Background(), in, out)
	}, opts)
	t.Cleanup(func() {
		defer cancel()
		w.Hangup()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := w.Wait(ctx); err != nil && !errors.Is(err, ErrExit) {
			t.Error(err)
		}
	})
	if !set.bare {
		w.must(second(w.Initialize(ctx)))
	}
	return w
}

// core is what internal/app does, with a dispatcher of the test's.
func (w *world) core(s Start, set setup) (*Core, error) {
	w.approver, w.people, w.indexed = s.Approver, s.People, s.KnowledgeChanged
	life := &life{open: func(s Start) (*Core, error) { return w.core(s, set) }, start: s, configure: set.configure}
	core := &Core{Bus: w.bus, Lifecycle: life, Parts: commands.Parts{
		Dispatch: w.tools, Sessions: session.NewStore(session.Options{}), StateDir: w.state, Knowledge: set.knowledge, Settings: settings(set),
	}}
	if len(s.Folders) == 0 {
		return core, nil
	}
	disk, err := workspace.OpenDisk(s.Folders, workspace.DiskOptions{Folding: set.folding})
	if err != nil {
		return nil, err
	}
	var base workspace.View = disk
	if set.wrap != nil {
		base = set.wrap(base)
	}
	w.live = s.Editor(base)
	w.store, err = pendingedits.Open(filepath.Join(w.state, "pending"), w.live, pendingedits.Options{Observer: changes{changed: s.ReviewChanged}, Commits: set.commits, Fail: set.fail})
	if err != nil {
		return nil, err
	}
	core.Review = w.store
	life.close = func() error { return errors.Join(w.store.Close(), disk.Close()) }
	return core, nil
}

// life is the life of a core in tests.
type life struct {
	open      func(Start) (*Core, error)
	start     Start
	configure func(layers ...json.RawMessage) []string // nil: nothing is wrong with settings
	close     func() error                             // nil: nothing is open
}

func (l *life) Configure(layers ...json.RawMessage) []string {
	if l.configure == nil {
		return nil
	}
	return l.configure(layers...)
}

func (l *life) SetFolders(_ context.Context, folders []workspace.Folder) (*Core, []string, error) {
	l.start.Folders = folders
	core, err := l.open(l.start)
	return core, nil, err
}

func (l *life) Close() error {
	if l.close == nil {
		return nil
	}
	return l.close()
}

// settings are those of a core in tests.
type settings setup

func (s settings) Batch(string) bool      { return s.batch }
func (s settings) Modes() []commands.Mode { return nil }

func (s settings) SaveEdits() (clean, accepted bool) {
	if s.saving != nil {
		s.saving()
	}
	return false, false
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }
func (w *world) uri(name string) string  { return workspace.FileURI(w.path(name)) }

// disk is a file's text, or the error of reading it.
func (w *world) disk(name string) string {
	data, err := os.ReadFile(w.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return "absent"
	}
	w.must(err)
	return string(data)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

// open opens a document and waits until the server has it.
func (w *world) open(name, text string) string {
	w.t.Helper()
	w.must(w.Open(w.ctx, w.uri(name), "text", text))
	w.sync()
	return w.uri(name)
}

// text is a buffer's text.
func (w *world) text(uri string) string {
	text, open := w.Text(uri)
	if !open {
		return "not open"
	}
	return text
}

// sync returns when the server has handled every notification sent before.
func (w *world) sync() { w.t.Helper(); run[commands.ApprovalList](w, "sidecar.approval.list", nil) }

// read is a file in the live view.
func (w *world) read(name string) string {
	w.t.Helper()
	data, err := w.live.ReadFile(name)
	w.must(err)
	return string(data)
}

// agent is who proposes in most tests.
var agent = pendingedits.Proposer{Session: "default", Tool: "edit_file"}

// propose puts a change into the review queue.
func (w *world) propose(name, before, after string) {
	w.t.Helper()
	by := agent
	by.Batch = w.batch
	w.must(w.store.For(by).Apply(w.ctx, workspace.Change{Path: name, Before: []byte(before), After: []byte(after)}))
}

// run runs a command that must succeed.
func run[R any](w *world, command string, args any) R {
	w.t.Helper()
	var r R
	if err := w.ExecuteCommand(w.ctx, command, args, &r); err != nil {
		w.t.Fatalf("%s: %v", command, err)
	}
	return r
}

// await waits until cond is true of what the server has sent.
func (w *world) await(what string, cond func(*fakeeditor.Record) bool) {
	w.t.Helper()
	w.must(w.Await(w.ctx, what, cond))
}

// take receives from a channel.
func take[T any](w *world, from <-chan T) (v T) {
	w.t.Helper()
	select {
	case v = <-from:
	case <-w.ctx.Done():
		w.t.Fatal("waited in vain")
	}
	return v
}

// code is the code of an RPC error, 0 for none.
func code(err error) int64 {
	var e *lsp.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

var testEvent = events.Event{Type: events.ToolStarted, Session: "default", CallID: "c1", Tool: "grep"}

type object = map[string]any

// changes hears that the queue has changed.
type changes struct {
	pendingedits.Nobody
	changed func()
}

func (c changes) Changed() { c.changed() }
