// Package server speaks LSP: it turns what a client sends into calls of the
// core, and what the core wants of the client into messages. It decides
// nothing about tools or modes, and starts no tool itself.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// ErrExit is returned by Serve when the client said exit without shutdown.
var ErrExit = errors.New("the client left without shutdown")

var (
	errNoFolder = errors.New("no folder is open in the editor")
	errNotReady = lsp.Errorf(lsp.ServerNotInitialized, "the server is not initialized")
)

// state is where the server is in its life.
type state int

const (
	created state = iota
	running
	stopped // shutdown was answered
)

// Server serves one client.
type Server struct {
	opts  Options
	log   *slog.Logger
	table []command // sorted by name

	docs      *documents
	looks     looks
	client    *client
	approvals *approvals
	publisher *publisher
	indexing  *indexing
	progress  *progress

	transcripts transcripts
	works       works

	work    sync.WaitGroup // goroutines that outlive their message
	base    context.Context
	hangUp  context.CancelFunc // ends Serve
	begin   sync.Once          // of what follows initialized
	begun   chan struct{}      // closed then
	turning sync.Mutex         // held while the core follows the folders
	setting sync.Mutex         // held while the client is asked for its settings and they are loaded

	mu         sync.Mutex
	state      state
	exited     bool
	core       *Core
	editor     *Editor
	folders    []workspace.Folder
	clientName string
	turned     chan struct{}   // closed when the core has followed the last change of folders; nil while there was none
	initial    json.RawMessage // settings of initialize
	settings   json.RawMessage // settings of the client's configuration
}

// New returns a server that waits for its client.
func New(opts Options) *Server {
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opts: opts, log: log.With("component", "server"), core: &Core{}, begun: make(chan struct{})}
	s.table = commands()
	s.docs = newDocuments(s.log)
	if s.opts.Hide == nil {
		s.opts.Hide = func(text string) string { return text }
	}
	s.client = &client{log: s.log, hide: s.opts.Hide}
	s.approvals = &approvals{client: s.client, log: s.log}
	s.publisher = newPublisher(s)
	s.indexing = newIndexing(s)
	s.transcripts.shown = map[string]bool{}
	s.works.jobs = map[string]*job{}
	s.progress = &progress{client: s.client, running: map[string]context.CancelFunc{}}
	return s
}

// Serve speaks with a client until it leaves. It returns nil after an orderly
// end, ErrExit, or the error of a broken stream.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn := lsp.NewConn(r, w, s, lsp.Options{Log: s.log, MaxFrame: s.opts.maxFrame, Dropped: s.dropped, Ended: s.left})
	s.client.conn, s.base, s.hangUp = conn, ctx, cancel
	err := conn.Run(ctx)
	cancel()
	s.work.Wait()
	s.mu.Lock()
	core, left := s.core, s.exited && s.state != stopped
	s.mu.Unlock()
	if core.Close != nil {
		err = errors.Join(err, core.Close())
	}
	if err == nil && left {
		err = ErrExit
	}
	return err
}

// left says that the client has left, while work of it may still go on.
func (s *Server) left() {
	s.mu.Lock()
	orderly := s.state == stopped
	s.mu.Unlock()
	if s.opts.Left != nil {
		s.opts.Left(orderly)
	}
}

// dropped tells the client of a message of it that was not read: it may have
// been a notification, to which there is no answer. The text of a document whose
// change is lost is not known until it is opened again: till then it counts as
// not open.
func (s *Server) dropped(what, method, params string) {
	if method == "textDocument/didChange" || method == "textDocument/didOpen" {
		for _, name := range s.docs.lose(params) {
			s.publisher.textChanged(name)
		}
		what += "; close the document and open it again, so that its text is known"
	}
	s.start(func(ctx context.Context) {
		s.client.notify(ctx, "window/logMessage", lsp.ShowMessageParams{Type: lsp.MessageError, Message: "sidecar: " + what})
	})
}

// start runs f in a goroutine that Serve waits for.
func (s *Server) start(f func(ctx context.Context)) {
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		defer s.recovered("background work")
		f(s.base)
	}()
}

// recovered keeps a crash from ending the server.
func (s *Server) recovered(what string) {
	if r := recover(); r != nil {
		s.log.Error("crash", "in", what, "panic", r, "stack", string(debug.Stack()))
	}
}

func (s *Server) current() *Core {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.core
}

// Notification handles a notification, inline and in wire order. Nothing here
// may wait for the client.
func (s *Server) Notification(_ context.Context, method string, params json.RawMessage) {
	defer s.recovered(method)
	if method == "exit" {
		s.mu.Lock()
		s.exited = true
		s.mu.Unlock()
		return
	}
	s.mu.Lock()
	ready := s.state == running
	s.mu.Unlock()
	f, ok := notifications[method]
	switch {
	case !ready:
		s.log.Warn("notification ignored", "method", method, "reason", "the server is not running")
	case ok:
		f(s, params)
		if method == "sidecar/selection" || strings.HasPrefix(method, "textDocument/") {
			s.shownChanged()
		}
	case !strings.HasPrefix(method, "$/"):
		s.log.Debug("notification ignored", "method", method)
	}
}

// notifications are what the client may tell.
var notifications = map[string]func(*Server, json.RawMessage){
	"initialized":                         func(s *Server, _ json.RawMessage) { s.begin.Do(s.initialized) },
	"textDocument/didOpen":                func(s *Server, p json.RawMessage) { s.publisher.textChanged(s.docs.open(p)) },
	"textDocument/didChange":              func(s *Server, p json.RawMessage) { s.publisher.textChanged(s.docs.change(p)) },
	"textDocument/didSave":                func(s *Server, p json.RawMessage) { s.publisher.textChanged(s.docs.save(p)) },
	"textDocument/didClose":               func(s *Server, p json.RawMessage) { s.publisher.textChanged(s.docs.close(p)) },
	"workspace/didChangeConfiguration":    (*Server).didChangeConfiguration,
	"workspace/didChangeWorkspaceFolders": (*Server).didChangeFolders,
	"workspace/didChangeWatchedFiles":     (*Server).didChangeFiles,
	"window/workDoneProgress/cancel":      (*Server).cancelProgress,
	"sidecar/selection":                   (*Server).selected,
	"$/setTrace":                          func(*Server, json.RawMessage) {}, // the log is the trace
}

// Request handles a request. The connection handles others meanwhile, except
// during initialize and shutdown.
func (s *Server) Request(ctx context.Context, method string, params json.RawMessage) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("crash", "in", method, "panic", r, "stack", string(debug.Stack()))
			result, err = nil, lsp.Errorf(lsp.InternalError, "%s crashed; the log has the details", method)
		}
		var own *lsp.Error
		if errors.As(err, &own) {
			shown := *own
			shown.Message = s.opts.Hide(own.Message)
			err = &shown
		}
	}()
	s.mu.Lock()
	state := s.state
	s.mu.Unlock()
	switch {
	case method == "initialize" && state == created:
		return s.initialize(ctx, params)
	case state == created:
		return nil, errNotReady
	case state == stopped:
		return nil, lsp.Errorf(lsp.InvalidRequest, "the server was shut down")
	case method == "initialize":
		return nil, lsp.Errorf(lsp.InvalidRequest, "the server is initialized already")
	}
	if method != "shutdown" {
		s.awaitFolders(ctx)
	}
	f, ok := requests[method]
	if !ok {
		return nil, lsp.Errorf(lsp.MethodNotFound, "%.100s is not supported", method)
	}
	result, err = f(s, ctx, params)
	return result, rpcError(ctx, err)
}

// requests are what the client may ask once it is initialized.
var requests = map[string]func(*Server, context.Context, json.RawMessage) (any, error){
	"shutdown":                    (*Server).shutdown,
	"workspace/executeCommand":    (*Server).executeCommand,
	"textDocument/codeLens":       (*Server).codeLens,
	"codeLens/resolve":            (*Server).resolved,
	"textDocument/codeAction":     (*Server).codeAction,
	"textDocument/documentSymbol": (*Server).documentSymbol,
	"workspace/symbol":            (*Server).workspaceSymbol,
	"codeAction/resolve":          (*Server).resolved,
}

// resolved answers a resolve request: lenses and actions are complete from the
// beginning.
func (*Server) resolved(_ context.Context, params json.RawMessage) (any, error) {
	var item map[string]json.RawMessage
	if err := unmarshal(params, &item); err != nil {
		return nil, err
	}
	return item, nil
}

// rpcError gives an error its code. An error that came from the client itself
// would be mistaken for ours with its own code, so only ours keep theirs.
func rpcError(ctx context.Context, err error) error {
	var own *lsp.Error
	var tool *tools.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return lsp.Errorf(lsp.RequestCancelled, "cancelled")
	case errors.As(err, &own):
		return own
	case errors.As(err, &tool):
		e := lsp.Errorf(lsp.RequestFailed, "%s", tool.Message)
		e.Data, _ = json.Marshal(map[string]any{"code": tool.Code})
		return e
	}
	return lsp.Errorf(lsp.RequestFailed, "%v", err)
}

// sortedTable sorts a command table; a name that is there twice is a
// programming error.
func sortedTable(table []command) []command {
	slices.SortFunc(table, func(a, b command) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(table); i++ {
		if table[i].name == table[i-1].name {
			panic("server: command " + table[i].name + " is there twice")
		}
	}
	return table
}
