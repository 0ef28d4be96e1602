package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
)

// Tools is what this process serves agents.
type Tools struct {
	Dispatch func() *dispatch.Dispatcher // the one that serves now
	Sessions *session.Store
	Bus      *events.Bus
	Library  *skills.Library // nil: agents are told nothing besides tools
	People   bool            // an editor is there that can ask its user
	Unasked  bool            // whoever calls works for no person: it is asked nothing in the place of one
	Mode     string          // of the agent's calls; "": follows the setting
	Keep     string          // the agent's session, which is kept for who comes again; "": one of its own
	Gone     <-chan struct{} // closed when they can't serve any more; nil: they end with the connection
	Close    func() error    // ends what was opened for the agent; may be nil
}

// local are the tools of this process, for one agent's session.
type local struct {
	t       Tools
	session *session.Session
	client  client
	people  bool // somebody can be asked
	strict  bool // schemas are given in their strict form
	changed chan struct{}
	quiet   func() // nothing more is heard of the bus
	once    sync.Once

	base      context.Context // ends with the agent
	end       context.CancelFunc
	work      sync.WaitGroup
	following sync.Once
	stirred   chan struct{} // skills or instructions may have changed
	knowsMore chan struct{}
}

// Local opens a session for an agent and serves it with the tools of this
// process.
func Local(t Tools, a Agent) (Backend, error) {
	s, err := open(t, a)
	if err != nil {
		return nil, err
	}
	l := &local{t: t, session: s, client: clientOf(a.Name), people: t.People || a.CanAsk && !t.Unasked, strict: a.Strict, changed: make(chan struct{}, 1), stirred: make(chan struct{}, 1), knowsMore: make(chan struct{}, 1)}
	l.base, l.end = context.WithCancel(context.Background())
	l.quiet = t.Bus.Subscribe(func(e events.Event) {
		l.heardOf(e)
		if e.Type == events.ToolsChanged && (e.Session == "" || e.Session == s.ID) {
			select {
			case l.changed <- struct{}{}:
			default:
			}
		}
	})
	return l, nil
}

// open opens the agent's session, or finds the one that was kept. That has no
// mode of its own, so that calls on their way at the same time don't change
// each other's.
func open(t Tools, a Agent) (*session.Session, error) {
	families := a.Tools
	if families == nil && clientOf(a.Name).defers {
		families = []string{session.EveryFamily}
	}
	r := session.OpenRequest{ID: t.Keep}
	if t.Keep == "" {
		r = session.OpenRequest{ID: session.NewID("mcp-" + slug(a.Name)), Mode: t.Mode, AtLeast: a.Mode}
	}
	s, err := t.Sessions.Open(r)
	if t.Keep != "" && errors.Is(err, session.ErrExists) {
		s, err = t.Sessions.Get(t.Keep)
	}
	if err == nil {
		s.ListOnly(families)
	}
	return s, err
}

// slug is a program's name as part of a session's.
func slug(name string) string {
	name = strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name), "-")
	if name == "" {
		return "agent"
	}
	return strings.Trim(name[:min(len(name), 32)], "-")
}

// alwaysLoad asks Claude Code, which shows its model names alone at first, to
// show it all of a tool.
const alwaysLoad = "anthropic/alwaysLoad"

// Tools lists the session's tools in the format mcp. A tool that asks the user
// is left out where nobody can be asked.
func (l *local) Tools(context.Context) ([]*sdk.Tool, error) {
	list, _, err := l.t.Dispatch().List(dispatch.ListRequest{Session: l.session.ID, Model: true})
	if err != nil {
		return nil, err
	}
	out := make([]*sdk.Tool, 0, len(list))
	for _, t := range list {
		if !l.people && (t.Interactive || t.Category == "agents" && strings.HasPrefix(t.Name, "agent_")) { // of what spawn_agent has begun
			continue
		}
		h := t.Hints()
		tool := &sdk.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.SchemaForMCP(l.strict),
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: h.ReadOnly, DestructiveHint: &h.Destructive, IdempotentHint: h.Idempotent, OpenWorldHint: &h.OpenWorld},
		}
		if t.Core {
			tool.Meta = sdk.Meta{alwaysLoad: true}
		}
		out = append(out, tool)
	}
	if l.client.hooks != "" {
		out = append(out, approveTool())
		slices.SortFunc(out, func(a, b *sdk.Tool) int { return strings.Compare(a.Name, b.Name) })
	}
	return out, nil
}

// metaResult is under what a result's _meta has what the text does not say:
// the ToolResult of docs/protocol.md without its text.
const metaResult = "sidecar-ls/result"

// mode is that of a call where the session does not have it.
func (l *local) mode() string {
	if l.t.Keep == "" {
		return ""
	}
	return l.t.Mode
}

// Call runs a tool through the dispatcher.
func (l *local) Call(ctx context.Context, c Call) (*sdk.CallToolResult, error) {
	if c.Name == approve && l.client.hooks != "" {
		return l.approve(ctx, c)
	}
	r := dispatch.Request{Mode: l.mode(), Name: c.Name, Arguments: c.Arguments, Session: l.session.ID, Emit: c.Progress, Most: l.client.most}
	if l.t.Unasked {
		c.Ask = nil
	}
	ctx = WithAsker(ctx, c.Ask)
	res, err := l.dispatched(func(d *dispatch.Dispatcher) (*dispatch.Result, error) { return d.Call(ctx, r) })
	if err != nil {
		return nil, err
	}
	text := res.Content
	if !res.OK {
		text = string(res.Error.Code) + ": " + text
	}
	out := &sdk.CallToolResult{IsError: !res.OK, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	for _, i := range res.Images {
		out.Content = append(out.Content, &sdk.ImageContent{Data: i.Data, MIMEType: i.MIME})
	}
	if !res.OK && l.client.bareErrors {
		return out, nil
	}
	rest := *res
	rest.Content, rest.Images = "", nil
	meta, err := json.Marshal(&rest)
	if err != nil {
		return nil, err
	}
	out.Meta = sdk.Meta{metaResult: json.RawMessage(meta)}
	return out, nil
}

// dispatched has the dispatcher do something that serves now, or the one that comes in its
// place meanwhile.
func (l *local) dispatched(do func(*dispatch.Dispatcher) (*dispatch.Result, error)) (*dispatch.Result, error) {
	res, err := do(l.t.Dispatch())
	if errors.Is(err, dispatch.ErrRetired) {
		res, err = do(l.t.Dispatch())
	}
	if errors.Is(err, dispatch.ErrRetired) {
		err = ErrNotBegun
	}
	return res, err
}

func (l *local) Changed() <-chan struct{} { return l.changed }

func (l *local) Gone() <-chan struct{} { return l.t.Gone }

// Close closes the session, unless it is kept.
func (l *local) Close() error {
	var err error
	l.once.Do(func() {
		l.quiet()
		l.end()
		l.work.Wait()
		if l.t.Keep != "" {
			// Whoever comes again goes on with it.
		} else if e := l.t.Sessions.Close(l.session.ID); !errors.Is(e, session.ErrUnknown) { // a person may have closed it
			err = e
		}
		if l.t.Close != nil {
			err = errors.Join(err, l.t.Close())
		}
	})
	return err
}
