// Package fakeeditor is a whole pretend editor for tests: it speaks LSP to a
// server, keeps buffers, applies edits, answers questions from a script, and
// records the conversation. It knows the protocol only, none of our features.
package fakeeditor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Options describe the editor. With the zero value it offers what most editors
// do, counts in UTF-16, and has no folder open.
type Options struct {
	Root                  string                  // a folder, absolute; "" for none
	Folders               []lsp.WorkspaceFolder   // instead of Root
	Capabilities          *lsp.ClientCapabilities // nil means Usual()
	InitializationOptions any
	Settings              map[string]any // answers workspace/configuration, by section
	Conn                  lsp.Options
}

// Usual are the capabilities that most editors have.
func Usual() *lsp.ClientCapabilities {
	c := &lsp.ClientCapabilities{}
	c.Workspace.ApplyEdit = true
	c.Workspace.Configuration = true
	c.Workspace.WorkspaceFolders = true
	c.Workspace.WorkspaceEdit = lsp.WorkspaceEditCapabilities{
		DocumentChanges:    true,
		ResourceOperations: []string{"create", "rename", "delete"},
		FailureHandling:    "transactional",
	}
	c.Window.WorkDoneProgress = true
	c.Window.ShowDocument.Support = true
	c.TextDocument.CodeAction.DataSupport = true
	c.TextDocument.CodeAction.ResolveSupport.Properties = []string{"edit", "command"}
	c.TextDocument.CodeAction.Literal = json.RawMessage(`{"codeActionKind":{"valueSet":["quickfix"]}}`)
	return c
}

// Answer answers one request of the server.
type Answer func(ctx context.Context, params json.RawMessage) (any, error)

// Editor is the editor. All methods may be called from any goroutine.
type Editor struct {
	conn    *lsp.Conn
	opts    Options
	closeIn func() error  // closes the server's input
	ended   chan struct{} // closed when server and connection have ended
	hungUp  chan struct{} // closed when the connection has ended

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced on every event
	enc      lsp.Encoding
	buffers  map[lsp.URI]*buffer
	answers  map[string]Answer
	refusal  string
	recorded Record
	endErr   error // the server's, once it has ended
}

// Record is what the server has sent so far.
type Record struct {
	Notifications []Message // in wire order
	Requests      []Message // in the order in which they were taken up
	Diagnostics   map[lsp.URI][]lsp.Diagnostic
	Progress      map[lsp.ProgressToken][]lsp.WorkDoneProgress
	Edits         []lsp.ApplyWorkspaceEditParams // also refused ones
}

// Message is a request or a notification.
type Message struct {
	Method string
	Params json.RawMessage
}

// Count returns how many notifications of a method there are.
func (r *Record) Count(method string) int {
	n := 0
	for _, m := range r.Notifications {
		if m.Method == method {
			n++
		}
	}
	return n
}

// Serve starts a server in this process. serve must return when its input ends.
func Serve(serve func(in io.Reader, out io.Writer) error, opts Options) *Editor {
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	e := newEditor(fromServer, toServer, opts)
	go func() {
		err := serve(serverIn, serverOut)
		_ = serverIn.Close()
		_ = serverOut.Close() // ends the connection below
		e.end(err)
	}()
	return e
}

// StartProcess starts a server as a process. The command's Stdin and Stdout must
// not be set.
func StartProcess(cmd *exec.Cmd, opts Options) (*Editor, error) {
	toServer, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe: Wait would close it under the connection's hands.
	fromServer, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = stdout
	err = cmd.Start()
	_ = stdout.Close()
	if err != nil {
		_ = fromServer.Close()
		return nil, err
	}
	e := newEditor(fromServer, toServer, opts)
	go func() { e.end(cmd.Wait()) }()
	return e, nil
}

func newEditor(r io.ReadCloser, w io.WriteCloser, opts Options) *Editor {
	if opts.Capabilities == nil {
		opts.Capabilities = Usual()
	}
	e := &Editor{
		opts: opts, closeIn: w.Close, ended: make(chan struct{}), hungUp: make(chan struct{}), changed: make(chan struct{}),
		enc: lsp.UTF16, buffers: map[lsp.URI]*buffer{}, answers: map[string]Answer{},
	}
	e.recorded.Diagnostics = map[lsp.URI][]lsp.Diagnostic{}
	e.recorded.Progress = map[lsp.ProgressToken][]lsp.WorkDoneProgress{}
	e.conn = lsp.NewConn(r, w, handler{e}, opts.Conn)
	go func() {
		defer close(e.hungUp)
		_ = e.conn.Run(context.Background())
		_ = r.Close()
	}()
	return e
}

// end notes that the server has ended, after all that it wrote was read.
func (e *Editor) end(err error) {
	<-e.hungUp
	e.mu.Lock()
	e.endErr = err
	e.mu.Unlock()
	close(e.ended)
}

// Initialize sends initialize and initialized.
func (e *Editor) Initialize(ctx context.Context) (*lsp.InitializeResult, error) {
	var options json.RawMessage
	if e.opts.InitializationOptions != nil {
		var err error
		if options, err = json.Marshal(e.opts.InitializationOptions); err != nil {
			return nil, err
		}
	}
	params := lsp.InitializeParams{
		ClientInfo:            &lsp.Info{Name: "fakeeditor", Version: "1"},
		InitializationOptions: options,
		Capabilities:          *e.opts.Capabilities,
		WorkspaceFolders:      e.opts.Folders,
	}
	if e.opts.Root != "" {
		root := FileURI(e.opts.Root)
		params.RootURI = &root
		if params.WorkspaceFolders == nil {
			params.WorkspaceFolders = []lsp.WorkspaceFolder{{URI: root, Name: filepath.Base(e.opts.Root)}}
		}
	}
	var result lsp.InitializeResult
	if err := e.conn.Call(ctx, "initialize", params, &result); err != nil {
		return nil, err
	}
	e.mu.Lock()
	if result.Capabilities.PositionEncoding != "" {
		e.enc = result.Capabilities.PositionEncoding
	}
	e.mu.Unlock()
	return &result, e.conn.Notify(ctx, "initialized", struct{}{})
}

// Shutdown ends the session in the polite way and waits for the server.
func (e *Editor) Shutdown(ctx context.Context) error {
	if err := e.conn.Call(ctx, "shutdown", nil, nil); err != nil {
		return err
	}
	if err := e.conn.Notify(ctx, "exit", nil); err != nil {
		return err
	}
	return e.Wait(ctx)
}

// Hangup closes the server's input without a word, as a crashed editor does.
func (e *Editor) Hangup() { _ = e.closeIn() }

// Wait waits for the end of the server and returns its error.
func (e *Editor) Wait(ctx context.Context) error {
	select {
	case <-e.ended:
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.endErr
	case <-ctx.Done():
		return fmt.Errorf("waiting for the server to end: %w", ctx.Err())
	}
}

// Call sends a request.
func (e *Editor) Call(ctx context.Context, method string, params, result any) error {
	return e.conn.Call(ctx, method, params, result)
}

// Start sends a request whose reply is waited for later; it can be cancelled.
func (e *Editor) Start(ctx context.Context, method string, params any) (*lsp.Pending, error) {
	return e.conn.Start(ctx, method, params)
}

// Notify sends a notification.
func (e *Editor) Notify(ctx context.Context, method string, params any) error {
	return e.conn.Notify(ctx, method, params)
}

// Command makes the parameters of a command with one argument, or none when arg
// is nil.
func Command(command string, arg any) (lsp.ExecuteCommandParams, error) {
	p := lsp.ExecuteCommandParams{Command: command}
	if arg == nil {
		return p, nil
	}
	data, err := json.Marshal(arg)
	p.Arguments = []json.RawMessage{data}
	return p, err
}

// ExecuteCommand runs a command with one argument, or none when arg is nil.
func (e *Editor) ExecuteCommand(ctx context.Context, command string, arg, result any) error {
	p, err := Command(command, arg)
	if err != nil {
		return err
	}
	return e.conn.Call(ctx, "workspace/executeCommand", p, result)
}

// Record returns what the server has sent so far.
func (e *Editor) Record() Record {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.snapshot()
}

func (e *Editor) snapshot() Record {
	r := Record{
		Notifications: slices.Clone(e.recorded.Notifications),
		Requests:      slices.Clone(e.recorded.Requests),
		Edits:         slices.Clone(e.recorded.Edits),
		Diagnostics:   map[lsp.URI][]lsp.Diagnostic{},
		Progress:      map[lsp.ProgressToken][]lsp.WorkDoneProgress{},
	}
	for uri, d := range e.recorded.Diagnostics {
		r.Diagnostics[uri] = d
	}
	for token, p := range e.recorded.Progress {
		r.Progress[token] = slices.Clone(p)
	}
	return r
}

// Await waits until cond is true of what was recorded. It is asked again after
// every message of the server and every change of a buffer, and must not call
// the editor. what is for the error.
func (e *Editor) Await(ctx context.Context, what string, cond func(*Record) bool) error {
	for {
		e.mu.Lock()
		ok, changed := cond(&e.recorded), e.changed
		e.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-e.ended:
			e.mu.Lock()
			defer e.mu.Unlock()
			if cond(&e.recorded) {
				return nil
			}
			if e.endErr != nil {
				return fmt.Errorf("waiting for %s: the server has ended: %w", what, e.endErr)
			}
			return fmt.Errorf("waiting for %s: the server has ended", what)
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
}

// event wakes Await. Needs mu.
func (e *Editor) event() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// FileURI is the URI of an absolute path.
func FileURI(path string) lsp.URI {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path // C:/x
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// FilePath is the path of a file URI.
func FilePath(uri lsp.URI) (string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", err
	}
	if u.Scheme != "file" || u.Path == "" {
		return "", fmt.Errorf("%s is no file", uri)
	}
	path := u.Path
	if filepath.VolumeName(path[1:]) != "" {
		path = path[1:]
	}
	return filepath.FromSlash(path), nil
}
