package langserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Bounds of one server.
const (
	startTime    = 60 * time.Second // until it has answered initialize
	goodbyeTime  = 2 * time.Second  // for shutdown, and then for its end
	stuckAnswers = 3                // questions in a row that it leaves without an answer,
	stuckTime    = 3 * time.Minute  // and without any other word for so long, then it is ended
)

// server is one language server, from its start to its end.
type server struct {
	o       *Options
	at      location
	options json.RawMessage
	changes Changes // nil: nobody tells what changes on the disk

	ready chan struct{} // closed when it can be asked, or has failed
	gone  chan struct{} // closed when it has ended
	quit  chan error    // holds why it is to end

	conn *lsp.Conn
	enc  lsp.Encoding
	caps lsp.PeerCapabilities

	spare bool // it is ended, as its place is needed; guarded by the pool

	turn chan struct{} // holds a token while someone shows it texts
	docs documents     // guarded by turn

	pushed  *pushes
	reports reports

	mu     sync.Mutex
	why    error // that it ended, or could not be started
	used   time.Time
	users  int
	idle   *time.Timer
	stuck  int
	silent time.Time // since when, if stuck > 0

	heard atomic.Int64 // messages from it
	told  atomic.Int64 // of changes on the disk
}

func newServer(p *Pool, at location, files workspace.Files, options json.RawMessage) *server {
	s := &server{
		o: &p.o, at: at, options: options,
		ready: make(chan struct{}), gone: make(chan struct{}), quit: make(chan error, 1),
		turn: make(chan struct{}, 1), docs: documents{open: map[string]*document{}},
		used: p.o.Now(), pushed: newPushes(),
	}
	if p.o.Disk != nil {
		s.changes = p.o.Disk.Changes(files)
	}
	s.idle = time.AfterFunc(idleTime, s.tired)
	return s
}

// run starts the program and returns when it has ended; nil when that was
// wanted.
func (s *server) run(ctx context.Context, program Program) (err error) {
	defer func() {
		s.idle.Stop()
		if s.changes != nil {
			s.changes.Close()
		}
		s.mu.Lock()
		if s.why = err; err == nil {
			s.why = errors.New("it was ended")
		}
		s.mu.Unlock()
		select {
		case <-s.ready:
		default:
			close(s.ready)
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	process, err := s.o.Start(ctx, program)
	if err != nil {
		return fmt.Errorf("it could not be started: %w", err)
	}
	out := &meter{ReadCloser: process.Out, now: s.o.Now, limit: meterBytes}
	s.conn = lsp.NewConn(out, process.In, s, lsp.Options{
		Log: s.o.Log.With("server", s.at.kind.name), MaxFrame: maxMessage, Concurrency: 8, MaxPending: 8 << 20, DrainTimeout: time.Second,
	})
	served := make(chan error, 1)
	go func() { served <- s.conn.Run(ctx) }()
	begun := make(chan error, 1)
	go func() { begun <- s.begin(ctx) }()

	wanted := false
	for done := false; !done; {
		select {
		case err = <-begun:
			begun = nil
			switch {
			case err == nil:
				close(s.ready)
			case !errors.Is(err, lsp.ErrPeerGone): // then served says why
				done = true
			}
		case err = <-served:
			done = true
			if err == nil {
				err = io.ErrUnexpectedEOF
			}
			served <- nil
		case err = <-s.quit:
			done = true
			var w wantedError
			if wanted = errors.As(err, &w); wanted {
				s.goodbye(ctx)
			}
		}
	}
	cancel() // ends the process and the connection
	process.Kill()
	_ = process.In.Close()
	<-served
	_ = process.Wait()
	_ = process.Out.Close()
	if wanted {
		return nil
	}
	return ending(err, process.Said())
}

// ending is why a server ended that was not told to, with its last words.
func ending(err error, said string) error {
	switch {
	case errors.Is(err, errFlood), errors.Is(err, errStuck):
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, lsp.ErrPeerGone):
		err = errors.New("it crashed or exited")
	}
	said = strings.TrimSpace(said)
	if i := strings.LastIndexByte(said, '\n'); i >= 0 {
		said = strings.TrimSpace(said[i+1:])
	}
	if said == "" {
		return err
	}
	return fmt.Errorf("%w; it said: %s", err, shorten(said, 300))
}

// begin negotiates with the server.
func (s *server) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	uri := workspace.FileURI(s.at.dir)
	params := lsp.PeerInitializeParams{
		ClientInfo: lsp.Info{Name: "sidecar-ls"}, RootURI: uri, InitializationOptions: s.options, Capabilities: json.RawMessage(capabilities),
		WorkspaceFolders: []lsp.WorkspaceFolder{{URI: uri, Name: s.at.root}},
	}
	var result lsp.PeerInitializeResult
	if err := s.conn.Call(ctx, "initialize", params, &result); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("it did not answer within %v of its start", startTime)
		}
		return err
	}
	s.caps, s.enc = result.Capabilities, result.Capabilities.PositionEncoding
	if s.enc == "" {
		s.enc = lsp.UTF16
	}
	return s.conn.Notify(ctx, "initialized", struct{}{})
}

// capabilities are what we can do as a client of a language server.
const capabilities = `{
	"general": {"positionEncodings": ["utf-8", "utf-16"]},
	"textDocument": {
		"synchronization": {},
		"publishDiagnostics": {"versionSupport": true, "relatedInformation": false},
		"diagnostic": {"relatedDocumentSupport": false},
		"definition": {"linkSupport": true},
		"hover": {"contentFormat": ["markdown", "plaintext"]},
		"references": {},
		"documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
		"rename": {"prepareSupport": false}
	},
	"window": {"workDoneProgress": true},
	"workspace": {
		"configuration": true,
		"workspaceFolders": true,
		"didChangeWatchedFiles": {"dynamicRegistration": true},
		"workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]},
		"symbol": {}
	}
}`

// goodbye lets the server end by itself.
func (s *server) goodbye(ctx context.Context) {
	select {
	case <-s.ready:
	default:
		return // it can't have been asked anything
	}
	ctx, cancel := context.WithTimeout(ctx, goodbyeTime)
	defer cancel()
	if s.conn.Call(ctx, "shutdown", nil, nil) == nil {
		_ = s.conn.Notify(ctx, "exit", nil)
	}
}

// wantedError ends a server in good order.
type wantedError struct{ error }

// errStuck ends a server that does not answer.
var errStuck = errors.New("it does not answer")

// end ends the server in good order, and waits for that.
func (s *server) end(why error) {
	select {
	case s.quit <- wantedError{why}:
	default: // it is to end already
	}
	<-s.gone
}

// tired ends a server that nobody asks.
func (s *server) tired() {
	if s.unused() {
		select {
		case s.quit <- wantedError{errors.New("nobody asked it for long")}:
		default:
		}
	}
}

// failure is why the server can't be asked; nil when it can.
func (s *server) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

func (s *server) lastUsed() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// unused reports whether nobody is asking.
func (s *server) unused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users == 0
}

// use keeps the server from being ended for want of use until done is called.
func (s *server) use() (done func()) {
	s.mu.Lock()
	s.users++
	s.mu.Unlock()
	s.idle.Stop()
	return func() {
		s.mu.Lock()
		s.users--
		s.used = s.o.Now()
		s.mu.Unlock()
		s.idle.Reset(idleTime)
	}
}

// question is a request that was sent.
type question struct {
	s     *server
	p     *lsp.Pending
	heard int64
}

func (s *server) ask(ctx context.Context, method string, params any) (question, error) {
	heard := s.heard.Load()
	p, err := s.conn.Start(ctx, method, params)
	return question{s, p, heard}, explain(ctx, s.at, err)
}

// answer waits for the answer. A server that lets several questions pass
// without a word is ended, and started again for the next one: not too soon,
// since some say nothing while they load a large project.
func (q question) answer(ctx context.Context, result any) error {
	err := q.p.Wait(ctx, result)
	s := q.s
	s.mu.Lock()
	silent := ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && s.heard.Load() == q.heard
	now := s.o.Now()
	switch {
	case !silent:
		s.stuck = 0
	case s.stuck == 0:
		s.stuck, s.silent = 1, now
	default:
		s.stuck++
	}
	if s.stuck >= stuckAnswers && now.Sub(s.silent) >= stuckTime {
		select {
		case s.quit <- errStuck:
		default:
		}
	}
	s.mu.Unlock()
	return explain(ctx, s.at, err)
}

// explain makes an error one that says who failed.
func explain(ctx context.Context, at location, err error) error {
	var remote *lsp.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return notYet(at.kind.name, "it did not answer in time")
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &remote):
		return &AnswerError{at.kind.name, shorten(remote.Message, 500)}
	}
	return notYet(at.kind.name, "it ended before it answered")
}

// AnswerError is an error that a server answered.
type AnswerError struct{ Server, Message string }

func (e *AnswerError) Error() string { return e.Server + ": " + e.Message }

// Notification takes what the server tells by itself.
func (s *server) Notification(_ context.Context, method string, params json.RawMessage) {
	s.heard.Add(1)
	if method == "textDocument/publishDiagnostics" {
		s.pushed.receive(params)
	}
}

// Request answers what the server asks: it may know its settings, and can
// change nothing.
func (s *server) Request(_ context.Context, method string, params json.RawMessage) (any, error) {
	s.heard.Add(1)
	switch method {
	case "workspace/configuration":
		return s.configuration(params)
	case "workspace/workspaceFolders":
		return []lsp.WorkspaceFolder{{URI: workspace.FileURI(s.at.dir), Name: s.at.root}}, nil
	case "workspace/applyEdit":
		return lsp.ApplyWorkspaceEditResult{FailureReason: "edits are made by tools alone"}, nil
	case "window/showDocument":
		return lsp.ShowDocumentResult{}, nil
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest",
		"workspace/diagnostic/refresh", "workspace/semanticTokens/refresh", "workspace/inlayHint/refresh", "workspace/codeLens/refresh":
		return nil, nil
	}
	return nil, lsp.Errorf(lsp.MethodNotFound, "%.100s is not supported", method)
}

// configuration answers with the parts of the options that sections name.
func (s *server) configuration(params json.RawMessage) (any, error) {
	var p lsp.ConfigurationParams
	if err := lsp.Params(params, &p); err != nil {
		return nil, err
	}
	answers := make([]json.RawMessage, len(p.Items))
	for i, item := range p.Items {
		answers[i] = section(s.options, item.Section)
		if answers[i] == nil && item.Section == s.at.kind.name {
			answers[i] = s.options
		}
		if answers[i] == nil {
			answers[i] = json.RawMessage("null")
		}
	}
	return answers, nil
}

// section returns the member of options that a dotted name leads to, nil if
// there is none.
func section(options json.RawMessage, name string) json.RawMessage {
	if name == "" {
		return options
	}
	for part := range strings.SplitSeq(name, ".") {
		var object map[string]json.RawMessage
		if lsp.Unmarshal(options, &object) != nil {
			return nil
		}
		options = object[part]
	}
	return options
}

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
