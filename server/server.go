// Package server speaks LSP: it turns what a client sends into calls of the
// Core (options.go), and what that wants of the client into messages. It decides
// nothing about tools or modes, and starts no tool itself.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

// ErrExit is returned by Serve when the client said exit without shutdown.
var ErrExit = errors.New("the client left without shutdown")

// state is where the server is in its life.
type state int

const (
	created state = iota
	running
	stopped // shutdown was answered
)

// Server serves one client.
type Server struct {
	opts Options
	log  *slog.Logger

	docs      *documents.Documents
	client    *client.Client
	approvals *client.Approvals
	publisher *review.Publisher
	indexing  *indexing
	progress  *client.Progress
	table     []commands.Command

	transcripts *commands.Transcripts
	callIDs     commands.CallIDs
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
	editor     *documents.Editor
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
	s.docs = documents.New(s.log)
	if s.opts.Hide == nil {
		s.opts.Hide = func(text string) string { return text }
	}
	s.client = &client.Client{Log: s.log, Hide: s.opts.Hide}
	s.approvals = client.NewApprovals(s.client)
	s.publisher = review.NewPublisher(s.client, func() *review.Queue { return s.deps().Queue }, s.start)
	s.progress = client.NewProgress(s.client)
	s.indexing = &indexing{client: s.client, progress: s.progress, now: func() commands.Knowledge { return s.current().Knowledge }, wake: make(chan struct{}, 1)}
	s.table = commands.Table()
	s.transcripts = commands.NewTranscripts()
	s.works.jobs = map[string]*client.Job{}
	return s
}

// Serve speaks with a client until it leaves. It returns nil after an orderly
// end, ErrExit, or the error of a broken stream.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn := lsp.NewConn(r, w, s, lsp.Options{Log: s.log, MaxFrame: s.opts.maxFrame, Dropped: s.dropped, Ended: s.left})
	s.client.Conn, s.base, s.hangUp = conn, ctx, cancel
	err := conn.Run(ctx)
	cancel()
	s.work.Wait()
	s.mu.Lock()
	core, left := s.core, s.exited && s.state != stopped
	s.mu.Unlock()
	if core.Lifecycle != nil {
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
		for _, name := range s.docs.Lose(params) {
			s.publisher.TextChanged(name)
		}
		what += "; close the document and open it again, so that its text is known"
	}
	s.start(func(ctx context.Context) {
		s.client.Notify(ctx, "window/logMessage", lsp.ShowMessageParams{Type: lsp.MessageError, Message: "sidecar: " + what})
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

// deps are what a command works on now.
func (s *Server) deps() *commands.Deps {
	s.mu.Lock()
	core, live := s.core, s.editor
	s.mu.Unlock()
	return &commands.Deps{
		Parts: &core.Parts, Queue: core.Queue(s.docs, live, s.publisher.Changed),
		Client: s.client, People: &client.People{Base: s.base, Client: s.client}, Approvals: s.approvals, Progress: s.progress, Transcripts: s.transcripts, CallIDs: &s.callIDs,
	}
}

// works are the sessions that are shown at work on what they have set out to do.
type works struct {
	mu   sync.Mutex
	jobs map[string]*client.Job // by session
}
