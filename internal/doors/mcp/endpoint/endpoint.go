// Package endpoint serves tools to an agent over the Model Context Protocol,
// on the official SDK. Whose tools they are is a Backend's matter: those of
// this process, or those of another one that it is attached to.
package endpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// Backend has the tools.
type Backend interface {
	// Tools lists what the agent is shown, sorted by name.
	Tools(context.Context) ([]*sdk.Tool, error)

	// Call runs a tool. That a tool fails is a result; an error ends the call
	// without one.
	Call(context.Context, Call) (*sdk.CallToolResult, error)

	// Changed has a token after the list of tools has changed.
	Changed() <-chan struct{}

	KnowHow

	// Gone is closed when the backend can't serve any more.
	Gone() <-chan struct{}

	Close() error
}

// Call is one call of an agent.
type Call struct {
	Name      string
	Arguments json.RawMessage   // nil means {}
	Progress  func(text string) // told what the tool says while it runs; nil: nobody listens
	Ask       *Asker            // the way to the agent's user
}

// Agent says who connects.
type Agent struct {
	Name    string // of the program, as it says itself; may be empty
	CanAsk  bool   // its user can be asked
	Version string
	Mode    string   // works in no looser one; "": that of the settings
	Strict  bool     // is given schemas in their strict form
	Tools   []string // families of tools that it is listed, beside the core; nil: as the client needs, else as the settings say
}

// Options are what an endpoint needs.
type Options struct {
	Version      string
	Instructions string // for the model, once

	// Connect finds the agent a backend: with its first request, and again when
	// the one before has gone.
	Connect func(context.Context, Agent) (Backend, error)

	// Hide keeps secrets out of errors; nil: those that the environment knows.
	Hide func(text string) string

	maxLine int // 0: the usual one
}

// callAny is the one tool that the SDK knows. The endpoint answers for all
// names itself, also for those that are not listed or that are misspelt, because
// the dispatcher has words for them.
const callAny = "call"

// Serve speaks with one agent until it leaves.
func Serve(ctx context.Context, r io.ReadCloser, w io.WriteCloser, o Options) error {
	if o.Hide == nil {
		o.Hide = redact.OfEnvironment().Text
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &endpoint{o: o, base: ctx, runs: map[string]*run{}}
	e.server = sdk.NewServer(&sdk.Implementation{Name: "sidecar-ls", Version: o.Version}, &sdk.ServerOptions{
		Instructions: o.Instructions,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{ListChanged: true}, Prompts: &sdk.PromptCapabilities{ListChanged: true}, Resources: &sdk.ResourceCapabilities{ListChanged: true},
		},
	})
	e.server.AddTool(e.callAny(), e.call)
	e.knowsMore()
	e.server.AddReceivingMiddleware(e.receive)
	err := e.server.Run(ctx, transport(r, w, cmp.Or(o.maxLine, maxLine), o.Hide))
	cancel()
	e.work.Wait()
	return errors.Join(unexpected(err), e.close())
}

// unexpected is nil for the ways in which an agent leaves: it closes its side,
// perhaps with an answer on its way.
func unexpected(err error) error {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.EPIPE, syscall.ECONNRESET, context.Canceled, sdk.ErrConnectionClosed} {
		if errors.Is(err, end) {
			return nil
		}
	}
	return err
}

// endpoint is one agent.
type endpoint struct {
	o      Options
	base   context.Context // ends when the agent leaves
	server *sdk.Server
	work   sync.WaitGroup

	connecting sync.Mutex // one search for a backend at a time

	mu      sync.Mutex
	backend Backend
	dropped bool            // there was one, and it is lost
	runs    map[string]*run // calls that wait for an answer, by what the agent was given to come back with
}

func (e *endpoint) callAny() *sdk.Tool {
	return &sdk.Tool{Name: callAny, InputSchema: json.RawMessage(`{"type":"object"}`)}
}

// nameKey is under what the context of a call has the name of its tool.
type nameKey struct{}

// receive answers what is about tools, prompts and resources.
func (e *endpoint) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch req := req.(type) {
		case *sdk.ListToolsRequest:
			b, err := e.connect(agentOf(req))
			if err != nil {
				return nil, unavailable(err)
			}
			list, err := b.Tools(ctx)
			if err != nil {
				return nil, unavailable(err)
			}
			// Whose session it is and what it activated decides on the list.
			return &sdk.ListToolsResult{Tools: list, Cacheable: sdk.Cacheable{CacheScope: "private"}}, nil
		case *sdk.CallToolRequest:
			ctx = context.WithValue(ctx, nameKey{}, req.Params.Name)
			req.Params.Name = callAny
			res, err := next(ctx, method, req)
			return res, coded(err)
		}
		if res, ok, err := e.knowHow(ctx, next, method, req); ok {
			return res, coded(err)
		}
		return next(ctx, method, req)
	}
}

// codeCancelled is what the field answers a request with that was cancelled.
const codeCancelled = -32800

// coded is an error with a code: the SDK would say 0.
func coded(err error) error {
	var said *jsonrpc.Error
	switch {
	case err == nil || errors.As(err, &said):
		return err
	case errors.Is(err, context.Canceled):
		return &jsonrpc.Error{Code: codeCancelled, Message: "the call was cancelled"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// unavailable is an error that the agent's program shows to its user.
func unavailable(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// asking is a request of an agent.
type asking interface {
	ClientInfo() *sdk.Implementation
	ClientCapabilities() *sdk.ClientCapabilities
	ProtocolVersion() string
}

// ownCapability is under what an endpoint tells another one, which it is
// attached to, what it knows of the agent.
const ownCapability = "sidecar-ls"

func agentOf(req asking) Agent {
	var a Agent
	if info := req.ClientInfo(); info != nil {
		a.Name, a.Version = info.Name, info.Version
	}
	c := req.ClientCapabilities()
	if c != nil {
		own, _ := c.Experimental[ownCapability].(map[string]any)
		a.Mode, _ = own["mode"].(string)
		a.Strict, _ = own["strict"].(bool)
		families, _ := own["tools"].([]any)
		for _, f := range families {
			if name, ok := f.(string); ok {
				a.Tools = append(a.Tools, name)
			}
		}
	}
	if c != nil && c.Elicitation != nil {
		a.CanAsk = (c.Elicitation.Form != nil || c.Elicitation.URL == nil) && req.ProtocolVersion() >= elicitation
	}
	return a
}

// connect returns the backend, and finds one when there is none.
func (e *endpoint) connect(a Agent) (Backend, error) {
	e.connecting.Lock()
	defer e.connecting.Unlock()
	e.mu.Lock()
	old, again := e.backend, e.backend != nil || e.dropped
	e.mu.Unlock()
	if old != nil {
		select {
		case <-old.Gone():
			_ = old.Close()
		default:
			return old, nil
		}
	}
	b, err := e.o.Connect(e.base, a)
	if err != nil {
		e.mu.Lock()
		e.backend, e.dropped = nil, again
		e.mu.Unlock()
		return nil, err
	}
	e.mu.Lock()
	e.backend, e.dropped = b, false
	e.mu.Unlock()
	e.work.Go(func() { e.watch(b) })
	if again {
		e.changed()
		e.knowsMore()
	}
	return b, nil
}

// drop forgets a backend that is lost, before anybody hears of it elsewhere.
func (e *endpoint) drop(b Backend) {
	e.mu.Lock()
	if e.backend == b {
		e.backend, e.dropped = nil, true
	}
	e.mu.Unlock()
	_ = b.Close()
}

// watch passes on that a list has changed.
func (e *endpoint) watch(b Backend) {
	for {
		select {
		case <-b.Changed():
			e.changed()
		case <-b.KnowsMore():
			e.knowsMore()
		case <-b.Gone():
			_ = b.Close()
			return
		case <-e.base.Done():
			return
		}
	}
}

// changed tells the agent to list the tools again. The SDK does so when its own
// set changes, so the one tool in it is put in again.
func (e *endpoint) changed() { e.server.AddTool(e.callAny(), e.call) }

func (e *endpoint) close() error {
	e.mu.Lock()
	b := e.backend
	e.backend = nil
	e.mu.Unlock()
	if b == nil {
		return nil
	}
	return b.Close()
}

// Instructions are what every agent is told once.
const Instructions = "Read, search, edit and run commands in this workspace with these tools rather than your own: " +
	"the user reviews the edits made here, and those made otherwise pass the review by. Paths are relative to the workspace. " +
	"An edit may be held until the user accepts it: these tools see it at once, other programs only then."
