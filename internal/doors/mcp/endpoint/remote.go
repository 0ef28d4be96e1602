package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote are the tools of another process, spoken to by MCP too: an agent that
// is attached reaches what an agent may reach, and nothing else.
type remote struct {
	who     string
	conn    io.Closer
	session *sdk.ClientSession
	changed chan struct{}
	gone    chan struct{}

	knowsMore chan struct{}

	tokens atomic.Int64
	told   sync.Map // token → func(string), of the calls that are on their way
}

// Remote serves an agent with the tools at the other end of conn. who names
// that process for people.
func Remote(ctx context.Context, conn io.ReadWriteCloser, who string, a Agent) (Backend, error) {
	r := &remote{who: who, conn: conn, changed: make(chan struct{}, 1), gone: make(chan struct{}), knowsMore: make(chan struct{}, 1)}
	more := func() {
		select {
		case r.knowsMore <- struct{}{}:
		default:
		}
	}
	caps := &sdk.ClientCapabilities{}
	if a.Mode != "" || a.Strict || a.Tools != nil {
		caps.Experimental = map[string]any{ownCapability: map[string]any{"mode": a.Mode, "strict": a.Strict, "tools": a.Tools}}
	}
	if a.CanAsk {
		caps.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: a.Name, Version: a.Version}, &sdk.ClientOptions{
		Capabilities:   caps,
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}, // Call does it, with the way to the user of its own call
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case r.changed <- struct{}{}:
			default:
			}
		},
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { more() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { more() },
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			if tell, ok := r.told.Load(fmt.Sprint(req.Params.ProgressToken)); ok {
				tell.(func(string))(req.Params.Message)
			}
		},
	})
	s, err := client.Connect(ctx, &sdk.IOTransport{Reader: conn, Writer: conn}, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", who, err), conn.Close())
	}
	r.session = s
	go func() {
		_ = s.Wait() // however it ended
		close(r.gone)
	}()
	return r, nil
}

func (r *remote) Tools(ctx context.Context) ([]*sdk.Tool, error) {
	var list []*sdk.Tool
	for t, err := range r.session.Tools(ctx, nil) {
		if err != nil {
			return nil, r.failed(ctx, err)
		}
		list = append(list, t)
	}
	return list, nil
}

// Call passes a call on. What the other end wants to know first, the agent's
// user is asked.
func (r *remote) Call(ctx context.Context, c Call) (*sdk.CallToolResult, error) {
	p := &sdk.CallToolParams{Name: c.Name}
	if c.Arguments != nil {
		p.Arguments = c.Arguments
	}
	if c.Progress != nil {
		token := strconv.FormatInt(r.tokens.Add(1), 10)
		r.told.Store(token, c.Progress)
		defer r.told.Delete(token)
		p.SetProgressToken(token)
	}
	for {
		res, err := r.session.CallTool(ctx, p)
		if err != nil {
			return nil, r.failed(ctx, err)
		}
		if !res.NeedsInput() {
			return res, nil
		}
		answers := sdk.InputResponseMap{}
		for id, in := range res.InputRequests {
			q, ok := in.(*sdk.ElicitParams)
			if !ok || c.Ask == nil {
				answers[id] = &sdk.ElicitResult{Action: "cancel"}
				continue
			}
			a, err := c.Ask.ask(ctx, q)
			if err != nil {
				a = &sdk.ElicitResult{Action: "cancel"}
			}
			answers[id] = a
		}
		again := *p
		again.InputResponses, again.RequestState = answers, res.RequestState
		p = &again
	}
}

// failed tells the loss of the other end from what it answers.
func (r *remote) failed(ctx context.Context, err error) error {
	var said *jsonrpc.Error
	if errors.As(err, &said) || ctx.Err() != nil {
		return err
	}
	return &LostError{Who: r.who}
}

// Prompts implements KnowHow, as do its neighbours. A process of another version may have
// none.
func (r *remote) Prompts(ctx context.Context) ([]*sdk.Prompt, error) {
	list := []*sdk.Prompt{}
	if !r.has(func(c *sdk.ServerCapabilities) bool { return c.Prompts != nil }) {
		return list, nil
	}
	for p, err := range r.session.Prompts(ctx, nil) {
		if err != nil {
			return nil, r.failed(ctx, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// Prompt gets a prompt.
func (r *remote) Prompt(ctx context.Context, name string, args map[string]string) (*sdk.GetPromptResult, error) {
	res, err := r.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		return nil, r.failed(ctx, err)
	}
	return res, nil
}

// Resources lists resources.
func (r *remote) Resources(ctx context.Context) ([]*sdk.Resource, error) {
	list := []*sdk.Resource{}
	if !r.has(func(c *sdk.ServerCapabilities) bool { return c.Resources != nil }) {
		return list, nil
	}
	for one, err := range r.session.Resources(ctx, nil) {
		if err != nil {
			return nil, r.failed(ctx, err)
		}
		list = append(list, one)
	}
	return list, nil
}

// Resource reads a resource.
func (r *remote) Resource(ctx context.Context, uri string) (*sdk.ReadResourceResult, error) {
	res, err := r.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, r.failed(ctx, err)
	}
	return res, nil
}

// KnowsMore has a token after one of the lists has changed.
func (r *remote) KnowsMore() <-chan struct{} { return r.knowsMore }

func (r *remote) has(what func(*sdk.ServerCapabilities) bool) bool {
	init := r.session.InitializeResult()
	return init != nil && init.Capabilities != nil && what(init.Capabilities)
}

func (r *remote) Changed() <-chan struct{} { return r.changed }

func (r *remote) Gone() <-chan struct{} { return r.gone }

func (r *remote) Close() error {
	// The other end may have gone first, and calls on their way are given up.
	_ = r.conn.Close()
	_ = r.session.Close()
	return nil
}
